"""
A differentially private release
================================

k-anonymity bounds who can be picked out. Differential privacy bounds what anybody can conclude, whatever they know: it
needs a budget, epsilon, and public domains. This page publishes a table under epsilon = 1 and looks at the price.

It needs ``pip install 'sfumato[dp]'``: the noise is OpenDP's, drawn anew each time, so your figures will differ a
little.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import sfumato as sf

folder = Path(tempfile.mkdtemp())
adult = sf.datasets.load("adult", complete=True)
names = ["age", "education_num", "sex", "hours_per_week", "income"]
rows = adult.table.select(names).slice(0, 20000)

# %%
# Domains are declared, never learned
# -----------------------------------
# What is not declared would have to be read off the table, and that would tell something. Bundled tables declare all of
# it; in your own recipe numbers need a ``range`` and categories ``values`` or a taxonomy. Numbers with decimals say
# ``integer: false``; dates are declared by a calendar unit and a range of dates (``calendar: day``,
# ``range: ['1900-01-01', '2029-12-31']``).

schema = sf.Schema({name: adult.schema[name] for name in names})
print(schema)

# %%
# Publish
# -------
# The plan is fixed before the table is read, every use of it is paid for, and rows are generated from noisy counts
# alone. The release is entered in your ledger, which adds up what was spent on the same people and refuses more than
# ``total``.

recipe = sf.Recipe(
    schema=schema,
    structure=sf.Clusters("kmeans", k=4, n_init=3),
    mask=sf.PrivateTree(),
    budget=sf.Budget(epsilon=1, total=2),
)
release = sf.publish(rows, recipe, run=sf.Run(report=False))
place = release.write(folder / "out")
print(release.guarantee)
print(f"verified: {sf.verify(place).holds}")

# %%
# What came out
# -------------
# Rows that nobody is behind, in the same columns.

people = sf.load(place)
people.table.head(4)

# %%

shown, raw = people.table, rows.to_pandas()
figure, panels = plt.subplots(1, 2, figsize=(8, 3))
for panel, name in zip(panels, ["age", "hours_per_week"], strict=True):
    low, high = schema[name].range
    for frame, label in ((raw, "raw"), (shown, "released")):
        panel.hist(frame[name].astype(float), bins=24, range=(low, high), density=True, alpha=0.5, label=label)
    panel.set_title(name)
panels[0].legend()
figure.tight_layout()

# %%
# Relations between columns
# -------------------------
# Each column by itself is close to the raw one: ``release.worth`` tells how far each is off. Inside a part of the tree
# columns are drawn independently, so that relations between them may be lost; it tells that, too. Where one column is
# to be compared by another, or a class to be learned, pairs of columns are counted in place of parts, with
# ``sf.PrivateTree(pairs=4)``. Which of the two is better differs from table to table: choose before you look, or on a
# public table of the same columns (``sf.advise(rows, recipe, public=...)``).

release.worth

# %%
# Once more costs once more
# -------------------------
# A second release of the same people is added to the first; a third would exceed the total of 2, and is refused.

sf.publish(rows, recipe, run=sf.Run(report=False)).write(folder / "again")
try:
    sf.publish(rows, recipe, run=sf.Run(report=False)).write(folder / "third")
except sf.BudgetError as error:
    print(error)

# %%
# What next
# ---------
# What the figures of the papers look like under a budget: :doc:`/results/dpheter`. How it is tested:
# :doc:`/differential_privacy`.
