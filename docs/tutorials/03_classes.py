"""
Keeping classes: can a classifier still learn?
==============================================

What must survive may be a column: here whether a person earns much, which somebody will want to predict. The recipe
says ``structure: {classes: income}``, and masking gives up first what says little about it.
"""

import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.ensemble import HistGradientBoostingClassifier

import sfumato as sf

folder = Path(tempfile.mkdtemp())
adult = sf.datasets.load("adult", complete=True)
names = ["age", "education", "marital_status", "occupation", "sex", "hours_per_week", "income"]
table = adult.table.select(names)
train, test = table.slice(0, 5000), table.slice(30162)  # these never leave the house
schema = sf.Schema({name: adult.schema[name] for name in names})

# %%
# Publish the training rows, for several k. They are for comparing: the ledger would warn that only one of them may be
# handed over, since whoever has two can compare them.

warnings.filterwarnings("ignore", message="the ledger knows")
folders = {}
for k in (10, 50, 200):
    recipe = sf.Recipe(
        schema=schema,
        structure=sf.Classes("income"),
        privacy=[sf.KAnonymity(on=schema.quasi, k=k)],
    )
    release = sf.publish(train, recipe, run=sf.Run(report=False))
    folders[k] = release.write(folder / f"k{k}")
print(release.guarantee)

# %%
# The recipient learns
# --------------------
# ``numbers("sample")`` gives rows that may have been: numbers drawn inside the intervals around their means, labels
# drawn from the sets by their shares. They look like raw rows, so that any classifier can learn from them as from raw
# ones, and be asked about people as they are; several draws show it how wide intervals are.
#
# ``points`` gives a matrix instead, in which every group stands at one place. Distances in it are the holder's, which
# is what clustering needs, and a straight line through the places (logistic regression) learns well. Trees cut
# somewhere between two of a few dozen places, and new people stand everywhere between them: from ``points`` they may
# tell more people wrong than the commonest class does.


def codes(frame):
    """Categories as numbers, in the order of the training rows' labels."""
    found = frame.drop(columns="income")
    for name in found.columns:
        if found[name].dtype.kind not in "if":
            labels = sorted(set(train[name].to_pylist()))
            found[name] = found[name].astype(object).map({label: at for at, label in enumerate(labels)})
    return found


def error(rows):
    """The share of new people whose class is told wrong."""
    model = HistGradientBoostingClassifier(max_iter=40, random_state=0).fit(codes(rows), rows["income"])
    return float((model.predict(codes(test.to_pandas())) != truth).mean())


truth = test["income"].to_numpy(zero_copy_only=False)
errors = {"raw rows": error(train.to_pandas())}
for k, place in folders.items():
    errors[f"k = {k}"] = error(sf.load(place).numbers("sample", draws=5))
commonest = train["income"].value_counts().to_pylist()[0]["values"]
errors["no data:\nthe commonest class"] = float((truth != commonest).mean())
for name, value in errors.items():
    print(f"{' '.join(name.split()):32} {value:.3f}")

# %%
# With k = 10 it is at times even better than from raw rows: groups smooth what a small table has by accident.

figure, panel = plt.subplots(figsize=(7, 3))
panel.barh(list(errors), list(errors.values()), color=["0.6", *["tab:blue"] * len(folders), "0.6"])
panel.invert_yaxis()
panel.set_xlabel("share of new people told wrong")
figure.tight_layout()

# %%
# What next
# ---------
# :doc:`/classes` has the measures of the papers (baseline, anonymity and upper error) with their intervals, and
# ``sf.Recoder`` (:doc:`/python`) is the same masking as a step of a scikit-learn pipeline.
