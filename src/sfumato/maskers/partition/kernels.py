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
    PAIRED,
    SURE,
    TIE,
    WASTE,
    ZERO,
    Cells,
    Problem,
    Terms,
    Work,
)


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
def _shown(problem: Problem, work: Work, depth: int, n: int, right: int) -> float:
    """What m of the n records of one side would show, summed over the attributes; before any goes left, of all.

    Of a record's label a share of all labels, of its number a share of the range.
    """
    cells, terms = problem.cells, problem.terms
    every = 0.0
    for b in range(len(cells.kind)):
        at, lost = cells.first[b], cells.missing[b]
        found, gone, below, last = 0.0, 0, 0, -1
        if lost >= 0:
            gone = right * work.total[depth, lost] + (1 - 2 * right) * work.left[depth, lost]
        for i in range(work.holds[depth, b]):
            bin_ = work.held[depth, at + i]
            c = right * work.total[depth, bin_] + (1 - 2 * right) * work.left[depth, bin_]
            if c == 0 or bin_ == lost:
                continue
            if cells.kind[b] == 0:
                found += _seen(terms, n, c)
                if 2 * c > n:  # if all draws see this label alone it is shown as it is, which costs nothing
                    found += _seen(terms, n, n - c) - 1.0
                continue
            if last >= 0:  # a gap is covered unless all draws lie on one side of it
                apart = _seen(terms, n - gone, below) + _seen(terms, n - gone, n - gone - below) - 1.0
                found += (cells.place[bin_] - cells.place[last]) * apart
            below += c
            last = bin_
        if cells.kind[b] == 0:
            found = max(0.0, found) / cells.labels[b]
        elif gone > 0:
            found += MIXED * (_seen(terms, n, gone) + _seen(terms, n, n - gone) - 1.0)
        every += found
    return every


@njit(cache=True, nogil=True)
def _shown_by_few(problem: Problem, work: Work, depth: int, size: int, other: int) -> float:
    """The same of both sides of a small part, each times its records: of all its chances a table is at hand.

    A bin without records adds nothing to either sum, so that none is asked for.
    """
    cells, terms = problem.cells, problem.terms
    held, left, total = work.held[depth], work.left[depth], work.total[depth]
    alone, others = terms.label[size], terms.label[other]
    every, every_other = 0.0, 0.0
    for b in range(len(cells.kind)):
        at, holds, one, two = cells.first[b], work.holds[depth, b], 0.0, 0.0
        if cells.kind[b] == 0:
            for i in range(holds):
                bin_ = held[at + i]
                one += alone[left[bin_]]
                two += others[total[bin_] - left[bin_]]
            every += max(0.0, one) / cells.labels[b]
            every_other += max(0.0, two) / cells.labels[b]
            continue
        lost, gone, gone_other = cells.missing[b], 0, 0
        if lost >= 0 and total[lost] > 0:  # the last of its bins
            gone, gone_other, holds = left[lost], total[lost] - left[lost], holds - 1
            one += MIXED * terms.gap[size, gone]
            two += MIXED * terms.gap[other, gone_other]
        near, far = terms.gap[size - gone], terms.gap[other - gone_other]
        below, below_other = 0, 0
        for i in range(holds - 1):
            bin_ = held[at + i]
            wide = cells.place[held[at + i + 1]] - cells.place[bin_]
            below += left[bin_]
            below_other += total[bin_] - left[bin_]
            one += wide * near[below]
            two += wide * far[below_other]
        every += one
        every_other += two
    return size * every + other * every_other


@njit(cache=True, nogil=True)
def _tally(problem: Problem, order: NDArray[np.int32], lo: int, hi: int, work: Work, depth: int) -> None:
    """Count the part: records and sums of the guide by bin, and which bins hold any."""
    cells, guide = problem.cells, problem.guide
    attributes, dims = len(cells.kind), guide.n
    for a in range(attributes):  # what the part before held at this depth
        for i in range(work.holds[depth, a]):
            bin_ = work.held[depth, cells.first[a] + i]
            work.total[depth, bin_] = 0
            for d in range(dims):
                work.sums[depth, bin_, d] = 0.0
    soft = guide.soft.shape[0] > 0
    for i in range(lo, hi):
        row = order[i]
        for a in range(attributes):
            bin_ = cells.first[a] + cells.bins[row, a]
            work.total[depth, bin_] += 1
            if soft:
                for d in range(dims):
                    work.sums[depth, bin_, d] += guide.soft[row, d]
            else:
                work.sums[depth, bin_, guide.classes[row]] += 1.0
    for a in range(attributes):
        holds = 0
        for bin_ in range(cells.first[a], cells.first[a + 1]):
            if work.total[depth, bin_] > 0:
                work.held[depth, cells.first[a] + holds] = bin_
                holds += 1
        work.holds[depth, a] = holds


