"""What is asked of every source of tables, and what it gives: its columns as they are, before a schema reads them.

A source that holds its rows in memory gives Arrow columns. One that does not gives columns in codes: of each attribute
the distinct values once, and for each row where its value stands among them. Nobody behind `read` knows which it was.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Union, cast, runtime_checkable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.data.safe_files import Progress
from sfumato.data.table import Column, Origin, narrow, row_place

RawColumn = Union[Column, "pa.ChunkedArray[Any]"]
"""Values as they came in. In codes they stand in no particular order, each once, and rows hold every one of them."""


@dataclass(frozen=True, eq=False)
class RawTable:
    """Columns as they were read, before a schema changes anything in them; numbers of 4 bytes as they are written, and
    moments to the microsecond."""

    columns: Mapping[str, RawColumn]
    rows: int

    def __post_init__(self) -> None:
        wide = {name: _wide(column) for name, column in self.columns.items()}
        object.__setattr__(self, "columns", wide)

    @classmethod
    def of(cls, arrow: pa.Table) -> RawTable:
        """The columns of an Arrow table."""
        return cls(dict(zip(arrow.column_names, arrow.columns, strict=True)), arrow.num_rows)


def widened(array: Any) -> Any:
    """Numbers of 4 bytes as those that they are written as, in 8: 33.6, where the bits say 33.599998474121094.

    So a table is the same from REAL columns, from float32 in frames and files, and from CSV. Different numbers stay so,
    and stay in their order. Moments with nanoseconds are rounded down to microseconds, which is what databases have
    and releases write. Other arrays are given back as they are.

    >>> widened(pa.array([33.6, None], pa.float32())).to_pylist()
    [33.6, None]
    >>> widened(pa.array([-1, 1_999, None], pa.timestamp("ns"))).cast(pa.int64()).to_pylist()
    [-1000, 1000, None]
    """
    coded = isinstance(array.type, pa.DictionaryType)
    kind = array.type.value_type if coded else array.type
    if kind == pa.float32():
        return array.cast(pa.float32()).cast(pa.string()).cast(pa.float64())
    if (pt.is_timestamp(kind) or pt.is_time64(kind)) and kind.unit == "ns":
        found = _to_microseconds(array.cast(kind), kind)
        return array if found is None else found
    return array


def _to_microseconds(array: Any, kind: Any) -> Any:
    """Rounded down; None where nothing is finer. A zone is left aside: it says what to call a moment."""
    bare = pa.timestamp("ns") if pt.is_timestamp(kind) else kind
    moments = array.cast(pa.int64()).cast(bare)
    whole = pc.floor_temporal(moments, unit="microsecond")
    return None if whole.equals(moments) else whole.cast(pa.int64()).cast(kind)


def _wide(column: RawColumn) -> RawColumn:
    if not isinstance(column, Column):
        return cast(RawColumn, widened(column))
    values = widened(column.values)
    if values is column.values:
        return column
    if not pt.is_temporal(values.type):
        return replace(column, values=values)
    merged = Column.of(values)  # several may have become one; they stay in their order
    places = narrow(np.append(merged.codes, merged.missing_code), merged.missing_code)
    return Column(places[column.codes], merged.values)


class Source(Protocol):
    """Where a table comes from: it knows its columns before it reads any."""

    @property
    def origin(self) -> Origin:
        """As what kind of table a release is given back."""

    @property
    def called(self) -> str:
        """What to call it in messages; it never tells a password."""

    def names(self) -> list[str]:
        """The names of its columns, in order."""

    def raw(self, columns: Sequence[str], *, progress: Progress) -> RawTable:
        """These columns and no others. The order of the rows is the source's own."""

    def arrow(self, columns: Sequence[str], *, guess: bool, progress: Progress) -> pa.Table:
        """These columns with all their rows in memory, for whoever looks at a table without a schema.

        `guess`: cells that are text for want of types become what they seem to be.
        """

    def place(self, row: int) -> str:
        """Where a row stands, for messages."""


@runtime_checkable
class Choosy(Source, Protocol):
    """A source that does not read columns of every type."""

    def unread(self) -> dict[str, str]:
        """The columns that it does not read, each with its type."""


@dataclass(frozen=True)
class Repeats:
    """Of the rows that miss none of some columns: how many there are, and how many have the same there as another."""

    rows: int
    shared: int

    @property
    def share(self) -> float:
        """The share of those that are like another."""
        return self.shared / self.rows if self.rows else 0.0


@runtime_checkable
class Tallied(Source, Protocol):
    """A source that counts by itself, so that no value of what is counted comes up."""

    def repeats(self, columns: Sequence[str]) -> Repeats:
        """How many rows share what they have in all of these columns; cells of spaces alone are missing ones."""


class Loaded(ABC):
    """What is the same in every source that is loaded whole."""

    @property
    def called(self) -> str:
        """A table in memory has no name."""
        return "table"

    @abstractmethod
    def load(self, columns: Sequence[str], *, progress: Progress) -> pa.Table:
        """These columns and no others."""

    def raw(self, columns: Sequence[str], *, progress: Progress) -> RawTable:
        """These columns, in memory."""
        return RawTable.of(self.load(columns, progress=progress))

    def arrow(self, columns: Sequence[str], *, guess: bool, progress: Progress) -> pa.Table:
        """The same; types are known."""
        del guess
        return self.load(columns, progress=progress).replace_schema_metadata(None)

    def place(self, row: int) -> str:
        """The row, counted from 1."""
        return row_place(row)
