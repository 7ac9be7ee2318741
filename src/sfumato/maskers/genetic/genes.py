"""Genes: one attribute's part of a chromosome, which says what is shown of it.

Every string of bits is a valid cut, so crossing two never needs mending: an inner node of a taxonomy is opened
or not (and counts only if all above it are open), a label is disclosed or not, a boundary of a number is a
break or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data.axis import Axis, NumberAxis, TreeAxis, ValueAxis
from sfumato.data.grouping import group_numbers
from sfumato.maskers.recoding.rules import Discretize, Generalize, Rule, Suppress

Bits = NDArray[np.bool_]
MOST_BOUNDARIES = 63
"""A number with more distinct values offers this many boundaries, spread evenly over them."""


@dataclass(frozen=True, eq=False)
class View:
    """What is shown at each position (positions,): the value's number, and what is lost by it, from 0 to 1.

    The loss is Iyengar's LM: of a category the other leaves it might be, of a number the interval's length.
    """

    codes: NDArray[np.int64]
    loss: NDArray[np.float64]


class Gene(Protocol):
    """One attribute's part of a chromosome."""

    @property
    def length(self) -> int:
        """How many bits it has."""

    def view(self, bits: Bits) -> View:
        """What these bits show."""

    def rule(self, bits: Bits) -> Rule:
        """The same in labels."""


class TreeGene:
    """Owns the inner nodes of a taxonomy, in depth-first order."""

    def __init__(self, axis: TreeAxis) -> None:
        self._axis, tree = axis, axis.taxonomy
        self._inner = [label for label in tree.labels if not tree.is_leaf(label)]
        self._bit = {label: at for at, label in enumerate(self._inner)}

    @property
    def length(self) -> int:
        """One bit for each inner node."""
        return len(self._inner)

    def _cut(self, bits: Bits) -> list[str]:
        tree, found, waiting = self._axis.taxonomy, [], [self._axis.taxonomy.root]
        while waiting:
            label = waiting.pop()
            if label in self._bit and bits[self._bit[label]]:
                waiting += reversed(tree.children(label))
            else:
                found.append(label)
        return found

    def view(self, bits: Bits) -> View:
        """A node's positions are its leaves; missing goes with the root alone."""
        codes = np.zeros(self._axis.size, dtype=np.int64)
        loss = np.zeros(self._axis.size)
        leaves = len(self._axis.taxonomy.leaves)
        cut = self._cut(bits)
        for number, label in enumerate(cut):
            first, end = self._axis.taxonomy.leaf_range(label)
            codes[first:end] = number
            loss[first:end] = (end - first - 1) / (leaves - 1)
        if self._axis.missing:
            codes[leaves], loss[leaves] = (0, 1.0) if len(cut) == 1 else (len(cut), 0.0)
        return View(codes, loss)

    def rule(self, bits: Bits) -> Rule:
        """A cut; missing is shown as such below the root."""
        cut = self._cut(bits)
        apart = self._axis.missing and len(cut) > 1
        return Generalize(self._axis.taxonomy, (*cut, *([None] if apart else [])))


@dataclass(frozen=True, eq=False)
class ValueGene:
    """Which labels without a taxonomy are disclosed."""

    axis: ValueAxis

    @property
    def length(self) -> int:
        """One bit for each label."""
        return self.axis.size

    def view(self, bits: Bits) -> View:
        """A disclosed label is itself, all others are one value."""
        hidden = int((~bits).sum())
        codes = np.where(bits, np.arange(self.axis.size) + 1, 0)
        return View(codes, np.where(bits, 0.0, max(hidden - 1, 0) / (self.axis.size - 1)))

    def rule(self, bits: Bits) -> Rule:
        """A label that would be hidden alone is shown too (PAPERS.md, 002-6)."""
        complete = int((~bits).sum()) < 2
        labels = (*self.axis.labels, *([None] if self.axis.missing else []))
        return Suppress(tuple(label for label, bit in zip(labels, bits, strict=True) if bit or complete), complete)


