"""The space in which classes are formed: where every value of every quasi-identifying attribute stands.

A number is one coordinate. A category has one coordinate for every label of its tree below the root: a value
stands at sqrt(1 / 2H) on its own and on its ancestors', H being the height of the tree, so that the squared
distance of two values is the path between them over 2H. A set stands at the union of its items' labels, at
length sqrt(1/2). Each attribute is scaled to a variance of 1, so that all count alike, unless told otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sfumato.data.schema import Attribute, Category, ItemSet, Number
from sfumato.data.taxonomy import Taxonomy
from sfumato.maskers.centroids.coded import Coded, Value
from sfumato.maskers.centroids.points import Floats, Points

Scale = Literal["deviation", "none"]
MOST_LABELS = 512
"""Rarer labels of a tree have no coordinate of their own: they stand at their ancestors."""
MOST_AXES = 16
LEAST_SPREAD = 0.005
"""A category's or an item set's coordinates are reduced to at most so many principal axes, and to those that
hold at least this share of its variance."""
SUPPRESSED = "*"


@dataclass(frozen=True, eq=False)
class NumberAxis:
    """One coordinate: (number / top - mean) * factor. A missing number stands at the mean.

    `top`, the largest number there is, keeps the squares of very large and very small numbers in range.
    """

    top: float
    mean: float
    factor: float

    @classmethod
    def of(cls, data: Coded, scale: Scale) -> NumberAxis:
        """Learn mean and deviation."""
        counts, numbers = data.counts[:-1], np.asarray(data.values, dtype=np.float64)
        if np.count_nonzero(counts) < 2:
            return cls(1.0, float(numbers[counts > 0].sum()), 0.0)
        top = float(np.abs(numbers).max())
        mean = float(np.average(numbers / top, weights=counts))
        deviation = math.sqrt(float(np.average((numbers / top - mean) ** 2, weights=counts)))
        return cls(top, mean, top if scale == "none" else _inverse(deviation))

    def positions(self, data: Coded) -> Floats:
        """(values + 1, 1)"""
        numbers = np.asarray(data.values, dtype=np.float64)
        return np.append((numbers / self.top - self.mean) * self.factor, 0.0)[:, None]


@dataclass(frozen=True, eq=False)
class TreeAxes:
    """Coordinates of a category or an item set.

    `at`: the coordinate of each label that has one; `turn` (coordinates, axes) reduces them. A missing value
    has a coordinate of its own, the last.
    """

    tree: Taxonomy
    at: Mapping[str, int]
    turn: Floats
    sets: bool

    @classmethod
    def of(cls, attribute: Category | ItemSet, data: Coded, scale: Scale) -> TreeAxes:
        """Learn which labels have a coordinate, the principal axes and the deviation."""
        tree = tree_of(attribute, data)
        plain = cls(tree, _coordinates(tree, data), np.eye(0), isinstance(attribute, ItemSet))
        places, weights = plain.indicators(data), data.counts / data.counts.sum()
        centred = places - weights @ places
        spread, axes = np.linalg.eigh((centred * weights[:, None]).T @ centred)
        kept = np.flatnonzero(spread >= max(LEAST_SPREAD * spread.sum(), 1e-12))[-MOST_AXES:]
        factor = 1.0 if scale == "none" else _inverse(math.sqrt(max(0.0, float(spread.sum()))))
        return cls(tree, plain.at, axes[:, kept] * factor, plain.sets)

    def positions(self, data: Coded) -> Floats:
        """(values + 1, axes)"""
        return np.asarray(self.indicators(data) @ self.turn, dtype=np.float64)

    def indicators(self, data: Coded) -> Floats:
        """(values + 1, coordinates) before they are reduced."""
        found = np.zeros((len(data.values) + 1, len(self.at) + 1))
        found[-1, -1] = 1.0
        for row, value in enumerate(data.values):
            found[row, [self.at[label] for label in closure(self.tree, value) if label in self.at]] = 1.0
        if self.sets:
            lengths = np.sqrt(found.sum(axis=1, keepdims=True))
            return found / np.where(lengths > 0, lengths, 1.0) * math.sqrt(0.5)
        return found * math.sqrt(1 / (2 * max(1, self.tree.levels - 1)))


@dataclass(frozen=True, eq=False)
class Space:
    """The axes of every attribute."""

    axes: Mapping[str, NumberAxis | TreeAxes]

    @classmethod
    def of(cls, attributes: Mapping[str, Attribute], columns: Mapping[str, Coded], *, scale: Scale) -> Space:
        """Learn the axes of these columns."""
        return cls({name: _axes(attributes[name], data, scale) for name, data in columns.items()})

    def place(self, columns: Mapping[str, Coded]) -> Points:
        """Rows of the same attributes as vectors."""
        blocks, owners = [], []
        for number, (name, axes) in enumerate(self.axes.items()):
            positions = axes.positions(columns[name])
            blocks.append(positions[columns[name].codes])
            owners += [number] * positions.shape[1]
        return Points(np.ascontiguousarray(np.hstack(blocks)), np.array(owners, dtype=np.int64))


def _axes(attribute: Attribute, data: Coded, scale: Scale) -> NumberAxis | TreeAxes:
    if isinstance(attribute, Number):
        return NumberAxis.of(data, scale)
    return TreeAxes.of(attribute, data, scale)


def tree_of(attribute: Category | ItemSet, data: Coded) -> Taxonomy:
    """The attribute's taxonomy, or one root over the values that occur."""
    if attribute.taxonomy is not None:
        return attribute.taxonomy
    labels = {label for value in data.values for label in _items(value)} - {SUPPRESSED}
    return Taxonomy.flat(sorted(labels), root=SUPPRESSED)


def closure(tree: Taxonomy, value: Value) -> set[str]:
    """The labels of a value or a set of values, with all their ancestors; unknown labels have none."""
    known = [label for label in _items(value) if label in tree]
    return {above for label in known for above in (label, *tree.ancestors(label))}


def _items(value: Value) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else (str(value),)


def _coordinates(tree: Taxonomy, data: Coded) -> dict[str, int]:
    """A coordinate for the labels below the root that rows have most often."""
    held: dict[str, int] = {}
    for value, count in zip(data.values, data.counts.tolist(), strict=False):
        for label in closure(tree, value) - {tree.root}:
            held[label] = held.get(label, 0) + count
    often = sorted(held, key=lambda label: (-held[label], label))[:MOST_LABELS]
    return {label: at for at, label in enumerate(often)}


def _inverse(deviation: float) -> float:
    return 1.0 / deviation if deviation > 0 else 0.0
