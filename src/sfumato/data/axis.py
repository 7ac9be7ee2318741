"""Axes and cuts: the positions of an attribute's values, and which masked values are shown.

An axis lays an attribute's values out so that every masked value is a range of positions: leaves in tree
order, labels in label order, numbers by size. A missing value has a position of its own, the last.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data import calendar, round_numbers
from sfumato.data.detail import Span, Width, Wish
from sfumato.data.schema import Attribute, Category, Number
from sfumato.data.table import Codes, Column, code_type
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import SchemaError

Numbers = NDArray[Any]
"""(values,) of float64 or of whole numbers"""
MISSING = "(missing)"
"""How a missing value is named where text is needed; in data it is null."""


@dataclass(frozen=True, eq=False)
class TreeAxis:
    """A category with a taxonomy: positions are leaves in tree order."""

    name: str
    taxonomy: Taxonomy
    missing: bool
    position_of: NDArray[np.int64]

    @property
    def size(self) -> int:
        """Number of positions."""
        return len(self.taxonomy.leaves) + self.missing


@dataclass(frozen=True, eq=False)
class ValueAxis:
    """A category without a taxonomy: positions are labels in label order."""

    name: str
    labels: tuple[str, ...]
    missing: bool
    position_of: NDArray[np.int64]

    @property
    def size(self) -> int:
        """Number of positions."""
        return len(self.labels) + self.missing


@dataclass(frozen=True, eq=False)
class NumberAxis:
    """A number: positions are the distinct values by size, or the calendar units they fall into.

    `held` (numbers,): how many records have each. `many`: so many share a value that it is nobody's own. `wish`: how
    wide intervals may be; where nobody is for long, one then ends sooner than the next begins.
    """

    name: str
    attribute: Number
    numbers: Numbers
    missing: bool
    position_of: NDArray[np.int64]
    held: NDArray[np.int64]
    many: int
    wish: Width | Span | None = None

    @property
    def size(self) -> int:
        """Number of positions."""
        return len(self.numbers) + self.missing

    @cached_property
    def separable(self) -> NDArray[np.bool_]:
        """(numbers,): whether an interval may begin with each: there is a number between it and the one before it
        that is nobody's own, or many share it. Otherwise both stay together."""
        unit = self.attribute.calendar
        between = round_numbers.separable(self.numbers) if unit is None else calendar.separable(self.numbers, unit)
        found = between | ((self.held >= self.many) & np.isfinite(self.numbers))
        found[0] = False
        return np.asarray(found)

    def end(self, at: int, below: int | None = None) -> float:
        """Where the interval begins whose first position is `at`: on a round number, nobody's own. The one before it
        ends there, unless nobody is between them for long: see `close`.

        `below`: the last position that the one before has records at; the one before `at` if it is not told.
        """
        return self._between(at, below) if below is not None or self.wish is None else self._ends(at)[1]

    def close(self, at: int) -> float:
        """Where the interval ends that is the last before position `at`."""
        return self._between(at, None) if self.wish is None else self._ends(at)[0]

    def _ends(self, at: int) -> tuple[float, float]:
        """Where intervals before a position end, and those with it begin; found once."""
        if at not in self._known_ends:
            gap = self._gap(at)
            self._known_ends[at] = (self._between(at, None),) * 2 if gap is None else gap
        return self._known_ends[at]

    @cached_property
    def _known_ends(self) -> dict[int, tuple[float, float]]:
        return {}

    def _gap(self, at: int) -> tuple[float, float] | None:
        """Where nobody is for long, and intervals must be narrow: the steps of a wish next to the two who are nearest.
        Like all ends they are nobody's own."""
        low, high = self.numbers[at - 1].item(), self.numbers[at].item()
        if self.wish is None or high - low <= 2 * self.wish.step:
            return None
        free = self._holders.free
        steps = self.wish.steps(self.attribute, low), self.wish.steps(self.attribute, high)
        end = next((above for _, above in steps[0] if low < above < high and free(above)), None)
        begin = next((below for below, _ in steps[1] if low < below <= high and free(below)), None)
        return None if end is None or begin is None or end >= begin else (end, begin)

    def _between(self, at: int, below: int | None) -> float:
        last = at - 1 if below is None else below
        if (last, at) not in self._known_between:
            self._known_between[last, at] = self._chosen_end(last, at)
        return self._known_between[last, at]

    @cached_property
    def _known_between(self) -> dict[tuple[int, int], float]:
        """Those that were asked for: a search asks for the same again and again, and a round number takes long."""
        return {}

    def _chosen_end(self, last: int, at: int) -> float:
        found = self._end(last, at)
        if found is None:  # round numbers were tried from the middle outwards, and all that were tried are somebody's
            one = last + 1 + int(np.flatnonzero(self.separable[last + 1 : at + 1])[0])
            found = self._end(one - 1, one)
        if found is None:
            raise ValueError(f"no interval of {self.name} may begin there")
        return found

    def _end(self, last: int, at: int) -> float | None:
        low, high = self.numbers[last].item(), self.numbers[at].item()
        shared, free = bool(self.held[at] >= self.many), self._holders.free
        if self.attribute.calendar is None:
            return round_numbers.end_between(low, high, shared=shared, free=free)
        return calendar.end_between(low, high, self.attribute.calendar, shared=shared, free=free)

    def free(self, number: float) -> bool:
        """Whether a number may be shown: nobody holds it, or many do."""
        return self._holders.free(number)

    @cached_property
    def _holders(self) -> round_numbers.Holders:
        return round_numbers.Holders(self.numbers, self.held, self.many)


