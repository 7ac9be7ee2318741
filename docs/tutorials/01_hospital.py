"""
A hospital's table: from CSV to a release, and back as the recipient
====================================================================

You have a CSV of patients, and a colleague at a university who wants to find groups of patients in it. At the end of
this page a folder lies on the disk that you may hand over, and your colleague has found the groups.

The patients are generated, in the shape of MIMIC-III: nobody here is real.
"""

# sphinx_gallery_thumbnail_number = 1
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import sfumato as sf

folder = Path(tempfile.mkdtemp())
patients = sf.datasets.load("patients", rows=1500, seed=1).table.to_pandas()
patients["diagnosis"] = [codes[0] for codes in patients.pop("diagnoses")]
patients.to_csv(folder / "patients.csv", index=False)
patients.head(3)

# %%
# A recipe, proposed
# ------------------
# ``draft`` looks at names and values and proposes what each column is. It gives a reason for each guess, and never runs
# anything. In the shell: ``sfumato draft patients.csv --output recipe.yaml``.

recipe = sf.draft(folder / "patients.csv")
print(recipe)

# %%
# Read it as you would a junior colleague's work. How people are insured and how they came in can be known by others, so
# both are quasi-identifiers; the religion is not needed, so it stays in the house. A recipe is a YAML file: here it is
# written as text, as you would in an editor.

text = """
sfumato: 1
table: patients.csv
attributes:
  subject_id:         {kind: category, role: identifier}
  age:                {kind: number, role: quasi, range: [0, 90]}
  gender:             {kind: category, role: quasi}
  insurance:          {kind: category, role: quasi}
  ethnicity:          {kind: category, role: quasi}
  marital_status:     {kind: category, role: quasi}
  religion:           {kind: category, role: identifier}
  admission_type:     {kind: category, role: quasi}
  admission_location: {kind: category, role: plain}
  diagnosis:          {kind: category, role: sensitive}
structure: {clusters: kmeans, k: 4}
privacy:
  - {k_anonymity: 10, on: [age, gender, insurance, ethnicity, marital_status, admission_type]}
  - {l_diversity: 3, on: [age, gender, insurance, ethnicity, marital_status, admission_type], sensitive: diagnosis}
mask: partition
"""
(folder / "recipe.yaml").write_text(text, encoding="utf-8")
recipe = sf.Recipe.from_yaml(folder / "recipe.yaml")

# %%
# Publish
# -------
# ``publish`` finds the clusters, masks, recounts every promise from the written file, and measures what survived. Had a
# promise not held, nothing would have come out. In the shell: ``sfumato publish recipe.yaml --output out``.

release = sf.publish(folder / "patients.csv", recipe)
release.write(folder / "out")
print(release.guarantee)
print(f"F-measure of the clusters found again: {release.scores['scores']['f_measure.start']['value']:.2f}")

# %%
# Two folders are there: ``out`` to hand over, ``out.holder`` for your eyes only.

print(*sorted(path.name for path in (folder / "out").iterdir()), sep="\n")

# %%
# Verify, as anybody can
# ----------------------
# Your colleague need not believe you: ``sfumato verify out`` counts everything again.

verdict = sf.verify(folder / "out")
print(verdict.holds, len(verdict.checks), "checks")

# %%
# Back, as the recipient
# ----------------------
# Two lines open a release: numbers are numbers, and the groups that the holder found can be found again.

people = sf.load(folder / "out")
people.table.head(4)

# %%
# ``points`` stands every record in the space in which distances are the holder's; ``clusters`` starts from the released
# centres.

labels, points = people.clusters(), people.points()
middle = points - points.mean(axis=0)
plane = middle @ np.linalg.svd(middle, full_matrices=False)[2][:2].T
plane += np.random.default_rng(0).normal(0, 0.01, plane.shape)
figure, panel = plt.subplots(figsize=(6, 4))
panel.scatter(*plane.T, c=labels, s=7, cmap="tab10", alpha=0.6, linewidths=0)
panel.set_title("Four groups of patients, found in the released table")
panel.set_xticks([])
panel.set_yticks([])
figure.tight_layout()

# %%
# What next
# ---------
# How sure could somebody be who knows a neighbour's age and sex? ``sfumato attack patients.csv out`` measures it, and
# :doc:`/choosing` helps with k and the masker.
