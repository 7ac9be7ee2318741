"""How a table enters: from whatever source, checked against its schema, in codes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.calls import called
from sfumato.data.domain import check_headers, check_names
from sfumato.data.encoding import encode_raw
from sfumato.data.safe_files import Progress
from sfumato.data.schema import Schema
from sfumato.data.sources.openers import Opening, in_order, open_source
from sfumato.data.sources.source import Choosy, RawTable, widened
from sfumato.data.table import Column, RowPlace, Table, row_place
from sfumato.errors import TableError, did_you_mean, quoted, warn
from sfumato.events import part

Witness = Callable[[RawTable], None]


@called
def read(
    source: object,
    schema: Schema,
    *,
    encoding: str | None = None,
    witness: Witness | None = None,
    stream: bool | None = None,
    query: str | None = None,
    optional: Collection[str] = (),
) -> Table:
    """A table in codes, checked against its schema. Identifiers are not even read.

    `source` is a path to CSV, Parquet, Arrow (Feather) or Excel, a data frame of pandas, polars, pyarrow or Spark,
    anything with the Arrow C stream interface, or the address of a database or of a Spark cluster.
    `encoding` is for CSV that is neither UTF-8 nor UTF-16 with a byte order mark. `witness` is shown the
    columns as they were read, before the schema changes anything in them.
    `stream`: whether to read by batches, for tables larger than memory; None leaves that to the size of the file.
    `query`: what to read from a database, where its address names no table. `optional`: attributes that it may lack;
    those that it lacks are not in its schema either.
    """
    found = open_source(source, Opening(encoding=encoding, expected=schema, query=query, stream=stream))
    names = found.names()
    if optional and all(name in schema for name in names):  # else one that it lacks may be misspelt
        schema = schema.without([name for name in optional if name not in names])
    check_names(names, schema)
    columns = [name for name in names if schema[name].role != "identifier"]
    with part(0.0, 0.5):
        raw = found.raw(columns, progress=Progress())
    if not raw.rows:
        raise TableError(found.called, "a table must have rows", given="none", remedy="give a table with rows")
    if witness is not None:
        with part(0.5, 0.75):
            witness(raw)
    with part(0.75, 1.0):
        return encode_raw(raw, schema, origin=found.origin, place=found.place)


def read_arrow(source: object, *, encoding: str | None = None, guess: bool = True) -> pa.Table:
    """The table as it is, without a schema: every column, with the type that it has or seems to have.

    Without `guess` all cells of a CSV are text.
    """
    found = open_source(source, Opening(encoding=encoding))
    names = found.names()
    check_headers(names)
    table = found.arrow(names, guess=guess, progress=Progress())
    wide = [widened(column) for column in table.columns]
    return pa.table(wide, schema=pa.schema([one.with_type(c.type) for one, c in zip(table.schema, wide, strict=True)]))


UNREAD, AS_TEXT = b"sfumato:unread", b"sfumato:text"
"""What a column that is looked at says of itself: its type, which is not read; that a database holds it as text."""


def look(
    source: object,
    *,
    encoding: str | None = None,
    columns: Sequence[str] | None = None,
    query: str | None = None,
) -> pa.Table:
    """A table to be looked at before there is a recipe, or some of its columns: as `read_arrow` gives it.

    A database or a cluster counts: what comes up are the values of every column, and how many rows are alike, from
    which equal rows are made again. They have no order then. Columns that it does not read are empty, and say why.
    `query` is what to read from it, where its address names no table.
    """
    if in_order(source) and query is None:
        whole = read_arrow(source, encoding=encoding)
        return whole.select(_asked(columns, whole.column_names))
    found = open_source(source, Opening(query=query))
    names = found.names()
    check_headers(names)
    unread = found.unread() if columns is None and isinstance(found, Choosy) else {}
    asked = [name for name in _asked(columns, names) if name not in unread]
    raw = found.raw(asked, progress=Progress())
    read = {name: one.decode() if isinstance(one, Column) else one for name, one in raw.columns.items()}
    return _described({**read, **{name: pa.nulls(raw.rows) for name in unread}}, unread).select(
        names if columns is None else asked
    )


def _described(columns: Mapping[str, Any], unread: Mapping[str, str]) -> pa.Table:
    """Columns that say of themselves what they were in their database."""
    fields = []
    for name, column in columns.items():
        said = {AS_TEXT: b"text"} if pa.types.is_string(column.type) or pa.types.is_large_string(column.type) else {}
        said |= {UNREAD: unread[name].encode()} if name in unread else {}
        fields.append(pa.field(name, column.type, metadata=said))
    return pa.table(list(columns.values()), schema=pa.schema(fields))


def index_left_out(source: Any) -> None:
    """Warn of a data frame of pandas whose index has a name: it is no column, and neither masked nor shown."""
    index = getattr(source, "index", None)
    names = [str(name) for name in getattr(index, "names", ()) if name is not None and name not in source.columns]
    if names:
        told = ", ".join(map(quoted, names))
        warn(
            f"the index {told} of this table is no column of it, and is left out: write frame.reset_index() to keep it"
        )


def placed(source: object, *, encoding: str | None = None) -> RowPlace | None:
    """How messages tell where a row of a table stands; None where rows have no order."""
    if not in_order(source):
        return None
    return open_source(source, Opening(encoding=encoding)).place if isinstance(source, str | Path) else row_place


def _asked(columns: Sequence[str] | None, names: Sequence[str]) -> list[str]:
    """The columns that are asked for, which must be there; without any all of them."""
    for name in columns or ():
        if name not in names:
            given, remedy = repr(name), did_you_mean(name, names)
            raise TableError("table", "this is no column of the table", given=given, remedy=remedy)
    return list(names if columns is None else columns)


def headers(source: object, *, encoding: str | None = None) -> list[str]:
    """The names of a table's columns, in order."""
    return open_source(source, Opening(encoding=encoding)).names()
