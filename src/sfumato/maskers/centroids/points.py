"""Records as vectors, classes as what their centres are made of, and which of many places is nearest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.events import checkpoint, watched


@dataclass(frozen=True, eq=False)
class Points:
    """Records to be put into classes.

    `vectors` (rows, coordinates); `owners` (coordinates,): the number of the attribute that each coordinate
    belongs to, from 0 without gaps. A number has one coordinate, a category or an item set several.
    """

    vectors: Floats
    owners: Ints

    @classmethod
    def of(cls, vectors: Floats) -> Points:
        """Plain vectors, each coordinate an attribute."""
        return cls(np.ascontiguousarray(vectors, dtype=np.float64), np.arange(vectors.shape[1]))

    def only(self, rows: Ints) -> Points:
        """Some of the records."""
        checkpoint()
        return Points(np.ascontiguousarray(self.vectors[rows]), self.owners)


Link = Literal["single", "complete", "average"]
"""How the distance of two classes follows from those of their records."""
Partition = Callable[[Points, int], Ints]
"""Puts records into classes of at least k: (rows,) class numbers from 0 without gaps. Rows are at least k."""


@dataclass(frozen=True, eq=False)
class Sums:
    """Classes by what their centres are made of: `sizes` (classes,) and `totals` (classes, coordinates)."""

    sizes: Ints
    totals: Floats

    @classmethod
    def of(cls, vectors: Floats, labels: Ints) -> Sums:
        """Add the records up by class."""
        from sfumato.maskers.centroids import kernels

        count = int(labels.max()) + 1
        found = cls(np.zeros(count, dtype=np.int64), np.zeros((count, vectors.shape[1])))
        kernels.add_up(vectors, labels, found.totals, found.sizes)
        return found

    @property
    def centres(self) -> Floats:
        """(classes, coordinates): the mean of each class; zero where a class is empty."""
        return np.asarray(self.totals / np.maximum(self.sizes, 1)[:, None], dtype=np.float64)


def loss(vectors: Floats, labels: Ints) -> float:
    """The sum of squared distances between records and the centres of their classes.

    >>> loss(np.array([[0.0], [2.0], [5.0]]), np.array([0, 0, 1]))
    2.0
    """
    checkpoint()
    return float(((vectors - Sums.of(vectors, labels).centres[labels]) ** 2).sum())


TREE_DIMENSIONS = 12
"""In more dimensions a k-d tree looks nearly everywhere and products are faster."""
BLOCK = 1 << 18
"""Distances held at once: 2 MB of them stay in the cache."""
ROWS = 1 << 14
"""Rows that a tree is asked for at once."""


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

    tree = cKDTree(places)
    parts = [vectors[at : at + ROWS] for at in range(0, max(len(vectors), 1), ROWS)]
    return np.concatenate([np.asarray(tree.query(part)[1], dtype=np.int64) for part in watched(parts)])


def _by_products(vectors: Floats, places: Floats) -> Ints:
    """The square of x - c is x.x - 2 x.c + c.c, and x.x is the same for every place."""
    found = np.empty(len(vectors), dtype=np.int64)
    halves, step = (places**2).sum(axis=1) / 2, max(1, BLOCK // len(places))
    for start in range(0, len(vectors), step):
        checkpoint()
        found[start : start + step] = (halves - vectors[start : start + step] @ places.T).argmin(axis=1)
    return found
