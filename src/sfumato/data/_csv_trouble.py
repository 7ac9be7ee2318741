"""What is wrong with a CSV file, and in which line: read slowly, after the fast way has failed."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import TableError


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
        remedy="convert the file to UTF-8, or name its encoding: --encoding cp1252, or encoding: cp1252 in a recipe",
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
