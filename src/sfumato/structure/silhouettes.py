"""Silhouettes: how well separated clusters are. Distances are computed once for all structures over some records."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats, Ints
from sfumato.events import limited

AT_ONCE = 512
"""Records whose distances from all others are computed at once."""


def silhouettes_of(vectors: NDArray[Any], structures: Sequence[Ints]) -> list[float]:
    """Of each structure, a cluster from 0 on for each vector, at least two clusters and none without vectors: how much
    nearer vectors are to their own cluster than to the next, on average, from -1 to 1.

    >>> [round(value, 3) for value in silhouettes_of(np.array([[0.0], [1.0], [9.0]]), [np.array([0, 0, 1])])]
    [0.588]
    """
    vectors = vectors.astype(np.float64)
    sizes = [np.bincount(codes) for codes in structures]
    inside = [np.eye(len(counts))[codes] for codes, counts in zip(structures, sizes, strict=True)]
    totals = np.zeros(len(structures))
    squares = (vectors**2).sum(axis=1)
    for at in range(0, len(vectors), AT_ONCE):
        some = slice(at, at + AT_ONCE)
        apart = limited(partial(_apart, vectors[some], vectors, squares[some], squares))
        for number, (codes, counts) in enumerate(zip(structures, sizes, strict=True)):
            near = limited(partial(np.matmul, apart, inside[number]))
            totals[number] += _widths(near, codes[some], counts).sum()
    return [float(total / len(vectors)) for total in totals]


def _apart(some: Floats, others: Floats, squares: Floats, theirs: Floats) -> Floats:
    """(some, others): Euclidean distances."""
    found = squares[:, None] + theirs[None, :] - 2 * (some @ others.T)
    return np.sqrt(np.maximum(found, 0.0, out=found), out=found)


def _widths(near: Floats, codes: Ints, counts: Ints) -> Floats:
    """(records,): silhouettes, from `near` (records, clusters), the distances to each cluster's records, added up."""
    rows = np.arange(len(codes))
    own = near[rows, codes] / np.maximum(counts[codes] - 1, 1)
    means = near / counts
    means[rows, codes] = np.inf
    next_ = means.min(axis=1)
    widths = (next_ - own) / np.maximum(np.maximum(own, next_), 1e-300)
    return np.where(counts[codes] > 1, widths, 0.0)
