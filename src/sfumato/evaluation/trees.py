"""An entropy tree with pruning chosen by validation, standing in for C4.5 (PAPERS.md, 002-13).

There is no maintained C4.5 for Python. This tree has what decides its errors: entropy as the measure, at
least two rows in a leaf, categories split as categories, and pruning. It is grown as scikit-learn's are (see
`tree_kernels`), which split numbers in two; so the values of a category are put in the order of their classes among the
training rows, where the best split in two is the best of all groupings (Fisher 1958; Breiman et al. 1984).
One-hot columns, the usual way out, can only take one value off at a time.

Pruning is Breiman, Friedman, Olshen and Stone's weakest link, on numbers of misclassified rows: a branch is cut where
the rows it saves per leaf, g = (wrong as a leaf - wrong below) / (leaves below - 1), is smallest. C4.5 prunes by a
guessed confidence of 25 %; here the price of a leaf is the one with the fewest errors on rows held out for it, and
the tree is then grown again from all training rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats, Ints
from sfumato.evaluation import tree_kernels as kernels
from sfumato.evaluation.training import Codes, Feature
from sfumato.events import awaited, watched
from sfumato.randomness import Seeded

Matrix = NDArray[np.float32]
LARGE = 5_000
"""From this many training rows on one held-out part chooses the pruning; below, ten parts take turns."""


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree with what is needed to cut it back: each node's rows by class (nodes, classes)."""

    nodes: kernels.Nodes
    shape: Shape
    counts: Ints

    @property
    def wrong(self) -> Ints:
        """(nodes,): training rows misclassified if the node were a leaf."""
        found: Ints = self.counts.sum(axis=1) - self.counts.max(axis=1)
        return found

    def path(self, matrix: Matrix, classes: Codes) -> Path:
        """How it shrinks, judged on these rows."""
        reached = np.zeros_like(self.counts)
        np.add.at(reached, (leaf_of(self.nodes, matrix), classes), 1)
        reached = self.shape.summed(reached)
        said = np.take_along_axis(reached, self.counts.argmax(axis=1)[:, None], axis=1)[:, 0]
        return prune(self.shape, self.wrong, reached.sum(axis=1) - said)


@dataclass(frozen=True, eq=False)
class PrunedTree:
    """A tree cut back: `says` (nodes,) is the class given at each leaf of the grown one."""

    nodes: kernels.Nodes
    says: Ints
    leaves: int

    def predict(self, matrix: Matrix) -> Codes:
        """(rows,): the class of each row."""
        found: Codes = self.says[leaf_of(self.nodes, matrix)]
        return found


def grow(matrix: Matrix, classes: Codes, n: int) -> Grown:
    """A tree grown to its end."""
    columns, nodes = np.arange(matrix.shape[1]), kernels.Nodes.room(2 * len(classes))
    at_leaf = np.empty(len(classes), dtype=np.int64)
    order = kernels.Order(columns, columns.copy(), np.array([kernels.SEED], dtype=np.uint32))
    used = awaited(lambda: kernels.grow(_sorted(matrix, classes, n), nodes, order, at_leaf))
    nodes = nodes.first(used)
    shape = Shape.of(nodes.left, nodes.right)
    counts = np.zeros((used, n), dtype=np.int64)
    np.add.at(counts, (at_leaf, classes), 1)
    return Grown(nodes, shape, shape.summed(counts))


def _sorted(matrix: Matrix, classes: Codes, n: int) -> kernels.Sorted:
    each = [np.unique(column, return_inverse=True) for column in matrix.T]
    distinct = np.array([len(values) for values, _ in each])
    values = np.zeros((len(each), int(distinct.max())), dtype=np.float32)
    for line, (found, _) in zip(values, each, strict=True):
        line[: len(found)] = found
    return kernels.Sorted(np.array([ranks for _, ranks in each], dtype=np.int32), values, distinct, classes, n)


def leaf_of(nodes: kernels.Nodes, matrix: Matrix) -> Ints:
    """(rows,): the leaf where each row ends."""
    found = np.empty(len(matrix), dtype=np.int64)
    kernels.send_down(nodes, matrix, found)
    return found


def fit_tree(matrix: Matrix, classes: Codes, n: int, *, seed: int = 0) -> PrunedTree:
    """Grow on all rows, and cut back at the price that held-out rows choose."""
    whole = grow(matrix, classes, n)
    path = prune(whole.shape, whole.wrong, whole.wrong)
    price = _price(path, matrix, classes, n, seed) if len(classes) >= 10 else 0.0
    node = stand_for(whole.shape, path.collapse, price)
    leaves = len(np.unique(node[whole.shape.left < 0]))
    return PrunedTree(whole.nodes, whole.counts.argmax(axis=1)[node], leaves)


