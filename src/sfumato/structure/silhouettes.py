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
    inside = np.hstack([np.eye(len(counts))[codes] for codes, counts in zip(structures, sizes, strict=True)])
    near = np.zeros_like(inside)
    squares = (vectors**2).sum(axis=1)
    for at in range(0, len(vectors), AT_ONCE):
        limited(partial(_add_distances, vectors, squares, inside, near, at))
    parts = np.split(near, np.cumsum([len(counts) for counts in sizes])[:-1], axis=1)
    every = zip(parts, structures, sizes, strict=True)
    return [float(_widths(part, codes, counts).mean()) for part, codes, counts in every]


def _add_distances(vectors: Floats, squares: Floats, inside: Floats, near: Floats, at: int) -> None:
    """Add the Euclidean distances between some records and all from there on to `near` (records, clusters) of both:
    those from the records before are there already. `inside` (records, clusters): 1 where a record is in the cluster.
    """
    end = at + AT_ONCE
    apart = vectors[at:end] @ vectors[at:].T
    apart *= -2.0
    apart += squares[at:end, None]
    apart += squares[None, at:]
    np.sqrt(np.maximum(apart, 0.0, out=apart), out=apart)
    near[at:end] += apart @ inside[at:]
    near[end:] += apart[:, AT_ONCE:].T @ inside[at:end]


def _widths(near: Floats, codes: Ints, counts: Ints) -> Floats:
    """(records,): silhouettes, from `near` (records, clusters), the distances to each cluster's records, added up."""
    rows = np.arange(len(codes))
    own = near[rows, codes] / np.maximum(counts[codes] - 1, 1)
    means = near / counts
    means[rows, codes] = np.inf
    next_ = means.min(axis=1)
    widths = (next_ - own) / np.maximum(np.maximum(own, next_), 1e-300)
    return np.where(counts[codes] > 1, widths, 0.0)
