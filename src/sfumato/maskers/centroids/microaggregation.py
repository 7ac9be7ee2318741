"""Our best: size-constrained c-means with splitting of large classes and local search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.events import checkpoint
from sfumato.maskers.centroids import kernels, local_search
from sfumato.maskers.centroids.grouping import mdav
from sfumato.maskers.centroids.points import Points, Sums, loss

NEIGHBOURS = 12
"""Classes near its own that a record may go to."""
AXES = 8
"""Tables are halved and neighbours looked for along at most this many principal axes."""
AT_ONCE = 1 << 23
"""Coordinates that are looked at between two times that it is asked whether to go on."""
SMALL = 5_000
"""Up to this many records there is time for MDAV as a second beginning and for search until nothing changes."""


@dataclass(frozen=True)
class Effort:
    """How long to search: rounds, in which neighbours are found anew, of so many sweeps over the records."""

    rounds: int
    sweeps: int


FREE, BRIEF, LONG = Effort(1, 3), Effort(2, 2), Effort(40, 10)


def bisection(points: Points, k: int) -> Ints:
    """Classes of k to 2k - 1 records by halving along principal axes: the fast way.

    >>> bisection(Points.of(np.array([[1.0], [9.0], [2.0], [8.0]])), 2).tolist()
    [0, 1, 0, 1]
    """
    rows = np.arange(len(points.vectors), dtype=np.int64)
    return halved(principal(points.vectors), rows, np.array([0, len(rows)], dtype=np.int64), k)


def halved(vectors: Floats, order: Ints, starts: Ints, k: int) -> Ints:
    """(rows,): classes made by halving groups of rows; group g is order[starts[g]:starts[g + 1]].

    `order` is put in class order.
    """
    labels, waiting = np.empty(len(order), dtype=np.int64), np.zeros(3 + 2 * 128, dtype=np.int64)
    checkpoint()
    moved = vectors[order]  # in class order, so that every pass reads memory in order
    while waiting[0] < len(starts) - 1 or waiting[2]:
        checkpoint()
        kernels.bisect(moved, order, labels, starts, waiting, k, most=max(1, AT_ONCE // vectors.shape[1]))
    return labels


def microaggregate(points: Points, k: int) -> Ints:
    """Classes of k to 2k - 1 records with little loss; one coordinate: with the least there can be.

    >>> microaggregate(Points.of(np.array([[1.0], [9.0], [2.0], [8.0]])), 2).tolist()
    [1, 0, 1, 0]
    """
    if points.vectors.shape[1] == 1:
        return optimal(points.vectors[:, 0], k)
    found = _from_natural_classes(points, k)
    if len(points.vectors) > SMALL:
        return found
    other = mdav(points, k)
    improve(points.vectors, other, least=k, effort=LONG)
    other = split_large(points.vectors, other, k)
    return min(found, other, key=lambda labels: loss(points.vectors, labels))


def optimal(numbers: Floats, k: int) -> Ints:
    """Classes of numbers on a line with the least loss there can be, by dynamic programming."""
    order = np.argsort(numbers, kind="stable")
    found = np.empty(len(numbers), dtype=np.int64)
    found[order] = kernels.best_cuts(numbers[order] - numbers.mean(), k)
    return found


def _from_natural_classes(points: Points, k: int) -> Ints:
    """Bisection begins. Moves without regard to k let natural classes form; those below k are merged into the
    neighbour that costs least, those of 2k or more split; then moves and swaps that keep k lower the loss.
    """
    effort = BRIEF if len(points.vectors) > SMALL else LONG
    begun = bisection(points, k)
    order = kernels.gather(begun, np.bincount(begun))  # neighbours in space are now neighbours in memory
    vectors, labels = points.vectors[order], begun[order]
    improve(vectors, labels, least=1, effort=FREE)
    labels = split_large(vectors, merge_small(vectors, labels, k), k)
    improve(vectors, labels, least=k, effort=effort)
    found = np.empty_like(labels)
    found[order] = split_large(vectors, labels, k)
    return found


def improve(vectors: Floats, labels: Ints, *, least: int, effort: Effort) -> None:
    """Local search on `labels`, in place: changes that keep `least` records in a class and lower the loss."""
    for _ in range(effort.rounds):
        checkpoint()
        sums = Sums.of(vectors, labels)
        near = neighbours(sums.centres)
        if not swept(vectors, labels, sums, near, least=least, sweeps=effort.sweeps):
            return


def swept(vectors: Floats, labels: Ints, sums: Sums, near: Ints, *, least: int, sweeps: int) -> int:
    """Sweeps over all classes, until none changes anything; gives the number of changes."""
    count, total = len(sums.sizes), 0
    members, centres = local_search.members(labels, sums.sizes, least), sums.totals / sums.sizes[:, None]
    due, changed = np.ones(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
    some = max(1, AT_ONCE // (len(near[0]) * max(1, len(vectors) // count) ** 2 * vectors.shape[1]))
    for _ in range(sweeps):
        made = 0
        for first in range(0, count, some):
            checkpoint()
            classes = np.array([first, min(first + some, count)])
            made += local_search.sweep(
                vectors,
                labels,
                sums.sizes,
                sums.totals,
                members,
                centres,
                neighbours=near,
                due=due,
                changed=changed,
                least=least,
                classes=classes,
            )
        if not made:
            break
        total += made
        local_search.spread_marks(changed, near, due)
    return total


def merge_small(vectors: Floats, labels: Ints, k: int) -> Ints:
    """Classes of at least k records: smaller ones are merged with the neighbour that costs least."""
    sums = Sums.of(vectors, labels)
    while (sums.sizes < k).any():
        checkpoint()
        small = np.flatnonzero(sums.sizes < k)
        near = neighbours(sums.centres, small)
        checkpoint()
        order = np.argsort(_merger_costs(sums, small, near).min(axis=1), kind="stable")
        parents, numbers = np.arange(len(sums.sizes)), np.empty(len(sums.sizes), dtype=np.int64)
        kernels.merge_small(sums.sizes, sums.totals, near[order], small[order], k, parents)
        kernels.tops(parents, numbers)
        kept = parents == np.arange(len(parents))
        sums, labels = Sums(sums.sizes[kept], sums.totals[kept]), numbers[labels]
    return labels


def _merger_costs(sums: Sums, small: Ints, near: Ints) -> Floats:
    """(small classes, neighbours): how much each merger raises the loss; infinite for a class with itself."""
    centres, own = sums.centres, sums.sizes[small][:, None]
    apart = ((centres[small][:, None, :] - centres[near]) ** 2).sum(axis=2)
    costs = apart * own * sums.sizes[near] / (own + sums.sizes[near])
    return np.where(near == small[:, None], np.inf, costs)


def split_large(vectors: Floats, labels: Ints, k: int) -> Ints:
    """Classes of fewer than 2k records: larger ones are halved along principal axes, which lowers the loss."""
    sizes = np.bincount(labels)
    if sizes.max() < 2 * k:
        return labels
    starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
    return halved(vectors, kernels.gather(labels, sizes), starts, k)


def neighbours(centres: Floats, of: Ints | None = None) -> Ints:
    """(classes, NEIGHBOURS + 1): classes near each (or near those of `of`); it may stand among them itself.

    They are candidates for changes, so the search may be approximate: what it misses costs quality alone.
    """
    from scipy.spatial import cKDTree

    places = principal(centres)
    tree = cKDTree(places, leafsize=8, balanced_tree=False, compact_nodes=False)
    checkpoint()
    wanted = min(NEIGHBOURS + 1, len(places))
    found = tree.query(places if of is None else places[of], wanted, eps=1.0)[1]
    within = np.minimum(found, len(places) - 1)  # one past the last means that a distance overflowed
    return np.ascontiguousarray(np.reshape(within, (-1, wanted)), dtype=np.int64)


def principal(places: Floats) -> Floats:
    """The same places along their main axes, at most AXES of them."""
    if places.shape[1] <= AXES:
        return places
    checkpoint()
    centred = places - places.mean(axis=0)
    checkpoint()
    axes = np.linalg.eigh(centred.T @ centred)[1][:, -AXES:]
    return np.ascontiguousarray(centred @ axes)
