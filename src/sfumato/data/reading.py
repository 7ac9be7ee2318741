"""How a table enters: from a file, from a data frame, or from anything that streams Arrow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from narwhals import dependencies as frames

from sfumato.calls import called
from sfumato.data.csv_files import CsvFile, open_csv
from sfumato.data.domain import check_headers, check_names
from sfumato.data.encoding import encode
from sfumato.data.packed_files import ArrowTable, ExcelTable, ParquetTable
from sfumato.data.safe_files import Progress, is_regular
from sfumato.data.schema import Schema
from sfumato.data.table import Origin, Table, row_place
from sfumato.errors import TableError
from sfumato.events import part, watched

CSV = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc", ".arrows")
EXCEL = (".xlsx", ".xlsm")


Witness = Callable[[pa.Table], None]


class Source(Protocol):
    """Where a table comes from: it knows its columns before it loads any."""

    @property
    def origin(self) -> Origin:
        """What kind of thing it is."""

    def names(self) -> list[str]:
        """The names of its columns, in order."""

    def load(self, columns: Sequence[str], *, progress: Progress) -> pa.Table:
        """These columns and no others."""

    def place(self, row: int) -> str:
        """Where a row stands, for messages."""


@called
def read(
    source: object,
    schema: Schema,
    *,
    encoding: str | None = None,
    witness: Witness | None = None,
) -> Table:
    """A table in codes, checked against its schema. Identifiers are not even read.

    `source` is a path to CSV, Parquet, Arrow (Feather) or Excel, a data frame of pandas, polars or pyarrow,
    or anything with the Arrow C stream interface. `encoding` is for CSV that is neither UTF-8 nor UTF-16 with
    a byte order mark. `witness` is shown the columns as they were read, before the schema changes anything in them.
    """
    found = open_source(source, encoding=encoding, expected=schema)
    names = found.names()
    check_names(names, schema)
    columns = [name for name in names if schema[name].role != "identifier"]
    with part(0.0, 0.5):
        arrow = found.load(columns, progress=Progress(_size(found)))
    if not arrow.num_rows:
        raise TableError(_called(found), "a table must have rows", given="none", remedy="give a table with rows")
    if witness is not None:
        with part(0.5, 0.75):
            witness(arrow)
    with part(0.75, 1.0):
        return encode(arrow, schema, origin=found.origin, place=found.place)


def read_arrow(source: object, *, encoding: str | None = None, guess: bool = True) -> pa.Table:
    """The table as it is, without a schema: every column, with the type that it has or seems to have.

    Without `guess` all cells of a CSV are text.
    """
    found = open_source(source, encoding=encoding)
    if isinstance(found, ParquetTable):
        found = replace(found, dictionaries=False)
    names = found.names()
    check_headers(names)
    table = found.load(names, progress=Progress(_size(found)))
    return found.guess(table) if guess and isinstance(found, CsvFile) else table.replace_schema_metadata(None)


def headers(source: object, *, encoding: str | None = None) -> list[str]:
    """The names of a table's columns, in order."""
    return open_source(source, encoding=encoding).names()


def _called(source: Source) -> str:
    """What to call a source in messages: its file's name, if it is a file."""
    if isinstance(source, CsvFile):
        return source.layout.path.name
    return source.path.name if isinstance(source, ParquetTable | ArrowTable | ExcelTable) else "table"


def _size(source: Source) -> int:
    return source.layout.path.stat().st_size if isinstance(source, CsvFile) else 0


def open_source(source: object, *, encoding: str | None = None, expected: Collection[str] = ()) -> Source:
    """Find out what a source is, without loading any row; `expected` names help to read a CSV header."""
    if isinstance(source, str | Path):
        return _open_path(Path(source), encoding=encoding, expected=expected)
    if frames.is_pandas_dataframe(source):
        return PandasFrame(source)
    if frames.is_polars_dataframe(source) or frames.is_polars_lazyframe(source):
        return PolarsFrame(source)
    if isinstance(source, pa.Table):
        return ArrowFrame(source)
    if hasattr(source, "__arrow_c_stream__"):
        return ArrowStream(pa.RecordBatchReader.from_stream(source))
    raise TableError(
        "table",
        "a table is a path, a data frame of pandas, polars or pyarrow, or an object that streams Arrow",
        given=type(source).__name__,
        remedy="pass one of these",
    )


def _open_path(path: Path, *, encoding: str | None, expected: Collection[str]) -> Source:
    _check_readable(path)
    suffix = path.suffix.lower()
    if suffix in CSV:
        return open_csv(path, encoding=encoding, expected=expected)
    if suffix in PARQUET:
        return ParquetTable(path)
    if suffix in ARROW:
        return ArrowTable(path)
    if suffix in EXCEL:
        return ExcelTable(path)
    raise TableError(
        path.name,
        "a table's file must have a known suffix",
        given=repr(suffix),
        remedy=f"use one of {', '.join(CSV + PARQUET + ARROW + EXCEL)}",
    )


def _check_readable(path: Path) -> None:
    rule, remedy = "a table's path must name a file that can be read", "check the path"
    if path.is_dir():
        raise TableError(str(path), rule, given="a directory", remedy="name a file in it")
    if not path.exists():
        raise TableError(str(path), rule, given="no such file", remedy=remedy)
    if not is_regular(path):
        raise TableError(str(path), rule, given="a device, a pipe or a socket", remedy="name a regular file")
    try:
        path.open("rb").close()
    except OSError as error:
        raise TableError(str(path), rule, given=error.strerror or "", remedy="allow reading it") from None


# Tables that are in memory already: pandas, polars, pyarrow, and whatever streams Arrow.
@dataclass(frozen=True)
class PandasFrame:
    """A pandas data frame; its index is not a column."""

    frame: Any
    origin: Origin = "pandas"

    def names(self) -> list[str]:
        """The names of its columns, as text."""
        return [str(name) for name in self.frame.columns]

    def place(self, row: int) -> str:
        """The row, counted from 1."""
        return row_place(row)

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
class PolarsFrame:
    """A polars data frame, or a lazy one of which only the wanted columns are collected."""

    frame: Any
    origin: Origin = "polars"

    def names(self) -> list[str]:
        """The names of its columns."""
        return list(self.frame.collect_schema().names())

    def place(self, row: int) -> str:
        """The row, counted from 1."""
        return row_place(row)

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
class ArrowFrame:
    """A pyarrow table."""

    frame: pa.Table
    origin: Origin = "pyarrow"

    def names(self) -> list[str]:
        """The names of its columns."""
        return self.frame.column_names

    def place(self, row: int) -> str:
        """The row, counted from 1."""
        return row_place(row)

    def load(self, columns: Sequence[str], *, progress: Progress) -> pa.Table:
        """The columns."""
        return self.frame.select(list(columns))


@dataclass(frozen=True)
class ArrowStream:
    """Anything with the Arrow C stream interface; it is read once, batch by batch."""

    reader: pa.RecordBatchReader
    origin: Origin = "pyarrow"

    def names(self) -> list[str]:
        """The names of its columns."""
        return self.reader.schema.names

    def place(self, row: int) -> str:
        """The row, counted from 1."""
        return row_place(row)

    def load(self, columns: Sequence[str], *, progress: Progress) -> pa.Table:
        """The columns."""
        schema = pa.schema([self.reader.schema.field(name) for name in columns])
        batches = [batch.select(list(columns)) for batch in watched(self.reader)]
        return pa.Table.from_batches(batches, schema=schema)
