"""Lloyd's k-means on codes, as scikit-learn has it: the same rule when to stop, and what becomes of empty clusters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.events import watched
from sfumato.structure.kmeans.ground import NOBODYS, Labels, LookUps
from sfumato.structure.kmeans.points import Points
from sfumato.structure.kmeans.tally import Tally, look_ups, nearest, settled

ROUNDS = 300
"""Rounds after which k-means ends, settled or not, unless another number is given."""
TOLERANCE = 1e-4
"""By how much centres may still move when it ends, as a share of the mean variance."""
NOTHING = 1e-20
"""A squared distance that is rounding."""


@dataclass(frozen=True, eq=False)
class Settled:
    """Where k-means ended: the nearest centre of each record, the centres (clusters, dims), the squared distances from
    each by weight, added up (clusters,), and how many rounds it took."""

    labels: Labels
    centres: Floats
    spent: Floats
    rounds: int

    @property
    def inertia(self) -> float:
        """The squared distances from all of them."""
        return float(self.spent.sum())


def tolerance_of(points: Points, share: float = TOLERANCE) -> float:
    """The squared movement of all centres at which k-means ends, from a share of the mean variance."""
    return share * points.variance if share else 0.0


def lloyd(
    points: Points, centres: Floats, *, tolerance: float = 0.0, rounds: int = ROUNDS, threads: int = 1
) -> Settled:
    """k-means from given centres (clusters, dims).

    It ends when no record changes its cluster, when centres moved by no more than `tolerance`, squared and added up, or
    after so many rounds. An empty cluster begins again at the record that is farthest from its centre; of several, the
    first at the farthest. Labels are those of the centres at the end. Records are added up in their order, so that the
    number of threads changes no bit.
    """
    now = np.asarray(centres, dtype=np.float64)
    before, after = np.full(len(points), NOBODYS, dtype=np.uint16), np.empty(len(points), dtype=np.uint16)
    sums, done = Tally.nothing(points, len(now)), 0
    while done < rounds:
        done += 1
        look = look_ups(points.ground, now)
        nearest(points, look, after, threads=threads)
        moved = bool((before != after).any())
        _recount(points, sums, before, after)
        last, now = now, _means(points, sums, after, look, threads)
        before, after = after, before
        if not moved or float(((now - last) ** 2).sum()) <= tolerance:
            break
    spent = settled(points, look_ups(points.ground, now), after, threads=threads)
    return Settled(after, now, spent, done)


def _recount(points: Points, sums: Tally, before: Labels, after: Labels) -> None:
    """Whole weights are moved from cluster to cluster; others would leave rounding behind, and are added up anew."""
    sums.forget(codes=not points.whole)
    if not points.whole:
        before = np.full_like(before, NOBODYS)
    for stretch in points.stretches(1):
        sums.add(points.rows.part(stretch), after[stretch], before[stretch])


def _means(points: Points, tally: Tally, labels: Labels, look: LookUps, threads: int) -> Floats:
    """(clusters, dims): the mean of each cluster's records; one that has none, and gets none, is with the largest."""
    sums, sizes = tally.sums, tally.counts.sizes.copy()
    empty = np.flatnonzero(sizes == 0)
    if len(empty):
        _refill(points, empty, labels, sums, sizes, _farthest(points, look, len(empty), threads))
    means = sums / np.where(sizes > 0, sizes, 1.0)[:, None]
    means[sizes <= 0] = means[int(sizes.argmax())]
    return means


def _farthest(points: Points, look: LookUps, most: int, threads: int) -> Ints:
    """(most or none,): the records farthest from their centres, the farthest first; none if all are at theirs."""
    far, ignored = np.empty(len(points)), np.empty(len(points), dtype=np.uint16)
    nearest(points, look, ignored, far=far, threads=threads)
    if far.max(initial=0.0) <= NOTHING:
        return np.empty(0, dtype=np.int64)
    return np.argsort(-far, kind="stable")[:most]


def _refill(points: Points, empty: Ints, labels: Labels, sums: Floats, sizes: Floats, rows: Ints) -> None:
    """Each empty cluster takes one of the records from its own."""
    weights = points.weights[rows]
    for cluster, old, vector, weight in zip(empty, labels[rows], points.vectors(rows), weights, strict=False):
        sums[old] -= weight * vector
        sums[cluster] = weight * vector
        sizes[old] -= weight
        sizes[cluster] = weight


def best_of(starts: int, run: Callable[[], Settled]) -> Settled:
    """The run with the least inertia; the first of those that found the same clusters."""
    best: Settled | None = None
    for _ in watched(range(starts)):
        found = run()
        if best is None or (found.inertia < best.inertia and not same_clusters(found.labels, best.labels)):
            best = found
    if best is None:
        raise ValueError("there is a start")
    return best


def same_clusters(labels: Labels, others: Labels) -> bool:
    """Whether each cluster lies within one of the others: then a lower inertia is rounding.

    >>> same_clusters(np.array([0, 1], dtype=np.uint16), np.array([1, 0], dtype=np.uint16))
    True
    """
    width = int(others.max(initial=0)) + 1
    pairs = np.bincount(labels.astype(np.int64) * width + others)
    return int(np.count_nonzero(pairs)) == len(np.unique(labels))
