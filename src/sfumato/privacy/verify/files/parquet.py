"""The table's file as Parquet, walked from its first byte to its last before any library opens it.

Sfumato writes a small closed part of Parquet in which every byte follows from the values: there is one file for a
table. So nothing can be hidden in it, no row count is believed that the file has no room for, and no damaged file
reaches a library that would trip over it. What pages hold is read in `chunk`; here the schema is read, the pages are
walked, and the whole footer is then made again from what was found, and compared.
"""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass
from pathlib import Path

from sfumato.events import watched
from sfumato.privacy.verify.files.chunk import OTHERWISE, Chunk, Cursor, Leaf, listed, read_chunk, text, whole
from sfumato.privacy.verify.files.regular_files import open_regular
from sfumato.privacy.verify.verdict import CheckError

MAGIC = b"PAR1"
GROUP = 2**20  # rows of a row group, but for the last
MOST_COLUMNS = 10_000
STRUCT, INT, TEXT = 12, 5, 8  # types of list entries
# Bytes of text that all rows together may show, and more of them for each byte of the file: a few long texts that
# millions of rows repeat would keep a reader busy for hours.
MOST_LETTERS, SPREAD = 2**32, 256
# What follows the name of a column in the schema: its converted type (0x25) where Parquet has one, its logical type.
MICROSECONDS = b"\x1c\x2c\x00\x00\x00\x00"
KINDS: dict[str, tuple[int, bytes]] = {
    "text": (6, b"\x25\x00\x4c\x1c\x00\x00"),
    "day": (1, b"\x25\x0c\x4c\x6c\x00\x00"),
    "instant": (2, b"\x25\x14\x4c\x8c\x11" + MICROSECONDS),
    "moment": (2, b"\x6c\x8c\x12" + MICROSECONDS),
    "time": (2, b"\x6c\x7c\x12" + MICROSECONDS),
    "unsigned": (2, b"\x25\x1c\x4c\xac\x13\x40\x12\x00\x00"),
    "whole": (2, b""),
    "number": (5, b""),
    "truth": (0, b""),
}
LIST = b"\x15\x02\x15\x06\x4c\x3c\x00\x00\x00"  # one child; a list
IN_LIST = b"\x35\x04\x18\x04list\x15\x02\x00"


@dataclass(frozen=True)
class Walked:
    """What a file was found to hold: as many rows, these columns, and in each as many rows without a value."""

    rows: int
    missing: dict[str, int]
    pages: int


@dataclass(frozen=True)
class _Group:
    rows: int
    chunks: tuple[Chunk, ...]


def walk(path: Path) -> Walked:
    """Every byte of the file follows from the values of its table; or it is refused."""
    with open_regular(path, most=None) as file:
        size = os.fstat(file.fileno()).st_size
        if size < 12:
            raise CheckError("the file is no Parquet")
        return _walk(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)), size)


def _walk(data: memoryview, size: int) -> Walked:
    start = size - 8 - int.from_bytes(data[-8:-4], "little")
    if data[:4] != MAGIC or data[-4:] != MAGIC or start < 4:
        raise CheckError("the file is no Parquet")
    footer = Cursor(data, start, size - 8)
    leaves = _leaves(footer)
    footer.expect(b"\x16")
    rows = footer.whole()
    if rows > 8 * size:
        raise CheckError("the file says that it has more rows than it has room for")
    pages = Cursor(data, len(MAGIC), start)
    groups = [_group(pages, leaves, min(GROUP, rows - first)) for first in range(0, rows, GROUP)]
    if pages.at != start or data[footer.at : size - 8] != _groups(leaves, groups):
        raise CheckError("the file holds more than its pages, or its footer does not describe them")
    if sum(chunk.letters for group in groups for chunk in group.chunks) > MOST_LETTERS + SPREAD * size:
        raise CheckError("the rows show far more text than a file of this size should")
    return _summary(leaves, groups, rows)


def _group(pages: Cursor, leaves: list[Leaf], rows: int) -> _Group:
    return _Group(rows, tuple(read_chunk(pages, leaf, rows) for leaf in watched(leaves)))