@njit(cache=True, nogil=True)
def _order(problem: Problem, a: int, way: int, n: int, work: Work, depth: int) -> int:
    """Put the held bins of attribute a in the order of its first or second way into `work.ways`; how many there are, or
    0 where there is no such way.

    Numbers ascend, missing ones behind the highest or before the lowest. Labels stand in the direction of the guide, or
    by how frequent they are.
    """
    cells = problem.cells
    at, holds = cells.first[a], int(work.holds[depth, a])
    if holds < 2 or (way == 1 and holds == 2):
        return 0
    if cells.kind[a] == 1:
        lost = cells.missing[a]
        if way == 1 and (lost < 0 or work.total[depth, lost] == 0):
            return 0
        for i in range(holds):
            work.ways[depth, i] = work.held[depth, at + (i + way * (holds - 1)) % holds]
        return holds
    if way == 0:
        direction(problem, a, n, work, depth)
    else:
        for i in range(holds):
            work.key[depth, i] = -work.total[depth, work.held[depth, at + i]]
    for i in range(holds):  # few bins: each is put where it belongs among those before it
        bin_, key, j = work.held[depth, at + i], work.key[depth, i], i
        while j > 0 and work.key[depth, j - 1] > key:
            work.key[depth, j] = work.key[depth, j - 1]
            work.ways[depth, j] = work.ways[depth, j - 1]
            j -= 1
        work.key[depth, j] = key
        work.ways[depth, j] = bin_
    return holds


@njit(cache=True, nogil=True)
def orders(problem: Problem, order: NDArray[np.int32], lo: int, hi: int, work: Work) -> Ints:
    """(attributes, 2, widest): the bins of a part in the order of each way, -1 behind the last."""
    attributes, first = len(problem.cells.kind), ZERO
    found = np.full((attributes, 2, work.ways.shape[1]), -1)
    _tally(problem, order, lo, hi, work, first)
    for a in range(attributes):
        for way in range(2):
            for i in range(_order(problem, a, way, hi - lo, work, first)):
                found[a, way, i] = work.ways[first, i]
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
    cells, n, dims = problem.cells, hi - lo, problem.guide.n
    for a in range(len(cells.kind)):
        work.gain[depth, a] = NOTHING
    if n < 2 * problem.terms.k:
        return
    _tally(problem, order, lo, hi, work, depth)
    if n >= PAIRED:
        _pair(cells, order, lo, hi, work, depth)
    work.shown[depth] = n * _shown(problem, work, depth, n, ONE)
    for d in range(dims):
        work.run[depth, 1, d] = 0.0
        for i in range(work.holds[depth, 0]):
            work.run[depth, 1, d] += work.sums[depth, work.held[depth, i], d]
    for a in range(len(cells.kind)):
        for way in range(2):
            holds = _order(problem, a, way, n, work, depth)
            if holds > 0:
                _line_up(cells, order, lo, hi, a=a, holds=holds, work=work, depth=depth)
                _sweep(problem, n, a, way, holds, allowed=allowed, work=work, depth=depth)


@njit(cache=True, nogil=True)
def _pair(cells: Cells, order: NDArray[np.int32], lo: int, hi: int, work: Work, depth: int) -> None:
    """Count the part's records by pairs of bins: what goes left with a bin is then known without its rows."""
    attributes, pairs, held, holds = len(cells.kind), work.pairs, work.held[depth], work.holds[depth]
    for a in range(attributes):
        for i in range(holds[a]):
            pairs[held[cells.first[a] + i]] = 0
    for i in range(lo, hi):
        row = order[i]
        for a in range(attributes):
            one = pairs[cells.first[a] + cells.bins[row, a]]
            for b in range(a, attributes):
                one[cells.first[b] + cells.bins[row, b]] += 1
    for a in range(attributes):  # the other half is the same
        for i in range(holds[a]):
            one, bin_ = pairs[held[cells.first[a] + i]], held[cells.first[a] + i]
            for b in range(a):
                for j in range(holds[b]):
                    one[held[cells.first[b] + j]] = pairs[held[cells.first[b] + j], bin_]


