"""Copies of a released table in a database: written in one transaction, and counted again by the database itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.data.schema import ItemSet, Schema
from sfumato.data.sources.counted import Recount, Values, receive
from sfumato.data.sources.sql.address import Address, parse
from sfumato.data.sources.sql.session import FORBIDDEN, NO_SCHEMA, TAKEN, Session, in_words
from sfumato.data.sources.sql.source import check_file
from sfumato.data.sources.sql.statements import Counting, quoted, smallest_group, table_clause
from sfumato.errors import TableError

WRITING = "the released table could not be written to a new table of the database"
MENDING = "mend the cause; the database is as it was"
REMEDIES = {
    FORBIDDEN: "have its owner say GRANT CREATE, USAGE ON the SCHEMA TO this user; the database is as it was",
    NO_SCHEMA: "check the name before the point, whose capitals count, or say CREATE SCHEMA; the database is as it was",
    TAKEN: "name another table, or drop that one; the database is as it was",
}
"""What to do about some of what goes wrong where a table is written."""
TYPES = {
    "postgresql": {"text": "TEXT", "whole": "BIGINT", "decimal": "DOUBLE PRECISION", "truth": "BOOLEAN"},
    "duckdb": {"text": "VARCHAR", "whole": "BIGINT", "decimal": "DOUBLE", "truth": "BOOLEAN"},
    "sqlite": {"text": "TEXT", "whole": "INTEGER", "decimal": "REAL", "truth": "BOOLEAN"},
}
SENT = {"whole": pa.int64(), "decimal": pa.float64(), "date": pa.date32()}
"""As what a kind is sent: a column is made as wide as its kind, and what is narrower is not taken for it."""
MOST_DIGITS = 38
"""Digits that a decimal column of a database has at most."""
CALENDAR = {"date": "DATE", "moment": "TIMESTAMP", "zoned": "TIMESTAMP WITH TIME ZONE", "time": "TIME"}


def address_of(address: str, table: str | None) -> Address:
    """The address with its table, which is named once: in the address or beside it."""
    found = parse(address)
    if (found.table is None) == (table is None):
        raise TableError(
            found.called,
            "the table to write is named once",
            given="not at all" if table is None else "twice",
            remedy='write ?table=NAME behind the address, or in Python table="NAME"',
        )
    return (
        found if table is None else Address(found.scheme, found.where, table, found.options, found.variable, found.file)
    )


def write_copy(address: Address, shown: pa.Table) -> None:
    """Make the table and fill it in one transaction; a table of that name that is there already is left alone."""
    columns = _columns(address, shown)
    plain = _plain(shown, text_dates=address.scheme == "sqlite")
    room = import_module(f"sfumato.data.sources.sql.{address.scheme}")
    with _in_words(address, shown.column_names), room.writing(address) as written:
        written.run(f"CREATE TABLE {table_clause(address.table or '')} ({columns})")
        written.fill(address.table or "", plain)


def _in_words(address: Address, columns: Sequence[str] = ()) -> AbstractContextManager[None]:
    return in_words(address.called, rule=WRITING, remedies=REMEDIES, usual=MENDING, columns=columns)


class _Tried(Exception):
    """Ends a transaction that is not to be committed."""


def try_copy(address: Address) -> None:
    """Whether a table of that name could be made there: it is made, and the transaction is taken back."""
    if _is_new(address):
        check_folder(address)
        return  # nothing can be in the way, and nothing is left behind
    room = import_module(f"sfumato.data.sources.sql.{address.scheme}")
    with _in_words(address), suppress(_Tried), room.writing(address) as written:
        written.run(f"CREATE TABLE {table_clause(address.table or '')} (tried INTEGER)")
        raise _Tried


def is_taken(error: TableError) -> bool:
    """Whether an error says that a table of that name is there already."""
    return error.rule.startswith(f"{TAKEN}:")


def is_copy(address: Address, shown: pa.Table) -> bool:
    """Whether a table that is there is a copy of this one: it has the same columns, in each the same values as often,
    and by all columns together as many rows and groups, as the database counts them."""
    plain, names = _plain(shown, text_dates=False), shown.column_names
    clause = table_clause(address.table or "")
    room = import_module(f"sfumato.data.sources.sql.{address.scheme}")
    with in_words(address.called), room.reading(address) as session:
        fields = session.fields(clause)
        if fields.names != names or _recounted(session, address, tuple(names)) != _counted(plain, names):
            return False
        return all(_values(session, clause, fields.field(n)) == _tally(plain.column(n)) for n in names)


def _counted(plain: pa.Table, names: Sequence[str]) -> Recount:
    sizes = plain.group_by(list(names)).aggregate([([], "count_all")]).column("count_all")
    return Recount(tuple(names), plain.num_rows, len(sizes), pc.min(sizes).as_py() or 0)


def _values(session: Session, clause: str, field: pa.Field[Any]) -> dict[object, int]:
    """The values of a column of a database, each with how many rows have it; None for those that have none."""
    counting = Counting.of(clause, {field.name: session.expression(clause, field)})
    found = Values.of(receive("values", session.batches(counting.values(field.name))))
    return _sums([*session.plain(field, found.values).to_pylist(), None], found.counts.tolist())


def _tally(column: pa.ChunkedArray[Any]) -> dict[object, int]:
    found = column.value_counts()
    return _sums(found.field("values").to_pylist(), found.field("counts").to_numpy().tolist())


def _sums(values: Sequence[object], counts: Sequence[int]) -> dict[object, int]:
    """By numbers as they are, and by the text of everything else: SQLite's dates may be text."""
    sums: dict[object, int] = {}
    for value, count in zip(values, counts, strict=True):
        key = value if value is None or isinstance(value, int | float | Decimal) else str(value)
        sums[key] = sums.get(key, 0) + count
    return {key: count for key, count in sums.items() if count}


