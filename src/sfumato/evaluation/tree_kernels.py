"""Compiled loops of entropy trees: one is grown, rows are sent down it, and it is cut back. Arrays in, arrays out.

The tree is that of scikit-learn's DecisionTreeClassifier (entropy, at least two rows in a leaf, random_state 0), down
to which of two equally good columns is taken: columns are tried in an order drawn at every node. To import that takes
longer than all of this; `tests/unit/test_classes_evaluation_trees.py` compares the two.
"""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sfumato.arrays import Floats, Ints

FEWEST_IN_LEAF = 2
ALIKE = np.float32(1e-7)
"""Neighbouring values that are no further apart are not told apart."""
PURE = float(np.finfo(np.float64).eps)
SEED = 209652396
"""scikit-learn's own first draw under random_state 0, from which the orders of columns follow."""
MOST_DRAWN = 2**31


class Sorted(NamedTuple):
    """Rows to learn from: `ranks` (columns, rows) of their values among `values` (columns, most of any); how many
    `distinct` ones a column has; `classes` (rows,), of which there are `n`."""

    ranks: NDArray[np.int32]
    values: NDArray[np.float32]
    distinct: Ints
    classes: Ints
    n: int


class Nodes(NamedTuple):
    """For each node, parents before children: its children, -1 in a leaf; the column and the value by which it is
    split, at most that goes left."""

    left: Ints
    right: Ints
    column: Ints
    limit: Floats

    @classmethod
    def room(cls, nodes: int) -> Nodes:
        """For so many."""
        left, right, column = np.full((3, nodes), -1)
        return cls(left, right, column, np.full(nodes, np.nan))

    def first(self, nodes: int) -> Nodes:
        """So many of them, and no more room."""
        ends = self.left[:nodes], self.right[:nodes]
        return Nodes(ends[0].copy(), ends[1].copy(), self.column[:nodes].copy(), self.limit[:nodes].copy())


class Order(NamedTuple):
    """The order in which a node tries columns: `columns`, those `constant` here or above first; `state` of chance."""

    columns: Ints
    constant: Ints
    state: NDArray[np.uint32]


@njit(cache=True, nogil=True)
def _draw(state: NDArray[np.uint32], low: int, high: int) -> int:
    """A whole number from `low` to below `high`, by Marsaglia's xorshift."""
    one = state[0]
    one ^= np.uint32(one << np.uint32(13))
    one ^= np.uint32(one >> np.uint32(17))
    one ^= np.uint32(one << np.uint32(5))
    state[0] = one
    return low + (int(one) % MOST_DRAWN) % (high - low)


@njit(cache=True, nogil=True)
def _entropy(counts: Ints, rows: float) -> float:
    found = 0.0
    for count in counts:
        if count > 0:
            share = count / rows
            found -= share * (math.log(share) / math.log(2.0))
    return found


@njit(cache=True, nogil=True)
def _counted(data: Sorted, column: int, rows: NDArray[np.uint32]) -> tuple[NDArray[np.int32], Ints]:
    """The ranks that rows have in a column, rising, and how many of each class have them (ranks, classes)."""
    ranks = data.ranks[column]
    if data.distinct[column] <= 2 * len(rows):  # a place for every rank; else those that occur are sorted
        every = np.zeros((data.distinct[column], data.n), dtype=np.int64)
        for i in rows:
            every[ranks[i], data.classes[i]] += 1
        used = np.array([at for at in range(len(every)) if every[at].sum() > 0], dtype=np.int32)
        return used, every[used]
    used = np.unique(np.array([ranks[i] for i in rows], dtype=np.int32))
    counts = np.zeros((len(used), data.n), dtype=np.int64)
    for i in rows:
        counts[np.searchsorted(used, ranks[i]), data.classes[i]] += 1
    return used, counts


