"""Compiled loops of Partition: what a part holds, counted by bin and by pairs of bins."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sfumato.arrays import Floats, Ints
from sfumato.maskers.partition.problem import BLOCK, Cells, Guide, Problem, Work


@njit(cache=True, nogil=True)
def tally(problem: Problem, order: NDArray[np.int32], lo: int, hi: int, work: Work, depth: int) -> None:
    """Count the part: records and sums of the guide by bin of the attributes that may vary in it; lay out its slots."""
    _sum_up(problem.guide, order, lo, hi, work.run[1])
    lives = 0
    for d in range(problem.guide.n):
        if work.run[1, d] != 0.0:
            work.live[lives] = d
            lives += 1
    one = len(problem.guide.classes) > 0 and lives == 1  # of one class: it guides nothing
    work.lives[0] = 0 if one else lives
    of = work.varied[depth, : work.many[depth]]
    _count(problem.cells, of, order, lo, hi, work.total)
    if not one:
        _guide(problem.cells, problem.guide, of, order, lo, hi, to=work.sums)
    _lay_out(problem.cells, hi - lo, work, depth)


@njit(cache=True, nogil=True)
def _sum_up(guide: Guide, order: NDArray[np.int32], lo: int, hi: int, to: Floats) -> None:
    """The sums of the guide over a part."""
    to[:] = 0.0
    if len(guide.classes):
        for i in range(lo, hi):
            to[guide.classes[order[i]]] += 1.0
        return
    for i in range(lo, hi):
        for d in range(len(to)):
            to[d] += guide.soft[order[i], d]


@njit(cache=True, nogil=True)
def _count(cells: Cells, of: Ints, order: NDArray[np.int32], lo: int, hi: int, to: Ints) -> None:
    """Records of a part by bin of some attributes."""
    to[:] = 0
    for begin in range(lo, hi, BLOCK):  # so few rows stay near while one attribute after the other is counted
        for a in of:
            first = cells.first[a]
            for i in range(begin, min(begin + BLOCK, hi)):
                to[first + cells.bins[order[i], a]] += 1


@njit(cache=True, nogil=True)
def _guide(cells: Cells, guide: Guide, of: Ints, order: NDArray[np.int32], lo: int, hi: int, to: Floats) -> None:
    """Sums of the guide by bin of some attributes."""
    to[:] = 0.0
    hard = len(guide.classes) > 0
    for begin in range(lo, hi, BLOCK):
        for a in of:
            first = cells.first[a]
            for i in range(begin, min(begin + BLOCK, hi)):
                bin_ = first + cells.bins[order[i], a]
                if hard:
                    to[bin_, guide.classes[order[i]]] += 1.0
                    continue
                for d in range(guide.n):
                    to[bin_, d] += guide.soft[order[i], d]


@njit(cache=True, nogil=True)
def _lay_out(cells: Cells, n: int, work: Work, depth: int) -> None:
    """Give a slot to every bin that some records of the part are in, and not all; keep which attributes vary."""
    slots, many = 0, 0
    for a in range(len(cells.kind)):
        work.begin[a] = slots
        for bin_ in range(cells.first[a], cells.first[a + 1]):
            if 0 < work.total[bin_] < n:
                work.slot[bin_], work.held[slots] = slots, bin_
                work.records[slots], work.left[slots] = work.total[bin_], 0
                if slots > work.begin[a]:
                    work.wide[slots - 1] = cells.place[bin_] - cells.place[work.held[slots - 1]]
                slots += 1
        if slots > work.begin[a]:
            work.varied[depth + 1, many] = a
            many += 1
    work.begin[len(cells.kind)] = slots
    work.many[depth + 1] = many


@njit(cache=True, nogil=True)
def pair(cells: Cells, varied: Ints, order: NDArray[np.int32], lo: int, hi: int, work: Work) -> bool:
    """Count the part's records by pairs of slots: what goes left with a slot is then known without its rows.

    False where that takes longer than to go through the rows of each slot again for every attribute.
    """
    many, slots = len(varied), work.begin[len(cells.kind)]
    if slots * slots > min(len(work.pairs), 4 * (hi - lo) * many * many):
        return False
    pairs, codes = work.pairs[: slots * slots], work.codes
    pairs[:] = 0
    for begin in range(lo, hi, BLOCK):
        rows = min(BLOCK, hi - begin)
        for j in range(many):
            a, first = varied[j], cells.first[varied[j]]
            for i in range(rows):
                codes[j, i] = work.slot[first + cells.bins[order[begin + i], a]]
            for other in range(j):
                for i in range(rows):
                    pairs[codes[other, i] * slots + codes[j, i]] += 1
    for i in range(slots):
        pairs[i * slots + i] = work.records[i]
    for i in range(slots):  # the other half is the same
        for j in range(i):
            pairs[i * slots + j] = pairs[j * slots + i]
    return True
