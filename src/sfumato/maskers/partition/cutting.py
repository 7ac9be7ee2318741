"""The loop: a part is cut where that is worth most, as long as both sides keep every requirement.

Only k: whole subtrees are grown by compiled loops, on every core. With requirements on sensitive columns each cut is
chosen here, among the boundaries whose sides both keep them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import log2
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats, Ints
from sfumato.events import EVERY, checkpoint, enough
from sfumato.events import part as in_part
from sfumato.maskers.masker import Labels
from sfumato.maskers.mondrian.holding import Holding, reach
from sfumato.maskers.partition import growth, kernels
from sfumato.maskers.partition.problem import NOTHING, TIE, Cells, Guide, Problem, Terms, Work, terms_for, work_for
from sfumato.maskers.partition.wished import Bands, Planner

DEPTHS = (6, 12, 40)
"""Below so many times k records the loops look three, two and one cut ahead: there it pays."""
MANY, LESS_DEEP = 100_000, (4, 8, 20)
"""The same in a table of more records than this: F stays as it was, and 0.0002 more of the information is lost."""
CHUNK = 20_000
"""Records below a part that one compiled call grows: it can be stopped between two of them."""
COARSE = 0.2
"""The share of the work, about, that cutting a table into parts of so many records is."""
USUAL = 1.3
"""A part that is cut no further has about so many times k records: by that it is reckoned how many there will be."""
DRAWS = 2
WEIGHT, FEW_WEIGHT, FEW = 3.0, 1.0, 200
"""What is shown counts this much against what must survive; less where there are fewer than 200 parts of k."""
LIKELY_WEIGHT = 0.3
"""The same where a class must survive. It is told by a few attributes, and what others show of it says little."""


LEAF, CLUSTERS = -1, -2
"""What a part is cut along that is cut no further, or into its clusters."""


class Part(NamedTuple):
    """Records order[lo:hi]. `cut`: the number of the attribute along which it is cut; `sides`: of each of its bins
    0 left, 1 right, 2 where the part holds none; `below`: the numbers of its two sides, or of its clusters."""

    lo: int
    hi: int
    cut: int = LEAF
    sides: NDArray[np.uint8] | None = None
    below: tuple[int, ...] = ()


class Begun(NamedTuple):
    """Parts, each before those below it, and the rows in the order of the parts.

    `settled`: somebody asked to end before every part was cut as far as it can be.
    """

    parts: list[Part]
    order: NDArray[np.int32]
    settled: bool = False

    def rows_of(self, number: int) -> NDArray[np.int32]:
        """The rows of a part."""
        return self.order[self.parts[number].lo : self.parts[number].hi]


@dataclass(frozen=True, eq=False)
class Cutting:
    """A table in bins, ready to be cut."""

    cells: Cells
    guide: Guide
    holding: Holding
    sensitive: Mapping[str, tuple[Ints, int]]

    def begun(self, clusters: Ints | None = None) -> Begun:
        """The whole table as one part, or a part for each cluster; `clusters` (rows,) are those of the rows."""
        rows = len(self.cells.bins)
        if clusters is None:
            return Begun([Part(0, rows)], np.arange(rows, dtype=np.int32))
        ends = np.cumsum(np.bincount(clusters)).tolist()
        first = [Part(lo, hi) for lo, hi in pairwise([0, *ends])]
        top = Part(0, rows, CLUSTERS, below=tuple(range(1, len(first) + 1)))
        return Begun([top, *first], np.argsort(clusters, kind="stable").astype(np.int32))

    def parts(self, clusters: Ints | None = None, planner: Planner | None = None) -> Begun:
        """All parts, each before those below it; and the rows in the order of the leaves.

        `clusters` (rows,): no part has records of two of them, if they are given. `planner`: the cuts that come first,
        whatever they are worth.
        """
        found, order, _ = self.begun(clusters)
        rows, k = len(order), max(2, self.holding.least)
        weight = LIKELY_WEIGHT if len(self.guide.soft) else WEIGHT if rows >= FEW * k else FEW_WEIGHT
        terms = terms_for(k, DRAWS * k, weight / len(self.cells.kind), rows)
        if planner is not None:
            begun = leaves_of(found)
            plans = planner.plan_all(Begun(found, order).rows_of(number) for number in begun)
            for number, plan in zip(begun, plans, strict=True):
                self._in_bands(found, order, number, plan)
        smallest = 0 if self.holding.measured else CHUNK
        first = 1.0 if self.holding.measured else COARSE if rows > CHUNK else 0.0
        with in_part(0.0, first):
            settled = self._one_by_one(found, order, terms, smallest=smallest)
        if not self.holding.measured and not settled:
            with in_part(first, 1.0):
                settled = self._grow_all(found, order, terms)
        return Begun(found, order, settled)

    def _in_bands(self, found: list[Part], order: NDArray[np.int32], number: int, plan: Bands | None) -> None:
        """Cut a part as it was planned: its bands in halves, and these again, until each is a part of its own."""
        if plan is None:
            return
        if len(plan.bins) == 1:
            self._in_bands(found, order, number, plan.below[0])
            return
        half = len(plan.bins) // 2
        sides = np.full(int(self.cells.first[-1]), 2, dtype=np.uint8)
        for side, bins in enumerate((plan.bins[:half], plan.bins[half:])):
            sides[self.cells.first[plan.axis] + np.concatenate(bins)] = side
        first, second = self._cut(found, order, number, plan.axis, sides)
        self._in_bands(found, order, first, Bands(plan.axis, plan.bins[:half], plan.below[:half]))
        self._in_bands(found, order, second, Bands(plan.axis, plan.bins[half:], plan.below[half:]))

    def _cut(
        self, found: list[Part], order: NDArray[np.int32], number: int, cut: int, sides: NDArray[np.uint8]
    ) -> tuple[int, int]:
        """Cut a part along an attribute, whose bins go where `sides` (bins of all attributes) says; its two sides."""
        part = found[number]
        scratch = np.empty(part.hi - part.lo, dtype=np.int32)
        left = growth.divide(self.cells, cut, order, part.lo, part.hi, side=sides, to=scratch)
        order[part.lo : part.hi] = scratch
        below = (len(found), len(found) + 1)
        first, last = self.cells.first[cut], self.cells.first[cut + 1]
        found[number] = Part(part.lo, part.hi, cut, sides[first:last].copy(), below)
        found += [Part(part.lo, part.lo + left), Part(part.lo + left, part.hi)]
        return below

    def directions(self) -> dict[int, Ints]:
        """Of each attribute of labels its bins in the direction of the guide, over the whole table."""
        rows = len(self.cells.bins)
        order, terms = np.arange(rows, dtype=np.int32), terms_for(2, 2, 1.0, 1)
        work = work_for(self.cells, self.guide, rows)
        ways = kernels.orders(Problem(self.cells, self.guide, terms), order, 0, rows, work)[:, 0]
        labels = [a for a in np.flatnonzero(self.cells.kind == 0).tolist() if ways[a, 0] >= 0]
        return {a: ways[a][ways[a] >= 0] - self.cells.first[a] for a in labels}

    def joined(self, labels: Labels) -> Ints:
        """(rows,): clusters that are parts of their own, from 0 without gaps.

        The smallest that does not keep the requirements joins the one whose records are most like its own, by how they
        spread over the bins.
        """
        found = np.asarray(labels.classes, dtype=np.int64)
        while True:
            checkpoint()
            numbers, sizes = np.unique(found, return_counts=True)
            small = [one for one in np.argsort(sizes, kind="stable") if not self._keeps(found == numbers[one])]
            if not small or len(numbers) == 1:
                return np.searchsorted(numbers, found)
            spread = np.stack([_spread(self.cells, found == number) for number in numbers])
            apart = np.abs(spread - spread[small[0]]).sum(axis=1)
            apart[small[0]] = np.inf
            found = np.where(found == numbers[small[0]], numbers[int(np.argmin(apart))], found)

    def _keeps(self, rows: NDArray[np.bool_]) -> bool:
        """Whether some rows together keep every requirement."""
        if rows.sum() < self.holding.least:
            return False
        tables = ((need, *self.sensitive[need.sensitive]) for need in self.holding.measured)
        counted = ((need, np.bincount(codes[rows], minlength=n)) for need, codes, n in tables)
        return all(bool(reach(counts[None, None], need)[0]) for need, counts in counted)

    def _one_by_one(self, found: list[Part], order: NDArray[np.int32], terms: Terms, *, smallest: int) -> bool:
        """Cut the table, and the parts below it, as long as they have more than `smallest` records.

        The largest comes first, so that the parts are about equally fine whenever it is asked to end; they are numbered
        as if each was cut to its end before the next. Gives whether it was asked to.
        """
        problem = Problem(self.cells, self.guide, terms)
        work = work_for(self.cells, self.guide, len(order))
        begun = leaves_of(found)
        first, least = len(found), max(USUAL * terms.k, smallest)
        waiting = [_rank(found, number) for number in begun]
        left = total = sum(_ahead(found[number], least) for number in begun)
        heapify(waiting)
        while waiting and not enough():
            checkpoint(1 - left / total if total else None)
            *_, number = heappop(waiting)
            part = found[number]
            left -= _ahead(part, least)
            size = part.hi - part.lo
            if size <= smallest or size < 2 * terms.k:
                continue
            allowed = self._allowed(problem, order, part, work)
            kernels.evaluate(problem, order, part.lo, part.hi, allowed=allowed, work=work, depth=0)
            cut = best_of(work.gain[0], size)
            if cut < 0:
                continue
            for side in self._cut(found, order, number, cut, work.side[0]):
                left += _ahead(found[side], least)
                heappush(waiting, _rank(found, side))
        found[:] = in_depth(found, first, begun)
        return bool(waiting)

    def _allowed(self, problem: Problem, order: NDArray[np.int32], part: Part, work: Work) -> NDArray[np.bool_]:
        """(attributes, 2, boundaries): where both sides keep what sensitive columns need; empty if nothing is asked."""
        if not self.holding.measured:
            return np.zeros((0, 0, 0), dtype=np.bool_)
        rows = order[part.lo : part.hi]
        ways = kernels.orders(problem, order, part.lo, part.hi, work)
        found = np.ones(ways.shape, dtype=np.bool_)
        for need in self.holding.measured:
            codes, n = self.sensitive[need.sensitive]
            for a in range(len(self.cells.kind)):
                counts = self._counts(rows, a, codes, n)
                for way in (0, 1):
                    bins = ways[a, way][ways[a, way] >= 0]
                    if len(bins) < 2:
                        continue
                    below = np.cumsum(counts[bins - self.cells.first[a]], axis=0)[:-1]
                    sides = np.stack([below, counts.sum(axis=0) - below], axis=1)
                    found[a, way, : len(bins) - 1] &= reach(sides, need)
        return found

    def _counts(self, rows: NDArray[np.int32], a: int, codes: Ints, n: int) -> Ints:
        """(bins, values): a part's records by the bins of an attribute and the values of a sensitive column."""
        size = int(self.cells.first[a + 1] - self.cells.first[a])
        return np.bincount(self.cells.bins[rows, a] * np.int64(n) + codes[rows], minlength=size * n).reshape(size, n)

    def _grow_all(self, found: list[Part], order: NDArray[np.int32], terms: Terms) -> bool:
        """Grow the tree below every part that is left, some at a time; their numbers follow from their order alone.

        Asked to end, it leaves those uncut that have not begun. Gives whether there are any.
        """
        leaves = leaves_of(found)
        times_k = DEPTHS if len(order) <= MANY else LESS_DEEP
        depths = np.array([times * terms.k for times in times_k], dtype=np.int64)
        most = max(found[number].hi - found[number].lo for number in leaves)
        problem = Problem(self.cells, self.guide, terms)
        grown: dict[int, tuple[Ints, NDArray[np.uint8]]] = {}
        done: dict[int, Ints] = {}  # parts gone through below each, which the loops count up

        def grow(number: int) -> None:
            work = work_for(self.cells, self.guide, most, len(DEPTHS) + 1)
            part, done[number] = found[number], work.done
            grown[number] = growth.grow(problem, order, part.lo, part.hi, depths, work)

        expected = _expected(len(order), terms.k)
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            futures = {pool.submit(grow, number) for number in leaves}
            try:
                while futures:
                    over, futures = wait(futures, timeout=EVERY)
                    for future in over:
                        future.result()
                    checkpoint(sum(int(one[0]) for one in [*done.values()]) / expected)
                    if enough():
                        pool.shutdown(cancel_futures=True)
                        break
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        for number in leaves:
            if number in grown:
                self._add(found, number, *grown[number])
        return len(grown) < len(leaves)

    def _add(self, found: list[Part], number: int, nodes: Ints, sides: NDArray[np.uint8]) -> None:
        """Put a grown tree in the place of a part."""
        base = len(found) - 1  # its first node is the part itself
        bins = np.diff(self.cells.first).tolist()
        parts = [
            Part(lo, hi) if cut < 0 else Part(lo, hi, cut, side[: bins[cut]], (base + left, base + right))
            for (lo, hi, cut, left, right), side in zip(nodes.tolist(), sides, strict=True)
        ]
        found[number] = parts[0]
        found += parts[1:]


