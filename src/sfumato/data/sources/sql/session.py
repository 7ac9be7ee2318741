"""What is asked of a connection to a database, and what its mistakes are called: no driver's own words are passed on.

A driver's message may quote a statement, a cell or a password. So it is only looked at, and told in words of ours.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import pyarrow as pa

from sfumato.errors import SfumatoError, TableError, quoted

QUERY = ", query"
"""How the name of what is read ends where it is a query."""


class Session(Protocol):
    """A connection that only reads, and sees one state of the database from its first statement to its last."""

    def check_query(self, query: str) -> None:
        """Refuse what is not one whole statement by itself: only such a one can be read from in brackets."""

    def fields(self, clause: str) -> pa.Schema:
        """The columns of a table or a query, without its rows."""

    def expression(self, clause: str, field: pa.Field[Any]) -> str:
        """How a column is read, so that equal values are equal byte by byte and come up as one type."""

    def batches(self, statement: str) -> Iterator[pa.RecordBatch]:
        """What a statement gives."""

    def plain(self, field: pa.Field[Any], values: pa.Array[Any]) -> pa.Array[Any]:
        """Values as the same table would hold them in a file of typed columns."""


Opener = Callable[[str], Any]
_STATE = re.compile("[0-9A-Z]{5}")
_NAMING = (b"PG_DIAG_COLUMN_NAME", b"PG_DIAG_CONTEXT")


REFUSED = "a statement that the database refused"
MISTAKEN = "a query with a mistake in it, or with more than one statement"
NO_TABLE, NO_SCHEMA, NO_COLUMN = "no such table", "no such schema", "a column that is not there"
FORBIDDEN = "a missing permission"
WRITES = "a statement that would write"
BROKEN = "a view or a query that fails at some row"
TAKEN = "a table of that name that is there already"
CALLED_OFF = "a statement that was called off"
WRONG_PASSWORD, NO_PASSWORD = "a wrong user or password", "no password"
PASSWORDS = (
    "set PGPASSWORD, write a line into ~/.pgpass, or name a variable in the address: ?password_env=PGPASSWORD_CRM"
)
STATES = {
    "28P01": WRONG_PASSWORD,
    "3D000": "no such database",
    "3F000": NO_SCHEMA,
    "42501": FORBIDDEN,
    "42601": MISTAKEN,
    "42703": NO_COLUMN,
    "42P01": NO_TABLE,
    "42P07": TAKEN,
    "57014": CALLED_OFF,
}
"""SQLSTATE, where a driver tells it, and what it means."""
CLASSES = {"22": BROKEN}
"""The first two of its signs, where that says enough: a division by zero, a text that is no number."""
REASONS = (
    ("password authentication failed", WRONG_PASSWORD),
    ("no password supplied", NO_PASSWORD),
    ("authentication method requirement", "a server that asks for the password itself"),
    ("could not translate host", "a host that is not known"),
    ("connection refused", "nobody who answers there"),
    ("timeout expired", "nobody who answers there"),
    ("already exists", TAKEN),
    ("read-only transaction", WRITES),
    ("permission denied", FORBIDDEN),
    ("division by zero", BROKEN),
    ("conversion error", BROKEN),
    ("out of range", BROKEN),
    ("unable to open", "no database there, or one that may not be read"),
    ("cannot open file", "no database there, or one that may not be read"),
    ("conflicting lock", "a database that another process is writing to"),
    ("database is locked", "a database that another process is writing to"),
    ("not a valid duckdb", "a file that is no such database"),
    ("file is not a database", "a file that is no such database"),
    ("no such table", NO_TABLE),
    ("syntax error", MISTAKEN),
    ("parser error", MISTAKEN),
    ("no such column", NO_COLUMN),
    ("referenced column", NO_COLUMN),
    ('schema "', NO_SCHEMA),
    ("schema with name", NO_SCHEMA),
    ("unknown database", NO_SCHEMA),
    ("relation", NO_TABLE),
    ("table with name", NO_TABLE),
    ("terminating connection", "a connection that was ended"),
    ("server closed the connection", "a connection that was ended"),
    ("no connection to the server", "a connection that was ended"),
    ("connection not open", "a connection that was ended"),
    ("database", "no such database, or one that is damaged"),
)
"""Words of drivers, in small letters, and what they mean; the first that fits is told."""
READING = {
    REFUSED: "check the query in the database's own program, and the types of the columns",
    BROKEN: "read all of it in the database's own program, which names the cell (a division by zero, a text that is no "
    "number or date), and mend the row or the expression",
    MISTAKEN: "run the query by itself in the database's own program",
    WRITES: "write one SELECT, of views and functions that only read; nothing was changed",
    NO_COLUMN: "check the names in the query; capitals count where a name stands in quotation marks",
    NO_TABLE: "check the name, whose capitals and schema count: ?table=crm.Customers%202026",
    NO_SCHEMA: "check the name before the point, whose capitals count",
    CALLED_OFF: "it took longer than the database allows (statement_timeout), or somebody ended it: try again",
    FORBIDDEN: "have its owner say GRANT SELECT ON the table TO this user, and GRANT USAGE ON its SCHEMA",
}
"""What to do about some of them where a table is read, in place of looking at the address."""


def reason(message: str, state: str | None = None) -> str:
    """What a driver's message means, without a word of it.

    >>> reason('FATAL: password authentication failed for user "holder"')
    'a wrong user or password'
    """
    if state in STATES:
        return STATES[state]
    if state is not None and state[:2] in CLASSES:
        return CLASSES[state[:2]]
    text = message.lower()
    return next((meaning for words, meaning in REASONS if words in text), REFUSED)


@contextmanager
def in_words(
    called: str,
    *,
    rule: str = "the table could not be read from its database",
    remedies: Mapping[str, str] = READING,
    usual: str = "check the address, and try again",
    columns: Sequence[str] = (),
    where: str = "",
) -> Iterator[None]:
    """Whatever goes wrong in a driver, as an error of ours, whose first words say what.

    `columns`: names that may be told, where the driver says at which of them it went wrong. `where`: what is given.
    """
    try:
        yield
    except (SfumatoError, MemoryError):
        raise
    except ImportError as error:
        raise TableError(
            called,
            "a database is read with the package of its kind",
            given=f"no {(error.name or 'package').partition('.')[0]}",
            remedy=f"install its extra: pip install 'sfumato[{called.partition(',')[0].lower()}]'",
        ) from None
    except OSError as error:
        if error.errno is None:  # of a driver's stream, which speaks of a statement, and may quote a cell
            raise _told(error, called, rule, remedies, usual, _given(error, columns, where)) from None
        raise TableError(
            called,
            "a file of this machine, not of the database, could not be written or read meanwhile",
            given=error.strerror or os.strerror(error.errno),
            remedy="free space on the disk and among the temporary files, or name another folder for them in TMPDIR",
        ) from None
    except Exception as error:  # each driver has errors of its own, and some raise ValueError or RuntimeError
        if isinstance(error, NotImplementedError | AssertionError | TypeError | AttributeError):
            raise
        raise _told(error, called, rule, remedies, usual, _given(error, columns, where)) from None


def _told(error: Exception, called: str, rule: str, remedies: Mapping[str, str], usual: str, given: str) -> TableError:
    """A driver's error in words of ours."""
    found = reason(str(error), getattr(error, "sqlstate", None))
    told = {WRONG_PASSWORD: PASSWORDS, NO_PASSWORD: PASSWORDS, **remedies}
    if called.endswith(QUERY) and found == NO_TABLE:
        told[NO_TABLE] = "check the names after FROM and JOIN in the query, whose capitals and schema count"
    return TableError(called, f"{found}: {rule}", given=given, remedy=told.get(found, usual))


def _given(error: Exception, columns: Sequence[str], where: str) -> str:
    """Where it went wrong, with the SQLSTATE, which is a code and quotes nothing."""
    state = getattr(error, "sqlstate", None)
    states = [f"SQLSTATE {state}"] if isinstance(state, str) and _STATE.fullmatch(state) else []
    named = [f"column {quoted(name)}" for name in _at_fault(error, columns)]
    return ", ".join(filter(None, [where, *states, *named]))


def _at_fault(error: Exception, columns: Sequence[str]) -> list[str]:
    """The column that a server names, if it is one of these; whatever else it says is not looked at."""
    told = [text.decode(errors="replace") for name, text in getattr(error, "details", ()) if name in _NAMING]
    return [name for name in columns if any(text == name or text.endswith(f", column {name}") for text in told)][:1]
