"""How a table enters: from a file, from a data frame, or from anything that streams Arrow."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pyarrow as pa
from narwhals import dependencies as frames

from sfumato.data._csv import CsvFile, open_csv
from sfumato.data._declared import check_headers, check_names
from sfumato.data._files import ArrowTable, ExcelTable, ParquetTable
from sfumato.data._frames import ArrowFrame, ArrowStream, PandasFrame, PolarsFrame
from sfumato.data._progress import Bar
from sfumato.data.encoding import encode
from sfumato.data.schema import Schema
from sfumato.data.table import Origin, Table
from sfumato.errors import TableError

CSV = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc", ".arrows")
EXCEL = (".xlsx", ".xlsm")


class Source(Protocol):
    """Where a table comes from: it knows its columns before it loads any."""

    @property
    def origin(self) -> Origin:
        """What kind of thing it is."""

    def names(self) -> list[str]:
        """The names of its columns, in order."""

    def load(self, columns: Sequence[str], *, bar: Bar) -> pa.Table:
        """These columns and no others."""

    def place(self, row: int) -> str:
        """Where a row stands, for messages."""


def read(source: object, schema: Schema, *, progress: bool | None = None, encoding: str | None = None) -> Table:
    """A table in codes, checked against its schema. Identifiers are not even read.

    `source` is a path to CSV, Parquet, Arrow (Feather) or Excel, a data frame of pandas, polars or pyarrow,
    or anything with the Arrow C stream interface. `encoding` is for CSV that is neither UTF-8 nor UTF-16 with
    a byte order mark. `progress` draws a bar on stderr (None: on a terminal, after a second).
    """
    found = open_source(source, encoding=encoding, expected=schema)
    names = found.names()
    check_names(names, schema)
    columns = [name for name in names if schema[name].role != "identifier"]
    with Bar("Reading", _size(found), wanted=progress) as bar:
        arrow = found.load(columns, bar=bar)
        if not arrow.num_rows:
            raise TableError(_called(found), "a table must have rows", given="none", remedy="give a table with rows")
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
    with Bar("Reading", _size(found)) as bar:
        table = found.load(names, bar=bar)
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
    if not path.is_file():  # a pipe would be waited for, a device never ends
        raise TableError(str(path), rule, given="a pipe or a device", remedy="save it as a file first")
    try:
        path.open("rb").close()
    except OSError as error:
        raise TableError(str(path), rule, given=error.strerror or "", remedy="allow reading it") from None
