"""Density clusterers on a masked table: the settings that find again what they found in the raw one.

Records that were masked alike stand at one point. With the settings of raw data every such point is dense enough to be
a cluster of its own, and has no other near by. What a recipient needs instead follows from the masked table alone: how
many rows stand at a point, and how far points are apart. Nothing of the raw table is told by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.structure.clusterers import finds_k
from sfumato.structure.coded_points import Placed
from sfumato.structure.methods import SAMPLE_ROWS, sample, usual_gap

POINTS_OF_A_CLUSTER, POINTS_TOGETHER = 4, 2
"""So many points make a cluster at least, and so many stand near to what is no noise; counted in their rows."""
NEIGHBOURS = 5
FEWEST = 40
"""Of fewer points each may be a cluster: the settings stay as they are."""
MOST = 5_000
"""Of options that are counts of rows."""


def masked_options(method: str, options: Mapping[str, Any], placed: Placed) -> dict[str, Any]:
    """The options of a density clusterer for masked records, given those for raw ones; of all others the same.

    `eps`: within which 90 % of the points have five, itself among them. Rows are those of the sample that is clustered.
    """
    points = placed.distinct.placed if finds_k(method) else None
    if points is None or points.rows < FEWEST:
        return dict(options)
    together = min(placed.rows, SAMPLE_ROWS) / points.rows
    wanted: dict[str, float] = {"min_samples": max(NEIGHBOURS, round(POINTS_TOGETHER * together))}
    if method == "hdbscan":
        wanted = {"min_samples": NEIGHBOURS, "min_cluster_size": max(NEIGHBOURS, round(POINTS_OF_A_CLUSTER * together))}
    else:
        vectors = points.vectors(sample(points.rows, SAMPLE_ROWS, 0))
        wanted["eps"] = float(f"{usual_gap(vectors, NEIGHBOURS):.2g}")
    return {**options, **{name: min(MOST, max(value, options.get(name, value))) for name, value in wanted.items()}}
