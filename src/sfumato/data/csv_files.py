"""CSV files: the encoding and the delimiter are found out, cells come in as text held once."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from sfumato.data.codes import single
from sfumato.data.lookalikes import LONGEST as LONGEST_NAME
from sfumato.data.number_columns import guessed
from sfumato.data.safe_files import Progress, Watched
from sfumato.data.sources.source import Loaded
from sfumato.data.table import Origin, row_place
from sfumato.errors import TableError
from sfumato.events import awaited, checkpoint

DELIMITERS = ",;\t|"
_OTHER_DELIMITERS = (":", "^", "~", "¦", "§", "\x01", "\x1f")
"""Marks that some programs write between columns, and that are not read."""
_LINES = 50  # that are compared for other marks
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
class CsvFile(Loaded):
    """A CSV file whose layout is known."""

    layout: Layout
    header: tuple[str, ...]
    origin: Origin = "path"

    @property
    def called(self) -> str:
        """The file's name."""
        return self.layout.path.name

    def names(self) -> list[str]:
        """The names in the first line."""
        return list(self.header)

    def place(self, row: int) -> str:
        """The line at which a row begins."""
        line = line_of(self.layout, row)
        return f"line {line}" if line else row_place(row)

    def load(self, columns: Sequence[str], *, progress: Progress) -> pa.Table:
        """The columns as text in dictionary arrays; an empty cell is null, a quoted one is not."""
        with self._opened(columns, progress) as (watched, options):
            return awaited(lambda: pa_csv.read_csv(watched, **options))

    def kinds(self, columns: Sequence[str]) -> pa.Schema:
        """All of them are text."""
        return pa.schema([(name, _TEXT) for name in columns])

    def batches(self, columns: Sequence[str], *, progress: Progress) -> Iterator[pa.RecordBatch]:
        """The same, some blocks of the file at a time."""
        with self._opened(columns, progress) as (watched, options), pa_csv.open_csv(watched, **options) as reader:
            for batch in reader:
                checkpoint()
                yield batch

    @contextmanager
    def _opened(self, columns: Sequence[str], progress: Progress) -> Iterator[tuple[io.BufferedReader, dict[str, Any]]]:
        """The file, watched, and how to read it; what is wrong with it is told by its line."""
        progress.total = self.layout.path.stat().st_size
        quotes = _count_quotes(self.layout.path)
        if quotes % 2 and self.layout.is_utf8:
            refuse_open_quote(self.layout)
        try:
            options = self._options(columns, quoted=quotes > 0)
            with self.layout.path.open("rb") as file:
                yield io.BufferedReader(Watched(file, progress), _BLOCK), options
        except (pa.ArrowException, UnicodeError, OSError):  # their messages quote cells
            raise explain(self.layout) from None

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

    def arrow(self, columns: Sequence[str], *, guess: bool, progress: Progress) -> pa.Table:
        """The columns; with `guess`, text that is all numbers or all dates becomes that, the rest plain text."""
        table = super().arrow(columns, guess=guess, progress=progress)
        return _guessed(table) if guess else table


def _guessed(table: pa.Table) -> pa.Table:
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
    if any("\ufffd" in name for name in header) and (error := undecodable(layout)):
        raise error
    if len(header) == 1 and header[0] not in expected:
        _refuse_another_delimiter(path.name, [row[0] for row in _records(text, delimiter) if row])
    return CsvFile(layout, tuple(header))


def _refuse_another_delimiter(called: str, lines: Sequence[str]) -> None:
    """Lines of one column that another mark parts alike into three or more, or whose header is too long for a name."""
    counts = {mark: {line.count(mark) for line in lines[:_LINES]} for mark in _OTHER_DELIMITERS}
    mark = next((mark for mark, found in counts.items() if len(found) == 1 and min(found) > 1), None)
    if mark is None and len(lines[0]) <= LONGEST_NAME:
        return
    raise TableError(
        called,
        "columns of a text file are parted by a comma, a semicolon, a tab or |",
        given="one column alone"
        + (f", with {mark!r} in every line" if mark is not None else ", with a very long name"),
        remedy="if another mark parts them, write the file anew with one of these: no option names others",
    )


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


