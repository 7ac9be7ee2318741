"""What lies in the table's file besides the shown values: nothing.

Parquet has many places where raw values may linger: key-value metadata, statistics in the footer and in page
headers, page indexes, Bloom filters, dictionary entries that no row uses, bytes that nothing points to. So the
file is walked from its first byte to its last: every byte belongs to a page or to the footer, and footer and page
headers hold the fields that reading the values takes, and no others.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sfumato.privacy.verify.thrift import Compact, Struct, Value
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    import polars as pl

Codec = Literal["snappy", "gzip", "brotli", "zstd", "lz4_raw"]
MAGIC = b"PAR1"
# Numbers of the fields that may be there, by structure (parquet.thrift). Left out are, among others, key-value
# metadata (5 of the file, 8 of a column), sorting columns (4 of a row group), statistics (12), Bloom filters
# (14, 15), page indexes (4 to 7 of a chunk), and the statistics of a page (5; 8 in version 2).
# Size statistics (16 of a column) add up the lengths and the gaps of what is shown, and tell nothing more.
FILE, GROUP, CHUNK = {1, 2, 3, 4, 6, 7}, {1, 2, 3, 5, 6, 7}, {2, 3}
COLUMN = {1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 16}
PAGE, DATA, DICTIONARY, DATA_2 = {1, 2, 3, 4, 5, 7, 8}, {1, 2, 3, 4}, {1, 2, 3}, {1, 2, 3, 4, 5, 6, 7}
CODECS: dict[int, Codec] = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
TEXT = 6  # the physical type of text


@dataclass(frozen=True)
class Page:
    """A page of a column: its header, and where its content lies."""

    header: Struct
    start: int
    end: int


def nothing_else_in_csv(path: Path, table: pl.DataFrame) -> str:
    """A CSV file is its header and its rows; that it can be read as such is all there is to see."""
    if not table.width:
        raise CheckError("the file has no columns")
    return "a header and rows"


def nothing_else_in_parquet(path: Path, table: pl.DataFrame) -> str:
    """Every byte of the file serves a shown value."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        footer, end = _footer(data)
        at, row, pages = len(MAGIC), 0, 0
        for group in _structs(footer, 4):
            _only(group, GROUP, "a row group")
            rows = table.slice(row, _int(group, 3))
            for chunk in _structs(group, 1):
                column = column_of(chunk)
                found = list(_pages(data, column, at))
                _check_dictionary(data, column, found, rows)
                at, pages = found[-1].end, pages + len(found)
            row += rows.height
        if at != end or row != table.height:
            raise CheckError("the file holds bytes or rows that belong to no page")
    return f"{pages} pages and a bare footer fill the file; every dictionary entry is in use"


def _footer(data: mmap.mmap) -> tuple[Struct, int]:
    """The footer, and where it begins."""
    size = int.from_bytes(data[-8:-4], "little")
    start = len(data) - 8 - size
    if data[:4] != MAGIC or data[-4:] != MAGIC or start < 4:
        raise CheckError("the file is no Parquet")
    reader = Compact(data, start)
    footer = reader.struct()
    if reader.at != len(data) - 8:
        raise CheckError("the footer is followed by something else")
    _only(footer, FILE, "the footer")
    return footer, start


def column_of(chunk: Struct) -> Struct:
    """A column of a row group: where its pages lie, and how they are written."""
    _only(chunk, CHUNK, "a column")
    column = _struct(chunk.get(3))
    _only(column, COLUMN, "a column")
    return column


def _pages(data: mmap.mmap, column: Struct, at: int) -> Iterator[Page]:
    """The pages of a column, which begin here and follow each other without a gap."""
    if min(_int(column, key) for key in (9, 11) if key in column) != at:
        raise CheckError("something lies between two columns: an index, a filter, or a forgotten page")
    end = at + _int(column, 7)
    while at < end:
        reader = Compact(data, at)
        header = reader.struct()
        _only(header, PAGE, "a page")
        for key, fields in ((5, DATA), (7, DICTIONARY), (8, DATA_2)):
            inner = {at: value for at, value in _struct(header.get(key, {})).items() if value != {}}
            _only(inner, fields, "a page")  # pyarrow writes statistics that say nothing: an empty structure
        page = Page(header, reader.at, reader.at + _int(header, 3))
        yield page
        at = page.end
    if at != end:
        raise CheckError("the pages of a column are longer than the column")


def _check_dictionary(data: mmap.mmap, column: Struct, pages: list[Page], rows: pl.DataFrame) -> None:
    """A column's dictionary holds values of its rows, and no others."""
    path = column.get(3)
    first = path[0] if isinstance(path, list) and path else b""
    name = first.decode() if isinstance(first, bytes) else ""
    for page in (page for page in pages if 7 in page.header):
        used = _used(rows[name])
        if column.get(1) == TEXT:
            fits = _texts(_content(data, column, page)) <= set(used.to_list())
        else:
            fits = _int(_struct(page.header[7]), 1) <= _distinct(used)
        if not fits:
            raise CheckError(f"{name}: the dictionary has an entry that no row shows")


def _used(column: pl.Series) -> pl.Series:
    """The different values of a column, or of the lists in it."""
    import polars as pl

    flat = column.explode() if isinstance(column.dtype, pl.List) else column
    return flat.unique().drop_nulls()


def _distinct(values: pl.Series) -> int:
    """How many different values; zero and minus zero are two, as they are in a dictionary."""
    zeros = values.dtype.is_float() and bool((values == 0).any())
    return len(values) + int(zeros)


def _content(data: mmap.mmap, column: Struct, page: Page) -> bytes:
    import pyarrow as pa

    packed, codec = data[page.start : page.end], _int(column, 4)
    if codec == 0:
        return packed
    if codec not in CODECS:
        raise CheckError("the file is compressed in a way that is not understood")
    size = _int(page.header, 2)
    return pa.decompress(packed, decompressed_size=size, codec=CODECS[codec], asbytes=True)


def _texts(content: bytes) -> set[str]:
    """The entries of a dictionary of text: each a length in four bytes, and the text."""
    texts, at = set(), 0
    while at < len(content):
        start = at + 4
        at = start + int.from_bytes(content[at:start], "little")
        texts.add(content[start:at].decode())
    return texts


def _only(found: Struct, allowed: set[int], where: str) -> None:
    if not set(found) <= allowed:
        raise CheckError(f"{where} holds more than values need: metadata, statistics, an index or a filter")


def _structs(owner: Struct, key: int) -> list[Struct]:
    found = owner.get(key)
    return [_struct(entry) for entry in found] if isinstance(found, list) else []


def _struct(value: Value | None) -> Struct:
    if not isinstance(value, dict):
        raise CheckError("the file's footer is not what Parquet says")
    return value


def _int(owner: Struct, key: int) -> int:
    value = owner.get(key)
    if not isinstance(value, int) or value < 0:
        raise CheckError("the file's footer is not what Parquet says")
    return value
