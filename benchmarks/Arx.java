// One run of ARX: java -cp JAR benchmarks/Arx.java FOLDER K. The folder is that of benchmarks/peer_runs.py.
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;

public class Arx {
    public static void main(String[] given) throws Exception {
        Path folder = Path.of(given[0]);
        Data people = Data.create(folder.resolve("people.csv").toFile(), StandardCharsets.UTF_8, ',');
        for (int at = 0; at < people.getHandle().getNumColumns(); at++) {
            people.getDefinition().setAttributeType(
                people.getHandle().getAttributeName(at), AttributeType.INSENSITIVE_ATTRIBUTE);
        }
        for (String name : Files.readAllLines(folder.resolve("quasi.txt"))) {
            people.getDefinition().setAttributeType(
                name, Hierarchy.create(folder.resolve(name + ".csv").toFile(), StandardCharsets.UTF_8, ';'));
        }
        ARXConfiguration how = ARXConfiguration.create();
        how.addPrivacyModel(new KAnonymity(Integer.parseInt(given[1])));
        how.setSuppressionLimit(0d);
        how.setQualityModel(Metric.createLossMetric());
        ARXResult found = new ARXAnonymizer().anonymize(people, how);
        if (!found.isResultAvailable()) {
            throw new IllegalStateException("ARX found no table that is k-anonymous");
        }
        found.getOutput().save(folder.resolve("shown.csv").toString(), ',');
    }
}
