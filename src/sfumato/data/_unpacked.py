"""How much a packed file becomes when it is read, looked at before it is: a few bytes can stand for gigabytes."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from sfumato.errors import TableError

MiB = 1 << 20
FREE, TIMES = 256 * MiB, 500
"""A file may unpack to so many bytes, and to so many times its own size."""
FREE_ROWS, ROWS_OF_A_BYTE = 1_000_000, 4096
FREE_CELLS, CELLS_OF_A_CELL = 1 << 24, 20
"""A sheet is read as a rectangle: of so many cells, and of so many times those that are filled."""
_CHUNK = 1 << 18
_OVERLAP = 512
_CELL = re.compile(rb"""<(?:\w{1,9}:)?c\s[^<>]{0,200}?\br=["']([A-Z]{1,3})([0-9]{1,7})["']""")
_ROW = re.compile(rb"""<(?:\w{1,9}:)?row\s[^<>]{0,200}?\br=["']([0-9]{1,9})["']""")


def check_unpacked(path: Path, unpacked: int) -> None:
    """Refuse a file that unpacks to far more than itself."""
    if unpacked > FREE + TIMES * path.stat().st_size:
        raise _too_much(path, f"it unpacks to more than {TIMES} times its size")


def check_rows(path: Path, rows: int) -> None:
    """Refuse a file that claims more rows than it can mean."""
    if rows < 0 or rows > FREE_ROWS + ROWS_OF_A_BYTE * path.stat().st_size:
        raise _too_much(path, "it claims more rows than so small a file can hold")


def check_workbook(path: Path) -> None:
    """Refuse a workbook whose parts unpack to far more than it, or whose sheets are nearly all empty cells."""
    most, unpacked = FREE + TIMES * path.stat().st_size, 0
    try:
        with ZipFile(path) as parts, path.open("rb") as file:
            for part in parts.infolist():
                area = _Area()
                for chunk in _chunks(file, part):
                    unpacked += len(chunk)
                    if unpacked > most:
                        raise _too_much(path, f"it unpacks to more than {TIMES} times its size")
                    area.add(chunk)
                if area.size > FREE_CELLS + CELLS_OF_A_CELL * area.cells:
                    raise _too_much(path, "a sheet reaches far beyond its filled cells")
    except (BadZipFile, NotImplementedError, OSError, ValueError, struct.error, zlib.error):
        return  # no workbook: its reader says so


def _too_much(path: Path, given: str) -> TableError:
    return TableError(path.name, "a table's file must hold about as much as it says", given=given,
                      remedy="save the table as CSV or Parquet, without what lies beside it")  # fmt: skip


def _chunks(file: BinaryIO, part: ZipInfo) -> Iterator[bytes]:
    """What a part really unpacks to, whatever it says of its size."""
    file.seek(part.header_offset)
    head = struct.unpack("<26xHH", file.read(30))
    file.seek(head[0] + head[1], 1)
    left = part.compress_size
    if part.compress_type not in (ZIP_DEFLATED, ZIP_STORED):
        raise ValueError("no workbook is packed like this")
    unpack = zlib.decompressobj(-15) if part.compress_type == ZIP_DEFLATED else None
    while left > 0 and (packed := file.read(min(left, _CHUNK))):
        left -= len(packed)
        if unpack is None:
            yield packed
            continue
        while packed and not unpack.eof:
            yield unpack.decompress(packed, 4 * _CHUNK)
            packed = unpack.unconsumed_tail


class _Area:
    """Owns what was seen of one part: how many cells it fills, and how far they reach."""

    def __init__(self) -> None:
        self.cells, self._row, self._column, self._tail = 0, 0, 0, b""

    @property
    def size(self) -> int:
        """Cells of the rectangle."""
        return self._row * self._column

    def add(self, chunk: bytes) -> None:
        """Look at the next piece; a tag that is cut in two is seen with the one after."""
        text = self._tail + chunk
        if b"<" not in text:
            return
        for column, row in _CELL.findall(text):
            self.cells += 1
            self._row, self._column = max(self._row, int(row)), max(self._column, _number(column))
        for row in _ROW.findall(text):
            self._row, self._column = max(self._row, int(row)), max(self._column, 1)
        last = text.rfind(b"<")
        self._tail = text[last:] if len(text) - last < _OVERLAP else b""


def _number(letters: bytes) -> int:
    found = 0
    for letter in letters:
        found = 26 * found + letter - 64
    return found