def likely_encoding(path: Path) -> str | None:
    """What a CSV file that is not UTF-8 is likely written in; None if it is UTF-8, or says what it is."""
    with path.open("rb") as file:
        if _by_mark(file.read(4)) == "utf-16":
            return None
    tried = ("utf-8-sig", "cp1252", "latin-1")  # the last one takes any bytes
    found = next(name for name in tried if _first_undecodable_line(Layout(path, name, ",")) is None)
    return None if found == "utf-8-sig" else found


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


# What is wrong with a CSV file, and in which line: read slowly, after the fast way has failed.
@dataclass(frozen=True)
class Layout:
    """Where a CSV file is and how it is written."""

    path: Path
    encoding: str
    delimiter: str

    @property
    def is_utf8(self) -> bool:
        """Whether it can be read as it is."""
        return self.encoding == "utf-8-sig"


@dataclass(frozen=True)
class Record:
    """One record: the line at which it begins, and how many fields it has."""

    line: int
    fields: int


def records(layout: Layout) -> Iterator[Record]:
    """The records that are not blank, the header first; a quote left open raises csv.Error."""
    with layout.path.open(encoding=layout.encoding, errors="replace", newline="") as file:
        reader = csv.reader(file, delimiter=layout.delimiter, strict=True)
        before, width = 0, 0
        for row in reader:
            width = width or len(row)
            if row or width == 1:
                yield Record(before + 1, len(row))
            before = reader.line_num


def line_of(layout: Layout, row: int) -> int | None:
    """The line at which a row begins, rows counted from 0 after the header; None if it cannot be told."""
    try:
        return next((record.line for at, record in enumerate(records(layout)) if at == row + 1), None)
    except (csv.Error, OSError):
        return None


def explain(layout: Layout) -> TableError:
    """The first thing that is wrong with a file that could not be read."""
    return undecodable(layout) or _ragged(layout) or _broken(layout, "which line cannot be told")


def refuse_open_quote(layout: Layout) -> None:
    """Refuse a file that ends inside a quoted cell."""
    last = 0
    try:
        for record in records(layout):
            last = record.line
    except csv.Error as error:
        if "end of data" in str(error):
            raise _broken(layout, f"the record after line {last} has a quote that never ends") from None


def _broken(layout: Layout, given: str) -> TableError:
    return TableError(
        layout.path.name,
        "a CSV file must hold one record a line, cells with line breaks in quotes",
        given=given,
        remedy="mend the file, or save it as CSV anew",
    )


def undecodable(layout: Layout) -> TableError | None:
    """What to say of a file whose bytes are not of its encoding; None if they are."""
    line = _first_undecodable_line(layout)
    if line is None:
        return None
    return TableError(
        f"{layout.path.name}, line {line}",
        f"the text must be {'UTF-8' if layout.is_utf8 else layout.encoding}",
        given="bytes that are not",
        remedy="convert the file to UTF-8, or name its encoding: a line `encoding: cp1252` in the recipe; where there "
        "is none yet (draft, advise, taxonomy) --encoding cp1252",
    )


def _first_undecodable_line(layout: Layout) -> int | None:
    decoder = codecs.getincrementaldecoder(layout.encoding)()
    line = 1
    with layout.path.open("rb") as file:
        while True:
            block = file.read(1 << 20)
            try:
                line += decoder.decode(block, final=not block).count("\n")
            except UnicodeDecodeError as error:
                good = error.object[: error.start]
                return line + good.decode(layout.encoding, errors="replace").count("\n")
            if not block:
                return None


def _ragged(layout: Layout) -> TableError | None:
    width, last = 0, 0
    try:
        for record in records(layout):
            width, last = width or record.fields, record.line
            if record.fields != width and not (width == 1 and record.fields == 0):
                return TableError(
                    f"{layout.path.name}, line {record.line}",
                    f"every line must have as many fields as the header, {width}",
                    given=f"{record.fields} fields",
                    remedy="mend the line, or put cells that hold the delimiter in quotes",
                )
    except csv.Error:
        return _broken(layout, f"the record after line {last} cannot be read")
    return None
