"""SQLite, through ADBC. Its columns have no types: each cell has one, so that the cells are asked first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data import calendar
from sfumato.data.sources.sql.adbc import AdbcWriting
from sfumato.data.sources.sql.address import Address
from sfumato.data.sources.sql.line import Line
from sfumato.data.sources.sql.postgresql import decimals
from sfumato.data.sources.sql.statements import columns_of, quoted, table_clause
from sfumato.errors import TableError

KINDS = {
    frozenset(): "text",
    frozenset({"integer"}): "integer",
    frozenset({"real"}): "real",
    frozenset({"integer", "real"}): "real",
    frozenset({"text"}): "text",
}
DECLARED = b"sfumato:declared"


@dataclass(frozen=True, eq=False)
class SqliteSession:
    """A connection inside its transaction: while it reads, nobody else can write."""

    connection: Any
    line: Line
    table: str | None

    def check_query(self, query: str) -> None:
        """Explained by itself, which runs nothing."""
        list(self.batches(f"EXPLAIN {query}"))

    def fields(self, clause: str) -> pa.Schema:
        """Names, with the types that the table declares."""
        with closing(self.connection.cursor()) as cursor:
            cursor.execute(columns_of(clause))
            found: pa.Schema = cursor.fetch_arrow_table().schema
        declared = self._declared() if self.table is not None and clause == table_clause(self.table) else {}
        return pa.schema([field.with_metadata({DECLARED: declared.get(field.name, "").encode()}) for field in found])

    def _declared(self) -> dict[str, str]:
        name = table_clause(self.table or "").rpartition('"."')[2].strip('"').replace('""', '"')
        with closing(self.connection.cursor()) as cursor:
            cursor.execute("SELECT name, type FROM pragma_table_info(?)", (name,))
            return {row["name"]: str(row["type"] or "").upper() for row in cursor.fetch_arrow_table().to_pylist()}

    def expression(self, clause: str, field: pa.Field[Any]) -> str:
        """Whole numbers, decimal numbers or text by its bytes, as all cells of the column are."""
        name = quoted(field.name)
        asked = self.batches(f'SELECT DISTINCT typeof({name}) AS "kind" FROM {clause} AS "s"')
        kinds = frozenset(str(kind) for batch in asked for kind in batch.column(0).to_pylist()) - {"null"}
        if kinds not in KINDS:
            raise TableError(
                field.name,
                "a column holds values of one type",
                given=f"cells of the types {', '.join(sorted(kinds))}",
                remedy="convert them in a query: CAST(... AS TEXT)",
            )
        kind = KINDS[kinds]
        return f"CAST({name} AS TEXT) COLLATE BINARY" if kind == "text" else f"CAST({name} AS {kind})"

    def batches(self, statement: str) -> Iterator[pa.RecordBatch]:
        """What a statement gives, as it arrives. SQLite cannot be called off: who is asked to end leaves it alone."""
        cursor = self.connection.cursor()
        with self.line.closing(cursor.close):
            self.line.asked(lambda: cursor.execute(statement))
            yield from self.line.arriving(cursor.fetch_record_batch())

    def plain(self, field: pa.Field[Any], values: pa.Array[Any]) -> pa.Array[Any]:
        """Truth values, dates, times and decimals where the table declares them and all cells are such."""
        declared = (field.metadata or {}).get(DECLARED, b"").decode()
        if declared.startswith("BOOL") and pa.types.is_integer(values.type):
            few = pc.all(pc.is_in(values, value_set=pa.array([0, 1], values.type))).as_py()
            return values.cast(pa.bool_()) if few else values
        if declared.startswith(("DATE", "TIMESTAMP")) and pa.types.is_string(values.type) and len(values):
            found, bad = calendar.from_text(values)
            return values if bad.any() else found
        if declared.startswith(("DECIMAL", "NUMERIC")) and "," in declared and len(values):
            return _to_places(values, declared)
        return values


def _to_places(values: pa.Array[Any], declared: str) -> pa.Array[Any]:
    """SQLite keeps decimals as numbers, without their places after the point: these are declared."""
    digits = declared.partition(",")[2].rstrip(") ").strip()
    if not digits.isdigit() or (not pa.types.is_floating(values.type) and not pa.types.is_integer(values.type)):
        return values
    return decimals(pa.array([f"{value:.{int(digits)}f}" for value in values.to_pylist()], pa.string()))


@contextmanager
def reading(address: Address) -> Iterator[SqliteSession]:
    """A session on a file that is opened for reading alone."""
    with _connected(address, mode="ro") as (connection, line):
        yield SqliteSession(connection, line, address.table)


@contextmanager
def writing(address: Address) -> Iterator[AdbcWriting]:
    """A connection inside one transaction; it is committed if all went well."""
    with _connected(address, mode="rwc") as (connection, line):
        written = AdbcWriting(connection, line, cancels=False)
        yield written
        written.commit()


@contextmanager
def _connected(address: Address, *, mode: str) -> Iterator[tuple[Any, Line]]:
    from adbc_driver_sqlite import dbapi

    line, connection = Line(), dbapi.connect(f"file:{quote(address.where)}?mode={mode}")
    with line.closing(connection.close, whole=connection.rollback):
        yield connection, line
