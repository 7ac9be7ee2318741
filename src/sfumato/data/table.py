"""A table in codes: every attribute's distinct values once, and for each row where its value stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.schema import Schema

Codes = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]
Origin = Literal["path", "pandas", "polars", "pyarrow"]


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
    """One attribute: `values` holds its distinct values in ascending order, `codes` says which each row has.

    `values` keeps the type that came in and never holds a null; the code `len(values)` means missing.
    """

    codes: Codes
    values: pa.Array[Any]

    @property
    def missing_code(self) -> int:
        """The code of a missing value."""
        return len(self.values)

    @cached_property
    def missing(self) -> int:
        """How many rows miss a value."""
        return int(np.count_nonzero(self.codes == self.missing_code))

    def decode(self) -> pa.Array[Any]:
        """The values row by row, as they came in."""
        return decode(self.codes, self.values)


@dataclass(frozen=True, eq=False)
class ItemColumn:
    """One set-valued attribute: row i holds items `codes[offsets[i]:offsets[i + 1]]`, ascending.

    A missing set is not an empty one: `missing_rows` tells them apart.
    """

    offsets: NDArray[np.int64]
    codes: Codes
    values: pa.Array[Any]
    missing_rows: NDArray[np.bool_]

    @cached_property
    def missing(self) -> int:
        """How many rows miss their set."""
        return int(np.count_nonzero(self.missing_rows))

    def decode(self) -> pa.Array[Any]:
        """A list array, one list a row, null where the set is missing."""
        offsets = pa.array(self.offsets, type=pa.int64())
        mask = pa.array(self.missing_rows, type=pa.bool_()) if self.missing else None
        return pa.LargeListArray.from_arrays(offsets, decode(self.codes, self.values), mask=mask)


def whole_values(column: Column | ItemColumn) -> NDArray[np.int64]:
    """(rows,): a number for each row, equal exactly where the whole values are; sets by their items."""
    if isinstance(column, Column):
        return column.codes.astype(np.int64)
    seen: dict[bytes | None, int] = {}
    bounds = zip(column.offsets[:-1], column.offsets[1:], column.missing_rows, strict=True)
    keys = (None if gone else column.codes[first:end].tobytes() for first, end, gone in bounds)
    return np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.int64)


def decode(codes: Codes, values: pa.Array[Any]) -> pa.Array[Any]:
    """Values at codes; null where the code is past the last value."""
    return values.take(pa.array(codes.astype(np.int64), type=pa.int64(), mask=codes == len(values)))


@dataclass(frozen=True, eq=False)
class Table:
    """A table of people, described by its schema and held in codes. Identifiers are not in it."""

    schema: Schema
    columns: Mapping[str, Column | ItemColumn]
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
