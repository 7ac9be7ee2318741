"""Tables that are in memory already: pandas, polars, pyarrow, and whatever streams Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sfumato.data.safe_files import Progress
from sfumato.data.sources.source import Loaded
from sfumato.data.table import Origin
from sfumato.errors import TableError
from sfumato.events import watched


@dataclass(frozen=True)
class PandasFrame(Loaded):
    """A pandas data frame; its index is not a column."""

    frame: Any
    origin: Origin = "pandas"

    def names(self) -> list[str]:
        """The names of its columns, as text."""
        return [str(name) for name in self.frame.columns]

    def load(self, columns: Sequence[str], *, progress: Progress) -> pa.Table:
        """The columns."""
        names = self.names()
        return pa.table({name: self._column(name, names.index(name)) for name in watched(columns)})

    def _column(self, name: str, at: int) -> pa.Array[Any] | pa.ChunkedArray[Any]:
        try:
            found: pa.Array[Any] | pa.ChunkedArray[Any] = pa.array(self.frame.iloc[:, at], from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):  # their messages quote cells
            raise _mixed(name) from None
        return found


def _mixed(name: str) -> TableError:
    return TableError(
        name,
        "a column holds values of one type",
        given="mixed types, or objects that are no values",
        remedy="convert the column to text or to numbers",
    )


@dataclass(frozen=True)
class PolarsFrame(Loaded):
    """A polars data frame, or a lazy one of which only the wanted columns are collected."""

    frame: Any
    origin: Origin = "polars"

    def names(self) -> list[str]:
        """The names of its columns."""
        return list(self.frame.collect_schema().names())

    def load(self, columns: Sequence[str], *, progress: Progress) -> pa.Table:
        """The columns."""
        import polars as pl
        import polars.selectors as cs

        wanted = self.frame.lazy().select(cs.by_name(*columns)).collect()
        for name in columns:
            if wanted.schema[name] == pl.Object:
                raise _mixed(name)
        table: pa.Table = wanted.to_arrow()
        return table


@dataclass(frozen=True)
class ArrowFrame(Loaded):
    """A pyarrow table."""

    frame: pa.Table
    origin: Origin = "pyarrow"

    def names(self) -> list[str]:
        """The names of its columns."""
        return self.frame.column_names

    def load(self, columns: Sequence[str], *, progress: Progress) -> pa.Table:
        """The columns."""
        return self.frame.select(list(columns))


@dataclass(frozen=True)
class ArrowStream(Loaded):
    """Anything with the Arrow C stream interface; it is read once, batch by batch."""

    reader: pa.RecordBatchReader
    origin: Origin = "pyarrow"

    def names(self) -> list[str]:
        """The names of its columns."""
        return self.reader.schema.names

    def load(self, columns: Sequence[str], *, progress: Progress) -> pa.Table:
        """The columns."""
        return pa.Table.from_batches(list(self.batches(columns, progress=progress)), schema=self.kinds(columns))

    def kinds(self, columns: Sequence[str]) -> pa.Schema:
        """The types of the columns."""
        return pa.schema([self.reader.schema.field(name) for name in columns])

    def batches(self, columns: Sequence[str], *, progress: Progress) -> Iterator[pa.RecordBatch]:
        """The columns, batch by batch."""
        del progress  # it does not say how long it is
        return (batch.select(list(columns)) for batch in watched(self.reader))