def _price(path: Path, matrix: Matrix, classes: Codes, n: int, seed: int) -> float:
    """The price per leaf, between two of the path's, with the fewest held-out errors; the highest on a tie.

    The last one leaves the root alone, in every tree: a finite price that does so in the whole tree may leave the one
    that is judged as it is, whose errors say nothing of the root's.
    """
    steps = np.unique(path.prices)
    tried = np.append(np.sqrt(steps[:-1] * steps[1:]), np.inf)
    errors = np.zeros(len(tried))
    for out in watched(_held_out(len(classes), seed)):
        inside = np.ones(len(classes), dtype=bool)
        inside[out] = False
        grown = grow(matrix[inside], classes[inside], n)
        scale = float(inside.mean())
        errors += grown.path(matrix[out], classes[out]).at(tried * scale)
    return float(tried[len(tried) - 1 - int(np.argmin(errors[::-1]))])


def _held_out(rows: int, seed: int) -> list[Codes]:
    parts = np.array_split(Seeded(seed).permutation(rows), 4 if rows >= LARGE else 10)
    return parts[:1] if rows >= LARGE else parts


def tree_matrix(features: list[Feature], classes: Codes, n: int, *, train: Codes) -> Matrix:
    """(rows, columns): numbers as they stand, categories by the order of their classes in `train`."""
    columns: list[Floats] = []
    for feature in features:
        if feature.ends is None:
            columns.append(class_order(feature, classes, n, train=train)[feature.codes])
        else:
            columns += [line[feature.codes] for line in _lines(feature.ends)]
    return np.stack(columns, axis=1).astype(np.float32)


def _lines(ends: Floats) -> list[Floats]:
    """Lower ends, and upper ends where these stand in another order; scaled to 0..1, missing below all."""
    low, high = np.nanmin(ends), np.nanmax(ends)
    scaled = (ends - low) / ((high - low) or 1.0)
    lines = [np.where(np.isnan(scaled[:, side]), -1.0, scaled[:, side]) for side in (0, 1)]
    rising = np.lexsort((lines[1], lines[0]))
    alike = bool((np.diff(lines[1][rising]) >= 0).all())
    one_to_one = len(np.unique(lines[0])) == len(np.unique(np.stack(lines), axis=1).T)
    return lines[:1] if alike and one_to_one else lines


def class_order(feature: Feature, classes: Codes, n: int, *, train: Codes) -> Floats:
    """(size,): where each value stands in the order of the classes of its training rows.

    Two classes: by the share of the second. More: along the first principal direction of the shares
    (Coppersmith, Hong and Hosking 1999). A value without training rows stands where the average is.
    """
    cells = np.bincount(feature.codes[train] * n + classes[train], minlength=feature.size * n)
    counts = cells.reshape(feature.size, n).astype(np.float64)
    held = counts.sum(axis=1)
    mean = counts.sum(axis=0) / held.sum()
    shares = np.where(held[:, None] > 0, counts / np.maximum(held, 1.0)[:, None], mean) - mean
    if n == 2:
        along = shares[:, 1]
    else:
        along = shares @ np.linalg.svd(shares * np.sqrt(held)[:, None], full_matrices=False)[2][0]
    order = np.lexsort((np.arange(feature.size), np.round(along, 9)))
    place = np.empty(feature.size)
    place[order] = np.arange(feature.size)
    empty = held == 0
    if empty.any() and not empty.all():
        known = np.flatnonzero(~empty)
        place[empty] = np.median(place[known[np.argsort(np.abs(along[known]))[:2]]])
    return place


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
        found = np.ascontiguousarray(at_leaves).copy()
        kernels.add_up(self.parent, found.reshape(len(found), -1))
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
    tree = kernels.Branches(
        *(shape.left, shape.right, shape.parent),
        alone=wrong,
        alone_out=held_out,
        below=shape.summed(np.where(leaf, wrong, 0)),
        below_out=shape.summed(np.where(leaf, held_out, 0)),
        leaves=shape.summed(leaf.astype(np.int64)),
    )
    collapse = np.full(len(leaf), np.inf)
    prices, errors = np.zeros((2, len(leaf) + 1))
    used = kernels.prune(tree, collapse, prices, errors)
    return Path(prices[:used], errors[:used], collapse)


def stand_for(shape: Shape, collapse: Floats, price: float) -> Ints:
    """(nodes,): the node that stands for each one once the tree is cut back at this price."""
    found = np.arange(len(collapse), dtype=np.int64)
    kernels.stand_for(shape.parent, collapse, price, found)
    return found
