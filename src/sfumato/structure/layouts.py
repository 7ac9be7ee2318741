"""Layouts: where each value of one attribute stands in the space in which records are clustered.

Squared Euclidean distance between two categories is 003 Eq. 6, the path between them over twice the height of
the tree; between two numbers it is the square of their difference over the width of the range. So no
attribute's distance exceeds 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data import calendar
from sfumato.data.axis import numbers_of
from sfumato.data.schema import Category, ItemSet, Number
from sfumato.data.table import Column, ItemColumn, Sets, narrow
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.events import checkpoint
from sfumato.structure.coded_points import SetBlock

Positions = NDArray[np.float32]

UNION = math.sqrt(0.5)
"""How far from the origin a set stands that is not empty."""
MOST_NODES = 512
"""No attribute has more coordinates; rarer labels stand at their nearest ancestor that has one."""
SUPPRESSED = "*"
SETS_AT_ONCE = 1 << 15
"""Sets whose coordinates are collected at once."""


@dataclass(frozen=True, eq=False)
class NumberLayout:
    """One coordinate: a number over the width of its range, the declared one, or else the observed one.

    A missing number stands at the mean of the others.
    """

    attribute: Number
    low: float
    high: float
    mean: float

    @classmethod
    def of(cls, attribute: Number, column: Column) -> NumberLayout:
        """Learn the observed range if none is declared, and the mean for missing values."""
        numbers = numbers_of(column.values, attribute).astype(np.float64)
        counts = column.counts[:-1]
        known = np.isfinite(numbers)
        numbers, counts = numbers[known], counts[known]
        low, high = _range(attribute) or ((numbers.min(), numbers.max()) if len(numbers) else (0.0, 0.0))
        mean = float(np.average(numbers, weights=counts)) if counts.sum() else low
        return cls(attribute, float(low), float(high), mean)

    @property
    def dims(self) -> int:
        """Number of coordinates."""
        return 1

    def at(self, number: float) -> float:
        """The coordinate of a number; 0 if the range has no width."""
        return (number - self.low) / (self.high - self.low) if self.high > self.low else 0.0

    def positions(self, values: pa.Array[Any]) -> Positions:
        """(values + 1, 1): where each value stands, missing last."""
        numbers = np.append(numbers_of(values, self.attribute).astype(np.float64), self.mean)
        numbers = np.where(np.isfinite(numbers), numbers, self.mean)
        width = self.high - self.low
        scaled = (numbers - self.low) / width if width > 0 else np.zeros(len(numbers))
        return scaled.astype(np.float32)[:, None]


@dataclass(frozen=True, eq=False)
class TreeLayout:
    """One coordinate per label below the root, the square root of 1 / 2H for a value and all its ancestors.

    A missing value is a leaf of its own right under the root, if the table misses any; otherwise it stands at
    the root, the origin. A category without a taxonomy has a tree of height one: any two values are 1 apart.
    """

    taxonomy: Taxonomy
    coordinate: Ints  # of each label; -1 for the root and for labels too rare to have one
    missing: bool

    @classmethod
    def of(cls, attribute: Category | ItemSet, column: Column | ItemColumn) -> TreeLayout:
        """Lay out the taxonomy, or the declared and occurring values."""
        tree = attribute.taxonomy or _flat(attribute.values or (), _texts(column.values))
        return cls(tree, _coordinates(tree, column), column.missing > 0)

    @property
    def dims(self) -> int:
        """Number of coordinates."""
        return int((self.coordinate >= 0).sum()) + self.missing

    @property
    def complete(self) -> bool:
        """Whether every label has a coordinate, not frequent ones alone."""
        return int((self.coordinate >= 0).sum()) == len(self.taxonomy.labels) - 1

    @cached_property
    def node_at(self) -> dict[str, int]:
        """Which row of `nodes` a label has."""
        return {label: node for node, label in enumerate(self.taxonomy.labels)}

    @cached_property
    def indicators(self) -> NDArray[np.bool_]:
        """(labels + 1, dims): the coordinates of each label and its ancestors; missing last."""
        found = np.zeros((len(self.taxonomy.labels) + 1, self.dims), dtype=np.bool_)
        for node, parent in enumerate(self.taxonomy.parents):
            if parent >= 0:
                found[node] = found[parent]
            if self.coordinate[node] >= 0:
                found[node, self.coordinate[node]] = True
        if self.missing:
            found[-1, -1] = True
        return found

    @cached_property
    def nodes(self) -> Positions:
        """(labels + 1, dims): where each label stands, inner ones too; missing last."""
        height = max(1, self.taxonomy.levels - 1)
        return (self.indicators * math.sqrt(1 / (2 * height))).astype(np.float32)

    def node(self, label: str) -> Positions:
        """(dims,): where a label stands; a label that the tree does not know stands at the root."""
        return np.asarray(self.nodes[self.node_at.get(label, 0)], dtype=np.float32)

    def positions(self, values: pa.Array[Any]) -> Positions:
        """(values + 1, dims): where each value stands, missing last."""
        return np.asarray(self.nodes[self._rows(_texts(values))], dtype=np.float32)

    def _rows(self, labels: Sequence[str]) -> Ints:
        return np.array([*(self.node_at.get(label, 0) for label in labels), len(self.nodes) - 1], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class ItemLayout:
    """A set stands at the union of its items' labels and ancestors, at length `UNION`.

    So two sets are 1 apart if they share nothing, and two single items, if all leaves are at one depth, are
    as far apart as 003 Eq. 6 says. The empty set stands at the origin.
    """

    tree: TreeLayout

    @property
    def dims(self) -> int:
        """Number of coordinates."""
        return self.tree.dims

    def block(self, sets: Sets, labels: Sequence[str]) -> SetBlock:
        """Every different set once, and which one each row holds; a set's items are places in `labels`."""
        of_label = self.tree.indicators[[self.tree.node_at.get(label, 0) for label in labels] or [0]]
        return unions(of_label, self.tree.indicators[-1], sets)


