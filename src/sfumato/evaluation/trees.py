"""An entropy tree with pruning chosen by validation, standing in for C4.5 (PAPERS.md, 002-13).

There is no maintained C4.5 for Python. This tree has what decides its errors: entropy as the measure, at
least two rows in a leaf, categories split as categories, and pruning. It is grown by scikit-learn, whose
trees split numbers in two; so the values of a category are put in the order of their classes among the
training rows, where the best split in two is the best of all groupings (Fisher 1958; Breiman et al. 1984).
One-hot columns, the usual way out, can only take one value off at a time. C4.5 prunes by a guessed confidence
of 25 %; here the price of a leaf is the one with the fewest errors on rows held out for it, and the tree is
then grown again from all training rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluation.features import Codes, Feature, Floats
from sfumato.evaluation.pruning import Ints, Path, Shape, prune, stand_for
from sfumato.randomness import Seeded

Matrix = NDArray[np.float32]
FEWEST_IN_LEAF = 2
LARGE = 5_000
"""From this many training rows on one held-out part chooses the pruning; below, ten parts take turns."""


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree of scikit-learn with what is needed to cut it back: each node's rows by class (nodes, classes)."""

    model: Any
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
        np.add.at(reached, (self.model.apply(matrix), classes), 1)
        reached = self.shape.summed(reached)
        said = np.take_along_axis(reached, self.counts.argmax(axis=1)[:, None], axis=1)[:, 0]
        return prune(self.shape, self.wrong, reached.sum(axis=1) - said)


@dataclass(frozen=True, eq=False)
class PrunedTree:
    """A tree cut back: `says` (nodes,) is the class given at each leaf of the grown one."""

    model: Any
    says: Ints
    leaves: int

    def predict(self, matrix: Matrix) -> Codes:
        """(rows,): the class of each row."""
        found: Codes = self.says[self.model.apply(matrix)]
        return found


def grow(matrix: Matrix, classes: Codes, n: int) -> Grown:
    """A tree grown to its end."""
    tree = import_module("sklearn.tree").DecisionTreeClassifier(
        criterion="entropy", min_samples_leaf=FEWEST_IN_LEAF, random_state=0
    )
    tree.fit(matrix, classes)
    shape = Shape.of(tree.tree_.children_left.astype(np.int64), tree.tree_.children_right.astype(np.int64))
    counts = np.zeros((len(shape.left), n), dtype=np.int64)
    np.add.at(counts, (tree.apply(matrix), classes), 1)
    return Grown(tree, shape, shape.summed(counts))


def fit_tree(matrix: Matrix, classes: Codes, n: int, *, seed: int = 0) -> PrunedTree:
    """Grow on all rows, and cut back at the price that held-out rows choose."""
    whole = grow(matrix, classes, n)
    path = prune(whole.shape, whole.wrong, whole.wrong)
    price = _price(path, matrix, classes, n, seed) if len(classes) >= 10 else 0.0
    node = stand_for(whole.shape, path.collapse, price)
    leaves = len(np.unique(node[whole.shape.left < 0]))
    return PrunedTree(whole.model, whole.counts.argmax(axis=1)[node], leaves)


def _price(path: Path, matrix: Matrix, classes: Codes, n: int, seed: int) -> float:
    """The price per leaf, between two of the path's, with the fewest held-out errors; the highest on a tie."""
    steps = np.unique(path.prices)
    tried = np.append(np.sqrt(steps[:-1] * steps[1:]), steps[-1])
    errors = np.zeros(len(tried))
    for out in _held_out(len(classes), seed):
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
