"""The nearest of many places, exactly: a k-d tree in few dimensions, blocks of products in many."""

from __future__ import annotations

import numpy as np

from sfumato.maskers.centroids.points import Floats, Ints

TREE_DIMENSIONS = 12
"""In more dimensions a k-d tree looks nearly everywhere and products are faster."""
BLOCK = 1 << 18
"""Distances held at once: 2 MB of them stay in the cache."""


def nearest(vectors: Floats, places: Floats) -> Ints:
    """(rows,): which place is nearest to each vector; in many dimensions the first among equals.

    >>> nearest(np.array([[0.1], [0.9]]), np.array([[1.0], [0.0]])).tolist()
    [1, 0]
    """
    used = np.ptp(places, axis=0) > 0  # where all places agree nothing is decided
    vectors, places = vectors[:, used], places[:, used]
    if places.shape[1] == 0:
        return np.zeros(len(vectors), dtype=np.int64)
    if places.shape[1] > TREE_DIMENSIONS:
        return _by_products(vectors, places)
    from scipy.spatial import cKDTree

    return np.asarray(cKDTree(places).query(vectors)[1], dtype=np.int64)


def _by_products(vectors: Floats, places: Floats) -> Ints:
    """The square of x - c is x.x - 2 x.c + c.c, and x.x is the same for every place."""
    found = np.empty(len(vectors), dtype=np.int64)
    halves, step = (places**2).sum(axis=1) / 2, max(1, BLOCK // len(places))
    for start in range(0, len(vectors), step):
        found[start : start + step] = (halves - vectors[start : start + step] @ places.T).argmin(axis=1)
    return found
