"""Draws the README's picture: the clusters of the census table before and after masking, in one projection.

python -m tools.picture        # writes docs/picture.png; needs matplotlib
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.evaluation.clusters import f_measure
from sfumato.structure.structures import find

QUASI = (
    "age",
    "workclass",
    "education",
    "marital_status",
    "occupation",
    "race",
    "sex",
    "hours_per_week",
    "native_country",
)
K, CLUSTERS, POINTS = 50, 6, 4000
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")


def main() -> None:
    """Publish, open what came out as its recipient does, project both tables by the raw one's main axes, draw them."""
    adult = sf.datasets.load("adult", complete=True)
    schema = sf.Schema({n: a if n in QUASI else replace(a, role="identifier") for n, a in adult.schema.items()})
    structure = sf.Clusters("kmeans", k=CLUSTERS, seed=0)
    recipe = sf.Recipe(schema=schema, structure=structure, privacy=(sf.KAnonymity(QUASI, K),), keep_order=True)
    with TemporaryDirectory() as scratch:
        run = sf.Run(report=False, ledger=sf.Ledger(Path(scratch) / "ledger.json"))
        people = sf.load(sf.publish(adult.table, recipe, run=run).write(Path(scratch) / "out"))
        raw, vectors = people.points(adult.table), people.points()
        first, second = find(structure, encode(adult.table, schema)).labels, people.clusters()
    axes = np.linalg.svd(raw[:20_000] - raw.mean(axis=0), full_matrices=False)[2][:2].T
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(raw))[:POINTS]
    shake = rng.normal(0, 0.006, (len(rows), 2))
    before, after = ((points[rows] - raw.mean(axis=0)) @ axes + shake for points in (raw, vectors))
    told = f"the same {CLUSTERS} groups found again: F = {f_measure(first, second):.2f}"
    draw(before, after, first[rows], named_after(first, second)[rows], told)


def named_after(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """The second labels, each by the first that most of its records have, so that colours are the same."""
    names: NDArray[Any] = np.array([np.bincount(first[second == one]).argmax() for one in range(second.max() + 1)])
    return names.take(second)


def draw(before: Any, after: Any, first: Any, second: Any, told: str) -> None:
    """Two panels, same axes, same colours."""
    plt = import_module("matplotlib.pyplot")
    figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), sharex=True, sharey=True)
    titles = (f"45,222 people, raw: {CLUSTERS} groups", f"masked, every combination shared by {K} or more:\n{told}")
    for panel, points, labels, title in zip(panels, (before, after), (first, second), titles, strict=True):
        panel.scatter(points[:, 0], points[:, 1], s=4, c=[COLOURS[label] for label in labels], alpha=0.55, linewidths=0)
        panel.set_title(title, fontsize=11)
        panel.set_xticks([])
        panel.set_yticks([])
    figure.tight_layout()
    figure.savefig(Path(__file__).parents[1] / "docs" / "picture.png", dpi=110)


if __name__ == "__main__":
    main()
