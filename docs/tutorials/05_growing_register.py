"""
A register that grows
=====================

A register is published every year. Each release is k-anonymous, and still two of them together may give somebody away:
whoever has both can subtract. Here is what goes wrong, and the line of the recipe that mends it.

It mends it for a table that has only **grown**: people who left, and values that changed, are covered by no line of a
recipe but a budget of :doc:`differential privacy </differential_privacy>`. And the first release decides: it is made
with ``mask: top_down``, beside which alone later ones can be held. What is promised of all releases together is k, not
l-diversity and the like.
"""

import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import sfumato as sf

folder = Path(tempfile.mkdtemp())
adult = sf.datasets.load("adult", complete=True)
names = ["age", "sex", "marital_status", "income"]
rows = adult.table.select(names)
first, second = rows.slice(0, 600), rows.slice(0, 760)  # a year later: the same people, and 160 more

recipe = sf.Recipe(
    schema=sf.Schema({name: adult.schema[name] for name in names}),
    structure=sf.Classes("income"),
    privacy=[sf.KAnonymity(on=["age", "sex", "marital_status"], k=12)],
    mask=sf.TopDown(),
)

# %%
# The first year
# --------------

release_1 = sf.publish(first, recipe, run=sf.Run(report=False))
year_1 = release_1.write(folder / "year_1")
print(sf.verify(year_1).holds)

# %%
# The second year
# ---------------
# ``earlier`` names what is out already, and how the people relate: all of the first are still in the table. The
# search then shows only what keeps k for somebody who has both releases.

later = replace(recipe, earlier=sf.Earlier(releases=(str(year_1),), people="growing"))
release = sf.publish(second, later, run=sf.Run(report=False))
year_2 = release.write(folder / "year_2")
for claim in release.certificate["claims"]:
    print(claim["claim"], "->", claim["achieved"])

# %%
# verify recounts the joint claim from the files of both years:

print(sf.verify(year_2, others=[year_1]).holds)

# %%
# What it costs
# -------------
# Less is shown than if the second year stood alone, and often than in the first. The share of the detail that each
# column keeps: of the first year, of the second if there were no first, and of the second beside the first.

alone = sf.publish(second, recipe, run=sf.Run(report=False, trial=True))
for what, made in {"first year": release_1, "second, alone": alone, "second, beside the first": release}.items():
    print(f"{what}:", {column.name: round(column.kept or 0, 2) for column in made.worth.columns})

# %%
# So take few quasi-identifiers and coarse ones from the first year on, and release seldom; or publish the later years
# under a budget. And where somebody has several rows, such as stays in a hospital, keep the **first** of each person:
# with the last one a new stay changes an old row, and the table has not only grown. :doc:`/several` says more.

# %%
# And if it is forgotten?
# -----------------------
# Your ledger remembers what was released, by what the tables hold. Publishing nearly the same table without
# ``earlier`` is noticed:

with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    sf.publish(second, recipe, run=sf.Run(report=False)).write(folder / "forgotten")
print(*(str(one.message) for one in told if one.category is UserWarning), sep="\n")

# %%
# What next
# ---------
# People who left, values that changed, several numbers of clusters: :doc:`/several`. What the ledger keeps:
# :doc:`/ledger`.
