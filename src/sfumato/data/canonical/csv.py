"""CSV in one form: a header and rows, commas, line feeds, UTF-8, quotes where they are needed and nowhere else.

A missing value is nothing, an empty text is `""`. Each value has one spelling: 5 and -7 for whole numbers, what Python
writes for all others (0.5, 1e+22, NaN, inf), true and false, 2001-02-03, 2001-02-03T04:05:06 with microseconds
where they are not zero and Z where the times are in UTC.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.data.canonical.sheet import Rows, Sheet, regrouped
from sfumato.data.codes import is_text, side_by_side, threads
from sfumato.data.table import Codes
from sfumato.errors import TableError
from sfumato.events import watched

ROWS = 2**16  # of a thread
AT_ONCE = 16  # of these


@dataclass(frozen=True, eq=False)
class Cells:
    """A column in CSV: how its different values are spelled, the missing one last, and which each row has."""

    spelled: pa.Array[Any]
    codes: Codes


def write_csv(sheet: Sheet, path: Path, pieces: Iterable[Rows], *, spreadsheet_safe: bool = False) -> None:
    """Write a table without lists in its canonical form, its rows piece by piece.

    For spreadsheets with no cell or name that they would run.
    """
    safe, names = harmless if spreadsheet_safe else str, list(sheet.columns)
    ends = ["\n" if name == names[-1] else "" for name in names]
    columns = side_by_side(lambda name, end: _cells(name, sheet.columns[name], end, safe), names, ends)
    with threads() as busy, path.open("wb") as file:
        file.write((",".join(quoted(safe(name)) for name in names) + "\n").encode())
        for some in regrouped(pieces, AT_ONCE * ROWS):
            parts = [some[at : at + ROWS] for at in range(0, len(some), ROWS)]
            for content in watched(busy.map(lambda rows: _rows(columns, rows), parts)):
                file.write(content)


def quoted(text: str) -> str:
    """A cell; in quotes if it is empty or holds what separates cells.

    >>> print(quoted(""), quoted("a,b"), quoted('6" nail'), quoted("a; b"))
    "" "a,b" "6"" nail" a; b
    """
    if text and not any(mark in text for mark in ',"\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'


def _cells(name: str, column: Any, end: str, safe: Callable[[str], str]) -> Cells:
    cells = [quoted(safe(text)) + end for text in spelled(name, column.values)]
    return Cells(pa.array([*cells, end], pa.large_string()), column.codes)


def _rows(columns: list[Cells], rows: Rows) -> bytes:
    """Some rows as they stand in the file."""
    cells: list[Any] = [column.spelled.take(column.codes[rows]) for column in columns]
    joined: Any = pc.binary_join_element_wise(*cells, pa.scalar(",", pa.large_string()))
    _, offsets, content = joined.buffers()  # the texts lie one behind the other, as they will in the file
    length = int(np.frombuffer(offsets, dtype=np.int64)[len(joined)])
    found: bytes = content.slice(0, length).to_pybytes()
    return found


def spelled(name: str, values: pa.Array[Any]) -> list[str]:
    """The one spelling of each value."""
    kind = values.type
    if is_text(kind):
        return [str(value) for value in values.to_pylist()]
    if pt.is_floating(kind):
        return ["NaN" if value != value else repr(value) for value in values.to_pylist()]
    if pt.is_boolean(kind):
        return ["true" if value else "false" for value in values.to_pylist()]
    if pt.is_integer(kind):
        return [str(value) for value in values.to_pylist()]
    try:
        return [_moment(value) for value in values.to_pylist() if value is not None]
    except (ValueError, OverflowError):
        raise TableError(
            name,
            "in CSV dates lie in the years 1 to 9999",
            given="others",
            remedy="write Parquet, or leave the column out",
        ) from None


def _moment(value: datetime.date | datetime.datetime | datetime.time) -> str:
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.replace(tzinfo=None).isoformat() + "Z"
    return value.isoformat()


# Texts that a spreadsheet would take for a formula, and a form of them that it shows as text.
_RUN = re.compile("[=+\\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"-([0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?|inf)")
_MARKED = re.compile("'*[=+\\-@\t\r\n＝＋－＠]")


def would_run(text: str) -> bool:
    """Whether a spreadsheet that opens a CSV file may run this cell; a number is no danger.

    >>> would_run("=1+1"), would_run("-cmd"), would_run("-5"), would_run("a=b")
    (True, True, False, False)
    """
    return _RUN.match(text) is not None and _NUMBER.fullmatch(text) is None


def harmless(text: str) -> str:
    """The same text behind an apostrophe if it would run, or if it looks like one that was made harmless already.

    >>> harmless("=1+1"), harmless("'=1+1"), harmless("-5"), harmless("it's")
    ("'=1+1", "''=1+1", '-5', "it's")
    """
    marked = text.startswith("'") and _MARKED.match(text) is not None
    return f"'{text}" if marked or would_run(text) else text


def restored(text: str) -> str:
    """The text that was made harmless, as it was.

    >>> restored("'=1+1"), restored("''=1+1"), restored("-5"), restored("'tis")
    ('=1+1', "'=1+1", '-5', "'tis")
    """
    return text[1:] if text.startswith("'") and _MARKED.match(text) is not None else text
