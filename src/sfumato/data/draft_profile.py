"""What a column looks like: how many values, how many rows are alone with theirs, what the values are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.data._numbers import guessed
from sfumato.data.draft_values import MISSING

Family = Literal["number", "moment", "text", "flag", "list", "other"]
_LOOK = 5000  # distinct values that are looked at


@dataclass(frozen=True, eq=False)
class Profile:
    """One column: its distinct values without the missing ones, and how many rows have each.

    `marks` are the texts in it that mean missing; their rows count as missing. A text column that holds numbers or
    dates beside them has the type of these.
    """

    name: str
    type: pa.DataType
    rows: int
    missing: int
    values: pa.Array[Any]
    counts: tuple[int, ...]
    marks: tuple[str, ...] = ()

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
    def texts(self) -> list[str]:
        """Some of the distinct values as text, the first ones."""
        return [str(value) for value in self.values[:_LOOK].to_pylist()]

    def all_texts(self) -> list[str]:
        """All distinct values as text."""
        return [str(value) for value in self.values.to_pylist()]

    def ends(self) -> list[str]:
        """The lowest and the highest value as text."""
        found: Any = pc.min_max(self.values).as_py()
        return [str(found["min"]), str(found["max"])]

    def finite_ends(self) -> tuple[float, float] | None:
        """The lowest and the highest number; None if none is finite."""
        numbers: pa.Array[Any] = self.values.cast(pa.float64(), safe=False)
        found: Any = pc.min_max(numbers.filter(pc.is_finite(numbers))).as_py()
        return None if found["min"] is None else (found["min"], found["max"])

    @property
    def whole(self) -> bool:
        """Whether it holds whole numbers by type."""
        return pt.is_integer(self.type) or (pt.is_decimal(self.type) and self.type.scale <= 0)


def profile(name: str, column: pa.ChunkedArray[Any] | pa.Array[Any], *, missing: Sequence[str] = ()) -> Profile:
    """Look at one column. `missing` are texts that mean missing, beside those that usually do."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.DictionaryArray):
        array = array.dictionary_decode()
    if _family(array.type) in ("list", "other"):
        return _nested(name, array, (*MISSING, *missing))
    counted: Any = pc.value_counts(array.drop_null())
    values, counts = counted.field("values"), counted.field("counts")
    texts: pa.Array[Any] = values.cast(pa.string())
    gone = pc.is_in(texts, value_set=pa.array((*MISSING, *missing)))
    marks = tuple(sorted({str(text) for text in texts.filter(gone).to_pylist()}))
    lost = array.null_count + sum(counts.filter(gone).to_pylist())
    if marks:
        values, counts = values.filter(pc.invert(gone)), counts.filter(pc.invert(gone))
        values = guessed(values.cast(pa.string())) if _family(array.type) == "text" else values
    return Profile(name, values.type, len(array), lost, values, tuple(counts.to_pylist()), marks)


def _nested(name: str, array: pa.Array[Any], missing: Sequence[str]) -> Profile:
    """Lists, and what cannot be masked; a list of nothing but one text that means missing is missing."""
    alone = {(mark,) for mark in missing}
    hashed = [None if value is None else _hashable(value) for value in array.to_pylist()]
    marks = {value for value in hashed if value in alone}
    counts = Counter(value for value in hashed if value is not None and value not in marks)
    values: pa.Array[Any] = pa.array([str(value) for value in counts], pa.string())
    found = tuple(sorted(str(mark[0]) for mark in marks if isinstance(mark, tuple)))
    return Profile(name, array.type, len(array), len(array) - counts.total(), values, tuple(counts.values()), found)


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
    names = list(columns)
    if not names or not table.num_rows:
        return 0.0
    keys = pa.table({f"k{at}": _key(table.column(name)) for at, name in enumerate(names)})
    sizes = keys.group_by(keys.column_names).aggregate([([], "count_all")]).column("count_all")
    alone: int = sizes.to_pylist().count(1)
    return alone / table.num_rows


def _key(column: pa.ChunkedArray[Any]) -> pa.Array[Any]:
    array: pa.Array[Any] = column.combine_chunks()
    if isinstance(array, pa.DictionaryArray):
        return array.dictionary_decode()
    if _family(array.type) in ("list", "other"):
        return pa.array([None if value is None else str(_hashable(value)) for value in array.to_pylist()])
    return array
