"""
A census table for cluster analysis: which k?
=============================================

A statistical office publishes census records, and somebody will look for clusters in them. Here the office asks for
six clusters, compares two ways of masking, and chooses k with its eyes open.
"""

import matplotlib.pyplot as plt

import sfumato as sf

adult = sf.datasets.load("adult", complete=True)
rows = adult.table.slice(0, 3000).select(["age", "education", "marital_status", "occupation", "sex", "hours_per_week"])
schema = sf.Schema({name: adult.schema[name] for name in rows.column_names})


def published(k, mask):
    """A release that is guided by six clusters."""
    recipe = sf.Recipe(
        schema=schema,
        structure=sf.Clusters("kmeans", k=6, n_init=3),
        privacy=[sf.KAnonymity(on=schema.quasi, k=k)],
        mask=mask,
    )
    return sf.publish(rows, recipe, run=sf.Run(report=False))


def figure_of(release, name):
    """One of the figures that are for the holder's eyes."""
    return release.scores["scores"][name]["value"]


# %%
# Two ways, the same promise
# --------------------------
# ``Partition`` shows every group by itself and is what a recipe gets that names no masker. ``TopDown`` gives a value
# one meaning in the whole table, as the papers describe it. Both are guided by the clusters; both are verified.

ways = {"Partition": published(20, sf.Partition()), "TopDown": published(20, sf.TopDown())}
for name, release in ways.items():
    found, lost = figure_of(release, "f_measure.start"), figure_of(release, "certainty_penalty")
    print(f"{name:9}  clusters found again {found:.2f}, information lost {lost:.2f}")

# %%
# The same kind of people, in the words of both:

ways["Partition"].table.to_pandas().head(4)

# %%

ways["TopDown"].table.to_pandas().head(4)

# %%
# Which k?
# --------
# Publish for several, and look. In the shell one command does it, on all cores, and draws the frontier:
# ``sfumato sweep recipe.yaml --over privacy.k=5,10,20,50,100 --over mask=partition,top_down``.

sizes = [5, 20, 50, 100]
lines = {
    "Partition": [published(k, sf.Partition()) for k in sizes],
    "TopDown": [published(k, sf.TopDown()) for k in sizes],
}
figure, panels = plt.subplots(1, 2, figsize=(8, 3.2), sharex=True)
for panel, name, title in zip(
    panels,
    ["f_measure.start", "certainty_penalty"],
    ["clusters found again (F)", "information lost (NCP)"],
    strict=True,
):
    for way, releases in lines.items():
        panel.plot(sizes, [figure_of(one, name) for one in releases], marker="o", label=way)
    panel.set_title(title)
    panel.set_xlabel("k")
    panel.set_ylim(0, 1.03)
panels[0].legend()
figure.tight_layout()

# %%
# A rule of thumb: take the largest k before the left curve falls. The chance to be picked out by somebody who knows all
# six attributes is at most one in k, and most people stand in larger groups than the smallest.

for k, release in zip(sizes, lines["Partition"], strict=True):
    most, mean = figure_of(release, "prosecutor.highest"), figure_of(release, "marketer")
    print(f"k = {k:3}: at most {most:.3f}, on average {mean:.3f}")

# %%
# What next
# ---------
# What if the recipient wants four clusters, or uses another method? :doc:`/structure` and :doc:`/several` (a family of
# versions, safe together).
