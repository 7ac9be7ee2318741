"""What a column looks like: how many values, how many rows are alone with theirs, what the values are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.data.drafting.shapes import (
    MISSING,
    MISSING_NUMBERS,
    FewAt,
    Reading,
    compact_dates,
    is_dated,
    is_missing,
    read_texts,
)
from sfumato.data.drafting.words import MOMENT_WORDS, says
from sfumato.data.schema import DateOrder, Decimal
from sfumato.data.written_forms import plain_number

Family = Literal["number", "moment", "text", "flag", "list", "other"]
_LOOK = 5000  # distinct values that are looked at
NEARLY = 0.9
"""Where so many rows hold numbers, the others are likely mistakes, or words for missing ones."""
FEW = 5
"""A value held by fewer people than this tells them apart."""


@dataclass(frozen=True, eq=False)
class Profile:
    """One column: its distinct values without the missing ones, and how many rows have each.

    `marks` are the texts in it that mean missing; their rows count as missing. Texts that are numbers or dates are
    read: `dates` and `decimal` tell how they are written, `unsure` that days and months could be swapped. `holes`: a
    list in it has a missing item, or one that is no label.
    """

    name: str
    type: pa.DataType
    rows: int
    missing: int
    values: pa.Array[Any]
    counts: tuple[int, ...]
    marks: tuple[str, ...] = ()
    dates: DateOrder | None = None
    decimal: Decimal | None = None
    unsure: bool = False
    holes: bool = False

    @property
    def family(self) -> Family:
        """What its type can hold."""
        return _family(self.type)

    @property
    def distinct(self) -> int:
        """How many different values there are."""
        return len(self.values)

    @property
    def distinct_share(self) -> float:
        """Different values for each row that has one."""
        return self.distinct / max(self.rows - self.missing, 1)

    @cached_property
    def unique_share(self) -> float:
        """The share of rows that nobody else shares the value with."""
        return sum(1 for count in self.counts if count == 1) / max(self.rows, 1)

    @cached_property
    def rare_share(self) -> float:
        """The share of rows whose value fewer than five share; missing is a value."""
        return sum(count for count in (*self.counts, self.missing) if count < FEW) / max(self.rows, 1)

    @cached_property
    def spread(self) -> float:
        """How likely two people differ in it: 0 if all have one value, near 1 if all have their own."""
        return 1 - sum((count / self.rows) ** 2 for count in (*self.counts, self.missing))

    @cached_property
    def texts(self) -> list[str]:
        """Some of the distinct values as text, the first ones."""
        return [str(value) for value in self.values[:_LOOK].to_pylist()]

    def moments(self) -> tuple[datetime, datetime] | None:
        """The first and the last date or time; None if Python's calendar does not reach there."""
        try:
            found: Any = pc.min_max(self.values).as_py()
        except (ValueError, OverflowError):
            return None
        return _moment(found["min"]), _moment(found["max"])

    @property
    def timed(self) -> bool:
        """Whether some of its dates have a time of day."""
        if not pt.is_timestamp(self.type) and not pt.is_date64(self.type):
            return False
        moments: Any = self.values.cast(pa.timestamp("us", getattr(self.type, "tz", None)))
        if moments.type.tz is not None:  # what clocks showed there: not every day has a midnight
            moments = pc.local_timestamp(moments)
        days: Any = pc.floor_temporal(moments, unit="day")
        return not bool(pc.all(pc.equal(moments, days)).as_py())

    def ends(self) -> tuple[float, float] | None:
        """The lowest and the highest number; None if there is none."""
        found: Any = pc.min_max(self.values.cast(pa.float64(), safe=False)).as_py()
        return None if found["min"] is None else (found["min"], found["max"])

    @property
    def few(self) -> FewAt:
        """Whether few people have its lowest and its highest number, or its first and its last year."""
        values: Any = self.values
        of = pc.year(values) if self.family == "moment" else values.cast(pa.float64(), safe=False)
        held: Any = pa.table({"of": of, "rows": pa.array(self.counts)}).group_by("of").aggregate([("rows", "sum")])
        ordered = held.sort_by("of").column("rows_sum").to_pylist()
        return FewAt(ordered[0] < FEW, ordered[-1] < FEW) if ordered else FewAt()

    def middle(self, share: float) -> tuple[float, float]:
        """Between which numbers this share of the rows that have one lies, as many below as above."""
        numbers = self.values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        order = np.argsort(numbers)
        upto = np.cumsum(np.asarray(self.counts)[order]) / max(sum(self.counts), 1)
        low, high = np.searchsorted(upto, [(1 - share) / 2, (1 + share) / 2])
        return float(numbers[order[low]]), float(numbers[order[min(high, len(order) - 1)]])

    @cached_property
    def nearly_numbers(self) -> bool:
        """Whether nearly all rows of a column of texts hold numbers: some do not, or they are written in two ways."""
        if self.family != "text":
            return False
        numbers = sum(n for text, n in zip(self.values.to_pylist(), self.counts, strict=True) if _is_number(str(text)))
        return numbers >= NEARLY * max(sum(self.counts), 1)

    @cached_property
    def nearly_dates(self) -> bool:
        """Whether nearly all rows of a column of texts have the shape of dates: some do not, or are days of no year."""
        if self.family != "text":
            return False
        dated = sum(n for text, n in zip(self.values.to_pylist(), self.counts, strict=True) if is_dated(str(text)))
        return dated >= NEARLY * max(sum(self.counts), 1)

    @property
    def whole(self) -> bool:
        """Whether it holds whole numbers."""
        if pt.is_floating(self.type):
            floats: list[Any] = self.values.to_pylist()
            return all(number.is_integer() for number in floats)
        return pt.is_integer(self.type) or (pt.is_decimal(self.type) and self.type.scale <= 0)


