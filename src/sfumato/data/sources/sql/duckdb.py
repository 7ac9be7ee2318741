"""DuckDB, through its own Arrow interface. It reads its file and nothing else: no other file, no network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sfumato.data.codes import is_list
from sfumato.data.sources.sql.address import Address
from sfumato.data.sources.sql.line import Line
from sfumato.data.sources.sql.statements import ONE_SELECT, columns_of, quoted, table_clause
from sfumato.errors import TableError

SHUT: dict[str, Any] = {"enable_external_access": "false", "autoload_known_extensions": "false"}
ROWS = 100_000


@dataclass(frozen=True, eq=False)
class DuckSession:
    """A connection inside its transaction."""

    connection: Any
    line: Line

    def check_query(self, query: str) -> None:
        """Parsed by itself."""
        if len(self.connection.extract_statements(query)) != 1:
            raise TableError("query", ONE_SELECT, given="several", remedy="write one SELECT")

    def fields(self, clause: str) -> pa.Schema:
        """Names and types."""
        found: pa.Schema = self.connection.sql(columns_of(clause)).to_arrow_table().schema
        return found

    def expression(self, clause: str, field: pa.Field[Any]) -> str:
        """Text by its bytes, whatever the collation; types that a file has none for as text."""
        del clause
        kind = field.type
        if is_list(kind) or pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_duration(kind):
            raise TableError(
                field.name,
                "a column of a database holds text, numbers, dates, times or truth values",
                given=f"type {kind}",
                remedy="convert it in a query (lists to text with a separator: array_to_string), or declare it an "
                "identifier",
            )
        if pa.types.is_string(kind) or pa.types.is_dictionary(kind) or pa.types.is_large_string(kind):
            return f'CAST({quoted(field.name)} AS VARCHAR) COLLATE "binary"'
        return quoted(field.name)

    def batches(self, statement: str) -> Iterator[pa.RecordBatch]:
        """What a statement gives, as it arrives."""
        end = self.connection.interrupt
        found = self.line.asked(lambda: self.connection.sql(statement).to_arrow_reader(ROWS), end)
        yield from self.line.arriving(found, end)

    def plain(self, field: pa.Field[Any], values: pa.Array[Any]) -> pa.Array[Any]:
        """As they are; moments with a zone in UTC, which its Arrow calls by another name."""
        if pa.types.is_timestamp(values.type) and values.type.tz is not None:
            return values.cast(pa.timestamp(values.type.unit, "UTC"))
        return values


@dataclass(frozen=True, eq=False)
class DuckWriting:
    """A connection inside the transaction that writes."""

    connection: Any
    line: Line

    def run(self, statement: str) -> None:
        """A statement that gives nothing back."""
        self.line.asked(lambda: self.connection.execute(statement), self.connection.interrupt)

    def fill(self, name: str, plain: pa.Table) -> None:
        """From Arrow, as it lies in memory: nothing of the table is in a statement."""
        self.connection.register("sfumato_shown", plain)
        self.run(f'INSERT INTO {table_clause(name)} SELECT * FROM "sfumato_shown"')


@contextmanager
def reading(address: Address) -> Iterator[DuckSession]:
    """A session on a file that is opened for reading alone."""
    with _connected(address, read_only=True) as (connection, line):
        yield DuckSession(connection, line)


@contextmanager
def writing(address: Address) -> Iterator[DuckWriting]:
    """A connection inside one transaction; it is committed if all went well."""
    with _connected(address, read_only=False) as (connection, line):
        yield DuckWriting(connection, line)
        line.asked(connection.commit, lambda: None)


@contextmanager
def _connected(address: Address, *, read_only: bool) -> Iterator[tuple[Any, Line]]:
    import duckdb

    line, connection = Line(), duckdb.connect(address.where, read_only=read_only, config=SHUT)
    with line.closing(connection.close):
        connection.execute("SET lock_configuration = true")
        connection.begin()
        yield connection, line
