"""Compiled loops of boosted trees: one tree is grown, and records are sent down it. Arrays in, arrays filled.

A tree follows gradients as XGBoost has it: a split is worth what it takes off a loss of which only the slope and the
bend are known. The leaf whose split is worth most is split next. `tests/unit/test_boosting.py` compares with
scikit-learn's model.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sfumato.arrays import Floats, Ints, Marks

LEAVES = 31
NODES = 2 * LEAVES - 1
FEWEST_RECORDS, LEAST_BEND = 20, 1e-3
"""Of a leaf: records, and the bends of their losses added up, at least."""
FEWEST_OF_LABEL = 10.0
"""Records of a label, at least, below which it is not told apart; its mean is drawn towards none by so many."""
BINS = 256
UNKNOWN = BINS - 1
"""The bin of a label that no record had when the tree was grown."""
SLOPE, BEND, COUNT = 0, 1, 2


class Learned(NamedTuple):
    """Records that a tree learns from: `bins` (rows, attributes); where those of each attribute begin among the bins of
    all, `first` (attributes + 1,); whether they are `labels` (attributes,); the slopes and bends of losses (rows,)."""

    bins: NDArray[np.uint8]
    first: Ints
    labels: Marks
    slopes: NDArray[np.float32]
    bends: NDArray[np.float32]


class Tree(NamedTuple):
    """For each node: the `attribute` by which it is split, -1 in a leaf; which bins go `left` (nodes, bins); its two
    children (nodes, 2); and its `value`."""

    attribute: Ints
    left: Marks
    children: Ints
    value: Floats

    @classmethod
    def empty(cls) -> Tree:
        """Room for one."""
        return cls(
            np.full(NODES, -1), np.zeros((NODES, BINS), np.bool_), np.zeros((NODES, 2), np.int64), np.zeros(NODES)
        )


@njit(cache=True, nogil=True)
def follow_two(expected: Floats, codes: Ints, slopes: NDArray[np.float32], bends: NDArray[np.float32]) -> None:
    """Slopes and bends of the losses (rows,) where `expected` is the logarithm of the odds of class 1 of two."""
    for i in range(len(codes)):
        against = math.exp(-expected[i])
        slopes[i] = (-against if codes[i] == 1 else 1.0) / (1.0 + against)
        bends[i] = against / (1.0 + against) ** 2


@njit(cache=True, nogil=True)
def shared_out(expected: Floats) -> Floats:
    """(classes, rows): chances that add up to 1 for each record, from `expected`, their logarithms up to a summand."""
    found = np.empty_like(expected)
    for i in range(expected.shape[1]):
        most, total = expected[:, i].max(), 0.0
        for one in range(len(expected)):
            found[one, i] = math.exp(expected[one, i] - most)
            total += found[one, i]
        found[:, i] /= total
    return found


@njit(cache=True, nogil=True)
def _count(learned: Learned, rows: NDArray[np.uint32], sums: Floats) -> None:
    """Fill `sums` (bins of all attributes, 3) with the slopes, bends and numbers of some records."""
    sums[:] = 0.0
    for i in rows:
        slope, bend = learned.slopes[i], learned.bends[i]
        for a in range(learned.bins.shape[1]):
            at = learned.first[a] + learned.bins[i, a]
            sums[at, SLOPE] += slope
            sums[at, BEND] += bend
            sums[at, COUNT] += 1.0


@njit(cache=True, nogil=True)
def _step(slope: float, bend: float) -> float:
    """How far to go to where a loss of this slope and bend is least."""
    return -slope / (bend + 1e-15)


@njit(cache=True, nogil=True)
def _taken(sums: Floats, order: Ints, most: int, whole: Floats, loss: float, best: Floats) -> int:
    """How many bins, in this order, are best split off, `most` at most; 0 if none is better than `best`, whose first
    entry is what that is worth, and which is filled with it and the sums of the bins split off."""
    taken = 0
    slope, bend, count = 0.0, 0.0, 0.0
    for at in range(most):
        one = sums[order[at]]
        slope, bend, count = slope + one[SLOPE], bend + one[BEND], count + one[COUNT]
        if count < FEWEST_RECORDS or bend < LEAST_BEND:
            continue
        if whole[COUNT] - count < FEWEST_RECORDS or whole[BEND] - bend < LEAST_BEND:
            break
        rest = whole[SLOPE] - slope
        worth = loss - slope * _step(slope, bend) - rest * _step(rest, whole[BEND] - bend)
        if worth > best[0]:
            best[0], best[1], best[2], best[3] = worth, slope, bend, count
            taken = at + 1
    return taken


@njit(cache=True, nogil=True)
def _by_mean(sums: Floats, whole: Floats) -> Ints:
    """Labels that enough records have, by the means of their slopes; of several with the same, the last first."""
    support = whole[COUNT] / whole[BEND]
    every = range(len(sums) - 1, -1, -1)
    used = np.array([at for at in every if sums[at, BEND] * support >= FEWEST_OF_LABEL], dtype=np.int64)
    means = np.array([sums[at, SLOPE] / (sums[at, BEND] + FEWEST_OF_LABEL) for at in used], dtype=np.float64)
    return used[np.argsort(means, kind="mergesort")]


@njit(cache=True, nogil=True)
def _split(learned: Learned, sums: Floats, whole: Floats, tree: Tree, node: int, best: Floats) -> None:
    """Find the best split of a node; `best` (4,) is filled with what it is worth, 0 if none is worth anything, and the
    sums of its left side."""
    best[:] = 0.0
    loss = whole[SLOPE] * tree.value[node]
    left = tree.left[node]
    for a in range(len(learned.labels)):
        mine = sums[learned.first[a] : learned.first[a + 1]]
        order = _by_mean(mine, whole) if learned.labels[a] else np.arange(len(mine))
        if len(order) < 2:
            continue
        half = (len(order) + 1) // 2
        taken = _taken(mine, order, half if learned.labels[a] else len(order) - 1, whole, loss, best)
        if learned.labels[a]:  # the other half is looked for from the other end
            back = order[::-1].copy()
            from_back = _taken(mine, back, half - 1, whole, loss, best)
            if from_back > 0:
                order, taken = back, from_back
        if taken > 0:
            tree.attribute[node] = a
            left[:] = False
            left[order[:taken]] = True
            left[UNKNOWN] = learned.labels[a] and 2 * best[3] > whole[COUNT]


@njit(cache=True, nogil=True)
def _part(bins: NDArray[np.uint8], rows: NDArray[np.uint32], attribute: int, left: Marks) -> int:
    """Put records that go left before those that go right, both in their order; how many go left."""
    right = np.empty_like(rows)
    stay, go = 0, 0
    for i in rows:
        if left[bins[i, attribute]]:
            rows[stay] = i
            stay += 1
        else:
            right[go] = i
            go += 1
    rows[stay:] = right[:go]
    return stay


@njit(cache=True, nogil=True)
def count_all(learned: Learned, sums: Floats) -> None:
    """Fill `sums` (bins of all attributes, 3) with those of all records."""
    _count(learned, np.arange(len(learned.slopes)).astype(np.uint32), sums)


@njit(cache=True, nogil=True)
def grow(learned: Learned, sums: Floats, total: Floats, rate: float, tree: Tree, expected: Floats) -> None:
    """Fill `tree`, and add what it gives each record to `expected` (rows,), both by `rate`.

    `sums` (leaves, bins of all attributes, 3) has those of all records in its first line, which add up to `total` (3,)
    over the bins of any attribute; the other lines are room for those of other nodes.
    """
    rows = np.arange(len(learned.slopes)).astype(np.uint32)
    slot, begins, ends = np.zeros((3, NODES), dtype=np.int64)
    whole, best = np.zeros((NODES, 3)), np.zeros((NODES, 4))
    tree.attribute[:] = -1
    tree.value[0] = 0.0
    ends[0] = len(rows)
    whole[0] = total
    if len(rows) >= 2 * FEWEST_RECORDS and whole[0, BEND] >= LEAST_BEND:
        _split(learned, sums[0], whole[0], tree, 0, best[0])
    nodes = 1
    while nodes < NODES:
        node = int(best[:nodes, 0].argmax())
        if best[node, 0] <= 0.0:
            break
        one, other = nodes, nodes + 1
        middle = begins[node] + _part(
            learned.bins, rows[begins[node] : ends[node]], tree.attribute[node], tree.left[node]
        )
        begins[one], ends[one], begins[other], ends[other] = begins[node], middle, middle, ends[node]
        whole[one] = best[node, 1:]
        whole[other] = whole[node] - whole[one]
        tree.children[node, 0], tree.children[node, 1] = one, other
        best[node, 0] = 0.0
        nodes += 2
        # the smaller child is counted anew; what is left of its parent is the larger one's
        small, large = (one, other) if whole[one, COUNT] < whole[other, COUNT] else (other, one)
        slot[small], slot[large] = nodes // 2, slot[node]
        if nodes < NODES and whole[large, COUNT] >= 2 * FEWEST_RECORDS:
            _count(learned, rows[begins[small] : ends[small]], sums[slot[small]])
            sums[slot[large]] -= sums[slot[small]]
        for child in (one, other):
            tree.value[child] = _step(whole[child, SLOPE], whole[child, BEND])
            if nodes < NODES and whole[child, COUNT] >= 2 * FEWEST_RECORDS:
                _split(learned, sums[slot[child]], whole[child], tree, child, best[child])
    for node in range(nodes):
        if best[node, 0] > 0.0:  # it could have been split
            tree.attribute[node] = -1
        if tree.attribute[node] < 0:
            tree.value[node] *= rate
            for at in range(begins[node], ends[node]):
                expected[rows[at]] += tree.value[node]


@njit(cache=True, nogil=True)
def send_down(tree: Tree, bins: NDArray[Any], expected: Floats) -> None:
    """Add what the tree gives each record of `bins` (rows, attributes) to `expected` (rows,)."""
    for i in range(len(bins)):
        node = 0
        while tree.attribute[node] >= 0:
            side = 0 if tree.left[node, bins[i, tree.attribute[node]]] else 1
            node = tree.children[node, side]
        expected[i] += tree.value[node]
