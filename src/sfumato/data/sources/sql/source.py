"""A table in a database as a source: two counting jobs, done by the database in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast

import pyarrow as pa

from sfumato.data.safe_files import Progress, is_regular
from sfumato.data.sources.counted import Values, checked, places, receive, repeats
from sfumato.data.sources.openers import Opening
from sfumato.data.sources.scratch import expanded
from sfumato.data.sources.source import RawTable, Repeats
from sfumato.data.sources.sql.address import Address, parse
from sfumato.data.sources.sql.session import (
    FORBIDDEN,
    MISTAKEN,
    NO_COLUMN,
    NO_SCHEMA,
    NO_TABLE,
    QUERY,
    REFUSED,
    WRITES,
    Session,
    in_words,
)
from sfumato.data.sources.sql.statements import (
    ONE_SELECT,
    Counting,
    asks_to_write,
    query_clause,
    shared_rows,
    table_clause,
)
from sfumato.data.table import Origin
from sfumato.errors import TableError
from sfumato.events import part

MOST_COLUMNS = {"postgresql": 1000, "duckdb": 1000, "sqlite": 60}
"""SQLite joins at most 64 tables in one statement, and each column is joined with its values."""
OF_QUERIES = (MISTAKEN, REFUSED, WRITES, FORBIDDEN, NO_TABLE, NO_SCHEMA, NO_COLUMN, ONE_SELECT)
"""How what is wrong with a query begins, and not with the way to its database."""
SAMPLED = 100_000
"""Rows that are looked at where no schema says what to count."""


@dataclass(frozen=True)
class SqlTable:
    """A table of a database, or what a query gives."""

    address: Address
    query: str | None = None
    origin: Origin = "path"

    @property
    def called(self) -> str:
        """Its kind and its name, or that it is a query."""
        return self.address.called if self.query is None else f"{self.address.called}{QUERY}"

    def names(self) -> list[str]:
        """The names of its columns, in order; no row is read."""
        with self._in_words(), self._reading() as session:
            return list(self._fields(session).names)

    def unread(self) -> dict[str, str]:
        """Columns of types that are not read, such as lists, each with its type; they can only be identifiers."""
        with self._in_words(), self._reading() as session:
            fields = {field.name: field for field in self._fields(session)}
            refused = {name: self._refused(session, field) for name, field in fields.items()}
        return {name: given for name, given in refused.items() if given is not None}

    def _refused(self, session: Session, field: pa.Field[Any]) -> str | None:
        try:
            session.expression(self._clause, field)
        except TableError as error:
            return error.given
        return None

    def raw(self, columns: Sequence[str], *, progress: Progress) -> RawTable:
        """The columns in codes. Columns that are not wanted are never asked for."""
        del progress  # a database does not tell how far it is
        with self._in_words(), self._reading() as session:
            fields = self._fields(session)
            self._check_columns(columns)
            expressions = {name: session.expression(self._clause, fields.field(name)) for name in columns}
            counting = Counting.of(self._clause, expressions)
            values = {}
            for at, name in enumerate(columns):
                with part(0.6 * at / len(columns), 0.6 * (at + 1) / len(columns)):
                    values[name] = self._values(session, counting, fields.field(name))
            with part(0.6, 1.0):
                batches = receive("tuples", session.batches(counting.tuples()))
                tuples = (places(batch, values) for batch in batches)
                return expanded(
                    {name: column.values for name, column in values.items()}, checked(values, tuples, self.called)
                )

    def repeats(self, columns: Sequence[str]) -> Repeats:
        """How many rows share what they have in all of these columns, counted there: two numbers come up."""
        with self._in_words(), self._reading() as session:
            fields = self._fields(session)
            expressions = [session.expression(self._clause, fields.field(name)) for name in columns]
            return repeats(receive("repeats", session.batches(shared_rows(self._clause, expressions))))

    def _values(self, session: Session, counting: Counting, field: pa.Field[Any]) -> Values:
        found = Values.of(receive("values", session.batches(counting.values(field.name))))
        return Values(session.plain(field, found.values), found.counts)

    def arrow(self, columns: Sequence[str], *, guess: bool, progress: Progress) -> pa.Table:
        """Refused: whoever looks at rows without a schema would bring them up."""
        del columns, guess, progress
        raise TableError(
            self.called,
            "identifiers of a database stay there: it is only asked for counts, by a recipe",
            given="a table without a recipe",
            remedy="draft a recipe first: sfumato draft ADDRESS --output recipe.yaml",
        )

    def place(self, row: int) -> str:
        """Counted rows have no place."""
        del row
        return "a row"

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Whatever goes wrong, in words; of a query that asks to write nobody is told to run it elsewhere."""
        try:
            with in_words(self.called):
                yield
        except TableError as error:
            if self.query is None or not error.rule.startswith(OF_QUERIES) or not asks_to_write(self.query):
                raise
            rule, remedy = "one SELECT is read, and nothing that writes", "write one SELECT; nothing was changed"
            raise TableError(self.called, rule, given=error.given, remedy=remedy) from None

    @property
    def _clause(self) -> str:
        return query_clause(self.query) if self.query is not None else table_clause(self.address.table or "")

    def _reading(self) -> AbstractContextManager[Session]:
        room = import_module(f"sfumato.data.sources.sql.{self.address.scheme}")
        reading = cast(Callable[[Address], AbstractContextManager[Session]], room.reading)
        return reading(self.address)

    def _fields(self, session: Session) -> pa.Schema:
        if self.query is not None:
            session.check_query(self.query.strip().rstrip(";"))
        return session.fields(self._clause)

    def _check_columns(self, columns: Sequence[str]) -> None:
        most = MOST_COLUMNS[self.address.scheme]
        if len(columns) > most:
            raise TableError(
                self.called,
                f"at most {most} columns are counted in such a database",
                given=f"{len(columns)}",
                remedy="declare some identifiers, or write the table to Parquet",
            )


def open_sql(address: str, how: Opening) -> SqlTable:
    """The table that an address names, or the query of a recipe on the database that it names."""
    found = parse(address)
    if (found.table is None) == (how.query is None):
        raise TableError(
            found.called,
            "an address names a table, or a query says what to read",
            given="neither" if found.table is None else "both",
            remedy="write ?table=NAME in the address, or query: SELECT ... in the recipe; "
            "to draft or apply, --query 'SELECT ...'",
        )
    if how.query is not None:
        query_clause(how.query)  # before anybody connects
    check_file(found)
    return SqlTable(found, how.query)


def check_file(address: Address) -> None:
    """Refuse a database that is no file, before a driver makes one or hangs."""
    if address.scheme != "postgresql" and not is_regular(address.path):
        raise TableError(
            address.called,
            "the address of such a database is the path of its file",
            given="no file there",
            remedy="check the path: three strokes and a path from here, four and one from the root",
        )
