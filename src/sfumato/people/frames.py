"""Tables and intervals in the recipient's own library: pandas, polars or Arrow."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from sfumato.data.calendar import DAY, is_calendar_type
from sfumato.data.writing import in_pandas
from sfumato.errors import TableError
from sfumato.people.shown_columns import Numbers

Kind = Literal["pandas", "polars", "arrow"]
KINDS = ("pandas", "polars", "arrow")
FIRST, LAST = np.datetime64("1677-09-22", "us"), np.datetime64("2262-04-11", "us")
"""The moments that pandas knows, to the nanosecond."""
TRUTHS = (("true", "false"), ("True", "False"))
"""How masked truth values are written: as they are declared, or as they are called where nobody declared them."""


def usual_kind() -> Kind:
    """pandas where it is installed, else polars."""
    return "pandas" if find_spec("pandas") else "polars"


def check_kind(kind: str) -> None:
    """Refuse what is none of the three."""
    if kind not in KINDS:
        raise TableError(
            "kind", f"a table is given in one of {', '.join(KINDS)}", given=repr(kind), remedy="name one of them"
        )


def frame(columns: Mapping[str, Any], kind: Kind) -> Any:
    """A table of arrays; labels are categories in pandas and polars. pandas has no column of days: dates are moments
    there, of type datetime64."""
    table = pa.table(dict(columns))
    if kind == "arrow":
        return table
    if kind == "polars":
        return import_module("polars").DataFrame(table)
    return in_pandas(pa.table({name: as_moments(table.column(name)) for name in table.column_names}))


def true_or_false(column: Any) -> Any:
    """A column of the labels true and false, or True and False, as what they say; any other stays as it is.

    >>> true_or_false(pa.chunked_array([["True", None, "False"]])).to_pylist()
    [True, None, False]
    """
    text = column.cast(pa.string()) if pt.is_dictionary(column.type) else column
    if not pt.is_string(text.type):
        return column
    shown = {*text.unique().to_pylist()} - {None}
    return text.cast(pa.bool_()) if shown and any(shown <= {*pair} for pair in TRUTHS) else column


def interval_column(name: str, numbers: Numbers, kind: Kind) -> Any:
    """pandas: an Interval for each row, closed on the left; an upper end that is included lies just inside.

    polars and Arrow: structs of low, high and whether the upper end is included. An end that is not told is infinite in
    pandas, or the first or last moment that it knows, and null in a struct.
    """
    low, high = (_moments(ends, dates=numbers.dates)[numbers.codes] for ends in (numbers.low, numbers.high))
    open_low, open_high, closed = (
        which[numbers.codes] for which in (numbers.open_low, numbers.open_high, numbers.closed)
    )
    gone = np.isnan(numbers.low)[numbers.codes]
    if kind == "pandas":
        pandas = import_module("pandas")
        least, most = (FIRST, LAST) if numbers.dates else (-np.inf, np.inf)
        low, high = np.where(open_low, least, low), np.where(open_high, most, high)
        within = high + np.timedelta64(1, "us") if numbers.dates else np.nextafter(high, np.inf)
        found = pandas.arrays.IntervalArray.from_arrays(low, np.where(closed & ~open_high, within, high), closed="left")
        return pandas.Series(found, name=name)
    parts = [pa.array(low, mask=gone | open_low), pa.array(high, mask=gone | open_high), pa.array(closed, mask=gone)]
    made = pa.StructArray.from_arrays(parts, names=["low", "high", "closed"], mask=pa.array(gone))
    return import_module("polars").Series(name, made) if kind == "polars" else made


def _moments(numbers: Any, *, dates: bool) -> Any:
    """Dates as numpy's moments; numbers as they are."""
    if not dates:
        return numbers
    found = np.where(np.isnan(numbers), 0, numbers).astype(np.int64).astype("datetime64[us]")
    found[np.isnan(numbers)] = np.datetime64("NaT")
    return found


def number_array(numbers: Any, *, dates: bool, whole: bool = False, days: bool = False) -> pa.Array[Any]:
    """Numbers of rows, `whole` ones as such, or moments, with `days` the beginning of their day; NaN is missing."""
    gone = np.isnan(numbers)
    numbers = numbers // DAY * DAY if days else numbers
    told = np.where(gone, 0, numbers).astype(np.int64) if whole else _moments(numbers, dates=dates)
    found: pa.Array[Any] = pa.array(told, mask=gone)
    return found


def are_dates(column: Any) -> bool:
    """Whether a column holds dates or times by its type."""
    return is_calendar_type(column.type)


def as_moments(column: Any) -> Any:
    """Dates as the beginning of their day, as dates stand that intervals give; every other column as it is."""
    return column.cast(pa.timestamp("us")) if pa.types.is_date(column.type) else column


def told_apart(found: Any, draws: int, kind: Kind) -> Any:
    """Draws of one table below each other: in pandas their index says which draw and which row each line is."""
    if kind != "pandas" or draws < 2:
        return found
    rows = len(found) // draws
    return found.set_index(
        import_module("pandas").MultiIndex.from_product([range(draws), range(rows)], names=("draw", "row"))
    )