def _ahead(part: Part, least: float) -> float:
    """About how much work is left below a part: its records as often as it can be halved down to `least` of them.

    >>> _ahead(Part(0, 80), 10), _ahead(Part(0, 8), 10)
    (240.0, 0.0)
    """
    size = part.hi - part.lo
    return size * log2(size / least) if size > least else 0.0


def _expected(rows: int, k: int) -> float:
    """How many parts there will be, about, those above others too."""
    return 2 * rows / (USUAL * k)


def _spread(cells: Cells, rows: NDArray[np.bool_]) -> Floats:
    """(bins,): the share of some rows in each bin."""
    bins = cells.bins[rows].astype(np.int64) + cells.first[:-1]
    return np.bincount(bins.ravel(), minlength=int(cells.first[-1])) / max(1, int(rows.sum()))


def best_of(gain: Floats, n: int) -> int:
    """The attribute whose cut of n records is worth most, the first of equal ones; -1 if none can be cut.

    >>> best_of(np.array([NOTHING, 2.0, 2.0 + 1e-12, 1.0]), 100), best_of(np.array([NOTHING]), 100)
    (1, -1)
    """
    best = -1
    for a, worth in enumerate(gain.tolist()):
        if worth > NOTHING and (best < 0 or worth > gain[best] + TIE * n):
            best = a
    return best


