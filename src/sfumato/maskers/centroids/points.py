"""Records as vectors, and classes as what their centres are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
        return Points(np.ascontiguousarray(self.vectors[rows]), self.owners)


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
    return float(((vectors - Sums.of(vectors, labels).centres[labels]) ** 2).sum())
