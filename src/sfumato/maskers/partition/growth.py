"""Compiled loops of Partition: a whole tree of cuts below a part, looking ahead where that pays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sfumato.arrays import Floats, Ints
from sfumato.maskers.partition.kernels import evaluate
from sfumato.maskers.partition.problem import BREADTH, NOTHING, ONE, TIE, ZERO, Cells, Guide, Problem, Work


@njit(cache=True, nogil=True)
def divide(
    cells: Cells, a: int, order: NDArray[np.int32], lo: int, hi: int, side: NDArray[np.uint8], to: NDArray[np.int32]
) -> int:
    """Put the rows that go left, then those that go right, into `to`, each in their order; how many go left."""
    left = 0
    for i in range(lo, hi):
        if side[cells.first[a] + cells.bins[order[i], a]] == 0:
            to[left] = order[i]
            left += 1
    place = left
    for i in range(lo, hi):
        if side[cells.first[a] + cells.bins[order[i], a]] != 0:
            to[place] = order[i]
            place += 1
    return left


class Looked(NamedTuple):
    """What evaluations of some parts found, each in a line: `there` whether it was looked at, `gain`, `side`, `varied`
    and `many` as in `Work`. Whoever looks ahead looks at both sides of the cut that is then made; they are not looked
    at again when their turn comes."""

    there: NDArray[np.bool_]
    gain: Floats
    side: NDArray[np.uint8]
    varied: Ints
    many: Ints


@njit(cache=True, nogil=True)
def _nothing_looked_at(parts: int, work: Work) -> Looked:
    """Room for so many parts."""
    attributes = work.gain.shape[1]
    return Looked(
        np.zeros(parts, dtype=np.bool_),
        np.zeros((parts, attributes)),
        np.zeros((parts, work.side.shape[1]), dtype=np.uint8),
        np.zeros((parts, attributes), dtype=np.int64),
        np.zeros(parts, dtype=np.int64),
    )


@njit(cache=True, nogil=True)
def _keep(looked: Looked, at: int, work: Work, depth: int) -> None:
    """Write down what was just found, if it is a side of a cut of the part that the look ahead begins with."""
    if depth != 1:
        return
    looked.there[at] = True
    looked.gain[at], looked.side[at] = work.gain[depth], work.side[depth]
    looked.varied[at], looked.many[at] = work.varied[depth + 1], work.many[depth + 1]


@njit(cache=True, nogil=True)
def _recall(looked: Looked, at: int, work: Work) -> None:
    """As if it had just been found of the part that the look ahead begins with."""
    work.gain[0], work.side[0] = looked.gain[at], looked.side[at]
    work.varied[1], work.many[1] = looked.varied[at], looked.many[at]


@njit(cache=True, nogil=True)
def _copy(looked: Looked, at: int, to: Looked, there: int) -> None:
    if looked.there[at]:
        to.there[there] = True
        to.gain[there], to.side[there] = looked.gain[at], looked.side[at]
        to.varied[there], to.many[there] = looked.varied[at], looked.many[at]


@njit(cache=True, nogil=True)
def _settle(sides_of: Looked, depth: int, better: bool) -> None:
    """A cut of the part that the look ahead begins with was tried: if it is better, its sides are those to be kept."""
    if depth != 0:
        return
    for side in range(2):
        if better:
            sides_of.there[side] = False
            _copy(sides_of, 2 + side, sides_of, side)
        sides_of.there[2 + side] = False


@njit(cache=True, nogil=True)
def _best(work: Work, depth: int, tried: NDArray[np.bool_], n: int) -> int:
    """The attribute worth most of those not tried; -1 if none can be cut."""
    best = -1
    for a in range(work.gain.shape[1]):
        gain = work.gain[depth, a]
        if not tried[depth, a] and gain > NOTHING and (best < 0 or gain > work.gain[depth, best] + TIE * n):
            best = a
    return best


@njit(cache=True, nogil=True)
def ahead(
    problem: Problem, rows: NDArray[np.int32], n: int, deep: int, work: Work, recalled: bool, sides_of: Looked
) -> int:
    """The attribute along which the part `rows[0, :n]` is best cut, looking `deep` cuts further; -1 if none can be.

    Of every part the best cuts of three attributes are followed into both of their sides. A walk with a frame for each
    depth: its part is `rows[depth, lo:hi]`, and what was found of it stays in that line of `work`. `recalled`: what is
    found of the part itself is there already. `sides_of` (4): in the first two lines what was found of both sides of
    the cut that is best, if they were looked at; in the others, of those that are being tried.
    """
    sides_of.there[:] = False
    cells, k = problem.cells, problem.terms.k
    nobody = np.zeros((0, 0, 0), dtype=np.bool_)
    lo, hi = np.zeros(deep + 1, dtype=np.int64), np.zeros(deep + 1, dtype=np.int64)
    tries, sides, middle = np.zeros_like(lo), np.zeros_like(lo), np.zeros_like(lo)
    cut, chosen = np.zeros_like(lo), np.full(deep + 1, -1)
    now, best = np.zeros(deep + 1), np.full(deep + 1, NOTHING)
    tried = np.zeros((deep + 1, len(cells.kind)), dtype=np.bool_)
    hi[0], depth, enter = n, ZERO, True
    while depth >= 0:
        if enter:
            if depth > 0 or not recalled:
                evaluate(problem, rows[depth], lo[depth], hi[depth], allowed=nobody, work=work, depth=depth)
            _keep(sides_of, ONE + sides[0], work, depth)
            enter = False
        size = hi[depth] - lo[depth]
        if sides[depth] == 0:  # the next attribute
            a = _best(work, depth, tried, size) if tries[depth] < BREADTH else -1
            if a < 0:  # all were tried: what the best of them is worth goes to the part above
                depth -= 1
                if depth >= 0 and chosen[depth + 1] >= 0:
                    now[depth] += best[depth + 1]
                continue
            tries[depth] += 1
            tried[depth, a] = True
            cut[depth], now[depth] = a, work.gain[depth, a]
            if depth < deep:
                middle[depth] = divide(
                    cells, a, rows[depth], lo[depth], hi[depth], side=work.side[depth], to=rows[depth + 1]
                )
        if depth < deep and sides[depth] < 2:  # into its left side, then into its right side
            first, last = sides[depth] * middle[depth], middle[depth] + sides[depth] * (size - middle[depth])
            sides[depth] += 1
            if last - first >= 2 * k:
                depth += 1
                lo[depth], hi[depth] = first, last
                tries[depth], sides[depth], best[depth], chosen[depth] = 0, 0, NOTHING, -1
                tried[depth], enter = False, True
            continue
        sides[depth] = 0
        better = now[depth] > best[depth] + TIE * size
        if better:
            best[depth], chosen[depth] = now[depth], cut[depth]
        _settle(sides_of, depth, better)
    return int(chosen[0])


@njit(cache=True, nogil=True)
def grow(
    problem: Problem, order: NDArray[np.int32], lo: int, hi: int, depths: Ints, work: Work
) -> tuple[Ints, NDArray[np.uint8]]:
    """The tree of cuts below the part order[lo:hi], whose rows are put in the order of its leaves.

    They are gone through again and again: a copy of them, one behind the other, stays near the processor.
    """
    cells, guide, rows = problem.cells, problem.guide, order[lo:hi].copy()
    bins = np.empty((len(rows), cells.bins.shape[1]), dtype=cells.bins.dtype)
    classes = np.empty(len(rows) if len(guide.classes) else 0, dtype=guide.classes.dtype)
    soft = np.empty((len(rows) if len(guide.soft) else 0, guide.soft.shape[1]), dtype=guide.soft.dtype)
    for i in range(len(rows)):
        bins[i] = cells.bins[rows[i]]
        if len(classes):
            classes[i] = guide.classes[rows[i]]
        if len(soft):
            soft[i] = guide.soft[rows[i]]
    near = Cells(bins, cells.first, cells.kind, cells.missing, cells.place, cells.labels)
    mine = np.arange(len(rows)).astype(np.int32)
    nodes, sides = _tree(
        Problem(near, Guide(classes, guide.n, soft, guide.scale), problem.terms), mine, lo, depths=depths, work=work
    )
    for i in range(len(rows)):
        order[lo + i] = rows[mine[i]]
    return nodes, sides


@njit(cache=True, nogil=True)
def _vary(work: Work, varied: NDArray[np.bool_]) -> None:
    """Attributes that may vary, as the next evaluation takes them."""
    work.many[0] = 0
    for a in range(len(varied)):
        if varied[a]:
            work.varied[0, work.many[0]] = a
            work.many[0] += 1


@njit(cache=True, nogil=True)
def _tree(
    problem: Problem, order: NDArray[np.int32], base: int, depths: Ints, work: Work
) -> tuple[Ints, NDArray[np.uint8]]:
    """The tree of cuts below all rows of `order`, which are put in the order of its leaves; the first is row `base`.

    (nodes, 5): the part's first row, its last, the attribute of its cut (-1 for a leaf), its left and right child.
    (nodes, widest): of each bin of that attribute 0 if it goes left, 1 if right, 2 where the part holds none.
    `depths`: below how many records the look ahead is three, two and one cut deep.
    """
    cells, k = problem.cells, problem.terms.k
    most = 2 * (len(order) // k) + 1
    nodes = np.zeros((most, 5), dtype=np.int64)
    sides = np.zeros((most, len(work.ways)), dtype=np.uint8)
    rows = np.zeros((len(work.gain), len(order)), dtype=np.int32)
    varied = np.zeros((most, len(cells.kind)), dtype=np.bool_)  # which attributes may vary in each part
    varied[0] = True
    looked, sides_of = _nothing_looked_at(most, work), _nothing_looked_at(4, work)
    nodes[0, 0], nodes[0, 1] = 0, len(order)
    count, at, start = 1, 0, ZERO
    while at < count:
        first, last = nodes[at, 0], nodes[at, 1]
        n = last - first
        nodes[at, 2] = -1
        if n >= 2 * k:
            deep = ZERO
            for i in range(len(depths)):
                if n < depths[i]:
                    deep = max(deep, len(depths) - i)
            for i in range(n):
                rows[0, i] = order[first + i]
            _vary(work, varied[at])
            if looked.there[at]:
                _recall(looked, at, work)
            a = ahead(problem, rows, n, deep, work=work, recalled=looked.there[at], sides_of=sides_of)
            if a >= 0:
                left = divide(cells, a, rows[0], start, n, side=work.side[0], to=order[first:last])
                for bin_ in range(cells.first[a], cells.first[a + 1]):
                    sides[at, bin_ - cells.first[a]] = work.side[0, bin_]
                nodes[at, 2], nodes[at, 3], nodes[at, 4] = a, count, count + 1
                nodes[count, 0], nodes[count, 1] = first, first + left
                nodes[count + 1, 0], nodes[count + 1, 1] = first + left, last
                for b in work.varied[1, : work.many[1]]:
                    varied[count, b] = varied[count + 1, b] = True
                for side in range(2):
                    _copy(sides_of, side, looked, count + side)
                count += 2
        at += 1
        work.done[0] = at
    nodes[:count, :2] += base
    return nodes[:count], sides[:count]