def _rank(parts: Sequence[Part], number: int) -> tuple[int, int, int]:
    """The largest part first, of equally large ones the first."""
    return parts[number].lo - parts[number].hi, parts[number].lo, number


def in_depth(parts: Sequence[Part], first: int, begun: Sequence[int]) -> list[Part]:
    """The same parts, numbered as if each side was cut to its end before the next; the first ones keep their numbers.

    `begun`: those of the first that were cut further, if they were.
    """
    order, place, waiting = list(range(first)), {number: number for number in range(first)}, list(begun)
    while waiting:
        below = parts[waiting.pop()].below
        for number in below:
            place[number] = len(order)
            order.append(number)
        waiting += reversed(below)
    return [parts[n]._replace(below=tuple(place[side] for side in parts[n].below)) for n in order]


def leaves_of(parts: Sequence[Part]) -> list[int]:
    """The numbers of the parts that are not cut."""
    return [number for number, part in enumerate(parts) if part.cut == LEAF]


def leaf_starts(parts: Sequence[Part]) -> tuple[list[int], Ints]:
    """The numbers of the leaves in the order of their rows, and the first row of each."""
    leaves = sorted(leaves_of(parts), key=lambda number: parts[number].lo)
    return leaves, np.array([parts[number].lo for number in leaves], dtype=np.int64)
