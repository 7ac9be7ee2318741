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
train, test = table.slice(0, 5000), table.slice(30162, 3000)  # these never leave the house
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
# ``points`` gives a matrix of the released rows, and stands new rows in the same space: a model that was learned from
# masked people can be asked about people as they are. In it are quasi-identifiers and plain columns, but not the class
# that the masking was to keep, nor sensitive columns (``also=`` adds them). To learn another column than that class,
# leave it out by ``points(without=...)``, or the classifier is told the answer.


def error(points, classes, asked):
    """The share of new people whose class is told wrong."""
    model = HistGradientBoostingClassifier(max_iter=40, random_state=0).fit(points, classes)
    return float((model.predict(asked) != truth).mean())


truth = test["income"].to_numpy(zero_copy_only=False)
errors = {}
for k, place in folders.items():
    people = sf.load(place)
    asked = test.to_pandas().drop(columns="income")  # what is to be told need not be known
    errors[f"k = {k}"] = error(people.points(), people.table["income"], people.points(asked))

commonest = train["income"].value_counts().to_pylist()[0]["values"]
errors["no data:\nthe commonest class"] = float((truth != commonest).mean())

# %%
# Beside what the raw rows would have given, by the same classifier on plain codes:


def codes(rows):
    """Categories as numbers, in the order of the training rows' labels."""
    frame = rows.to_pandas().drop(columns="income")
    for name in frame.columns:
        if frame[name].dtype.kind not in "if":
            labels = sorted(set(train[name].to_pylist()))
            frame[name] = frame[name].map({label: at for at, label in enumerate(labels)})
    return frame


raw = train["income"].to_numpy(zero_copy_only=False)
errors = {"raw rows": error(codes(train), raw, codes(test)), **errors}
for name, value in errors.items():
    print(f"{' '.join(name.split()):32} {value:.3f}")

# %%

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
