"""k-means on codes, as scikit-learn has it: its draws where to begin, Lloyd's rounds with the same rule when to stop
and what becomes of empty clusters, and which of several starts is kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.events import checkpoint, watched
from sfumato.randomness import Seeded
from sfumato.structure.kmeans import kernels
from sfumato.structure.kmeans.ground import NOBODYS, Labels, LookUps
from sfumato.structure.kmeans.points import Points
from sfumato.structure.kmeans.tally import Tally, distances, each_stretch, look_ups, nearest, settled

ROUNDS = 300
"""Rounds after which k-means ends, settled or not, unless another number is given."""
TOLERANCE = 1e-4
"""By how much centres may still move when it ends, as a share of the mean variance."""
NOTHING = 1e-20
"""A squared distance that is rounding."""
MANY, TRIED = 50_000, 20_000
"""Of more records than the first, starts are tried on so many draws from them as the second says."""
Init = Literal["k-means++", "random"]
Begin = Callable[[Points], Floats]
"""Centres that k-means begins with."""


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


Settle = Callable[[Points, Floats], Settled]
"""Where it ends from given centres."""


def start(
    points: Points, k: int, draws: np.random.RandomState, *, init: Init = "k-means++", threads: int = 1
) -> Floats:
    """(k, dims): the centres that k-means begins with, each a record."""
    rows = far_apart(points, k, draws, threads=threads) if init == "k-means++" else _any(points, k, draws)
    return points.vectors(rows)


def _any(points: Points, k: int, draws: np.random.RandomState) -> Ints:
    """(k,): records drawn by weight, none twice."""
    return draws.choice(len(points), size=k, replace=False, p=points.weights / points.total)


def far_apart(points: Points, k: int, draws: np.random.RandomState, *, threads: int = 1) -> Ints:
    """(k,): greedy k-means++. The first is drawn by weight; for each further one a few candidates are drawn by weight
    times squared distance from those before, and that which leaves the least distance is taken."""
    trials = 2 + int(math.log(k))
    chosen = [int(draws.choice(len(points), p=points.weights / points.total))]
    far = np.full(len(points), np.inf)
    left = _nearer(points, chosen[0], far, threads)
    while len(chosen) < k:
        checkpoint()
        drawn = draws.uniform(size=trials) * left
        candidates = np.searchsorted(np.cumsum(_by_weight(points, far)), drawn).clip(max=len(points) - 1)
        chosen.append(int(candidates[_left(points, candidates, far, threads).argmin()]))
        left = _nearer(points, chosen[-1], far, threads)
    return np.array(chosen, dtype=np.int64)


def _by_weight(points: Points, far: Floats) -> Floats:
    return far * points.rows.weights if len(points.rows.weights) else far


def _left(points: Points, candidates: Ints, far: Floats, threads: int) -> Floats:
    """(candidates,): how far all records would be from the nearest, added up, with each candidate among the chosen."""
    look = look_ups(points.ground, points.vectors(candidates))

    def work(stretch: slice) -> Floats:
        rows, spent = points.rows.part(stretch), np.zeros(len(look.base))
        kernels.gather(distances(rows, points.ground, look), rows.weights, far[stretch], spent)
        return spent

    total = np.zeros(len(look.base))
    for spent in each_stretch(points, len(look.base), work, threads=threads):
        total += spent
    return total[: len(candidates)]


def _nearer(points: Points, chosen: int, far: Floats, threads: int) -> float:
    """Write into `far` how far records are from the nearest, one more being chosen, and add it up."""
    look = look_ups(points.ground, points.vectors(np.array([chosen])))

    def work(stretch: slice) -> None:
        apart = distances(points.rows.part(stretch), points.ground, look)[:, 0]
        np.minimum(far[stretch], np.maximum(apart, 0.0), out=far[stretch])

    for _ in each_stretch(points, len(look.base), work, threads=threads):
        pass
    return float(_by_weight(points, far).sum())


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


def best_start(points: Points, starts: int, begin: Begin, settle: Settle, seed: int) -> Settled:
    """The best of several starts. Of very many records some are drawn, starts are tried on those, and the best goes on
    with all records from where it ended."""
    few = starts == 1 or len(points) <= MANY
    tried = points if few else some_of(points, TRIED, seed)
    best = best_of(starts, lambda: settle(tried, begin(tried)))
    return best if few else settle(points, best.centres)


def some_of(points: Points, draws: int, seed: int) -> Points:
    """So many draws by weight, at even distances from one that chance decides: each record that is drawn, once, counted
    as often as it was drawn. Records that are neighbours in their order are drawn in their proportion.

    >>> from sfumato.structure.kmeans.points import Coded
    >>> codes = np.array([0, 1, 2])
    >>> points = Points.of(3, 1, coded=[Coded(codes, np.array([[0.0], [1.0], [2.0]]), np.array([0]))])
    >>> drawn = some_of(points.weighted(np.array([2.0, 1.0, 5.0])), 8, seed=0)
    >>> drawn.rows.codes.ravel().tolist(), drawn.rows.weights.tolist()
    ([0, 1, 2], [2.0, 1.0, 5.0])
    """
    ends = np.cumsum(points.weights)
    at = (np.arange(draws) + Seeded(seed).lasting().uniform()) * (ends[-1] / draws)
    rows, times = np.unique(np.searchsorted(ends, at, side="right").clip(max=len(points) - 1), return_counts=True)
    return points.take(rows).weighted(times.astype(np.float64))
