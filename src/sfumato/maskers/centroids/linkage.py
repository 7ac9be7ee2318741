"""Single, complete and average link (001 section 3): classes are merged until every one has k records."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from sfumato.errors import RecipeError
from sfumato.maskers.centroids.points import Ints, Points

Link = Literal["single", "complete", "average"]
MOST = 10_000
"""Every pair of records has its distance in memory: 8 bytes times the square of this, 800 MB."""


def linkage(points: Points, k: int, *, link: Link = "average") -> Ints:
    """Classes of at least k records by hierarchical clustering.

    Among all pairs of classes of which at least one has fewer than k records the nearest pair is merged,
    again and again. (Merging legal classes too, until the last record has found company, would leave one or
    two classes.) Distances between records are squared, as in Eq. 3; ties go to the first pair.
    """
    from sfumato.maskers.centroids import linkage_kernels

    if len(points.vectors) > MOST:
        raise RecipeError("linkage", f"it compares every pair of records, so it takes at most {MOST:,} of them",
                          given=f"{len(points.vectors):,} rows", remedy="use microaggregate")  # fmt: skip
    apart = linkage_kernels.distances(points.vectors)
    labels = linkage_kernels.link(apart, k, get_args(Link).index(link))
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)
