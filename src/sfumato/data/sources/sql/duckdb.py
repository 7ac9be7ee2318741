"""DuckDB, through its own Arrow interface. It reads its file and nothing else: no other file, no network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sfumato.data.codes import is_list
from sfumato.data.sources.sql.address import Address
from sfumato.data.sources.sql.session import arriving, called_off
from sfumato.data.sources.sql.statements import ONE_SELECT, columns_of, quoted
from sfumato.errors import TableError

SHUT: dict[str, Any] = {"enable_external_access": "false", "autoload_known_extensions": "false"}
ROWS = 100_000


@dataclass(frozen=True, eq=False)
class DuckSession:
    """A connection inside its transaction."""

    connection: Any

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
        yield from arriving(called_off(lambda: self.connection.sql(statement).to_arrow_reader(ROWS), end), end)

    def plain(self, field: pa.Field[Any], values: pa.Array[Any]) -> pa.Array[Any]:
        """As they are; moments with a zone in UTC, which its Arrow calls by another name."""
        if pa.types.is_timestamp(values.type) and values.type.tz is not None:
            return values.cast(pa.timestamp(values.type.unit, "UTC"))
        return values


@contextmanager
def reading(address: Address) -> Iterator[DuckSession]:
    """A session on a file that is opened for reading alone."""
    with _connected(address, read_only=True) as connection:
        yield DuckSession(connection)


@contextmanager
def writing(address: Address) -> Iterator[Any]:
    """A connection inside one transaction; it is committed if all went well."""
    with _connected(address, read_only=False) as connection:
        yield connection
        connection.commit()


@contextmanager
def _connected(address: Address, *, read_only: bool) -> Iterator[Any]:
    import duckdb

    connection = duckdb.connect(address.where, read_only=read_only, config=SHUT)
    try:
        connection.execute("SET lock_configuration = true")
        connection.begin()
        yield connection
    finally:
        connection.close()
