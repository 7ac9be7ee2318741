"""Our best: size-constrained c-means with splitting of large classes and local search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEIGHBOURS = 8
"""Classes that a record may go to from its own."""
AXES = 8
"""Neighbours are looked for along at most this many principal axes."""


@dataclass(frozen=True, eq=False)
class Sums:
    """Classes by what their centres are made of: records (classes,) and sums (classes, coordinates)."""

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
        """(classes, coordinates): the mean of each class."""
        return self.totals / self.sizes[:, None]


R1,S1,R2,S2=1,3,2,4
def bisection(vectors: Floats, k: int) -> Ints:
    """(rows,): classes of k to 2k - 1 records by halving along principal axes; the fast way."""
    from sfumato.maskers.centroids import kernels

    rows = np.arange(len(vectors), dtype=np.int64)
    return kernels.bisect(vectors, rows, np.array([0, len(rows)], dtype=np.int64), k)


def microaggregate(vectors: Floats, k: int) -> Ints:
    """(rows,): classes of at least k records, with little loss.

    Bisection begins; free c-means between neighbouring classes lets natural classes form; classes below k are
    merged into the neighbour that costs least; classes of 2k or more are split; then moves and swaps that keep
    every class at k or more lower the loss until few are left.
    """
    begun = bisection(vectors, k)
    order = np.argsort(begun, kind="stable")
    vectors, labels = vectors[order], begun[order]
    improve(vectors, labels, least=1, rounds=R1, sweeps=S1)
    labels = merge_small(vectors, labels, k)
    labels = split_large(vectors, labels, k)
    improve(vectors, labels, least=k, rounds=R2, sweeps=S2)
    labels = split_large(vectors, labels, k)
    found = np.empty_like(labels)
    found[order] = labels
    return found


def improve(vectors: Floats, labels: Ints, *, least: int, rounds: int, sweeps: int) -> None:
    """Local search on `labels`, in place, with neighbours found anew every round."""
    from sfumato.maskers.centroids import searching

    for _ in range(rounds):
        sums = Sums.of(vectors, labels)
        near = neighbours(sums.centres, None)
        if not searching.improve(vectors, labels, sums.sizes, sums.totals, near, least, sweeps):
            return


def merge_small(vectors: Floats, labels: Ints, k: int) -> Ints:
    """Classes of at least k records: smaller ones are merged with the neighbour that costs least."""
    from sfumato.maskers.centroids import kernels

    sums = Sums.of(vectors, labels)
    while (sums.sizes < k).any():
        small = np.flatnonzero(sums.sizes < k)
        near = neighbours(sums.centres, small)
        costs = np.min(_merger_costs(sums, small, near), axis=1)
        order = np.argsort(costs, kind="stable")
        parents = np.arange(len(sums.sizes), dtype=np.int64)
        sizes, totals = sums.sizes.copy(), sums.totals.copy()
        kernels.merge_small(sizes, totals, near[order], small[order], k, parents)
        numbers = np.empty(len(parents), dtype=np.int64)
        kernels.tops(parents, numbers)
        kept = parents == np.arange(len(parents))
        sums, labels = Sums(sizes[kept], totals[kept]), numbers[labels]
    return labels


def _merger_costs(sums: Sums, small: Ints, near: Ints) -> Floats:
    centres, sizes = sums.centres, sums.sizes
    apart = ((centres[small][:, None, :] - centres[near]) ** 2).sum(axis=2)
    own = sizes[small][:, None]
    costs = apart * own * sizes[near] / (own + sizes[near])
    costs[near == small[:, None]] = np.inf
    return np.asarray(costs, dtype=np.float64)


def split_large(vectors: Floats, labels: Ints, k: int) -> Ints:
    """Classes of fewer than 2k records: larger ones are halved along principal axes."""
    from sfumato.maskers.centroids import kernels

    sizes = np.bincount(labels)
    if sizes.max() < 2 * k:
        return labels
    starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
    return kernels.bisect(vectors, kernels.gather(labels, sizes), starts, k)


def neighbours(centres: Floats, of: Ints | None) -> Ints:
    """(classes, NEIGHBOURS): for each class (or those of `of`) others nearby, nearest first, nearly exact.

    Its own number may stand among them. Only candidates for changes, so what is missed costs quality alone.
    """
    from scipy.spatial import cKDTree

    points = principal(centres)
    tree = cKDTree(points, leafsize=8, balanced_tree=False, compact_nodes=False)
    wanted = min(NEIGHBOURS + 1, len(points))
    found = tree.query(points if of is None else points[of], wanted, eps=1.0)[1]
    return np.ascontiguousarray(np.reshape(found, (-1, wanted)), dtype=np.int64)


def principal(points: Floats) -> Floats:
    """The points along their main axes, at most AXES of them."""
    if points.shape[1] <= AXES:
        return points
    centred = points - points.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, -AXES:]
    return np.ascontiguousarray(centred @ axes)
