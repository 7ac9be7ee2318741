"""The SQL that is sent, as plain text. Names are quoted by one function; no value of a table or a recipe is in it.

Codes are made in the database: a value's code is its place among the column's values in ascending order, which the
database counts itself. So no value goes down, and only whole numbers come up from the second job.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sfumato.errors import TableError

LONGEST_QUERY = 100_000
ONE_SELECT = "a query is one SELECT"


def quoted(name: str) -> str:
    """An identifier that means itself whatever is in it.

    >>> quoted('a"; DROP TABLE people; --')
    '"a""; DROP TABLE people; --"'
    """
    if not name or "\x00" in name:
        raise TableError("name", "a name in a database has letters and no zero byte", given="another", remedy="mend it")
    return '"' + name.replace('"', '""') + '"'


def table_clause(table: str) -> str:
    """A table, maybe in a schema. A name with a point in it is put in quotes by whoever writes it.

    >>> table_clause('census.people'), table_clause('"a.b"')
    ('"census"."people"', '"a.b"')
    """
    return ".".join(quoted(part) for part in parts_of(table))


def parts_of(table: str) -> list[str]:
    """The parts between points; those in double quotes are taken as they are."""
    parts, rest = [], table
    while True:
        if rest.startswith('"'):
            end = _closing(rest)
            parts.append(rest[1:end].replace('""', '"'))
            rest = rest[end + 1 :]
        else:
            found, point, after = rest.partition(".")
            parts.append(found)
            rest = point + after
        if not rest:
            break
        if not rest.startswith("."):
            raise _odd_table()
        rest = rest[1:]
    if len(parts) > 3 or not all(parts):
        raise _odd_table()
    return parts


def _closing(text: str) -> int:
    """Where the quotes that a text begins with end."""
    at = 1
    while at < len(text):
        if text[at] != '"':
            at += 1
        elif text[at + 1 : at + 2] == '"':
            at += 2
        else:
            return at
    raise _odd_table()


def _odd_table() -> TableError:
    return TableError(
        "table",
        "a table is named as table, as schema.table, or in double quotes",
        given="something else",
        remedy='write table=people, table=census.people, or table="a.b"',
    )


def query_clause(query: str) -> str:
    """A query in brackets: whatever stands in it, it can only be read from."""
    text = query.strip().rstrip(";").rstrip()
    if not text or "\x00" in text or len(text) > LONGEST_QUERY:
        given = f"more than {LONGEST_QUERY:,} letters, or a zero byte" if text else "an empty one"
        raise TableError("query", ONE_SELECT, given=given, remedy="write one SELECT, or name a table in the address")
    return f"({text}\n)"


_ASIDE = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\$(\w*)\$.*?\$\1\$|--[^\n]*|/\*.*?\*/", re.DOTALL)
_BEGINS = re.compile(
    r"\s*(?:insert|update|delete|merge|replace|upsert|truncate|drop|alter|create|grant|revoke|copy|call|do|set|attach"
    r"|detach|pragma|vacuum|reindex|refresh|comment|begin|commit|rollback|lock|export|import|install|load)\b"
)
_WITHIN = re.compile(r"\binto\b|[()]\s*delete\s+from\b|[()]\s*update\s+(?:only\s+)?[\w.\s]*?\bset\b")


def asks_to_write(query: str) -> bool:
    """Whether a query that was refused is no SELECT alone: more than one statement, or one that writes, also in a WITH.

    It decides on words of a message, and guards nothing: that nothing is written is up to the database.

    >>> asks_to_write("WITH x AS (DELETE FROM a RETURNING *) SELECT * FROM x"), asks_to_write("SELECT 'a;b' FROM drop")
    (True, False)
    >>> asks_to_write("WITH x AS (SELECT 1) DELETE FROM a")
    True
    """
    plain = _ASIDE.sub(" ", query).lower().strip().rstrip(";")
    return ";" in plain or _BEGINS.match(plain) is not None or _WITHIN.search(plain) is not None


@dataclass(frozen=True)
class Counting:
    """The statements of one run: where rows are, and by which expression each column is read."""

    rows: str
    expressions: Mapping[str, str]

    @classmethod
    def of(cls, clause: str, expressions: Mapping[str, str]) -> Counting:
        """Rows of a table or of a query in brackets."""
        return cls(f'{clause} AS "s"', expressions)

    def values(self, name: str) -> str:
        """Job 1: the values of one column, ascending, with how many rows have each."""
        return (
            f'SELECT "v", COUNT(*) AS "n" FROM (SELECT {self.expressions[name]} AS "v" FROM {self.rows}) AS "t" '
            'GROUP BY "v" ORDER BY "v"'
        )

    def tuples(self) -> str:
        """Job 2: the different rows as places of their values, null where missing, with how many rows are like it."""
        each = list(enumerate(self.expressions.values()))
        places = ", ".join(f'"d{at}" AS ({self._places(expression)})' for at, expression in each)
        groups = ", ".join(f'"c{at}"' for at, _ in each)
        read = ", ".join(f'{expression} AS "c{at}"' for at, expression in each)
        shown = ", ".join(f'"d{at}"."p" AS "p{at}"' for at, _ in each)
        order = ", ".join(f'"p{at}"' for at, _ in each)  # so that the same table gives the same rows again
        joins = " ".join(f'LEFT JOIN "d{at}" ON "g"."c{at}" = "d{at}"."v"' for at, _ in each)
        grouped = f'SELECT {groups}, COUNT(*) AS "n" FROM (SELECT {read} FROM {self.rows}) AS "t" GROUP BY {groups}'
        return f'WITH {places} SELECT {shown}, "g"."n" AS "n" FROM ({grouped}) AS "g" {joins} ORDER BY {order}'

    def _places(self, expression: str) -> str:
        distinct = f'SELECT DISTINCT {expression} AS "v" FROM {self.rows}'
        return (
            'SELECT "v", CAST(ROW_NUMBER() OVER (ORDER BY "v") - 1 AS INTEGER) AS "p" '
            f'FROM ({distinct}) AS "t" WHERE "v" IS NOT NULL'
        )


def columns_of(clause: str) -> str:
    """What the columns are called and of which types; no row."""
    return f'SELECT * FROM {clause} AS "s" WHERE 1 = 0'


def smallest_group(clause: str, names: list[str]) -> str:
    """Rows in all, and of the smallest group of rows alike on some columns: the database's own count."""
    groups = ", ".join(quoted(name) for name in names)
    return (
        'SELECT CAST(SUM("n") AS BIGINT) AS "rows", MIN("n") AS "smallest", COUNT(*) AS "groups" '
        f'FROM (SELECT COUNT(*) AS "n" FROM {clause} AS "s" GROUP BY {groups}) AS "t"'
    )


def shared_rows(clause: str, expressions: Sequence[str]) -> str:
    """Rows that miss none of some expressions, and how many of these are like another in all of them: two numbers."""
    read = ", ".join(f'{expression} AS "c{at}"' for at, expression in enumerate(expressions))
    groups = ", ".join(f'"c{at}"' for at in range(len(expressions)))
    there = " AND ".join(f"TRIM(CAST(\"c{at}\" AS TEXT)) <> ''" for at in range(len(expressions)))
    counted = f'SELECT COUNT(*) AS "n" FROM (SELECT {read} FROM {clause} AS "s") AS "t" WHERE {there} GROUP BY {groups}'
    return (
        'SELECT CAST(SUM("n") AS BIGINT) AS "rows", CAST(SUM(CASE WHEN "n" > 1 THEN "n" ELSE 0 END) AS BIGINT) '
        f'AS "shared" FROM ({counted}) AS "g"'
    )