def _is_number(text: str) -> bool:
    """A number, with a point or a comma before its decimals; codes such as 007 are none."""
    plain = text.strip()
    if re.match(r"[+-]?0\d", plain):
        return False
    return any(plain_number(plain, mark) is not None for mark in ("point", "comma"))


def _moment(value: date | datetime) -> datetime:
    return value.replace(tzinfo=None) if isinstance(value, datetime) else datetime(value.year, value.month, value.day)


def profile(
    name: str, column: pa.ChunkedArray[Any] | pa.Array[Any], *, missing: Sequence[str] = (), read: bool = True
) -> Profile:
    """Look at one column. `missing` are texts that mean missing, beside those that usually do.

    Without `read` texts stay texts, whatever they mean.
    """
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.DictionaryArray):
        array = array.dictionary_decode()
    if _family(array.type) in ("list", "other"):
        return _nested(name, array, missing)
    counted: Any = pc.value_counts(array.drop_null())
    values, counts = counted.field("values"), counted.field("counts")
    texts: pa.Array[Any] = values.cast(pa.string())
    gone = pc.or_(is_missing(texts, missing), _endless(values))
    marks = {str(text) for text in texts.filter(gone).to_pylist()}
    kept, held = values.filter(pc.invert(gone)), counts.filter(pc.invert(gone))
    reading = _read(name, kept) if read else Reading(kept)
    merged: Any = pa.table({"value": reading.values, "rows": held}).group_by("value").aggregate([("rows", "sum")])
    values, counts = merged.column("value").combine_chunks(), merged.column("rows_sum").combine_chunks()
    below = _marks_below_zero(values)
    if below:
        stay = pc.invert(pc.is_in(values, value_set=pa.array(below, values.type)))
        values, counts = values.filter(stay), counts.filter(stay)
    return Profile(
        name=name,
        type=values.type,
        rows=len(array),
        missing=len(array) - sum(counts.to_pylist()),
        values=values,
        counts=tuple(counts.to_pylist()),
        marks=tuple(sorted(marks | {f"{number}" for number in below})),
        dates=reading.dates,
        decimal=reading.decimal,
        unsure=reading.unsure,
    )


