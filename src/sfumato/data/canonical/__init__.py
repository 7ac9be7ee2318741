"""The one form in which a table goes out: equal values give equal bytes, whatever wrote or held them before.

Nobody else's library writes these files, for the bytes that a library writes change with its version and have room
for more than values. Here are the few types that there are, and how a column of any other type becomes one of them;
`parquet` and `csv` write them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.data.codes import is_list, is_text, rank, single
from sfumato.errors import TableError

_LARGEST = 2**63 - 1  # the largest signed whole number


def canonical(name: str, array: pa.Array[Any]) -> pa.Array[Any]:
    """The same values in the one type that they are written in; what has none is refused.

    Text (as a dictionary), int64 (uint64 where a number needs it), float64 without -0.0 and with one NaN, truth
    values, days, times of day and moments to the microsecond, and sets of these as lists, ascending, none missing.

    >>> canonical("x", pa.array([1, None], pa.int8())).type, canonical("x", pa.array([-0.0])).to_pylist()
    (DataType(int64), [0.0])
    """
    if is_list(array.type):
        return _lists(name, array)
    try:
        return _flat(array)
    except pa.ArrowInvalid:  # its message quotes a cell
        raise TableError(
            name,
            "dates and times are written to the microsecond, from the year -290,000 to 290,000",
            given="finer or later ones",
            remedy="round the column to microseconds",
        ) from None
    except NotImplementedError:
        raise TableError(
            name,
            "text, numbers, truth values, dates, times, and lists of these can be written",
            given=f"type {array.type}",
            remedy="convert the column to text, or leave it out",
        ) from None


def _flat(array: pa.Array[Any]) -> pa.Array[Any]:
    kind = array.type
    if isinstance(array, pa.DictionaryArray):
        return array if is_text(kind.value_type) else _flat(array.dictionary_decode())
    if is_text(kind):
        return single(pa.chunked_array([array]))
    if pt.is_null(kind) or pt.is_decimal(kind):  # a decimal is a label here: numbers were made of the others
        return array.cast(pa.string()).dictionary_encode()
    if pt.is_uint64(kind):
        largest = pc.max(array).as_py()
        return array if largest is not None and largest > _LARGEST else array.cast(pa.int64())
    if pt.is_integer(kind):
        return array.cast(pa.int64())
    if pt.is_floating(kind):
        return _floats(array)
    if pt.is_boolean(kind):
        return array
    return _moments(array)


def _floats(array: pa.Array[Any]) -> pa.Array[Any]:
    """One zero and one NaN: the others would tell more than their number."""
    gone = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    numbers = array.cast(pa.float64()).fill_null(0.0).to_numpy() + 0.0
    numbers[np.isnan(numbers)] = np.nan
    return pa.array(numbers, mask=gone)


def _moments(array: pa.Array[Any]) -> pa.Array[Any]:
    """Days as days; all else to the microsecond, with a zone in UTC."""
    kind = array.type
    if pt.is_date64(kind):
        moments = array.cast(pa.timestamp("ms"))
        days = moments.cast(pa.date32(), safe=False)
        return days if days.cast(pa.timestamp("ms")).equals(moments) else moments.cast(pa.timestamp("us"))
    if pt.is_date32(kind):
        return array
    if pt.is_timestamp(kind):
        return array.cast(pa.timestamp("us", tz=None if kind.tz is None else "UTC"))
    if pt.is_time(kind):
        return array.cast(pa.time64("us"))
    raise NotImplementedError


def _lists(name: str, array: pa.Array[Any]) -> pa.Array[Any]:
    items = canonical(name, pc.list_flatten(array))
    if items.null_count:
        raise TableError(
            name, "no item of a list is missing", given="a null inside a list", remedy="drop the nulls from the lists"
        )
    if is_list(items.type):
        raise TableError(
            name, "a list holds no lists", given=f"type {array.type}", remedy="flatten the column, or leave it out"
        )
    lengths = pc.list_value_length(array).fill_null(0).to_numpy()
    codes = rank(items).codes
    owners = np.repeat(np.arange(len(lengths)), lengths)
    pairs = owners * (int(codes.max(initial=0)) + 1) + codes
    if not (np.diff(pairs) > 0).all():  # the order of a set, and how often an item stands in it, say nothing
        kept = np.unique(pairs, return_index=True)[1]
        items, lengths = items.take(kept), np.bincount(owners[kept], minlength=len(lengths))
    offsets = pa.array(np.append(0, np.cumsum(lengths)), type=pa.int64())
    return pa.LargeListArray.from_arrays(offsets, items, mask=array.is_null())
