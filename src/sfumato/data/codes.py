"""From values to codes: distinct values in ascending order, and where each row's value stands among them.

`side_by_side` works on many columns at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

from sfumato.data.grouping import different
from sfumato.data.sources.scratch import looked_up
from sfumato.data.table import Codes, Column, ItemColumn, narrow
from sfumato.events import watched

Keys = NDArray[np.integer[Any]]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Entries:
    """A column as its distinct entries and, for each row, where its entry stands; -1, or past the last, means missing.

    Every entry is in use. Entries need not be sorted, nor differ.
    """

    at: NDArray[np.integer[Any]]
    distinct: pa.Array[Any]

    def rows(self, bad: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The rows that hold one of the entries marked as bad."""
        return np.flatnonzero(np.append(bad, False)[self.at])


def entries(array: pa.DictionaryArray[Any, Any]) -> Entries:
    """A dictionary array without the entries that no row holds."""
    at = array.indices.cast(pa.int32()).fill_null(-1).to_numpy()
    used = np.zeros(len(array.dictionary) + 1, dtype=np.bool_)
    used[at] = True
    kept = np.flatnonzero(used[:-1])
    if len(kept) == len(array.dictionary):
        return Entries(at, array.dictionary)
    moved = np.full(len(used), -1, dtype=np.int32)
    moved[kept] = np.arange(len(kept), dtype=np.int32)
    return Entries(moved[at], array.dictionary.take(kept))


def spread(at: NDArray[np.integer[Any]], column: Column) -> Column:
    """Codes of entries become codes of the rows that hold them; every entry is held by some row."""
    codes = narrow(np.append(column.codes, column.missing_code), column.missing_code)
    if at.dtype == codes.dtype and np.array_equal(codes, np.arange(len(codes))):  # entries stood in order already
        return Column(cast(Codes, at), column.values)
    return Column(looked_up(codes, at), column.values)


def pruned(codes: Codes, values: pa.Array[Any]) -> Column:
    """The same rows without the values that no row holds."""
    used = np.bincount(codes, minlength=len(values) + 1)[:-1] > 0
    if used.all():
        return Column(narrow(codes, len(values)), values)
    return only(np.flatnonzero(used), codes, values)


def only(kept: NDArray[np.intp], codes: Codes, values: pa.Array[Any]) -> Column:
    """The same rows with nothing but the kept values, given by place; the others are missing now."""
    return Column(_moved(kept, len(values))[codes], values.take(kept))


def as_sets(
    owners: NDArray[np.int64], codes: Codes, values: pa.Array[Any], *, missing: NDArray[np.bool_]
) -> ItemColumn:
    """Each row's items once, ascending."""
    width = max(len(values), 1)
    pairs = owners * width + codes
    if not (np.diff(pairs) > 0).all():
        pairs = different(pairs)
    rows, items = np.divmod(pairs, width)
    offsets = np.append(0, np.cumsum(np.bincount(rows, minlength=len(missing)))).astype(np.int64)
    return ItemColumn(offsets, narrow(items, len(values)), values, missing)


def _moved(order: NDArray[np.integer[Any]], n: int) -> Codes:
    """Of n values and the missing one, where each stands once only those of order are left, in this order."""
    moved = np.full(n + 1, len(order), dtype=np.int64)
    moved[order] = np.arange(len(order))
    return narrow(moved, len(order))


def single(column: pa.ChunkedArray[Any]) -> pa.Array[Any]:
    """One array of all chunks; text becomes a dictionary array, so that it is held once."""
    if is_view(column.type):
        column = column.cast(pa.large_string())
    if is_text(column.type):
        column = column.dictionary_encode()
    if pt.is_dictionary(column.type) and column.num_chunks > 1:
        column = _one_dictionary(column)
    if column.num_chunks == 1:
        return column.chunks[0]
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], type=column.type)


def is_text(kind: pa.DataType) -> bool:
    """Whether values of this Arrow type are text."""
    return pt.is_string(kind) or pt.is_large_string(kind) or is_view(kind)


def is_view(kind: pa.DataType) -> bool:
    """Whether this is Arrow's text type by views, which few functions take."""
    return pt.is_string_view(kind)


def is_list(kind: pa.DataType) -> bool:
    """Whether an Arrow type holds a list in each row."""
    tests = (pt.is_list, pt.is_large_list, pt.is_fixed_size_list, pt.is_list_view, pt.is_large_list_view)
    return any(test(kind) for test in tests)