def _is_new(address: Address) -> bool:
    """Whether it is the file of a database that is not there yet."""
    return address.scheme != "postgresql" and not Path(address.where).exists()


def check_folder(address: Address) -> None:
    """A database that is not there yet is made, in a folder that is."""
    if _is_new(address) and not os.access(Path(address.where).absolute().parent, os.W_OK | os.X_OK):
        remedy = "make the folder, or name another; nothing was written"
        raise TableError(address.called, f"no folder that may be written to: {WRITING}", remedy=remedy)


def check_kinds(address: Address, schema: Schema) -> None:
    """Refuse columns that no copy can hold, as far as a schema tells it: before anything is published."""
    for name in schema.kept:
        if isinstance(schema[name], ItemSet):
            raise _unwritable(name, "an item set")


def recount(address: Address, on: Sequence[Sequence[str]]) -> list[Recount]:
    """For each list of columns what the database counts, in its own SQL."""
    check_file(address)
    room = import_module(f"sfumato.data.sources.sql.{address.scheme}")
    with in_words(address.called), room.reading(address) as session:
        return [_recounted(session, address, tuple(names)) for names in on]


def _recounted(session: Session, address: Address, names: tuple[str, ...]) -> Recount:
    statement = smallest_group(table_clause(address.table or ""), list(names))
    (row,) = pa.Table.from_batches(receive("recount", session.batches(statement))).to_pylist()
    return Recount(names, int(row["rows"] or 0), int(row["groups"]), int(row["smallest"] or 0))


def _columns(address: Address, shown: pa.Table) -> str:
    return ", ".join(f"{quoted(field.name)} {_type(address, field)}" for field in shown.schema)


def _type(address: Address, field: pa.Field[Any]) -> str:
    kind = _kind(field)
    if kind == "exact":
        return f"DECIMAL({MOST_DIGITS}, {_value_type(field.type).scale})"
    if kind in TYPES[address.scheme]:
        return TYPES[address.scheme][kind]
    return CALENDAR[kind]


def _value_type(kind: Any) -> Any:
    return kind.value_type if pt.is_dictionary(kind) else kind


def _kind(field: pa.Field[Any]) -> str:
    kind = _value_type(field.type)
    if pt.is_string(kind) or pt.is_large_string(kind) or pt.is_null(kind):
        return "text"
    if pt.is_integer(kind) and kind != pa.uint64():
        return "whole"
    if pt.is_floating(kind):
        return "decimal"
    if pt.is_decimal(kind) and kind.precision <= MOST_DIGITS:
        return "exact"
    if pt.is_boolean(kind):
        return "truth"
    if pt.is_date(kind):
        return "date"
    if pt.is_timestamp(kind):
        return "moment" if kind.tz is None else "zoned"
    if pt.is_time(kind):
        return "time"
    raise _unwritable(field.name, f"type {kind}")


def _unwritable(name: str, given: str) -> TableError:
    return TableError(
        name,
        "a column that is written to a database holds text, numbers, dates, times or truth values",
        given=given,
        remedy="take the table from the release folder, which stays the release",
    )


def _plain(shown: pa.Table, *, text_dates: bool) -> pa.Table:
    """Without dictionaries, each kind as wide as its column; SQLite has no dates and decimals, and is sent text."""
    return pa.table(
        {field.name: _spelled(shown.column(field.name), _kind(field), text_dates) for field in shown.schema}
    )


def _spelled(column: pa.ChunkedArray[Any], kind: str, text_dates: bool) -> pa.ChunkedArray[Any]:
    plain = column.cast(_value_type(column.type))
    if kind == "text" or (text_dates and (kind in CALENDAR or kind == "exact")):
        return plain.cast(pa.string())
    return plain.cast(SENT[kind]) if kind in SENT else plain
