"""A Parquet file taken apart: its footer, its row groups, its pages; and put together again so that all sizes fit.

For forgers: whatever they change, add or leave out, lengths and offsets follow. Nothing of the library takes part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TRUE, FALSE, BYTE, I32, I64, BINARY, LIST, STRUCT = 1, 2, 3, 5, 6, 8, 9, 12
Struct = dict[int, tuple[int, Any]]
"""Fields by number: their type, and their value; a list is the type of its entries and the entries."""


def varint(number: int) -> bytes:
    found = b""
    while number > 127:
        found, number = found + bytes([number & 127 | 128]), number >> 7
    return found + bytes([number])


def encode(fields: Struct) -> bytes:
    found, last = b"", 0
    for number in sorted(fields):
        kind, value = fields[number]
        step = number - last
        found += bytes([step << 4 | kind]) if step < 16 else bytes([kind]) + varint(number << 1)
        found, last = found + _encoded(kind, value), number
    return found + b"\0"


def _encoded(kind: int, value: Any) -> bytes:
    if kind in (TRUE, FALSE):
        return b""
    if kind == BYTE:
        return bytes([value])
    if kind in (I32, I64):
        return varint(value << 1 if value >= 0 else (-value << 1) - 1)
    if kind == BINARY:
        return varint(len(value)) + bytes(value)
    if kind == STRUCT:
        return encode(value)
    inner, entries = value
    head = bytes([len(entries) << 4 | inner]) if len(entries) < 15 else bytes([240 | inner]) + varint(len(entries))
    return head + b"".join(_encoded(inner, entry) for entry in entries)


class Reading:
    """Owns a place in some bytes."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def number(self) -> int:
        found, shift = 0, 0
        while (byte := self.byte()) > 127:
            found, shift = found | (byte & 127) << shift, shift + 7
        return found | byte << shift

    def struct(self) -> Struct:
        fields: Struct = {}
        last = 0
        while head := self.byte():
            last = last + (head >> 4) if head >> 4 else self.number() >> 1
            fields[last] = (head & 15, self.value(head & 15))
        return fields

    def value(self, kind: int) -> Any:
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind == BYTE:
            return self.byte()
        if kind in (I32, I64):
            return self.number() >> 1
        if kind == BINARY:
            size = self.number()
            self.at += size
            return self.data[self.at - size : self.at]
        if kind == STRUCT:
            return self.struct()
        head = self.byte()
        count = head >> 4 if head >> 4 < 15 else self.number()
        return head & 15, [self.value(head & 15) for _ in range(count)]


@dataclass
class Page:
    """A page's header and its content; `size` where the header lies about it once unpacked."""

    header: Struct
    content: bytes
    size: int | None = None

    def packed(self) -> bytes:
        self.header[2] = (I32, len(self.content) if self.size is None else self.size)
        self.header[3] = (I32, len(self.content))
        return encode(self.header) + self.content

    @property
    def of_entries(self) -> bool:
        return bool(self.header[1][1] == 2)


@dataclass
class Parts:
    """The footer, and the pages of each column of each row group."""

    footer: Struct
    groups: list[list[list[Page]]]
    before_footer: bytes = b""
    change_footer: Callable[[bytes], bytes] = field(default=lambda footer: footer)

    @classmethod
    def of(cls, path: Path) -> Parts:
        data = path.read_bytes()
        footer = Reading(data, len(data) - 8 - int.from_bytes(data[-8:-4], "little")).struct()
        groups = [[_pages(data, chunk) for chunk in group[1][1][1]] for group in footer[4][1][1]]
        return cls(footer, groups)

    def write(self, path: Path) -> None:
        data = b"PAR1"
        for group, columns in zip(self.footer[4][1][1], self.groups, strict=True):
            total = 0
            for chunk, pages in zip(group[1][1][1], columns, strict=True):
                start, meta = len(data), chunk[3][1]
                for page in pages:
                    if page.of_entries:
                        meta[11] = (I64, len(data))
                    data += page.packed()
                meta[9] = (I64, self._first_data(pages, start))
                for key in (6, 7):
                    meta[key] = (I64, len(data) - start)
                total += len(data) - start
            group[2] = (I64, total)
        footer = self.change_footer(encode(self.footer))
        path.write_bytes(data + self.before_footer + footer + len(footer).to_bytes(4, "little") + b"PAR1")

    @staticmethod
    def _first_data(pages: list[Page], at: int) -> int:
        for page in pages:
            if page.header[1][1] in (0, 3):
                return at
            at += len(page.packed())
        return at

    @property
    def schema(self) -> list[Struct]:
        found: list[Struct] = self.footer[2][1][1]
        return found

    def group(self, at: int = 0) -> Struct:
        found: Struct = self.footer[4][1][1][at]
        return found

    def chunk(self, column: int) -> Struct:
        found: Struct = self.group()[1][1][1][column]
        return found

    def meta(self, column: int) -> Struct:
        found: Struct = self.chunk(column)[3][1]
        return found

    def column(self, name: str) -> int:
        names = [chunk[3][1][3][1][1][0] for chunk in self.group()[1][1][1]]
        return names.index(name.encode())

    def pages(self, name: str) -> list[Page]:
        return self.groups[0][self.column(name)]

    def entries(self, name: str) -> Page:
        return next(page for page in self.pages(name) if page.of_entries)

    def data(self, name: str) -> Page:
        return next(page for page in self.pages(name) if not page.of_entries)


def _pages(data: bytes, chunk: Struct) -> list[Page]:
    meta = chunk[3][1]
    at = min(meta[key][1] for key in (9, 11) if key in meta)
    end, pages = at + meta[7][1], []
    while at < end:
        reading = Reading(data, at)
        header = reading.struct()
        at = reading.at + header[3][1]
        pages.append(Page(header, data[reading.at : at]))
    return pages