def _read(name: str, values: pa.Array[Any]) -> Reading:
    """What texts mean, and numbers that are dates."""
    dated = says(name, MOMENT_WORDS) is not None
    if _family(values.type) == "text":
        return read_texts(pc.utf8_trim_whitespace(values.cast(pa.string())), dated=dated)
    return compact_dates(values, dated=dated) or Reading(values)


def read_values(name: str, values: pa.Array[Any]) -> pa.Array[Any]:
    """What texts of a column mean, one by one."""
    return _read(name, values).values


def _marks_below_zero(values: pa.Array[Any]) -> list[int]:
    """Numbers that mean missing, such as -9, if they are the only ones below zero."""
    if not (pt.is_integer(values.type) or pt.is_floating(values.type)):
        return []
    numbers: list[Any] = values.to_pylist()
    below = [number for number in numbers if number < 0]
    usual = len(below) < len(numbers) and all(number in MISSING_NUMBERS for number in below)
    return [int(number) for number in below] if usual else []


def _endless(values: pa.Array[Any]) -> pa.Array[Any]:
    """Numbers without end, which no range holds."""
    if pt.is_floating(values.type):
        return pc.is_inf(values)
    return pa.array([False] * len(values), pa.bool_())


def _nested(name: str, array: pa.Array[Any], missing: Sequence[str]) -> Profile:
    """Lists, and what cannot be masked; a list of nothing but one text that means missing is missing."""
    hashed = [None if value is None else _hashable(value) for value in array.to_pylist()]
    marks = {value for value in hashed if _means_missing(value, missing)}
    counts = Counter(value for value in hashed if value is not None and value not in marks)
    values: pa.Array[Any] = pa.array([str(value) for value in counts], pa.string())
    found = tuple(sorted(str(mark[0]) for mark in marks if isinstance(mark, tuple)))
    return Profile(
        name=name,
        type=array.type,
        rows=len(array),
        missing=len(array) - counts.total(),
        values=values,
        counts=tuple(counts.values()),
        marks=found,
        holes=_family(array.type) == "list" and _has_holes(pc.list_flatten(array)),
    )


def _has_holes(items: pa.Array[Any]) -> bool:
    """Whether an item is missing, or is no label."""
    return items.null_count > 0 or _family(items.type) in ("list", "other")


def _means_missing(value: object, missing: Sequence[str]) -> bool:
    if not isinstance(value, tuple) or len(value) != 1:
        return False
    return str(value[0]).strip().lower() in MISSING or value[0] in missing


def _hashable(value: object) -> object:
    return tuple(sorted(map(str, value))) if isinstance(value, list) else str(value)


def _family(kind: pa.DataType) -> Family:
    if pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind):
        return "number"
    if pt.is_date(kind) or pt.is_timestamp(kind):
        return "moment"
    if pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind):
        return "text"
    if pt.is_boolean(kind) or pt.is_null(kind):
        return "flag"
    if pt.is_list(kind) or pt.is_large_list(kind) or pt.is_fixed_size_list(kind) or pt.is_list_view(kind):
        return "list"
    return "other"


def share_alone(table: pa.Table, columns: Iterable[str]) -> float:
    """The share of rows whose combination of values in these columns nobody else has."""
    sizes = group_sizes(table, columns)
    return sizes.count(1) / table.num_rows if sizes else 0.0


def group_sizes(table: pa.Table, columns: Iterable[str]) -> list[int]:
    """How many rows have each combination of values in these columns; nothing where there are none."""
    names = list(columns)
    if not names or not table.num_rows:
        return []
    keys = pa.table({f"k{at}": comparable(table.column(name)) for at, name in enumerate(names)})
    found: list[Any] = keys.group_by(keys.column_names).aggregate([([], "count_all")]).column("count_all").to_pylist()
    return found


def comparable(column: pa.ChunkedArray[Any]) -> pa.Array[Any]:
    """A column whose values can be told apart and counted; lists as texts."""
    array: pa.Array[Any] = column.combine_chunks()
    if isinstance(array, pa.DictionaryArray):
        return array.dictionary_decode()
    if _family(array.type) in ("list", "other"):
        return pa.array([None if value is None else str(_hashable(value)) for value in array.to_pylist()])
    return array
