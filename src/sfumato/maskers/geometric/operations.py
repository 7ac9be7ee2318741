"""Numbers in and out, and the three operations of 004 on them: add, multiply, and turn two attributes clockwise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats
from sfumato.data.schema import Number
from sfumato.data.table import Table
from sfumato.errors import RecipeError, TableError

Columns = Mapping[str, Floats]
"""(rows,) per attribute; NaN where missing."""


@dataclass(frozen=True)
class Add:
    """Every value is moved by the same distance (004 section 4.2)."""

    name: str
    by: float

    def forward(self, columns: Columns) -> dict[str, Floats]:
        """The moved column."""
        return {self.name: columns[self.name] + self.by}

    def back(self, columns: Columns) -> dict[str, Floats]:
        """The column before."""
        return {self.name: columns[self.name] - self.by}

    def to_json(self) -> dict[str, Any]:
        """Its part of the key."""
        return {"add": self.by, "on": [self.name]}


@dataclass(frozen=True)
class Multiply:
    """Every value is multiplied by the same factor (004 section 4.3)."""

    name: str
    by: float

    def __post_init__(self) -> None:
        if self.by == 0 or not math.isfinite(self.by):
            raise RecipeError(
                self.name,
                "a factor is a number other than 0, else nothing is left of the attribute",
                given=repr(self.by),
                remedy="give for example 0.93",
            )

    def forward(self, columns: Columns) -> dict[str, Floats]:
        """The multiplied column."""
        return {self.name: columns[self.name] * self.by}

    def back(self, columns: Columns) -> dict[str, Floats]:
        """The column before."""
        return {self.name: columns[self.name] / self.by}

    def to_json(self) -> dict[str, Any]:
        """Its part of the key."""
        return {"multiply": self.by, "on": [self.name]}


@dataclass(frozen=True)
class Turn:
    """Two attributes are rotated by a common angle, clockwise, in degrees (004 section 4.4, Figure 1C).

    >>> turned = Turn("x", "y", 90.0).forward({"x": np.array([0.0]), "y": np.array([1.0])})
    >>> [round(float(column[0]), 9) for column in turned.values()]
    [1.0, 0.0]
    """

    first: str
    second: str
    degrees: float

    def __post_init__(self) -> None:
        if self.first == self.second:
            raise RecipeError(
                "rotate",
                "two different attributes are rotated together",
                given=repr(self.first),
                remedy="name another one beside it",
            )
        if not math.isfinite(self.degrees) or math.remainder(self.degrees, 360.0) == 0:
            raise RecipeError(
                f"{self.first}, {self.second}",
                "an angle that is a multiple of 360 changes nothing",
                given=f"{self.degrees:g} degrees",
                remedy="give for example 13.7",
            )

    def forward(self, columns: Columns) -> dict[str, Floats]:
        """Both columns, turned."""
        return self._turned(columns, self.degrees)

    def back(self, columns: Columns) -> dict[str, Floats]:
        """Both columns before."""
        return self._turned(columns, -self.degrees)

    def _turned(self, columns: Columns, degrees: float) -> dict[str, Floats]:
        cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        x, y = columns[self.first], columns[self.second]
        return {self.first: cos * x + sin * y, self.second: cos * y - sin * x}

    def to_json(self) -> dict[str, Any]:
        """Its part of the key."""
        return {"turn": self.degrees, "on": [self.first, self.second]}


Operation = Add | Multiply | Turn


def operation_from(form: Mapping[str, Any]) -> Operation:
    """What `to_json` wrote."""
    names = form["on"]
    if "add" in form:
        return Add(names[0], float(form["add"]))
    if "multiply" in form:
        return Multiply(names[0], float(form["multiply"]))
    return Turn(names[0], names[1], float(form["turn"]))


def run(operations: tuple[Operation, ...], columns: Columns) -> dict[str, Floats]:
    """All operations in order."""
    found = dict(columns)
    for operation in operations:
        found |= operation.forward(found)
    return found


def undo(operations: tuple[Operation, ...], columns: Columns) -> dict[str, Floats]:
    """All operations taken back, the last one first."""
    found = dict(columns)
    for operation in reversed(operations):
        found |= operation.back(found)
    return found


def untouched(operations: tuple[Operation, ...], names: tuple[str, ...]) -> list[str]:
    """Attributes that come out of the operations as they went in, whatever their values are."""
    points = np.eye(len(names) + 1, len(names))  # the unit points and the origin tell a linear map apart
    before = {name: points[:, at] for at, name in enumerate(names)}
    after = run(operations, before)
    return [name for name in names if np.allclose(after[name], before[name], rtol=0, atol=1e-12)]


EXACT = 2.0**53
"""Whole numbers below this are exact in floating point."""


def numbers_in(table: Table, name: str) -> Floats:
    """(rows,): an attribute's numbers, NaN where missing."""
    column = table.column(name)
    values = column.values.to_numpy(zero_copy_only=False).astype(np.float64)
    if not np.isfinite(values).all():
        raise TableError(
            name,
            "a transformed attribute holds finite numbers, or is missing",
            given="values that are infinite or no number",
            remedy="declare them as missing, or leave those rows out",
        )
    return np.asarray(np.append(values, np.nan)[column.codes], dtype=np.float64)


def is_whole(table: Table, name: str) -> bool:
    """Whether an attribute's numbers are whole, by declaration or as the table says."""
    attribute, values = table.schema[name], table.column(name).values
    if isinstance(attribute, Number) and attribute.integer is not None:
        return attribute.integer
    return pa.types.is_integer(values.type)


def of_arrow(column: pa.Array[Any]) -> Floats:
    """(rows,): floating-point numbers, NaN where null."""
    return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


def to_arrow(values: Floats, rounding: str | None) -> pa.Array[Any]:
    """Numbers as they are, or whole ones: to the nearest, or towards zero; null where NaN."""
    missing = np.isnan(values)
    if rounding is not None:
        values = np.trunc(values) if rounding == "truncate" else np.rint(values)
        if not missing.all() and np.nanmax(np.abs(values)) < EXACT:
            return pa.array(np.where(missing, 0, values).astype(np.int64), mask=missing if missing.any() else None)
    return pa.array(values, mask=missing if missing.any() else None)
