"""Compiled loops of Partition: what every cut of a part is worth. Their slow twin is `tests/partition_twin.py`."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.maskers.partition.directions import direction
from sfumato.maskers.partition.problem import (
    LARGE,
    LEAST_WASTE,
    MIXED,
    MOST_BOUNDARIES,
    NOTHING,
    ONE,
    SURE,
    TIE,
    WASTE,
    ZERO,
    Cells,
    Problem,
    Terms,
    Work,
)
from sfumato.maskers.partition.tallies import pair, tally


@njit(cache=True, nogil=True)
def _seen(terms: Terms, n: int, c: int) -> float:
    """The chance that m draws of n records see one of c: 1 - (1 - c / n)^m."""
    if n < terms.seen.shape[0]:
        return float(terms.seen[n, c])
    if c <= 0:
        return 0.0
    if c * terms.m > SURE * n:
        return 1.0
    unseen, power, times = 1.0, 1.0 - c / n, terms.m
    while times > 0:  # squares: a logarithm and a power take several times as long
        if times & 1:
            unseen *= power
        power *= power
        times >>= 1
    return 1.0 - unseen


@njit(cache=True, nogil=True)
def _shown(problem: Problem, work: Work, n: int, right: int) -> float:
    """What m of the n records of one side would show, summed over the attributes; before any goes left, of all.

    Of a record's label a share of all labels, of its number a share of the range.
    """
    cells, terms, records, left = problem.cells, problem.terms, work.records, work.left
    every = 0.0
    for b in range(len(cells.kind)):
        first, end, lost = work.begin[b], work.begin[b + 1], cells.missing[b]
        found, gone, below, last = 0.0, 0, 0, -1
        if first < end and work.held[end - 1] == lost:  # the last of its bins
            end -= 1
            gone = right * records[end] + (1 - 2 * right) * left[end]
        for i in range(first, end):
            c = right * records[i] + (1 - 2 * right) * left[i]
            if c == 0:
                continue
            if cells.kind[b] == 0:
                found += _seen(terms, n, c)
                if 2 * c > n:  # if all draws see this label alone it is shown as it is, which costs nothing
                    found += _seen(terms, n, n - c) - 1.0
                continue
            if last >= 0:  # a gap is covered unless all draws lie on one side of it
                apart = _seen(terms, n - gone, below) + _seen(terms, n - gone, n - gone - below) - 1.0
                found += (cells.place[work.held[i]] - cells.place[work.held[last]]) * apart
            below += c
            last = i
        if cells.kind[b] == 0:
            found = max(0.0, found) / cells.labels[b]
        elif gone > 0:
            found += MIXED * (_seen(terms, n, gone) + _seen(terms, n, n - gone) - 1.0)
        every += found
    return every


@njit(cache=True, nogil=True, inline="always")
def _shown_by_few(problem: Problem, work: Work, size: int, other: int) -> float:
    """The same of both sides of a small part, each times its records: of all its chances a table is at hand.

    A bin without records adds nothing to either sum, so that none is asked for.
    """
    cells, terms, left, records, wide = problem.cells, problem.terms, work.left, work.records, work.wide
    alone, others = terms.label[size], terms.label[other]
    every, every_other = 0.0, 0.0
    for b in range(len(cells.kind)):
        first, end, one, two = work.begin[b], work.begin[b + 1], 0.0, 0.0
        if first == end:
            continue
        if cells.kind[b] == 0:
            for i in range(first, end):
                one += alone[left[i]]
                two += others[records[i] - left[i]]
            every += max(0.0, one) / cells.labels[b]
            every_other += max(0.0, two) / cells.labels[b]
            continue
        gone, gone_other = 0, 0
        if work.held[end - 1] == cells.missing[b]:
            end -= 1
            gone, gone_other = left[end], records[end] - left[end]
            one += MIXED * terms.gap[size, gone]
            two += MIXED * terms.gap[other, gone_other]
        near, far = terms.gap[size - gone], terms.gap[other - gone_other]
        below, below_other = 0, 0
        for i in range(first, end - 1):
            below += left[i]
            below_other += records[i] - left[i]
            one += wide[i] * near[below]
            two += wide[i] * far[below_other]
        every += one
        every_other += two
    return size * every + other * every_other


@njit(cache=True, nogil=True)
def _order(cells: Cells, a: int, way: int, n: int, work: Work) -> int:
    """Put the slots of attribute a in the order of its first or second way into `work.ways`; how many there are, or 0
    where there is no such way.

    Numbers ascend, missing ones behind the highest or before the lowest. Labels stand in the direction of the guide, or
    by how frequent they are.
    """
    at, holds = work.begin[a], work.begin[a + 1] - work.begin[a]
    if holds < 2 or (way == 1 and holds == 2):
        return 0
    if cells.kind[a] == 1:
        if way == 1 and work.held[at + holds - 1] != cells.missing[a]:
            return 0
        for i in range(holds):
            work.ways[i] = at + (i + way * (holds - 1)) % holds
        return int(holds)
    if way == 0:
        direction(a, n, work)
    else:
        for i in range(holds):
            work.key[i] = -work.records[at + i]
    for i in range(holds):  # few slots: each is put where it belongs among those before it
        key, j = work.key[i], i
        while j > 0 and work.key[j - 1] > key:
            work.key[j] = work.key[j - 1]
            work.ways[j] = work.ways[j - 1]
            j -= 1
        work.key[j] = key
        work.ways[j] = at + i
    return int(holds)


@njit(cache=True, nogil=True)
def orders(problem: Problem, order: NDArray[np.int32], lo: int, hi: int, work: Work) -> Ints:
    """(attributes, 2, widest): the bins of a part in the order of each way, -1 behind the last."""
    attributes = len(problem.cells.kind)
    found = np.full((attributes, 2, len(work.ways)), -1)
    tally(problem, order, lo, hi, work, ZERO)
    for a in range(attributes):
        for way in range(2):
            for i in range(_order(problem.cells, a, way, hi - lo, work)):
                found[a, way, i] = work.held[work.ways[i]]
    return found


@njit(cache=True, nogil=True)
def waste(n: int, left: int, k: int) -> float:
    """How much of a cut's worth counts: less where parts of k records are lost to rounding."""
    if n < 3 * k:
        return 1.0
    lost = n // k - left // k - (n - left) // k
    return max(LEAST_WASTE, 1.0 - WASTE * lost * 3 / (n // k))


@njit(cache=True, nogil=True)
def evaluate(
    problem: Problem, order: NDArray[np.int32], lo: int, hi: int, allowed: NDArray[np.bool_], work: Work, depth: int
) -> None:
    """The best cut of each attribute: its worth in `work.gain`, and the bins that go right in `work.side`.

    `allowed` (attributes, 2, widest): which boundaries keep the requirements beside k; of no length if all do.
    """
    cells, n = problem.cells, hi - lo
    for a in range(len(cells.kind)):
        work.gain[depth, a] = NOTHING
    if n < 2 * problem.terms.k:
        return
    tally(problem, order, lo, hi, work, depth)
    varied = work.varied[depth + 1, : work.many[depth + 1]]
    work.paired[0] = pair(cells, varied, order, lo, hi, work)
    work.shown[0] = n * _shown(problem, work, n, ONE)
    for a in varied:
        for way in range(2):
            holds = _order(cells, a, way, n, work)
            if holds > 0:
                _line_up(cells, order, lo, hi, a=a, holds=holds, work=work)
                _sweep(problem, n, a, way, holds, allowed=allowed, work=work, depth=depth)


@njit(cache=True, nogil=True)
def _line_up(cells: Cells, order: NDArray[np.int32], lo: int, hi: int, a: int, holds: int, work: Work) -> None:
    """Put the part's rows into `work.rows` in the order of the way's slots, unless pairs of them were counted."""
    work.start[0] = 0
    for i in range(holds):
        work.start[i + 1] = work.start[i] + work.records[work.ways[i]]
    if work.paired[0]:
        return
    place = np.zeros(holds, dtype=np.int64)
    for i in range(holds):
        place[work.ways[i] - work.begin[a]] = work.start[i]
    for i in range(lo, hi):
        at = work.slot[cells.first[a] + cells.bins[order[i], a]] - work.begin[a]
        work.rows[place[at]] = order[i]
        place[at] += 1


@njit(cache=True, nogil=True)
def _step(n: int, holds: int) -> int:
    """Every so many boundaries one is tried: in a large part it does not matter where exactly it is cut."""
    return 1 + (holds - 2) // MOST_BOUNDARIES if n > LARGE else 1


@njit(cache=True, nogil=True)
def _sweep(
    problem: Problem,
    n: int,
    a: int,
    way: int,
    holds: int,
    allowed: NDArray[np.bool_],
    work: Work,
    depth: int,
) -> None:
    """Every boundary of one way to put the slots of attribute a in order: rows go left one slot after the other."""
    cells, k = problem.cells, problem.terms.k
    step = _step(n, holds)
    work.run[0] = 0.0
    best, best_at, tried = NOTHING, -1, 0
    for i in range(holds - 1):
        size = work.start[i + 1]
        if n - size < k:
            break
        _add_left(cells, work, i)
        for j in range(work.lives[0]):
            d = work.live[j]
            work.run[0, d] += work.sums[work.held[work.ways[i]], d]
        if size < k:
            continue
        tried += 1
        if (tried - 1) % step or (allowed.shape[0] > 0 and not allowed[a, way, i]):
            continue
        worth = _worth(problem, n, size, work)
        if worth > best + TIE * n:
            best, best_at = worth, i
    for i in range(work.begin[len(cells.kind)]):  # leave nobody behind
        work.left[i] = 0
    if best_at >= 0 and best > work.gain[depth, a] + TIE * n:
        work.gain[depth, a] = best
        for bin_ in range(cells.first[a], cells.first[a + 1]):
            work.side[depth, bin_] = 2
        for i in range(holds):
            work.side[depth, work.held[work.ways[i]]] = 1 if i > best_at else 0


@njit(cache=True, nogil=True, inline="always")
def _add_left(cells: Cells, work: Work, i: int) -> None:
    """The rows of the way's slot i go left."""
    left, slots = work.left, work.begin[len(cells.kind)]
    if work.paired[0]:
        moved = work.pairs[work.ways[i] * slots : (work.ways[i] + 1) * slots]
        for j in range(slots):
            left[j] += moved[j]
        return
    for at in range(work.start[i], work.start[i + 1]):
        row = work.rows[at]
        for b in range(len(cells.kind)):
            if work.begin[b] < work.begin[b + 1]:
                left[work.slot[cells.first[b] + cells.bins[row, b]]] += 1


@njit(cache=True, nogil=True, inline="always")
def _worth(problem: Problem, n: int, size: int, work: Work) -> float:
    """What it is worth to cut a part of n records so that `size` go left: the fall of the guide's sum of squares, and
    of what would be shown."""
    fall = 0.0
    for j in range(work.lives[0]):
        left, every = work.run[0, work.live[j]], work.run[1, work.live[j]]
        fall += left * left / size + (every - left) * (every - left) / (n - size) - every * every / n
    less = work.shown[0]
    if n < problem.terms.seen.shape[0]:
        less -= _shown_by_few(problem, work, size, n - size)
    else:
        less -= size * _shown(problem, work, size, ZERO)
        less -= (n - size) * _shown(problem, work, n - size, ONE)
    return float((problem.guide.scale * fall + problem.terms.weight * less) * waste(n, size, problem.terms.k))