@njit(cache=True, nogil=True)
def _best_of_column(values: NDArray[np.float32], counts: Ints, whole: Ints, best: float) -> tuple[float, float]:
    """The best split of a column and what is left of entropy then, less than nothing; `best` if none is better."""
    limit = np.nan
    rows, left, right, passed = whole.sum(), np.zeros_like(whole), whole.copy(), 0
    for at in range(len(values) - 1):
        left += counts[at]
        right -= counts[at]
        passed += counts[at].sum()
        if values[at + 1] <= values[at] + ALIKE or passed < FEWEST_IN_LEAF or rows - passed < FEWEST_IN_LEAF:
            continue
        worth = -(rows - passed) * _entropy(right, rows - passed) - passed * _entropy(left, passed)
        if worth > best:
            best = worth
            limit = float(values[at]) / 2.0 + float(values[at + 1]) / 2.0
            if limit == values[at + 1]:
                limit = float(values[at])
    return best, limit


@njit(cache=True, nogil=True)
def _split(data: Sorted, rows: NDArray[np.uint32], order: Order, known: int) -> tuple[int, float, int]:
    """The column to split by and the limit, NaN if nothing can be split; and how many columns are constant here.

    `known`: how many were constant above, and stand first. The rest are drawn one by one.
    """
    whole = np.zeros(data.n, dtype=np.int64)
    for i in rows:
        whole[data.classes[i]] += 1
    best, column, limit = -np.inf, -1, np.nan
    columns, end, found, drawn = order.columns, len(order.columns), 0, 0
    while end > known + found:
        at = _draw(order.state, drawn, end - found)
        if at < known:
            columns[drawn], columns[at] = columns[at], columns[drawn]
            drawn += 1
            continue
        at += found
        one = columns[at]
        used, counts = _counted(data, one, rows)
        values = data.values[one][used]
        if values[-1] <= values[0] + ALIKE:
            columns[at], columns[known + found] = columns[known + found], one
            found += 1
            continue
        end -= 1
        columns[end], columns[at] = one, columns[end]
        worth, where = _best_of_column(values, counts, whole, best)
        if worth > best:
            best, column, limit = worth, one, where
    columns[:known] = order.constant[:known]
    order.constant[known : known + found] = columns[known : known + found]
    return column, limit, known + found


@njit(cache=True, nogil=True)
def _part(ranks: NDArray[np.int32], rows: NDArray[np.uint32], last: int) -> int:
    """Put rows up to the last rank before the others; how many there are. `ranks` (all rows,)."""
    one, other = 0, len(rows)
    while one < other:
        if ranks[rows[one]] <= last:
            one += 1
        else:
            other -= 1
            rows[one], rows[other] = rows[other], rows[one]
    return one


@njit(cache=True, nogil=True)
def _pure(classes: Ints, rows: NDArray[np.uint32], n: int) -> bool:
    counts = np.zeros(n, dtype=np.int64)
    for i in rows:
        counts[classes[i]] += 1
    return _entropy(counts, len(rows)) <= PURE


@njit(cache=True, nogil=True)
def grow(data: Sorted, nodes: Nodes, order: Order, at_leaf: Ints) -> int:
    """Fill `nodes`, with room for twice as many as there are rows, and the leaf of every row; how many nodes."""
    rows = np.arange(len(data.classes)).astype(np.uint32)
    waiting = [(0, len(rows), -1, 0, 0)]  # begin, end, parent, whether on its right, columns constant above
    used = 0
    while len(waiting) > 0:
        begin, end, parent, on_right, known = waiting.pop()
        mine, node = rows[begin:end], used
        used += 1
        if parent >= 0:
            (nodes.right if on_right else nodes.left)[parent] = node
        column, limit = -1, np.nan
        if len(mine) >= 2 * FEWEST_IN_LEAF and not _pure(data.classes, mine, data.n):
            column, limit, known = _split(data, mine, order, known)
        nodes.left[node], nodes.right[node], nodes.column[node], nodes.limit[node] = -1, -1, column, limit
        if column < 0:
            for i in mine:
                at_leaf[i] = node
            continue
        last = np.searchsorted(data.values[column, : data.distinct[column]], limit, side="right") - 1
        middle = begin + _part(data.ranks[column], mine, int(last))
        waiting.append((middle, end, node, 1, known))
        waiting.append((begin, middle, node, 0, known))
    return used


