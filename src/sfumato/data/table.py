"""A table in codes: every attribute's distinct values once, and for each row where its value stands.

A column is the same whether it is raw or masked: a masked one has labels, intervals or other numbers as its values.
`group_numbers` tells which rows are alike on some columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Union

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

from sfumato.data.grouping import counted
from sfumato.data.schema import Schema
from sfumato.data.shown import among_others

Codes = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]
Origin = Literal["path", "pandas", "polars", "pyarrow"]
Array = Union["pa.Array[Any]", "pa.ChunkedArray[Any]"]


def code_type(n: int) -> type[np.uint8] | type[np.uint16] | type[np.uint32]:
    """The narrowest unsigned type for codes 0..n, the missing code n included.

    >>> code_type(255).__name__, code_type(256).__name__
    ('uint8', 'uint16')
    """
    return np.uint8 if n <= 0xFF else np.uint16 if n <= 0xFFFF else np.uint32


def narrow(codes: NDArray[Any], n: int) -> Codes:
    """The same codes of n values in the narrowest type that holds them and the missing code.

    >>> narrow(np.array([0, 299]), 300).dtype
    dtype('uint16')
    """
    if n <= 0xFF:
        return codes.astype(np.uint8, copy=False)
    return codes.astype(np.uint16, copy=False) if n <= 0xFFFF else codes.astype(np.uint32, copy=False)


@dataclass(frozen=True, eq=False)
class Column:
    """One attribute: `values` holds its distinct values, `codes` says which each row has.

    `values` keeps the type that came in and never holds a null; the code `len(values)` means missing. Values of a raw
    column are in ascending order; a masked one may have some that no row shows.
    """

    codes: Codes
    values: pa.Array[Any]

    @classmethod
    def of(cls, array: Array) -> Column:
        """Any array of numbers or labels, dictionary-encoded or not; null where missing.

        >>> Column.of(pa.array(["b", None, "b"])).labels
        ('b',)
        """
        whole: Any = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        found: Any = whole if isinstance(whole, pa.DictionaryArray) else whole.dictionary_encode()
        codes = found.indices.fill_null(len(found.dictionary)).to_numpy(zero_copy_only=False)
        return cls(narrow(codes, len(found.dictionary)), found.dictionary)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def keys(self) -> NDArray[np.int64]:
        """(rows,): a number for each row, equal exactly where it shows the same; it may be multiplied and added.

        Made anew each time: eight bytes a row are not kept. Whoever only compares or looks up takes `marks`.
        """
        return self.codes.astype(np.int64)

    @property
    def marks(self) -> NDArray[np.integer[Any]]:
        """(rows,): the same numbers, in as few bytes as they are held in."""
        return self.codes

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Every value as text."""
        return tuple(str(value) for value in self.values.to_pylist())

    def texts(self, codes: NDArray[np.int64]) -> list[str]:
        """Some values as text: all others are not spelt out."""
        return [str(value) for value in self.values.take(codes).to_pylist()]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(values + 1,): how many rows have each value; the last is missing."""
        return counted(self.codes, len(self.values) + 1)

    def take(self, rows: NDArray[np.int64]) -> Column:
        """Some rows."""
        return Column(self.codes[rows], self.values)

    @property
    def shows_labels(self) -> bool:
        """Whether it holds text: labels or intervals, not numbers."""
        kind = self.values.type
        return pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind)

    @property
    def missing_code(self) -> int:
        """The code of a missing value."""
        return len(self.values)

    @cached_property
    def missing(self) -> int:
        """How many rows miss a value."""
        return int(self.counts[-1])

    def decode(self) -> pa.Array[Any]:
        """The values row by row, as they came in."""
        return decode(self.codes, self.values)

    def to_arrow(self) -> pa.Array[Any]:
        """The values row by row; text with a dictionary, which is written without spelling it out."""
        if not self.shows_labels:
            return self.decode()
        codes: Any = pa.array(self.codes.astype(np.int32), mask=self.codes == self.missing_code)
        return pa.DictionaryArray.from_arrays(codes, self.values)

    def to_pylist(self) -> list[Any]:
        """The values row by row, None where missing."""
        found: list[Any] = self.decode().to_pylist()
        return found


@dataclass(frozen=True, eq=False)
class Sets:
    """Each distinct set once, and which one each row holds."""

    codes: NDArray[np.int64]
    offsets: NDArray[np.int64]
    items: NDArray[np.int64]
    missing: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ItemColumn:
    """One set-valued attribute: row i holds items `codes[offsets[i]:offsets[i + 1]]`, of a raw column ascending.

    A missing set is not an empty one: `missing_rows` tells them apart.
    """

    offsets: NDArray[np.int64]
    codes: Codes
    values: pa.Array[Any]
    missing_rows: NDArray[np.bool_]

    @classmethod
    def of(cls, array: Array) -> ItemColumn:
        """Any array of lists of labels; null where missing."""
        whole: Any = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        items = Column.of(whole.flatten())
        lengths = whole.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
        return cls(offsets, items.codes, items.values, whole.is_null().to_numpy(zero_copy_only=False))

    def __len__(self) -> int:
        return len(self.missing_rows)

    @cached_property
    def sets(self) -> Sets:
        """The different sets, in the order of their first rows."""
        found: Any = self._bytes().dictionary_encode()
        known, gone = found.indices.fill_null(-1).to_numpy().astype(np.int64), self.missing_rows
        first = np.flatnonzero(np.diff(np.maximum.accumulate(np.append(-1, known))) > 0)  # a set's first row
        if self.missing:  # a missing set stands where it is met first
            place = int(np.searchsorted(first, np.argmax(gone)))
            known, first = np.where(gone, place, known + (known >= place)), np.insert(first, place, np.argmax(gone))
        starts, sizes = self.offsets[first], np.where(gone[first], 0, np.diff(self.offsets)[first])
        ends = np.append(0, np.cumsum(sizes))
        items = self.codes[np.arange(ends[-1]) + np.repeat(starts - ends[:-1], sizes)].astype(np.int64)
        return Sets(known, ends, items, gone[first])

    def _bytes(self) -> pa.Array[Any]:
        """Every row's items as bytes: equal exactly where it holds the same set; null where missing."""
        codes: Any = np.ascontiguousarray(self.codes)
        ends = pa.py_buffer(self.offsets.astype(np.int64) * codes.itemsize)
        known = pa.array(~self.missing_rows).buffers()[1]
        return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(self), [known, ends, pa.py_buffer(codes)])

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """(rows,): a number for each row, equal exactly where it holds the same set; the largest is missing."""
        return np.where(self.sets.missing[self.sets.codes], len(self.sets.missing), self.sets.codes)

    @property
    def marks(self) -> NDArray[np.integer[Any]]:
        """The same."""
        return self.keys

    @cached_property
    def items(self) -> tuple[str, ...]:
        """Every item as text."""
        return tuple(str(item) for item in self.values.to_pylist())

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Every set as one text."""
        return tuple(self.texts(np.arange(len(self.sets.missing))))

    def texts(self, sets: NDArray[np.int64]) -> list[str]:
        """Some sets as text: all others are not spelt out."""
        sizes = np.diff(self.sets.offsets)[sets]
        ends = np.append(0, np.cumsum(sizes))
        places = np.arange(ends[-1]) + np.repeat(self.sets.offsets[sets] - ends[:-1], sizes)
        written = pa.array([among_others(item) for item in self.items], type=pa.large_string())
        items = written.take(pa.array(self.sets.items[places]))
        lists = pa.LargeListArray.from_arrays(pa.array(ends), items)
        joined: Any = pc.binary_join(lists, pa.scalar(", ", pa.large_string()))
        return ["{" + text + "}" for text in joined.to_pylist()]

    @property
    def shows_labels(self) -> bool:
        """Sets are no labels."""
        return False

    @property
    def missing_code(self) -> int:
        """The key of a missing set."""
        return len(self.sets.missing)

    @cached_property
    def missing(self) -> int:
        """How many rows miss their set."""
        return int(np.count_nonzero(self.missing_rows))

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(sets + 1,): how many rows hold each set; the last is missing."""
        return np.bincount(self.keys, minlength=len(self.sets.missing) + 1)

    def take(self, rows: NDArray[np.int64]) -> ItemColumn:
        """Some rows. Their items are numbered as they are met, as in `of`; all others are left out."""
        sizes = np.diff(self.offsets)[rows]
        offsets = np.append(0, np.cumsum(sizes)).astype(np.int64)
        codes = self.codes[np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], sizes)]
        items = Column.of(pa.array(codes, mask=codes == len(self.values)))
        values = self.values.take(items.values)
        return ItemColumn(offsets, items.codes, values, self.missing_rows[rows])

    def decode(self) -> pa.Array[Any]:
        """A list array, one list a row, null where the set is missing."""
        offsets = pa.array(self.offsets, type=pa.int64())
        mask = pa.array(self.missing_rows, type=pa.bool_()) if self.missing else None
        return pa.LargeListArray.from_arrays(offsets, decode(self.codes, self.values), mask=mask)

    def to_arrow(self) -> pa.Array[Any]:
        """As `decode`."""
        return self.decode()

    def to_pylist(self) -> list[Any]:
        """The sets row by row, None where missing."""
        found: list[Any] = self.decode().to_pylist()
        return found


