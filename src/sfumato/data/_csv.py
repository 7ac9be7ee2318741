"""CSV files: the encoding and the delimiter are found out, cells come in as text held once."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from sfumato.data import _csv_trouble as trouble
from sfumato.data._csv_trouble import Layout
from sfumato.data._numbers import guessed
from sfumato.data._places import row_place
from sfumato.data._progress import Bar, Watched
from sfumato.data._ranking import single
from sfumato.data.table import Origin
from sfumato.errors import TableError

DELIMITERS = ",;\t|"
_BLOCK = 1 << 23
_HEAD = 1 << 18
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_ENCODING = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
_NO_TABLES = frozenset(
    (
        "idna",
        "mbcs",
        "oem",
        "punycode",
        "raw-unicode-escape",
        "raw_unicode_escape",
        "undefined",
        "unicode-escape",
        "unicode_escape",
        "utf-7",
    )
)
"""Encodings of names and of program texts; some take the square of a text's length in time."""
_TEXT = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True)
class CsvFile:
    """A CSV file whose layout is known."""

    layout: Layout
    header: tuple[str, ...]
    origin: Origin = "path"

    def names(self) -> list[str]:
        """The names in the first line."""
        return list(self.header)

    def place(self, row: int) -> str:
        """The line at which a row begins."""
        line = trouble.line_of(self.layout, row)
        return f"line {line}" if line else row_place(row)

    def load(self, columns: Sequence[str], *, bar: Bar) -> pa.Table:
        """The columns as text in dictionary arrays; an empty cell is null, a quoted one is not."""
        quotes = _count_quotes(self.layout.path)
        if quotes % 2 and self.layout.is_utf8:
            trouble.refuse_open_quote(self.layout)
        try:
            options = self._options(columns, quoted=quotes > 0)
            if not bar.active:
                return pa_csv.read_csv(self.layout.path, **options)
            with self.layout.path.open("rb") as file:
                return pa_csv.read_csv(io.BufferedReader(Watched(file, bar), _BLOCK), **options)
        except (pa.ArrowException, UnicodeError, OSError):  # their messages quote cells
            raise trouble.explain(self.layout) from None

    def _options(self, columns: Sequence[str], *, quoted: bool) -> dict[str, Any]:
        encoding = "utf8" if self.layout.is_utf8 else self.layout.encoding
        return {
            "read_options": pa_csv.ReadOptions(block_size=_BLOCK, encoding=encoding, use_threads=True),
            "parse_options": pa_csv.ParseOptions(
                delimiter=self.layout.delimiter,
                newlines_in_values=quoted,
                ignore_empty_lines=len(self.header) > 1,
            ),
            "convert_options": pa_csv.ConvertOptions(
                include_columns=list(columns),
                column_types=dict.fromkeys(columns, _TEXT),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        }

    def guess(self, table: pa.Table) -> pa.Table:
        """Text that is all numbers or all dates becomes that; the rest becomes plain text."""
        return pa.table({name: _guessed_column(table.column(name)) for name in table.column_names})


def _guessed_column(column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    array = single(column)
    if not isinstance(array, pa.DictionaryArray):
        return column
    return pa.chunked_array([pc.take(guessed(array.dictionary), array.indices)])


def open_csv(path: Path, *, encoding: str | None, expected: Collection[str] = ()) -> CsvFile:
    """Look at the beginning of a file to learn its encoding, its delimiter and its header.

    `expected` are names that the header is likely to hold.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
    found = _known(encoding) if encoding else _by_mark(head)
    text = codecs.getincrementaldecoder(found)(errors="replace").decode(head)
    delimiter = _sniff(text, whole=len(head) < _HEAD, expected=expected)
    layout = Layout(path, found, delimiter)
    header = next((row for row in _records(text, delimiter) if row), None)
    if header is None:
        raise TableError(
            path.name, "a table must have a header and rows", given="an empty file", remedy="check the file"
        )
    if any("\ufffd" in name for name in header) and (error := trouble.undecodable(layout)):
        raise error
    return CsvFile(layout, tuple(header))


def _known(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name if _ENCODING.fullmatch(encoding) else ""
        codecs.getincrementaldecoder(name or "none")
        b"ab".decode(name, "ignore")  # refused by codecs that turn bytes into something else than text
    except (LookupError, UnicodeError):
        name = ""
    if not name or name in _NO_TABLES:
        raise TableError(
            "encoding",
            "an encoding must be one of text that Python knows",
            given=repr(encoding),
            remedy="use for example utf-8, utf-16, cp1252 or latin-1",
        )
    return "utf-8-sig" if name == "utf-8" else name


def _by_mark(head: bytes) -> str:
    return next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8-sig")


def _sniff(text: str, *, whole: bool, expected: Collection[str]) -> str:
    """The delimiter under which the header holds most expected names, and most lines have as many fields."""

    def fit(delimiter: str) -> tuple[int, float, int]:
        rows = [row for row in _records(text, delimiter) if row]
        if not rows:
            return 0, 0.0, 0
        width, known = len(rows[0]), len(set(rows[0]) & set(expected))
        widths = [len(row) for row in (rows if whole or len(rows) < 2 else rows[:-1])]
        return known, widths.count(width) / len(widths) if width > 1 else 0.0, width

    return max(DELIMITERS, key=fit)


def _records(text: str, delimiter: str) -> list[list[str]]:
    """The first records; fewer if the text breaks off within one."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows: list[list[str]] = []
    try:
        rows.extend(islice(reader, 201))
    except csv.Error:
        return rows
    return rows


def _count_quotes(path: Path) -> int:
    with path.open("rb") as file:
        with mmap(file.fileno(), 0, access=ACCESS_READ) as mapped:
            if mapped.find(b'"') < 0:  # far faster than counting
                return 0
        return sum(block.count(b'"') for block in iter(lambda: file.read(_BLOCK), b""))