@njit(cache=True, nogil=True)
def send_down(nodes: Nodes, matrix: NDArray[np.float32], found: Ints) -> None:
    """Fill `found` with the leaf of each row of `matrix` (rows, columns)."""
    for i in range(len(matrix)):
        node = 0
        while nodes.column[node] >= 0:
            goes_left = matrix[i, nodes.column[node]] <= nodes.limit[node]
            node = nodes.left[node] if goes_left else nodes.right[node]
        found[i] = node


class Branches(NamedTuple):
    """What pruning knows of each node: its children, -1 in a leaf, and its parent, -1 at the root; the rows
    misclassified if it were a leaf, of those learned from (`alone`) and of those held out; the same of the leaves
    `below` it, and how many `leaves` these are."""

    left: Ints
    right: Ints
    parent: Ints
    alone: Ints
    alone_out: Ints
    below: Ints
    below_out: Ints
    leaves: Ints


@njit(cache=True, nogil=True)
def add_up(parent: Ints, sums: Ints) -> None:
    """Add what stands at each node (nodes, columns) to everything above it; parents come before children."""
    for node in range(len(parent) - 1, 0, -1):
        for column in range(sums.shape[1]):
            sums[parent[node], column] += sums[node, column]


@njit(cache=True, nogil=True)
def _weakness(tree: Branches, node: int) -> float:
    """The rows that a branch saves for each leaf more than one."""
    return float((tree.alone[node] - tree.below[node]) / (tree.leaves[node] - 1))


@njit(cache=True, nogil=True)
def prune(tree: Branches, collapse: Floats, prices: Floats, errors: Floats) -> int:
    """Cut the weakest branch until the root is left; fill `prices` and `errors` and say how many of them there are.

    A branch is as weak as the rows it saves for each leaf are few. `collapse` (nodes,) is infinite before, and then
    the price at which a node becomes a leaf or vanishes. What is known of branches is changed on the way.
    """
    heap = [(np.inf, -1)]
    for node in range(len(tree.left)):
        if tree.left[node] >= 0:
            heapq.heappush(heap, (_weakness(tree, node), node))
    price, used = 0.0, 1
    prices[0], errors[0] = 0.0, float(tree.below_out[0])
    while True:
        gain, node = heapq.heappop(heap)
        if node < 0:
            return used
        if tree.leaves[node] == 1 or collapse[node] < np.inf:
            continue  # it is gone
        if gain != _weakness(tree, node):
            continue  # a branch below it was cut since, and it stands in the heap again
        price = max(price, gain)  # prices only rise along the path
        _vanish(tree, node, collapse, price)
        saved, saved_out = tree.alone[node] - tree.below[node], tree.alone_out[node] - tree.below_out[node]
        fewer = tree.leaves[node] - 1
        while node >= 0:  # everything above now saves less for fewer leaves
            tree.below[node] += saved
            tree.below_out[node] += saved_out
            tree.leaves[node] -= fewer
            if tree.leaves[node] > 1:
                heapq.heappush(heap, (_weakness(tree, node), node))
            node = int(tree.parent[node])
        prices[used], errors[used] = price, float(tree.below_out[0])
        used += 1


@njit(cache=True, nogil=True)
def _vanish(tree: Branches, top: int, collapse: Floats, price: float) -> None:
    """The node becomes a leaf at this price, and all below it are gone."""
    waiting = [top]
    while waiting:
        node = waiting.pop()
        if collapse[node] < np.inf or tree.left[node] < 0:
            continue
        collapse[node] = price
        waiting.append(tree.left[node])
        waiting.append(tree.right[node])


@njit(cache=True, nogil=True)
def stand_for(parent: Ints, collapse: Floats, price: float, found: Ints) -> None:
    """Fill `found` (nodes,), each its own before, with the node that stands for each once the tree is cut back."""
    for node in range(1, len(parent)):
        above = parent[node]
        if found[above] != above or collapse[above] <= price:
            found[node] = found[above]
