"""PostgreSQL, through ADBC: one transaction that only reads and sees one state of the database."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.sources.sql.adbc import AdbcWriting
from sfumato.data.sources.sql.address import Address
from sfumato.data.sources.sql.line import Line
from sfumato.data.sources.sql.session import NO_PASSWORD, WRONG_PASSWORD, in_words
from sfumato.data.sources.sql.statements import columns_of, quoted
from sfumato.errors import TableError

SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
PLANS = (
    "SET LOCAL work_mem = '64MB'",
    "SET LOCAL enable_nestloop = off",
    "SET LOCAL jit = off",  # compiled for one run, a statement of many columns takes longer, and hears of no cancelling
    "SET LOCAL extra_float_digits = 1",
)
AS_THEY_ARE = (
    "int2",
    "int4",
    "int8",
    "float4",
    "float8",
    "bool",
    "date",
    "timestamp",
    "timestamptz",
    "time",
    "numeric",
)
NOT_READ = ("bytea", "json", "jsonb", "xml", "interval", "point", "record")


@dataclass(frozen=True, eq=False)
class PostgresSession:
    """A connection inside its transaction."""

    connection: Any
    line: Line

    def check_query(self, query: str) -> None:
        """Prepared by itself: the server takes one statement then, and no more."""
        self._schema(query)

    def fields(self, clause: str) -> pa.Schema:
        """Names and types; the type's name in the database goes along."""
        return self._schema(columns_of(clause))

    def _schema(self, statement: str) -> pa.Schema:
        cursor = self.connection.cursor()
        with self.line.closing(cursor.close):
            found: pa.Schema = self.line.asked(lambda: cursor.adbc_execute_schema(statement), cursor.adbc_cancel)
        return found

    def expression(self, clause: str, field: pa.Field[Any]) -> str:
        """Text by its bytes, whatever the collation; types that a file has none for as text."""
        del clause
        kind = _type(field)
        if kind in NOT_READ or kind.startswith("_"):
            raise _unread(field.name, kind)
        return quoted(field.name) if kind in AS_THEY_ARE else f'CAST({quoted(field.name)} AS text) COLLATE "C"'

    def batches(self, statement: str) -> Iterator[pa.RecordBatch]:
        """What a statement gives, as it arrives."""
        cursor = self.connection.cursor()
        with self.line.closing(cursor.close):
            self.line.asked(lambda: cursor.execute(statement), cursor.adbc_cancel)
            yield from self.line.arriving(_result(cursor), cursor.adbc_cancel)

    def plain(self, field: pa.Field[Any], values: pa.Array[Any]) -> pa.Array[Any]:
        """Decimals as such."""
        found: Any = values.storage if isinstance(values, pa.ExtensionArray) else values
        return decimals(found) if _type(field) == "numeric" else found


def _result(cursor: Any) -> Iterable[pa.RecordBatch]:
    """What a statement gives. Of one that fails half-way the driver's own reader tells the SQLSTATE, and Arrow's, which
    is what it hands out, only a text: so the former is taken where it is found."""
    own: Iterable[pa.RecordBatch] | None = getattr(getattr(cursor, "_results", None), "reader", None)
    return cursor.fetch_record_batch() if own is None else own


def _type(field: pa.Field[Any]) -> str:
    return (field.metadata or {}).get(b"POSTGRESQL:type", b"text").decode()


def _unread(name: str, kind: str) -> TableError:
    return TableError(
        name,
        "a column of a database holds text, numbers, dates, times or truth values",
        given=f"type {kind}",
        remedy="convert it in a query (lists to text with a separator: array_to_string), or declare it an identifier",
    )


def decimals(texts: Any) -> pa.Array[Any]:
    """Decimal numbers out of their texts, with as many places as the longest; floats where one is no number.

    >>> decimals(pa.array(["12.50", "7"])).type
    Decimal128Type(decimal128(38, 2))
    """
    if pc.any(pc.match_substring_regex(texts, "[A-Za-z]")).as_py():
        floats: pa.Array[Any] = texts.cast(pa.float64())
        return floats
    places = pc.max(pc.binary_length(pc.replace_substring_regex(texts, r"^[^.]*\.?", ""))).as_py() or 0
    digits = pc.max(pc.binary_length(texts)).as_py() or 0
    kind = pa.decimal128(38, places) if digits + places < 38 else pa.decimal256(76, min(places, 76))
    found: pa.Array[Any] = texts.cast(kind)
    return found


@contextmanager
def reading(address: Address) -> Iterator[PostgresSession]:
    """A session; rolled back and closed in the end, whatever happened."""
    with _connected(address) as (connection, line):
        cursor = connection.cursor()
        with line.closing(cursor.close):
            for statement in (SNAPSHOT, *PLANS):
                line.asked(partial(cursor.execute, statement), cursor.adbc_cancel)
        yield PostgresSession(connection, line)


@contextmanager
def writing(address: Address) -> Iterator[AdbcWriting]:
    """A connection inside one transaction; it is committed if all went well."""
    with _connected(address) as (connection, line):
        written = AdbcWriting(connection, line)
        yield written
        written.commit()


@contextmanager
def _connected(address: Address) -> Iterator[tuple[Any, Line]]:
    from adbc_driver_postgresql import dbapi

    # A server may ask for the password itself; one that a stranger's recipe names could keep it. PGREQUIREAUTH decides.
    safe = "" if "PGREQUIREAUTH" in os.environ else "require_auth=scram-sha-256,none"
    given = address.libpq()
    whole = given + ("&" if "?" in given else "?") * bool(safe) + safe
    line = Line()
    with _refused_in_words(address):
        connection = line.asked(lambda: dbapi.connect(whole))  # a host that answers nobody may take minutes
    with line.closing(connection.close, whole=connection.rollback):
        yield connection, line


def _refused_in_words(address: Address) -> AbstractContextManager[None]:
    """Whoever is refused is told who asked where, and whose password it was; never the password."""
    named = address.password_from
    check = f"check the user in the address, and {named}, which holds nothing but the password"
    remedies = {} if named is None else {WRONG_PASSWORD: check, NO_PASSWORD: check}
    rule = "no connection to the database was made"
    return in_words(address.called, rule=rule, remedies=remedies, where=address.server)