def unions(of_label: NDArray[np.bool_], of_missing: NDArray[np.bool_], sets: Sets) -> SetBlock:
    """Each set at the coordinates of all its labels, at length `UNION`; the empty one at the origin.

    `of_label` (labels, dims) and `of_missing` (dims,): the coordinates of each label, and of a missing set.
    """
    count, dims = len(sets.missing), len(of_missing)
    members, sizes = [np.empty(0, dtype=np.uint32)], [np.zeros(1, dtype=np.int64)]  # of some sets at a time
    for first in range(0, count, SETS_AT_ONCE):
        checkpoint()
        end = min(first + SETS_AT_ONCE, count)
        held = _coordinates_of(of_label, of_missing, sets, first, end)
        members.append((held % max(dims, 1)).astype(np.uint32))
        sizes.append(np.diff(np.searchsorted(held, np.arange(end - first + 1) * dims)))
    offsets = np.cumsum(np.concatenate(sizes))
    return SetBlock(narrow(sets.codes, count), offsets, np.concatenate(members), dims, UNION)


def _coordinates_of(
    of_label: NDArray[np.bool_], of_missing: NDArray[np.bool_], sets: Sets, first: int, end: int
) -> Ints:
    """Every coordinate of the sets from `first` to `end` once: set * dims + coordinate, in order, the first set 0."""
    dims = len(of_missing)
    items = sets.items[sets.offsets[first] : sets.offsets[end]]
    of_item = np.repeat(np.arange(end - first), np.diff(sets.offsets[first : end + 1]))
    known = ~sets.missing[first:end][of_item]
    labels, along = np.nonzero(of_label)
    begins = np.searchsorted(labels, np.arange(len(of_label) + 1))
    counts = np.diff(begins)[items[known]]
    of_pair = np.repeat(of_item[known], counts)
    within = np.arange(len(of_pair)) - np.repeat(np.cumsum(counts) - counts, counts)
    told = of_pair * dims + along[np.repeat(begins[items[known]], counts) + within]
    gone = np.flatnonzero(sets.missing[first:end])[:, None]
    every: NDArray[Any] = np.concatenate([told, (gone * dims + np.flatnonzero(of_missing)).ravel()])
    every = np.sort(every.astype(np.uint32) if (end - first) * dims < 2**32 else every)  # small ones are sorted faster
    kept = np.append(True, every[1:] != every[:-1])[: len(every)]
    return np.asarray(every[kept], dtype=np.int64)


Layout = NumberLayout | TreeLayout | ItemLayout


def layout(attribute: Number | Category | ItemSet, column: Column | ItemColumn) -> Layout:
    """How an attribute is laid out."""
    if isinstance(attribute, Number) and isinstance(column, Column):
        return NumberLayout.of(attribute, column)
    if isinstance(attribute, Category):
        return TreeLayout.of(attribute, column)
    if isinstance(attribute, ItemSet):
        return ItemLayout(TreeLayout.of(attribute, column))
    raise TypeError("a number is not set-valued")


def _range(attribute: Number) -> tuple[float, float] | None:
    if attribute.range is None:
        return None
    if attribute.calendar is None:
        return float(attribute.range[0]), float(attribute.range[1])
    first, last = (calendar.parse(str(end)) for end in attribute.range)
    units = calendar.floor(np.array([first, last], dtype=np.int64), attribute.calendar)
    return float(units[0]), float(units[1])


def _texts(values: pa.Array[Any]) -> list[str]:
    return [str(value) for value in values.to_pylist()]


def _flat(declared: Sequence[str], seen: Sequence[str]) -> Taxonomy:
    """All values under one root, which is what a suppressed value shows."""
    values = list(dict.fromkeys([*declared, *seen]))
    root = SUPPRESSED if SUPPRESSED not in values else f"{SUPPRESSED}{max(values, key=len)}"
    return Taxonomy((root, *values), (-1, *[0] * len(values)))


def _coordinates(tree: Taxonomy, column: Column | ItemColumn) -> Ints:
    """Coordinates in tree order; only for the most frequent labels if there are too many."""
    found = np.full(len(tree.labels), -1, dtype=np.int64)
    below = len(tree.labels) - 1
    kept = np.arange(1, below + 1)
    if below > MOST_NODES:
        kept = np.sort(np.argsort(-_frequencies(tree, column)[1:], kind="stable")[:MOST_NODES]) + 1
    found[kept] = np.arange(len(kept))
    return found


def _frequencies(tree: Taxonomy, column: Column | ItemColumn) -> Ints:
    """(labels,): how many values of the table hang at or below each label."""
    node_at = {label: node for node, label in enumerate(tree.labels)}
    counts = np.bincount(column.codes, minlength=len(column.values))
    found = np.zeros(len(tree.labels), dtype=np.int64)
    for label, count in zip(_texts(column.values), counts, strict=False):
        found[node_at[label]] += count
    for node in range(len(tree.labels) - 1, 0, -1):
        found[tree.parents[node]] += found[node]
    return found