def _one_dictionary(column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    try:
        return column.unify_dictionaries()
    except pa.ArrowException:  # nulls in a dictionary, or an index type too narrow for all of them
        return column.cast(column.type.value_type).dictionary_encode()


def rank(array: pa.Array[Any]) -> Column:
    """Codes and ascending distinct values of any flat array.

    Every NaN is the same value, the last one; -0.0 comes before 0.0 and is not the same.

    >>> column = rank(pa.array([2.0, None, -1.0, 2.0]))
    >>> column.codes.tolist(), column.values.to_pylist()
    ([1, 2, 0, 1], [-1.0, 2.0])
    """
    if isinstance(array, pa.DictionaryArray):
        found = entries(array)
        return spread(found.at, rank(found.distinct))
    if key_type(array.type) is None:
        return _rank_by_hash(array)
    if not array.null_count:
        return _rank_keys(keys(array), array.type)
    valid = pc.is_valid(array).to_numpy(zero_copy_only=False)
    inner = _rank_keys(keys(array.drop_null()), array.type)
    codes = np.full(len(array), inner.missing_code, dtype=inner.codes.dtype)
    codes[valid] = inner.codes
    return Column(narrow(codes, inner.missing_code), inner.values)


def _rank_by_hash(array: pa.Array[Any]) -> Column:
    found = entries(array.dictionary_encode())
    order = pc.array_sort_indices(found.distinct).to_numpy()
    values = found.distinct.take(order)
    return Column(_moved(order, len(order))[found.at], values)


def key_type(kind: pa.DataType) -> pa.DataType | None:
    """The integer type whose bits hold a value of this type; None if no integer does."""
    if pt.is_boolean(kind):
        return pa.uint8()
    if pt.is_integer(kind):
        return kind
    if pt.is_floating(kind) or pt.is_temporal(kind):
        width = kind.bit_width
        return {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}.get(width)
    return None


def keys(array: pa.Array[Any]) -> Keys:
    """Whole numbers in the same order as the values of an array without nulls.

    >>> keys(pa.array([-0.0, 0.0])).tolist()
    [-1, 0]
    """
    kind = key_type(array.type)
    if kind is None:
        raise TypeError(f"no integer holds a value of type {array.type}")
    if pt.is_boolean(array.type):
        return array.cast(kind).to_numpy()
    if not pt.is_floating(array.type):
        return array.view(kind).to_numpy()
    floats = array.to_numpy()
    bits: Keys = np.where(np.isnan(floats), floats.dtype.type(np.nan), floats).view(f"i{floats.itemsize}")
    return _turned(bits)


def from_keys(found: Keys, kind: pa.DataType) -> pa.Array[Any]:
    """The values that have these keys."""
    if pt.is_boolean(kind):
        return pa.array(found).cast(kind)
    bits = _turned(found) if pt.is_floating(kind) else found
    return pa.array(bits, type=key_type(kind)).view(kind)


def _turned(bits: Keys) -> Keys:
    """Bits of floats to order-keeping integers, and back: negative ones run the other way."""
    return bits ^ ((bits >> (bits.itemsize * 8 - 1)) & np.iinfo(bits.dtype).max)


def _rank_keys(found: Keys, kind: pa.DataType) -> Column:
    if not len(found):
        return Column(np.zeros(0, dtype=np.uint8), pa.array([], type=kind))
    lowest, highest = int(found.min()), int(found.max())
    if highest - lowest > 2 * len(found) + 65_536:
        return _rank_wide(found, kind)
    shifted = _shifted(found, lowest)
    present = np.zeros(highest - lowest + 1, dtype=np.bool_)
    present[shifted] = True
    distinct = np.flatnonzero(present)
    places = narrow(np.cumsum(present) - 1, len(distinct))
    values = (distinct.astype(found.dtype) + found.dtype.type(lowest)).astype(found.dtype, copy=False)
    return Column(places[shifted], from_keys(values, kind))


def _shifted(found: Keys, lowest: int) -> NDArray[np.int64]:
    """Keys counted from the lowest; the difference fits although a key or the lowest may not."""
    if found.dtype == np.uint64:
        return (found - np.uint64(lowest)).astype(np.int64)
    return found.astype(np.int64, copy=False) - lowest


def _rank_wide(found: Keys, kind: pa.DataType) -> Column:
    hashed = pa.array(found).dictionary_encode()
    distinct = hashed.dictionary.to_numpy()
    order = np.argsort(distinct)
    return Column(_moved(order, len(order))[hashed.indices.to_numpy()], from_keys(distinct[order], kind))


@contextmanager
def threads() -> Iterator[ThreadPoolExecutor]:
    """A thread for each core; on any error what has not begun is left out."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as found:
        try:
            yield found
        except BaseException:
            found.shutdown(wait=False, cancel_futures=True)
            raise


def side_by_side(work: Callable[..., T], *given: Iterable[Any]) -> list[T]:
    """What work gives for each of the arguments, in their order, as `map` does; with a checkpoint between.

    >>> side_by_side(lambda a, b: a + b, [1, 2], [3, 4])
    [4, 6]
    """
    with threads() as found:
        waiting = [found.submit(work, *arguments) for arguments in zip(*given, strict=True)]
        return [one.result() for one in watched(waiting)]