@njit(cache=True, nogil=True)
def _line_up(
    cells: Cells, order: NDArray[np.int32], lo: int, hi: int, a: int, holds: int, work: Work, depth: int
) -> None:
    """Put the part's rows into `work.rows` in the order of the way's bins, unless pairs of bins were counted."""
    rank = np.zeros(cells.first[a + 1] - cells.first[a], dtype=np.int64)
    place = np.zeros(holds + 1, dtype=np.int64)
    for i in range(holds):
        rank[work.ways[depth, i] - cells.first[a]] = i
        place[i + 1] = place[i] + work.total[depth, work.ways[depth, i]]
    for i in range(holds + 1):
        work.start[depth, i] = place[i]
    if hi - lo >= PAIRED:
        return
    for i in range(lo, hi):
        r = rank[cells.bins[order[i], a]]
        work.rows[depth, place[r]] = order[i]
        place[r] += 1


@njit(cache=True, nogil=True)
def _step(n: int, holds: int) -> int:
    """Every so many boundaries one is tried: in a large part it does not matter where exactly it is cut."""
    return 1 + (holds - 2) // MOST_BOUNDARIES if n > LARGE else 1


@njit(cache=True, nogil=True)
def _sweep(
    problem: Problem, n: int, a: int, way: int, holds: int, allowed: NDArray[np.bool_], work: Work, depth: int
) -> None:
    """Every boundary of one way to put the bins of attribute a in order: rows go left one bin after the other."""
    cells, k, dims = problem.cells, problem.terms.k, problem.guide.n
    step = _step(n, holds)
    for d in range(dims):
        work.run[depth, 0, d] = 0.0
    best, best_at, tried = NOTHING, -1, 0
    for i in range(holds - 1):
        size = work.start[depth, i + 1]
        if n - size < k:
            break
        _add_left(cells, n, work, depth, i)
        for d in range(dims):
            work.run[depth, 0, d] += work.sums[depth, work.ways[depth, i], d]
        if size < k:
            continue
        tried += 1
        if (tried - 1) % step or (allowed.shape[0] > 0 and not allowed[a, way, i]):
            continue
        worth = _worth(problem, n, size, work, depth)
        if worth > best + TIE * n:
            best, best_at = worth, i
    _none_left(cells, work, depth)
    if best_at >= 0 and best > work.gain[depth, a] + TIE * n:
        work.gain[depth, a] = best
        for bin_ in range(cells.first[a], cells.first[a + 1]):
            work.side[depth, bin_] = 2
        for i in range(holds):
            work.side[depth, work.ways[depth, i]] = 1 if i > best_at else 0


@njit(cache=True, nogil=True)
def _add_left(cells: Cells, n: int, work: Work, depth: int, i: int) -> None:
    """The rows of the way's bin i go left."""
    if n >= PAIRED:
        moved, left = work.pairs[work.ways[depth, i]], work.left[depth]
        for bin_ in range(len(moved)):
            left[bin_] += moved[bin_]
        return
    for j in range(work.start[depth, i], work.start[depth, i + 1]):
        row = work.rows[depth, j]
        for b in range(len(cells.kind)):
            bin_ = cells.first[b] + cells.bins[row, b]
            work.left[depth, bin_] += 1


@njit(cache=True, nogil=True)
def _none_left(cells: Cells, work: Work, depth: int) -> None:
    """Leave `left` empty behind."""
    for b in range(len(cells.kind)):
        for i in range(work.holds[depth, b]):
            work.left[depth, work.held[depth, cells.first[b] + i]] = 0


@njit(cache=True, nogil=True)
def _worth(problem: Problem, n: int, size: int, work: Work, depth: int) -> float:
    """What it is worth to cut a part of n records so that `size` go left: the fall of the guide's sum of squares, and
    of what would be shown."""
    fall = 0.0
    for d in range(problem.guide.n):
        left, every = work.run[depth, 0, d], work.run[depth, 1, d]
        fall += left * left / size + (every - left) * (every - left) / (n - size) - every * every / n
    less = work.shown[depth]
    if n < problem.terms.seen.shape[0]:
        less -= _shown_by_few(problem, work, depth, size, n - size)
    else:
        less -= size * _shown(problem, work, depth, size, ZERO)
        less -= (n - size) * _shown(problem, work, depth, n - size, ONE)
    return float((problem.guide.scale * fall + problem.terms.weight * less) * waste(n, size, problem.terms.k))