def _summary(leaves: list[Leaf], groups: list[_Group], rows: int) -> Walked:
    missing = {leaf.name.decode(): sum(group.chunks[at].missing for group in groups) for at, leaf in enumerate(leaves)}
    for at, leaf in enumerate(leaves):
        if leaf.kind == "unsigned" and not any(group.chunks[at].beyond for group in groups):
            raise CheckError(f"{leaf.name.decode()!r} is declared unsigned, and holds no number that needs it")
    count = sum(1 + (chunk.data > chunk.start) for group in groups for chunk in group.chunks)
    return Walked(rows, missing, count)


def _leaves(footer: Cursor) -> list[Leaf]:
    """The columns of the schema."""
    footer.expect(b"\x15\x04\x19")
    count = _length(footer, STRUCT)
    footer.expect(b"\x48\x06schema\x15")
    columns = footer.whole()
    footer.expect(b"\x00")
    if not 0 < columns <= MOST_COLUMNS:
        raise CheckError(f"a table has columns, at most {MOST_COLUMNS}")
    leaves = [_leaf(footer) for _ in range(columns)]
    if count != 1 + sum(3 if leaf.lists else 1 for leaf in leaves):
        raise CheckError(OTHERWISE)
    try:
        names = {leaf.name.decode() for leaf in leaves}
    except UnicodeDecodeError:
        raise CheckError("a column's name is not UTF-8") from None
    if "" in names or len(names) != len(leaves):
        raise CheckError("two columns have one name, or one has none")
    return leaves


def _length(cursor: Cursor, kind: int) -> int:
    """How many entries a list of the type has; below 15 it stands beside the type."""
    head = cursor.take(1)[0]
    if head & 15 != kind:
        raise CheckError(OTHERWISE)
    count = head >> 4 if head >> 4 < 15 else cursor.varint()
    if head >> 4 == 15 and count < 15:
        raise CheckError(OTHERWISE)
    return count


def _leaf(footer: Cursor) -> Leaf:
    """One column; a list of values is a column in a group in a group."""
    if not footer.meets(b"\x35\x02\x18"):
        return _values(footer, repetition=2)
    name = footer.text()
    footer.expect(LIST + IN_LIST)
    items = _values(footer, repetition=0)
    if items.name != b"element":
        raise CheckError(OTHERWISE)
    return Leaf(name, items.kind, True)


def _values(footer: Cursor, *, repetition: int) -> Leaf:
    footer.expect(b"\x15")
    physical = footer.whole()
    footer.expect(bytes([0x25, repetition, 0x18]))
    name = footer.text()
    for kind, (stored, meaning) in KINDS.items():
        if stored == physical and footer.meets(meaning + b"\x00"):
            return Leaf(name, kind, False)
    raise CheckError(OTHERWISE)


def _groups(leaves: list[Leaf], groups: list[_Group]) -> bytes:
    """The rest of the footer, as it must be for these pages."""
    return b"\x19" + listed(STRUCT, [_group_bytes(leaves, group) for group in groups]) + b"\x00"


def _group_bytes(leaves: list[Leaf], group: _Group) -> bytes:
    chunks = [_chunk_bytes(leaf, chunk) for leaf, chunk in zip(leaves, group.chunks, strict=True)]
    size = sum(chunk.end - chunk.start for chunk in group.chunks)
    return b"\x19" + listed(STRUCT, chunks) + b"\x16" + whole(size) + b"\x16" + whole(group.rows) + b"\x00"


def _chunk_bytes(leaf: Leaf, chunk: Chunk) -> bytes:
    """Type, encodings, path, no compression, places, size, size again, and where the pages begin."""
    steps = [text(step) for step in ([leaf.name, b"list", b"element"] if leaf.lists else [leaf.name])]
    by_place = chunk.data > chunk.start
    size = whole(chunk.end - chunk.start)
    encodings = [whole(number) for number in ((0, 3, 8) if by_place else (0, 3))]
    return b"".join(
        [
            b"\x26\x00\x1c\x15",
            whole(KINDS[leaf.kind][0]),
            b"\x19" + listed(INT, encodings),
            b"\x19" + listed(TEXT, steps),
            b"\x15\x00\x16" + whole(chunk.places),
            b"\x16" + size + b"\x16" + size,
            b"\x26" + whole(chunk.data),
            b"\x26" + whole(chunk.start) if by_place else b"",
            b"\x00\x00",
        ]
    )
