"""Centroids: what was learned. The classes' centres and sizes, frozen, in labels, plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data import calendar
from sfumato.data.grouping import first_rows, group_numbers
from sfumato.data.masked import Masked
from sfumato.data.schema import Calendar, Number
from sfumato.data.table import AnyColumn, Column, Table, column_of
from sfumato.errors import RecipeError, TableError
from sfumato.events import checkpoint
from sfumato.maskers.centroids.points import nearest
from sfumato.maskers.centroids.space import Coded, Space, coded
from sfumato.maskers.masker import Mask, refuse_lifted

Kind = Literal["number", "whole", "date", "category", "items"]
Missing = Literal["class", "impute"]


@dataclass(frozen=True)
class Shown:
    """One attribute: the value that each class shows, None for missing.

    Dates and times are kept in microseconds and written in ISO text as long as their calendar unit needs.
    """

    kind: Kind
    centres: tuple[float | str | tuple[str, ...] | None, ...]
    calendar: Calendar | None = None
    separator: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Kind and values, and the calendar unit of dates and times; how a text file divides the items of sets."""
        if self.calendar is None:
            apart = {} if self.separator is None else {"separator": self.separator}
            return {"kind": self.kind, **apart, "centres": [_plain(self.kind, value) for value in self.centres]}
        dates = [None if value is None else calendar.show(float(str(value)), self.calendar) for value in self.centres]
        return {"kind": self.kind, "calendar": self.calendar, "centres": dates}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Shown:
        """What `to_json` wrote."""
        if form.get("kind") not in get_args(Kind):
            raise RecipeError(
                "centroids",
                "a kind is one of " + ", ".join(get_args(Kind)),
                given=repr(form.get("kind")),
                remedy="restore centroids.json",
            )
        unit = form.get("calendar")
        return cls(form["kind"], tuple(_read(value, unit) for value in form["centres"]), unit, form.get("separator"))


@dataclass(frozen=True)
class Centroids(Mask):
    """The classes: what each shows on every quasi-identifying attribute, and how many records it has.

    All of it can be read off the released table. `missing` tells what was done to missing numbers.
    """

    repeats: ClassVar[bool] = False  # the nearest centre need not be the one that a record was shown with

    attributes: Mapping[str, Shown]
    sizes: tuple[int, ...]
    missing: Missing = "class"

    def files(self) -> dict[str, Any]:
        """centroids.json"""
        return {"centroids.json": self.to_json()}

    def to_json(self) -> dict[str, Any]:
        """The content of centroids.json; classes in the order of what they show, missing last."""
        shown = {name: values.to_json() for name, values in self.attributes.items()}
        keys = [
            [(value is None, value) for value in values]
            for values in zip(*(part["centres"] for part in shown.values()), strict=True)
        ]
        order = sorted(range(len(self.sizes)), key=keys.__getitem__)
        for part in shown.values():
            part["centres"] = [part["centres"][at] for at in order]
        return {"attributes": shown, "sizes": [self.sizes[at] for at in order], "missing": self.missing}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Centroids:
        """Read centroids.json."""
        shown = {name: Shown.from_json(part) for name, part in form["attributes"].items()}
        return cls(shown, tuple(form["sizes"]), form["missing"])

    def apply(self, table: Table, *, unseen: str = "refuse", lifted: NDArray[np.bool_] | None = None) -> Masked:
        """Every row shown as the nearest centre.

        Classes of new rows may have fewer than k members, so the result is unverified until it is verified.
        Rows that miss a number go to centres that miss it too; where there are none they are refused, or with
        unseen="suppress" go to the centre that is nearest on what they have.
        """
        refuse_lifted(lifted)
        return self.shown(table, self._nearest(table, unseen))

    def shown(self, table: Table, classes: Ints) -> Masked:
        """What rows show that are in these classes (rows,)."""
        columns = {name: _column(shown, table, name, classes) for name, shown in self.attributes.items()}
        return Masked.made(columns, word="centroid", rows=table.rows)

    def _nearest(self, table: Table, unseen: str) -> Ints:
        attributes = {name: table.schema[name] for name in self.attributes}
        centres = {name: Coded.of(shown.centres) for name, shown in self.attributes.items()}
        rows = {name: coded(table, name) for name in self.attributes}
        spread = {name: data.taken(np.repeat(np.arange(len(self.sizes)), self.sizes)) for name, data in centres.items()}
        space = Space.of(attributes, spread, scale="deviation")
        places, wanted = space.place(centres).vectors, space.place(rows).vectors
        numbers = [name for name, attribute in attributes.items() if isinstance(attribute, Number)]
        found = np.full(table.rows, -1, dtype=np.int64)
        for pattern, members in patterns(rows, numbers, table.rows).items():
            fit = _with_pattern(centres, numbers, pattern, len(self.sizes)) if self.missing == "class" else None
            if fit is not None and not fit.any():
                _refuse_pattern(numbers, pattern, unseen)
                fit = None
            known = np.arange(len(places)) if fit is None else np.flatnonzero(fit)
            found[members] = known[nearest(wanted[members], places[known])]
        return found