class NumberGene:
    """Owns the boundaries of a number that may become breaks; the last bit sets missing values apart."""

    def __init__(self, axis: NumberAxis) -> None:
        self._axis, count = axis, len(axis.numbers)
        boundaries = np.arange(1, count)
        if len(boundaries) > MOST_BOUNDARIES:
            boundaries = np.unique(np.linspace(1, count - 1, MOST_BOUNDARIES).astype(np.int64))
        self._boundaries = boundaries[axis.separable[boundaries]]

    @property
    def length(self) -> int:
        """One bit for each boundary, and one for missing values where there are any."""
        return len(self._boundaries) + self._axis.missing

    def _together(self, bits: Bits) -> bool:
        return self._axis.missing and not bits[-1]

    def _breaks(self, bits: Bits) -> NDArray[np.int64]:
        found: NDArray[np.int64] = self._boundaries[bits[: len(self._boundaries)]]
        return found

    def view(self, bits: Bits) -> View:
        """Intervals between breaks; missing values hidden among all others are one value with them."""
        size, numbers = self._axis.size, self._axis.numbers.astype(np.float64)
        if self._together(bits):
            return View(np.zeros(size, dtype=np.int64), np.ones(size))
        edges = np.concatenate([[0], self._breaks(bits), [len(numbers)]])
        lengths = np.diff(np.append(numbers, numbers[-1])[edges]) / (numbers[-1] - numbers[0])
        codes = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
        loss = lengths[codes]
        if self._axis.missing:
            codes, loss = np.append(codes, len(edges) - 1), np.append(loss, 0.0)
        return View(codes, loss)

    def rule(self, bits: Bits) -> Rule:
        """Intervals in numbers."""
        attribute = self._axis.attribute
        if self._together(bits):
            return Discretize(attribute.range, (), "together", attribute.calendar)
        breaks = tuple(self._axis.end(at) for at in self._breaks(bits).tolist())
        return Discretize(attribute.range, breaks, "apart" if self._axis.missing else "none", attribute.calendar)


def make_gene(axis: Axis) -> Gene:
    """The gene for an axis's kind."""
    if isinstance(axis, TreeAxis):
        return TreeGene(axis)
    return ValueGene(axis) if isinstance(axis, ValueAxis) else NumberGene(axis)


Lifted = NDArray[np.bool_]


@dataclass(frozen=True)
class Need:
    """At least k records in every group on these attributes, by number."""

    on: tuple[int, ...]
    k: int


@dataclass(frozen=True, eq=False)
class People:
    """A table in positions (rows,) for each attribute, identical records once, with their weights and classes."""

    positions: tuple[Ints, ...]
    classes: Ints
    n: int
    weights: Ints
    needs: tuple[Need, ...]

    @property
    def total(self) -> int:
        """Records in all."""
        return int(self.weights.sum())


@dataclass(frozen=True, eq=False)
class Compressed:
    """Identical records once. `row_of` (rows,) says which of them stands for each row of the table."""

    people: People
    row_of: Ints


def compress(positions: Sequence[Ints], classes: Ints, n: int, needs: tuple[Need, ...]) -> Compressed:
    """Records that are alike in everything are counted once, with a weight."""
    row_of = group_numbers([*positions, classes], len(classes))
    first = np.unique(row_of, return_index=True)[1]
    kept = tuple(column[first] for column in positions)
    return Compressed(People(kept, classes[first], n, np.bincount(row_of), needs), row_of)


def lifted(people: People, shown: Sequence[Ints]) -> Lifted:
    """(rows,): records whose group is too small, and so many more that those lifted are enough themselves.

    Lifting a record takes it out of its groups on every quasi-identifier, so this goes on until nothing changes.
    """
    groups = [group_numbers([shown[at] for at in need.on], len(people.weights)) for need in people.needs]
    out = np.zeros(len(people.weights), dtype=bool)
    enough = max(need.k for need in people.needs)
    while not out.all():
        small = np.zeros_like(out)
        for need, numbers in zip(people.needs, groups, strict=True):
            small |= ~out & (_sizes(people, numbers, out)[numbers] < need.k)
        if not small.any():
            if not 0 < int(people.weights[out].sum()) < enough:
                break
            small = ~out & (groups[0] == _smallest(people, groups[0], out))
        out |= small
    return out


def _sizes(people: People, numbers: Ints, out: Lifted) -> Ints:
    found: Ints = np.bincount(numbers, weights=np.where(out, 0, people.weights)).astype(np.int64)
    return found


def _smallest(people: People, numbers: Ints, out: Lifted) -> int:
    sizes = _sizes(people, numbers, out)
    return int(np.argmin(np.where(sizes == 0, np.iinfo(np.int64).max, sizes)))


def cost(people: People, views: Sequence[View], metric: str) -> float:
    """LM or CM of a chromosome, from 0 to 1; a lifted record costs 1."""
    shown = [view.codes[column] for view, column in zip(views, people.positions, strict=True)]
    out = lifted(people, shown)
    if metric == "CM":
        return _wrong(people, shown, out) / people.total
    loss = sum(view.loss[column] for view, column in zip(views, people.positions, strict=True)) / len(views)
    return float((np.where(out, 1.0, loss) * people.weights).sum()) / people.total


def _wrong(people: People, shown: Sequence[Ints], out: Lifted) -> int:
    """Lifted records, and those that are not of their group's most frequent class."""
    numbers = group_numbers(shown, len(out))
    cells = np.bincount(
        numbers * people.n + people.classes,
        weights=np.where(out, 0, people.weights),
        minlength=(int(numbers.max()) + 1) * people.n,
    ).reshape(-1, people.n)
    return people.total - int(cells.max(axis=1).sum())
