"""
A table in Spark
================

Of billions of rows Spark counts those that are alike, and what comes up to the driver are counts and codes. It needs
``pip install 'sfumato[spark]'`` and Java 17; workers need pyarrow, not Sfumato.

``tools/spark.sh start FOLDER`` starts a small cluster on this machine; with ``SFUMATO_SPARK=FOLDER`` this script runs
against it, as it does in our CI.
"""

import os
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

import sfumato as sf

folder = Path(tempfile.mkdtemp())
folder.chmod(0o755)  # workers read it
adult = sf.datasets.load("adult", complete=True)
names = ["age", "education", "sex", "hours_per_week", "income"]
(folder / "people").mkdir()
pq.write_table(adult.table.select(names).slice(0, 4000), folder / "people" / "part-0.parquet")

# %%
# One recipe for a file and for a cluster
# ---------------------------------------

schema = sf.Schema({name: adult.schema[name] for name in names})
recipe = sf.Recipe(
    schema=schema,
    structure=sf.Classes("income"),
    privacy=[sf.KAnonymity(on=schema.quasi, k=20)],
)

# %%
# Publish from the cluster
# ------------------------
# The address names the master, and a table of its catalog or Parquet files that the workers reach. A Spark data frame
# in its place works as well. Where no cluster runs, the same files are read here, as a stream: the release is the
# same.

cluster = os.environ.get("SFUMATO_SPARK")
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers of this machine: a Python that has pyarrow
source = (
    folder / "people" if cluster is None else f"{Path(cluster, 'address').read_text().strip()}?path={folder / 'people'}"
)
release = sf.publish(source, recipe, run=sf.Run(report=False))
out = release.write(folder / "out")
print("counted by Spark" if cluster else "no cluster here: read from the files")
print(release.guarantee)
print(f"verified: {sf.verify(out).holds}")

# %%
# What next
# ---------
# What comes up, how much of it, and what happens when a worker dies: :doc:`/spark`. Tables larger than memory on one
# machine: :doc:`/scale`.
