"""Weakest-link pruning: which branches of a grown tree to cut back, and how far, judged on held-out rows.

Breiman, Friedman, Olshen and Stone's cost-complexity pruning, on numbers of misclassified rows. A branch is
cut where the rows it saves per leaf, g = (wrong as a leaf - wrong below) / (leaves below - 1), is smallest.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Shape:
    """A binary tree in arrays (nodes,), parents before children: `left` and `right` are -1 at a leaf."""

    left: Ints
    right: Ints
    parent: Ints

    @classmethod
    def of(cls, left: Ints, right: Ints) -> Shape:
        """Find the parents."""
        parent = np.full(len(left), -1, dtype=np.int64)
        inner = np.flatnonzero(left >= 0)
        parent[left[inner]] = inner
        parent[right[inner]] = inner
        return cls(left, right, parent)

    def summed(self, at_leaves: NDArray[np.int64]) -> NDArray[np.int64]:
        """(nodes, ...): sums over the leaves below each node, given the values at the leaves."""
        found = at_leaves.copy()
        for node in range(len(self.left) - 1, 0, -1):
            found[self.parent[node]] += found[node]
        return found


@dataclass(frozen=True, eq=False)
class Path:
    """How a tree shrinks: from `prices[i]` per leaf on, it makes `errors[i]` errors on the held-out rows.

    `collapse` (nodes,): the price at which a node becomes a leaf or vanishes; infinite for none.
    """

    prices: Floats
    errors: Floats
    collapse: Floats

    def at(self, prices: Floats) -> Floats:
        """Errors of the tree that is left at each price."""
        found: Floats = self.errors[np.searchsorted(self.prices, prices, side="right") - 1]
        return found


def prune(shape: Shape, wrong: Ints, held_out: Ints) -> Path:
    """The whole path. `wrong`, `held_out` (nodes,): rows misclassified if the node were a leaf."""
    leaf = shape.left < 0
    below = shape.summed(np.where(leaf, wrong, 0)).tolist()
    outside = shape.summed(np.where(leaf, held_out, 0)).tolist()
    leaves = shape.summed(leaf.astype(np.int64)).tolist()
    alone, alone_out, parent = wrong.tolist(), held_out.tolist(), shape.parent.tolist()
    children = list(zip(shape.left.tolist(), shape.right.tolist(), strict=True))
    collapse = [np.inf] * len(alone)
    heap = [((alone[n] - below[n]) / (leaves[n] - 1), n) for n in np.flatnonzero(~leaf).tolist()]
    heapq.heapify(heap)
    prices, errors, price = [0.0], [float(outside[0])], 0.0
    while heap:
        gain, node = heapq.heappop(heap)
        if leaves[node] == 1 or collapse[node] < np.inf or gain != (alone[node] - below[node]) / (leaves[node] - 1):
            continue
        price = max(price, gain)
        _vanish(children, node, collapse, price)
        saved = (alone[node] - below[node], alone_out[node] - outside[node], leaves[node] - 1)
        while node >= 0:
            below[node] += saved[0]
            outside[node] += saved[1]
            leaves[node] -= saved[2]
            if leaves[node] > 1:
                heapq.heappush(heap, ((alone[node] - below[node]) / (leaves[node] - 1), node))
            node = parent[node]
        prices.append(price)
        errors.append(float(outside[0]))
    return Path(np.array(prices), np.array(errors), np.array(collapse))


def _vanish(children: list[tuple[int, int]], top: int, collapse: list[float], price: float) -> None:
    """The node becomes a leaf at this price, and all below it are gone."""
    waiting = [top]
    while waiting:
        node = waiting.pop()
        if collapse[node] < np.inf or children[node][0] < 0:
            continue
        collapse[node] = price
        waiting += children[node]


def stand_for(shape: Shape, collapse: Floats, price: float) -> Ints:
    """(nodes,): the node that stands for each one once the tree is cut back at this price."""
    found = np.arange(len(collapse), dtype=np.int64)
    for node in range(1, len(found)):
        above = shape.parent[node]
        if found[above] != above or collapse[above] <= price:
            found[node] = found[above]
    return found
