"""One round of k-means over some records: which centre is nearest to each, and sums by cluster, which add up.

Every answer about a stretch of records is the same wherever they are: whoever has records elsewhere, in batches or on
other machines, sends look-ups there, has sums come back, and adds them up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from sfumato.arrays import Floats
from sfumato.events import checkpoint
from sfumato.structure.kmeans import kernels
from sfumato.structure.kmeans.ground import LANES, NOBODYS, Counts, Ground, Labels, LookUps, Rows
from sfumato.structure.kmeans.points import Points

T = TypeVar("T")
NOWHERE: Floats = np.empty(0)
"""Where distances are written that nobody asked for."""
MOST = int(NOBODYS)
"""Clusters, at most."""


def look_ups(ground: Ground, centres: Floats) -> LookUps:
    """What is looked up for the distances from `centres` (centres, dims): one, or lanes of several."""
    if len(centres) > MOST:
        raise ValueError(f"at most {MOST} centres")
    lanes = 1 if len(centres) == 1 else -(-len(centres) // LANES) * LANES
    beside = np.zeros((centres.shape[1], lanes))
    beside[:, : len(centres)] = centres.T
    codes = np.empty((int(ground.first[-1]), lanes))
    kernels.look_up(ground, beside, codes)
    members = beside[ground.spread]
    base = np.full(lanes, np.inf)
    base[: len(centres)] = (members**2).sum(axis=0)[: len(centres)]
    return LookUps(codes, beside[ground.numbers], members, base, len(centres))


def distances(rows: Rows, ground: Ground, look: LookUps) -> Floats:
    """(rows, lanes): squared distances from the centres that were looked up."""
    lanes = len(look.base)
    stacks = (-1, lanes // LANES, LANES)
    if lanes == 1:
        apart = np.full((len(rows.codes), 1), look.base[0])
        kernels.add_codes_of_one(ground.first, rows.codes, look.codes[:, 0], apart[:, 0])
    else:
        apart = np.empty((len(rows.codes), lanes))
        looked, base = look.codes.reshape(stacks), look.base.reshape(stacks[1:])
        kernels.add_codes(ground.first, rows.codes, looked, base, apart.reshape(stacks))
    if rows.numbers.shape[1]:
        kernels.add_numbers(rows.numbers, look.numbers, apart)
    if rows.sets.shape[1] and lanes == 1:
        kernels.add_sets_of_one(ground, rows.sets, look.members[:, 0], apart[:, 0])
    elif rows.sets.shape[1]:
        kernels.add_sets(ground, rows.sets, look.members.reshape(stacks), apart.reshape(stacks))
    return apart


def assign(rows: Rows, ground: Ground, look: LookUps, labels: Labels, far: Floats = NOWHERE) -> None:
    """Write the nearest centre of each record into `labels`, the first on a tie, and the squared distance from it into
    `far`, if that has room."""
    apart = distances(rows, ground, look)
    if look.centres > 1:
        kernels.choose(apart.reshape(len(labels), -1, LANES), labels, far)
        return
    labels[:] = 0
    if len(far):
        np.maximum(apart[:, 0], 0.0, out=far)


@dataclass(frozen=True, eq=False)
class Tally:
    """Sums over records by cluster. Those of two sets of records add up to those of both."""

    ground: Ground
    counts: Counts
    dims: int

    @classmethod
    def nothing(cls, points: Points, clusters: int) -> Tally:
        """Of no records."""
        ground = points.ground
        codes, numbers, members = (
            np.zeros((size, clusters)) for size in (int(ground.first[-1]), len(ground.numbers), len(ground.spread))
        )
        return cls(ground, Counts(codes, numbers, members, np.zeros(clusters)), points.dims)

    def add(self, rows: Rows, labels: Labels, before: Labels | None = None) -> None:
        """Count records in their clusters. `before`: the clusters in which their codes were counted already; of those
        that stayed nothing is looked at. Numbers and sets are added either way: see `forget`."""
        kernels.count_codes(self.ground, rows, _nobodys(len(labels)) if before is None else before, labels, self.counts)
        if rows.numbers.shape[1] or rows.sets.shape[1]:
            kernels.count_rest(self.ground, rows, labels, self.counts)

    def forget(self, *, codes: bool) -> None:
        """Begin anew with numbers and sets, and with codes if it says so."""
        for part in (
            self.counts.numbers,
            self.counts.members,
            *((self.counts.codes, self.counts.sizes) if codes else ()),
        ):
            part[:] = 0.0

    def __add__(self, other: Tally) -> Tally:
        counts = Counts(*(mine + theirs for mine, theirs in zip(self.counts, other.counts, strict=True)))
        return Tally(self.ground, counts, self.dims)

    @property
    def sums(self) -> Floats:
        """(clusters, dims): the vectors of each cluster's records, added up."""
        found = np.zeros((self.dims, len(self.counts.sizes)))
        kernels.add_places(self.ground, self.counts.codes, found)
        found[self.ground.numbers] = self.counts.numbers
        found[self.ground.spread] = self.counts.members
        return np.ascontiguousarray(found.T)


def _nobodys(rows: int) -> Labels:
    return np.full(rows, NOBODYS, dtype=np.uint16)


def each_stretch(points: Points, lanes: int, work: Callable[[slice], T], *, threads: int = 1) -> Iterator[T]:
    """What is found in each stretch of the records, in their order, whatever the number of threads."""
    stretches = points.stretches(lanes)
    if threads == 1:
        for stretch in stretches:
            checkpoint()
            yield work(stretch)
        return
    with ThreadPoolExecutor(threads) as team:
        waiting = [team.submit(work, stretch) for stretch in stretches]
        try:
            for future in waiting:
                checkpoint()
                yield future.result()
        finally:
            for future in waiting:
                future.cancel()


def nearest(points: Points, look: LookUps, labels: Labels, *, far: Floats = NOWHERE, threads: int = 1) -> None:
    """As `assign`, for all records."""

    def work(stretch: slice) -> None:
        assign(points.rows.part(stretch), points.ground, look, labels[stretch], far[stretch])

    for _ in each_stretch(points, len(look.base), work, threads=threads):
        pass


def settled(points: Points, look: LookUps, labels: Labels, *, threads: int = 1) -> Floats:
    """As `nearest`; (centres,): the squared distances from each centre by weight, added up."""

    def work(stretch: slice) -> Floats:
        rows, found = points.rows.part(stretch), labels[stretch]
        far = np.empty(len(found))
        assign(rows, points.ground, look, found, far)
        by_weight = far * rows.weights if len(rows.weights) else far
        return np.asarray(np.bincount(found, by_weight, minlength=look.centres), dtype=np.float64)

    total = np.zeros(look.centres)
    for spent in each_stretch(points, len(look.base), work, threads=threads):
        total += spent
    return total


def tally(points: Points, labels: Labels, clusters: int) -> Tally:
    """The sums of all records by cluster."""
    found = Tally.nothing(points, clusters)
    for stretch in points.stretches(1):
        checkpoint()
        found.add(points.rows.part(stretch), labels[stretch])
    return found