Axis = TreeAxis | ValueAxis | NumberAxis


def make_axis(name: str, attribute: Attribute, column: Column, *, many: int, wish: Wish | None = None) -> Axis:
    """Lay out a quasi-identifying attribute's values. A number that `many` records share may be an interval's end.

    `wish`: how finely it must be shown.
    """
    if len(column.values) == 0:
        raise SchemaError(
            name,
            "a quasi-identifier has values",
            given="an attribute that is missing in every row",
            remedy="leave it out of the requirements and declare it an identifier, so that it is dropped",
        )
    if isinstance(attribute, Number):
        found = _number_axis(name, attribute, column, many)
        return replace(found, wish=wish) if isinstance(wish, Width | Span) else found
    if isinstance(attribute, Category):
        return _tree_axis(name, attribute.taxonomy, column) if attribute.taxonomy else _value_axis(name, column)
    raise SchemaError(
        name,
        "top-down refinement masks numbers and categories",
        given="an item set",
        remedy="give it another role, or use a masker for set-valued attributes",
    )


def positions(axis: Axis, column: Column) -> Codes:
    """(rows,): where each row's value stands on its axis."""
    if np.array_equal(axis.position_of, np.arange(len(axis.position_of))):
        return column.codes
    kind = code_type(axis.size)
    if kind is np.uint8:
        return axis.position_of.astype(np.uint8)[column.codes]
    if kind is np.uint16:
        return axis.position_of.astype(np.uint16)[column.codes]
    return axis.position_of.astype(np.uint32)[column.codes]


def _tree_axis(name: str, taxonomy: Taxonomy, column: Column) -> TreeAxis:
    if len(taxonomy.leaves) < 2:
        raise SchemaError(
            name,
            "a taxonomy has at least two leaves",
            given="a single leaf",
            remedy="drop the attribute from the requirements, or give it a tree with its real values",
        )
    leaf_at = {leaf: at for at, leaf in enumerate(taxonomy.leaves)}
    places = [leaf_at[label] for label in labels_of(column.values)]
    return TreeAxis(name, taxonomy, column.missing > 0, _with_missing(places, len(leaf_at)))


def _value_axis(name: str, column: Column) -> ValueAxis:
    if len(column.values) + (column.missing > 0) < 2:
        raise SchemaError(
            name,
            "a quasi-identifier has at least two values",
            given="a single value in the whole table",
            remedy="declare it plain: a value that everybody has tells nothing",
        )
    labels = labels_of(column.values)
    return ValueAxis(name, labels, column.missing > 0, _with_missing(range(len(labels)), len(labels)))


def _number_axis(name: str, attribute: Number, column: Column, many: int) -> NumberAxis:
    numbers = numbers_of(column.values, attribute)
    units, places = np.unique(numbers, return_inverse=True)
    places = places.astype(np.int64)
    nan = bool(len(units)) and bool(np.isnan(units[-1]))
    units = units[:-1] if nan else units
    if len(units) < 2:
        raise SchemaError(
            name,
            "a quasi-identifying number has at least two values",
            given="a single value in the whole table",
            remedy="declare it plain: a value that everybody has tells nothing",
        )
    position_of = _with_missing(places, len(units))
    held = np.bincount(position_of, weights=column.counts, minlength=len(units))[: len(units)].astype(np.int64)
    return NumberAxis(
        name=name,
        attribute=attribute,
        numbers=units,
        missing=nan or column.missing > 0,
        position_of=position_of,
        held=held,
        many=many,
    )


def _with_missing(places: Any, missing: int) -> NDArray[np.int64]:
    return np.append(np.asarray(places, dtype=np.int64), missing)


def labels_of(values: pa.Array[Any]) -> tuple[str, ...]:
    """A category's values as text."""
    return tuple(str(value) for value in values.to_pylist())


def numbers_of(values: pa.Array[Any], attribute: Number) -> Numbers:
    """A number's values as numbers; dates and times as the start of their calendar unit."""
    if attribute.calendar is not None:
        return calendar.floor(values, attribute.calendar)
    found = values.to_numpy(zero_copy_only=False)
    return found.astype(np.float64) if found.dtype.kind == "f" else found