def patterns(columns: Mapping[str, Coded], numbers: list[str], rows: int) -> dict[tuple[bool, ...], NDArray[np.int64]]:
    """The rows that miss the same numbers, by which of `numbers` they miss."""
    if not numbers:
        return {(): np.arange(rows)}
    gone = [columns[name].missing for name in numbers]
    of_row = group_numbers([missing.view(np.uint8) for missing in gone], rows)
    first = first_rows(of_row)
    return {tuple(bool(missing[row]) for missing in gone): np.flatnonzero(of_row == n) for n, row in enumerate(first)}


def _with_pattern(
    centres: Mapping[str, Coded], numbers: list[str], pattern: tuple[bool, ...], count: int
) -> NDArray[np.bool_]:
    fits = np.ones(count, dtype=np.bool_)
    for name, gone in zip(numbers, pattern, strict=True):
        fits &= centres[name].missing == gone
    return fits


def _refuse_pattern(numbers: list[str], pattern: tuple[bool, ...], unseen: str) -> None:
    if unseen != "suppress":
        gone = [name for name, missing in zip(numbers, pattern, strict=True) if missing]
        raise TableError(
            ", ".join(gone) or "numbers",
            "rows go to a centre that misses the same numbers",
            given="rows that miss numbers as no centre does",
            remedy="say unseen='suppress' to take the nearest centre on the other attributes",
        )


def _column(shown: Shown, table: Table, name: str, classes: Ints) -> AnyColumn:
    """Rows of one attribute: whole numbers or floats, dates of the type that came in, text, or sets."""
    checkpoint()
    if shown.kind == "items":
        sets = [list(value) if isinstance(value, tuple) else None for value in shown.centres]
        return column_of(pa.array(sets, type=pa.large_list(pa.string())).take(classes))
    centres = Column.of(_centres(shown, table, name))
    return Column(centres.codes[classes], centres.values)


def _centres(shown: Shown, table: Table, name: str) -> pa.Array[Any]:
    if shown.kind == "category":
        return pa.array([None if value is None else str(value) for value in shown.centres], pa.string())
    gone = np.array([value is None for value in shown.centres])
    values = np.array([0.0 if value is None else value for value in shown.centres], dtype=np.float64)
    if shown.kind == "number":
        return pa.array(values, mask=gone)
    whole = pa.array(np.rint(values).astype(np.int64), mask=gone)
    if shown.kind == "whole":
        return whole
    kind = table.column(name).values.type
    return whole.cast(pa.timestamp("us", tz=getattr(kind, "tz", None))).cast(kind)


def _plain(kind: Kind, value: Any) -> Any:
    if value is None or kind in ("category", "number"):
        return value
    return list(value) if kind == "items" else int(value)


def _read(value: Any, unit: Calendar | None) -> Any:
    if unit is not None and value is not None:
        return float(calendar.parse(value))
    return tuple(value) if isinstance(value, list) else float(value) if isinstance(value, int) else value
