"""Where the values of a column stand in the space of a release: what centres.json tells of it, and how it is read."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.data import calendar
from sfumato.data.axis import MISSING, numbers_of
from sfumato.data.schema import Number
from sfumato.data.shown import set_members
from sfumato.data.table import AnyColumn, Column, ItemColumn
from sfumato.errors import TableError
from sfumato.events import many
from sfumato.structure.coded_points import SetBlock
from sfumato.structure.layouts import NumberLayout, unions
from sfumato.structure.masked_positions import shown_number
from sfumato.structure.released import Spread, Told

Vectors = NDArray[np.float32]
TRUTH = {"true": "True", "false": "False"}
"""How a CSV writes what stands in a book."""
End = float | str
"""Of a scale: a number, or a date as text."""


@dataclass(frozen=True)
class Scale:
    """A number's place: its distance from `low` over the width of its range, times `factor`; missing at `mean`."""

    low: float
    high: float
    mean: float
    factor: float

    def places(self, values: pa.Array[Any]) -> Vectors:
        """(values, 1)."""
        found = numbers_of(values.cast(pa.float64()).fill_null(math.nan), Number())
        numbers = np.where(np.isnan(found), self.mean, found)
        width = self.high - self.low or 1.0
        return ((numbers - self.low) / width * self.factor).astype(np.float32)[:, None]

    def to_json(self) -> dict[str, Any]:
        """Plain mapping."""
        return {"low": self.low, "high": self.high, "mean": self.mean, "factor": self.factor}


@dataclass(frozen=True)
class Book:
    """The place of each shown label; of missing under `missing`."""

    labels: Mapping[str, tuple[float, ...]]
    missing: tuple[float, ...]

    def places(self, values: pa.Array[Any]) -> Vectors:
        """(values, dims)."""
        labels = [None if value is None else str(value) for value in values.to_pylist()]
        return np.array([self.missing if label is None else self._of(label) for label in labels], dtype=np.float32)

    def expected(self, told: Told) -> Vectors:
        """(entries, dims): by what a codebook tells of each entry."""
        gone = np.array(self.missing)
        places = (
            gone if label is None else self._expected(label, spread)
            for label, spread in many(zip(told.shown, told.spreads, strict=True))
        )
        return np.array(list(places), dtype=np.float32).reshape(len(told.shown), len(self.missing))

    def _expected(self, label: str, spread: Spread) -> NDArray[np.float64]:
        """Each label at its share; what is left over in the middle of the other labels of a shown set, or at the shown
        label."""
        found = np.zeros(len(self.missing))
        for key, share in spread.items():
            if key != label:
                found += float(share) * np.array(self._of(key))
        rest = float(spread.get(label, 0 if spread else 1))
        if rest:
            members = () if label in self.labels else set_members(label, self.labels)
            named = {"" if key == MISSING else key for key in spread}
            others = [member for member in members if member not in named] or members or (label,)
            found += rest * np.mean([self._of(member) for member in others], axis=0)
        return found

    def _of(self, label: str) -> tuple[float, ...]:
        if label in self.labels:
            return self.labels[label]
        return self.missing if label in ("", MISSING) else self.labels[TRUTH[label]]

    def to_json(self) -> dict[str, Any]:
        """Plain mapping."""
        return {"labels": {label: list(place) for label, place in self.labels.items()}, "missing": list(self.missing)}


def refuse_empty(name: str, labels: Container[str]) -> None:
    """Among the labels of a group nothing stands for those who miss the value: an empty label would be them."""
    if "" in labels:
        raise TableError(
            name,
            "in a release with clusters a masked label has at least one letter",
            given="an empty text in some rows, which is another thing than an empty cell",
            remedy="say that it means missing, `missing: ['']`, or write a word in its place",
        )


@dataclass(frozen=True)
class Bag:
    """The coordinates of each label: a set stands at those of all its labels, `length` from the origin.

    A missing set has the coordinates of `missing`. `separator` divides labels where a set is written as text.
    """

    sets: Mapping[str, tuple[int, ...]]
    missing: tuple[int, ...]
    dims: int
    length: float
    separator: str

    def block(self, column: AnyColumn) -> SetBlock:
        """Every different set once, and which one each row holds."""
        held_sets = column if isinstance(column, ItemColumn) else self._split(column)
        sets, labels = held_sets.sets, held_sets.items
        held = np.zeros((len(labels) + 1, self.dims), dtype=np.bool_)
        for at, coordinates in enumerate([*(self.sets[label] if label else () for label in labels), self.missing]):
            held[at, list(coordinates)] = True
        return replace(unions(held[:-1], held[-1], sets), length=self.length)

    def _split(self, column: Column) -> ItemColumn:
        """Sets that are written as text."""
        return ItemColumn.of(pc.split_pattern(column.decode().cast(pa.string()), self.separator))

    def to_json(self) -> dict[str, Any]:
        """Plain mapping."""
        sets = {label: list(coordinates) for label, coordinates in self.sets.items()}
        return {
            "sets": sets,
            "missing": list(self.missing),
            "dims": self.dims,
            "length": self.length,
            "separator": self.separator,
        }


@dataclass(frozen=True)
class Means:
    """A masked number's place, by the means of a codebook: the distance from `low` over the width, times `factor`.

    Where no mean is told, an interval stands at its middle. `low` and `high` are those of the declared range; where
    none is declared, and of dates, the smallest and the largest end or mean that is told. A missing number stands at
    the mean of all others.
    """

    low: End
    high: End
    factor: float

    @property
    def layout(self) -> NumberLayout:
        """The same as a layout."""
        dates = isinstance(self.low, str)
        low, high = (float(calendar.parse(end) if isinstance(end, str) else end) for end in (self.low, self.high))
        return NumberLayout(Number(calendar="second") if dates else Number(), low, high, (low + high) / 2)

    def expected(self, told: Told) -> Vectors:
        """(entries, 1): by what a codebook tells of each entry."""
        layout = self.layout
        numbers = np.array(
            [
                math.nan if label is None else shown_number(layout, label, spread)
                for label, spread in zip(told.shown, told.spreads, strict=True)
            ],
            dtype=np.float64,
        )
        counts = np.bincount(told.codes, minlength=len(numbers)) * np.isfinite(numbers)
        mean = float(np.nansum(numbers * counts) / counts.sum()) if counts.sum() else layout.low
        places = [layout.at(mean if math.isnan(number) else number) * self.factor for number in numbers]
        return np.array(places, dtype=np.float32)[:, None]

    def to_json(self) -> dict[str, Any]:
        """Plain mapping."""
        return {"low": self.low, "high": self.high, "factor": self.factor}


Place = Scale | Book | Bag | Means


def read_place(form: Mapping[str, Any]) -> Place:
    """What `to_json` of a place wrote."""
    if "labels" in form:
        return Book({label: tuple(place) for label, place in form["labels"].items()}, tuple(form["missing"]))
    if "sets" in form:
        sets = {label: tuple(coordinates) for label, coordinates in form["sets"].items()}
        return Bag(sets, tuple(form["missing"]), form["dims"], form["length"], form["separator"])
    return Scale(**form) if "mean" in form else Means(**form)
