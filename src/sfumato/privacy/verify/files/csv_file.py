"""The table's file as CSV: read, written again from the cells that were read, and compared to the byte.

So line ends, blank lines, quotes that nobody needs and whatever else a reader passes over are refused. What remains is
how numbers and dates are spelled; each has one spelling, and all cells of a column the same kind of it.
"""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Callable, Collection, Iterable
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.events import watched
from sfumato.privacy.verify.files.regular_files import open_regular
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
HEADER = 2**20  # bytes that a header may have
MOST_COLUMNS = 10_000
FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
NEGATIVE = re.compile(r"-(inf|\d+(\.\d+)?(e[+-]?\d+)?)", re.ASCII)
NEEDS_QUOTES = re.compile('[,"\r\n]')


class Texts:
    """Owns the different texts of a column in the order in which they came, and which of them each row has.

    The number behind the last one means missing, once all rows are there.
    """

    def __init__(self) -> None:
        self.texts, self.misses = list[str](), False
        self._known, self._parts = dict[str, int](), list[Any]()

    def add(self, column: Any) -> None:
        """The rows of a batch, whose different texts stand in a dictionary."""
        import numpy as np

        places = []
        for text in column.dictionary.to_pylist():
            if text not in self._known:
                self._known[text] = len(self.texts)
                self.texts.append(text)
            places.append(self._known[text])
        kind = next(kind for kind in (np.uint8, np.uint16, np.uint32) if len(self.texts) < np.iinfo(kind).max)
        gone = np.iinfo(kind).max  # until all texts are known
        self._parts.append(np.array([*places, gone], dtype=kind)[column.indices.fill_null(-1).to_numpy()])
        self.misses = self.misses or column.null_count > 0

    @cached_property
    def codes(self) -> NDArray[np.unsignedinteger[Any]]:
        """(rows,): the text of each row."""
        import numpy as np

        kind = self._parts[-1].dtype if self._parts else np.dtype(np.uint8)  # the widest
        found = np.empty(sum(map(len, self._parts)), dtype=kind)
        at = 0
        for part in self._parts:
            some = found[at : at + len(part)]
            some[:] = part
            some[part == np.iinfo(part.dtype).max] = len(self.texts)
            at += len(part)
        self._parts.clear()
        return found


def read_rows(path: Path, *, spreadsheet_safe: bool) -> dict[str, Texts]:
    """All columns as text, read some rows at a time; an empty cell is missing, a quoted empty cell is an empty text."""
    import pyarrow as pa
    from pyarrow import csv

    with open_regular(path, most=None) as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise CheckError("the file is empty")
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    columns = _columns(data)
    try:
        parse = csv.ParseOptions(newlines_in_values=True)
        with csv.open_csv(_held(data), parse_options=parse) as first:
            names = first.schema.names
        if len(names) != columns or len(set(names)) != columns or "" in names:
            raise CheckError("two columns have one name, or one has none")
        options = {"convert_options": _as_text(names), "parse_options": _parsing(names)}
        with csv.open_csv(_held(data), **options) as reader:
            return _compared(names, reader, data, safe=spreadsheet_safe)
    except (pa.ArrowException, OSError, UnicodeDecodeError):  # its message quotes cells
        raise CheckError(f"{path.name} cannot be read as a header and rows") from None


def _held(data: mmap.mmap) -> Any:
    """The bytes that were looked at, whatever the path leads to by now."""
    import pyarrow as pa

    return pa.BufferReader(pa.py_buffer(data))


def _columns(data: mmap.mmap) -> int:
    """How many columns the header names, before a library makes room for them."""
    start = data[:HEADER]
    if start.startswith(BYTE_ORDER_MARK):
        raise CheckError("the CSV file begins with a byte order mark")
    bare = re.sub(rb'"[^"]*"', b"", start)
    header = bare.partition(b"\n")[0]
    if len(header) == len(bare) == HEADER or header.count(b",") >= MOST_COLUMNS:
        raise CheckError(f"a table has at most {MOST_COLUMNS} columns")
    return header.count(b",") + 1


