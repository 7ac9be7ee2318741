"""What PostgreSQL and SQLite share: a table that is made and filled through ADBC."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sfumato.data.sources.sql.line import Line
from sfumato.data.sources.sql.statements import parts_of


@dataclass(frozen=True, eq=False)
class AdbcWriting:
    """A connection inside the transaction that writes. `cancels`: whether what it does can be called off."""

    connection: Any
    line: Line
    cancels: bool = True

    def run(self, statement: str) -> None:
        """A statement that gives nothing back."""
        cursor = self.connection.cursor()
        with self._open(cursor):
            self.line.asked(lambda: cursor.execute(statement), cursor.adbc_cancel if self.cancels else None)

    def fill(self, name: str, plain: pa.Table) -> None:
        """Through ADBC's door for whole tables: nothing of the table is in a statement."""
        names = parts_of(name)
        within = {"db_schema_name": names[-2]} if len(names) > 1 else {}
        cursor = self.connection.cursor()
        with self._open(cursor):
            self.line.asked(
                lambda: cursor.adbc_ingest(names[-1], plain, mode="append", **within),
                cursor.adbc_cancel if self.cancels else None,
            )

    def commit(self) -> None:
        """It is under way, or not: nobody calls it off."""
        self.line.asked(self.connection.commit, lambda: None)

    def _open(self, cursor: Any) -> AbstractContextManager[None]:
        return self.line.closing(cursor.close)
