"""Which source a table is: found out from an address, a path or an object, without reading any row.

An address is known by its scheme, an object by the package that it is of; what they name is imported where it is used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.data.csv_files import open_csv
from sfumato.data.packed_files import ArrowTable, ExcelTable, ParquetTable
from sfumato.data.safe_files import is_regular
from sfumato.data.sources.frames import ArrowFrame, ArrowStream, PandasFrame, PolarsFrame
from sfumato.data.sources.source import Source
from sfumato.data.sources.stream import LARGE, Batched, Stream, open_folder
from sfumato.errors import TableError

CSV = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc", ".arrows")
EXCEL = (".xlsx", ".xlsm")

ADDRESSES: dict[str, str] = {
    "postgresql": "sfumato.data.sources.sql.source:open_sql",
    "postgres": "sfumato.data.sources.sql.source:open_sql",
    "duckdb": "sfumato.data.sources.sql.source:open_sql",
    "sqlite": "sfumato.data.sources.sql.source:open_sql",
    "spark": "sfumato.data.sources.spark.source:open_address",
}
"""By scheme, as in `scheme://...`: the module and the function that opens such an address."""
OBJECTS: dict[str, str] = {"pyspark": "sfumato.data.sources.spark.source:open_frame"}
"""By package: the module and the function that opens an object of it."""


@dataclass(frozen=True, kw_only=True)
class Opening:
    """How to open a source: the encoding of a CSV file, and names that its header is likely to hold.

    `query`: what to read from a database that an address names, in its own SQL.
    `stream`: whether to read it by batches; None leaves that to its size.
    """

    encoding: str | None = None
    expected: Collection[str] = ()
    query: str | None = None
    stream: bool | None = None


Opener = Callable[[Any, Opening], Source]
"""From an address, an object or a path."""
SUFFIXES: dict[str, Opener] = {
    **dict.fromkeys(CSV, lambda path, how: open_csv(path, encoding=how.encoding, expected=how.expected)),
    **dict.fromkeys(PARQUET, lambda path, how: ParquetTable(path)),
    **dict.fromkeys(ARROW, lambda path, how: ArrowTable(path)),
    **dict.fromkeys(EXCEL, lambda path, how: ExcelTable(path)),
}
"""By the end of a file's name: what opens it."""


def open_source(source: object, how: Opening | None = None) -> Source:
    """Find out what a source is, without reading any row."""
    how = how or Opening()
    if isinstance(source, str) and "://" in source:
        return _addressed(source)(source, how)
    if how.query is not None:
        raise TableError(
            "query",
            "a query is for a database",
            given="a file or another table",
            remedy="leave the query out, or name the database in place of the file (a recipe is no table)",
        )
    if isinstance(source, str | Path):
        path = Path(source)
        return _streamed(_open_path(path, how), how.stream, large=_size(path) > LARGE)
    package = type(source).__module__.partition(".")[0]
    if package in OBJECTS:
        return _named(OBJECTS[package])(source, how)
    return _streamed(_open_frame(source), how.stream, large=False)


def in_order(source: object) -> bool:
    """Whether the rows of a source have an order of their own; where they are only counted, they have none."""
    if isinstance(source, str) and "://" in source:
        return False
    return type(source).__module__.partition(".")[0] not in OBJECTS


def _streamed(source: Source, asked: bool | None, *, large: bool) -> Source:
    if isinstance(source, Batched):
        return Stream(source) if asked or (asked is None and large) else source
    if not asked:
        return source
    raise TableError(
        source.called,
        "CSV, Parquet and Arrow files, folders of Parquet files and streams of Arrow are read by batches",
        given="another kind of table",
        remedy="save it as Parquet, or leave stream out",
    )


def _size(path: Path) -> int:
    return sum(one.stat().st_size for one in path.iterdir()) if path.is_dir() else path.stat().st_size


def _open_frame(source: Any) -> Source:
    from narwhals import dependencies as frames

    if frames.is_pandas_dataframe(source):
        return PandasFrame(source)
    if frames.is_polars_dataframe(source) or frames.is_polars_lazyframe(source):
        return PolarsFrame(source)
    if isinstance(source, pa.Table):
        return ArrowFrame(source)
    if frames.is_pandas_series(source) or frames.is_polars_series(source):
        raise TableError("table", "a table has columns", given="one column, a Series", remedy="write series.to_frame()")
    if hasattr(source, "__arrow_c_stream__"):
        try:
            return ArrowStream(pa.RecordBatchReader.from_stream(source))
        except (pa.ArrowException, TypeError, ValueError):  # their messages may quote cells
            raise TableError(
                "table", "a stream of Arrow gives rows of columns", given="another stream", remedy="give a whole table"
            ) from None
    raise TableError(
        "table",
        "a table is a path, an address, a data frame of pandas, polars or pyarrow, or an object that streams Arrow",
        given=type(source).__name__,
        remedy="pass one of these",
    )


def _addressed(address: str) -> Opener:
    scheme = address.partition("://")[0]
    if scheme in ADDRESSES:
        return _named(ADDRESSES[scheme])
    raise TableError(
        "table",
        f"an address begins with one of: {', '.join(sorted(ADDRESSES)) or 'none are known'}",
        given="another scheme",
        remedy="use one of these, or give the path of a file",
    )


def _named(opener: str) -> Opener:
    module, _, function = opener.partition(":")
    found: Opener = getattr(import_module(module), function)
    return found


def _open_path(path: Path, how: Opening) -> Source:
    _check_readable(path)
    if path.is_dir():
        return open_folder(path, PARQUET)
    suffix = path.suffix.lower()
    if suffix in SUFFIXES:
        return SUFFIXES[suffix](path, how)
    raise TableError(
        path.name,
        "a table's file must have a known suffix",
        given=repr(suffix),
        remedy=f"use one of {', '.join(SUFFIXES)}",
    )


def _check_readable(path: Path) -> None:
    rule, remedy = "a table's path must name a file that can be read", "check the path"
    if not path.exists():
        raise TableError(str(path), rule, given="no such file", remedy=remedy)
    if not is_regular(path) and not path.is_dir():
        raise TableError(str(path), rule, given="a device, a pipe or a socket", remedy="name a regular file")
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError as error:
        raise TableError(str(path), rule, given=error.strerror or "", remedy="allow reading it") from None