def _as_text(names: list[str]) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    return csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.dictionary(pa.int32(), pa.string())),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )


def _parsing(names: list[str]) -> Any:
    from pyarrow import csv

    return csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=len(names) > 1)


def _compared(names: list[str], batches: Iterable[Any], data: mmap.mmap, *, safe: bool) -> dict[str, Texts]:
    """The columns with their texts as they were, if their canonical form is what stands in the file."""
    before, after = (_restored, harmless) if safe else (str, str)
    names = [before(name) for name in names]
    at = _expect(data, 0, (",".join(_cell(after(name)) for name in names) + "\n").encode())
    found = {name: Texts() for name in names}
    for batch in watched(batches):
        columns = [_changed(column, before) for column in batch.columns]
        at = _expect(data, at, _lines([_changed(column, lambda text: _cell(after(text))) for column in columns]))
        for texts, column in zip(found.values(), columns, strict=True):
            texts.add(column)
    if at != len(data):
        raise CheckError("the file goes on behind its last row")
    return found


def _expect(data: mmap.mmap, at: int, content: bytes) -> int:
    if data[at : at + len(content)] != content:
        raise CheckError(
            "the CSV file is not in its one form: a line end, a blank line, quotes or a cell's spelling is otherwise"
        )
    return at + len(content)


def _changed(column: Any, change: Callable[[str], str]) -> Any:
    """A column with each of its different texts changed."""
    import pyarrow as pa

    if change is str:
        return column
    texts = [change(text) for text in column.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(column.indices, pa.array(texts, pa.string()))


def _lines(columns: list[Any]) -> bytes:
    """Rows of spelled cells, as they stand in a file; a missing one is nothing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = [column.dictionary_decode().cast(pa.large_string()) for column in columns]
    if not len(cells[0]):
        return b""
    comma, line_feed = pa.scalar(",", pa.large_string()), pa.scalar("\n", pa.large_string())
    rows: Any = pc.binary_join_element_wise(*cells, comma, null_handling="replace", null_replacement="")
    ends = pa.array([0, len(rows)], pa.int64())
    whole: Any = pc.binary_join(pa.LargeListArray.from_arrays(ends, rows), line_feed)
    return bytes(whole[0].as_buffer()) + b"\n"


def _cell(text: str) -> str:
    if text and not NEEDS_QUOTES.search(text):
        return text
    return '"{}"'.format(text.replace('"', '""'))


def _restored(text: str) -> str:
    """The text that was made harmless for spreadsheets."""
    return text[1:] if text[:1] == "'" and FORMULA.match(text) else text


def harmless(text: str) -> str:
    """An apostrophe before what a spreadsheet would run, or what looks as if it had one already."""
    return f"'{text}" if FORMULA.match(text) and not NEGATIVE.fullmatch(text) else text


def check_spelling(name: str, texts: Collection[str | None], *, strict: bool) -> None:
    """All cells of a column of numbers are whole numbers, or decimal ones, or dates, each in its one spelling.

    Columns that are masked otherwise (not strict) may also show labels; their numbers are spelled in one way all the
    same.
    """
    cells = {text for text in texts if text is not None}
    forms = (_is_whole, _is_decimal, *((_is_day, _is_moment, _is_instant) if strict else ()))
    if any(all(form(text) for text in cells) for form in forms):
        return
    if strict or all(_number(text) is not None for text in cells):
        raise CheckError(f"{name}: a number or a date is not written in its one spelling")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _is_whole(text: str) -> bool:
    return re.fullmatch("0|-?[1-9][0-9]{0,19}", text) is not None and -(2**63) <= int(text) < 2**64


def _is_decimal(text: str) -> bool:
    """As Python writes it; there is one zero."""
    number = _number(text)
    if number is None:
        return False
    return text == ("NaN" if number != number else repr(number + 0.0))


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _is_moment(text: str) -> bool:
    """A date and a time without a zone; a bare date has no T."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return False
    return moment.tzinfo is None and moment.isoformat() == text


def _is_instant(text: str) -> bool:
    """A date and a time in UTC."""
    return text.endswith("Z") and _is_moment(text[:-1])
