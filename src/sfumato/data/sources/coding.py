"""Columns in codes from batches of rows: what was met before keeps its code, what is new gets the next one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

from sfumato.data.codes import entries, from_keys, is_text, key_type, keys, rank, side_by_side
from sfumato.data.safe_files import Progress
from sfumato.data.sources.scratch import Scratch
from sfumato.data.sources.source import RawColumn, RawTable
from sfumato.data.table import Column


def coded(batches: Iterable[pa.RecordBatch], schema: pa.Schema, *, progress: Progress) -> RawTable:
    """The rows of all batches, read once; memory holds one batch and the distinct values."""
    coders = {field.name: coder_of(field.type) for field in schema}
    rows = 0
    for batch in batches:
        arrays = [batch.column(name) for name in coders]
        side_by_side(lambda coder, array: coder.add(array), coders.values(), arrays)
        rows += batch.num_rows
        progress.rows = rows
    return RawTable({name: coder.finish() for name, coder in coders.items()}, rows)


class Whole:
    """Owns a column that is kept as it comes: lists, and types that a schema will refuse."""

    def __init__(self, kind: pa.DataType) -> None:
        self._kind, self._parts = kind, list[Any]()

    def add(self, array: pa.Array[Any]) -> None:
        """Some more rows."""
        self._parts.append(array)

    def finish(self) -> RawColumn:
        """All of them."""
        kind: Any = self._kind
        return pa.chunked_array(self._parts, type=kind)


class Coder:
    """Owns the distinct values of a column so far, and the codes of its rows.

    Values that a whole number can stand for are known by that number: -0.0 is not 0.0, and NaN is one value.
    """

    def __init__(self, kind: pa.DataType) -> None:
        self._kind, self._by_key = kind, key_type(kind) is not None
        known: Any = key_type(kind) or kind
        self._known = pa.array([], type=known)
        self._codes = Scratch()
        self._last: tuple[Any, NDArray[np.int64]] | None = None

    def add(self, array: pa.Array[Any]) -> None:
        """Some more rows; text comes as a dictionary array or becomes one."""
        if isinstance(array, pa.DictionaryArray) and not is_text(array.type.value_type):
            array = array.dictionary_decode()
        if self._by_key:
            column = rank(array)
            distinct: pa.Array[Any] = pa.array(keys(column.values), type=self._known.type)
            at = column.codes
        else:
            found = entries(array if isinstance(array, pa.DictionaryArray) else array.dictionary_encode())
            distinct, at = found.distinct.cast(self._known.type), found.at  # type: ignore[assignment]
        self._codes.append(at, np.append(self._places(distinct), -1))

    def _places(self, distinct: pa.Array[Any]) -> NDArray[np.int64]:
        """Where values stand among those that are known; neighbouring batches often have the same ones."""
        if self._last is not None and distinct.equals(self._last[0]):
            return self._last[1]
        at = pc.index_in(distinct, value_set=self._known)
        if at.null_count:
            new = distinct.filter(at.is_null()).unique()
            self._known = pa.concat_arrays([self._known, new])
            at = pc.index_in(distinct, value_set=self._known)
        self._last = distinct, at.to_numpy().astype(np.int64)
        return self._last[1]

    def finish(self) -> RawColumn:
        """All rows; values in ascending order, as `encode` wants them: codes that stand so already are not copied."""
        known: Any = self._known
        order = pc.array_sort_indices(known).to_numpy()
        places = np.empty(len(order), dtype=np.int64)
        places[order] = np.arange(len(order))
        known = known.take(order)
        return Column(self._codes.finish(places), from_keys(known.to_numpy(), self._kind) if self._by_key else known)


def coder_of(kind: pa.DataType) -> Coder | Whole:
    """Who codes a column of an Arrow type."""
    value = kind.value_type if isinstance(kind, pa.DictionaryType) else kind
    if is_text(value):
        return Coder(pa.large_string() if pt.is_string_view(value) else value)
    return Coder(value) if key_type(value) is not None or pt.is_decimal(value) else Whole(kind)