AnyColumn = Column | ItemColumn


def column_of(array: Array) -> AnyColumn:
    """An Arrow array as a column: the one place where values become codes apart from reading a raw table."""
    return ItemColumn.of(array) if pt.is_nested(array.type) else Column.of(array)


def decode(codes: Codes, values: pa.Array[Any]) -> pa.Array[Any]:
    """Values at codes; null where the code is past the last value."""
    return values.take(pa.array(codes.astype(np.int64), type=pa.int64(), mask=codes == len(values)))


@dataclass(frozen=True, eq=False)
class Table:
    """A table of people, described by its schema and held in codes. Identifiers are not in it."""

    schema: Schema
    columns: Mapping[str, AnyColumn]
    rows: int
    origin: Origin = "pyarrow"

    def column(self, name: str) -> Column:
        """A number's or a category's codes."""
        found = self.columns[name]
        if isinstance(found, ItemColumn):
            raise TypeError(f"{name} is set-valued: use columns[{name!r}]")
        return found

    def to_arrow(self) -> pa.Table:
        """All columns as they came in."""
        return pa.table({name: column.decode() for name, column in self.columns.items()})


# Where in the source something stands: for messages that must not show the value itself.
Place = Callable[[NDArray[np.bool_]], str]
"""From a mark for each entry of a column to the place of the first marked one, such as "line 17"."""

RowPlace = Callable[[int], str]
"""From a row, counted from 0, to its place."""


def row_place(row: int) -> str:
    """The place of a row in a table that has no lines."""
    return f"row {row + 1}"
