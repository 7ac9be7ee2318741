"""Columns as codes, and the space in which classes are formed: where every value of a quasi-identifier stands.

A number is one coordinate. A category has one coordinate for every label of its tree below the root: a value
stands at sqrt(1 / 2H) on its own and on its ancestors', H being the height of the tree, so that the squared
distance of two values is the path between them over 2H. A set stands at the union of its items' labels, at
length sqrt(1/2). Each attribute is scaled to a variance of 1, so that all count alike, unless told otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats
from sfumato.data.axis import labels_of, numbers_of
from sfumato.data.schema import Attribute, Category, ItemSet, Number
from sfumato.data.table import ItemColumn, Table
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import TableError
from sfumato.events import checkpoint
from sfumato.maskers.centroids.points import Points

Value = float | str | tuple[str, ...]
"""A number (dates and times in microseconds), a label, or a set of labels in order."""


@dataclass(frozen=True, eq=False)
class Coded:
    """Values and where they stand; the code `len(values)` means missing."""

    codes: NDArray[np.int64]
    values: Sequence[Value]

    @classmethod
    def of(cls, entries: Iterable[Value | None]) -> Coded:
        """Code values one by one; distinct values in ascending order.

        >>> Coded.of(["b", None, "a", "b"]).codes.tolist()
        [1, 2, 0, 1]
        """
        rows = list(entries)
        known: list[Any] = [value for value in set(rows) if value is not None]
        known.sort()
        at = {value: code for code, value in enumerate(known)}
        return cls(np.array([at.get(row, len(known)) for row in rows], dtype=np.int64), known)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """(rows,): where there is no value."""
        return np.asarray(self.codes == len(self.values), dtype=np.bool_)

    @property
    def counts(self) -> NDArray[np.int64]:
        """(values + 1,): how often each value stands there, missing last."""
        return np.bincount(self.codes, minlength=len(self.values) + 1)

    def taken(self, at: NDArray[np.int64]) -> Coded:
        """Other rows of the same values."""
        return Coded(self.codes[at], self.values)

    def numbers(self) -> NDArray[np.float64]:
        """(rows,): the numbers; 0 where missing."""
        return np.append(np.asarray(self.values, dtype=np.float64), 0.0)[self.codes]

    def rows(self) -> list[Value | None]:
        """The value of each row."""
        known: list[Value | None] = [*self.values, None]
        return [known[code] for code in self.codes.tolist()]


def coded(table: Table, name: str) -> Coded:
    """A column of the table; dates and times as the beginning of their calendar unit."""
    column, attribute = table.columns[name], table.schema[name]
    if isinstance(column, ItemColumn):
        return Coded.of(
            None if items is None else tuple(sorted(map(str, items))) for items in column.decode().to_pylist()
        )
    codes = column.codes.astype(np.int64)
    if isinstance(attribute, Number):
        return _numbers(name, codes, numbers_of(column.values, attribute).astype(np.float64))
    return Coded(codes, labels_of(column.values))


def _numbers(name: str, codes: NDArray[np.int64], numbers: NDArray[np.float64]) -> Coded:
    if np.isinf(numbers).any():
        raise TableError(
            name,
            "a number that is averaged is finite",
            given="an infinite number",
            remedy="declare what stands for it as missing, for example missing: ['inf']",
        )
    known, places = np.unique(numbers[~np.isnan(numbers)], return_inverse=True)
    at = np.full(len(numbers) + 1, len(known), dtype=np.int64)
    at[:-1][~np.isnan(numbers)] = places
    return Coded(at[codes], known.tolist())


def is_whole(table: Table, name: str) -> bool:
    """Whether a number is declared to be whole, or if nothing is declared, comes as whole numbers."""
    import pyarrow.types as pt

    attribute: Attribute = table.schema[name]
    if not isinstance(attribute, Number) or attribute.calendar is not None:
        return False
    return pt.is_integer(table.column(name).values.type) if attribute.integer is None else attribute.integer


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
            checkpoint()
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
