"""A small closed part of Parquet, in which a table can be written in one way only.

Row groups of 2**20 rows. In each a column has one page of its different values, ascending, and one page that says for
each row which of them it has, in one bit-packed run; truth values have the latter only, and hold the values themselves.
Nothing is compressed, and there is nothing else: no statistics, no index, no metadata, no name of a program.
docs/tables.md describes it for whoever writes a reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt
from numpy.typing import NDArray

from sfumato.data.canonical.sheet import Codes, Rows, Sheet, regrouped, taking
from sfumato.data.codes import is_list, is_text, pruned, rank, side_by_side
from sfumato.data.table import Column
from sfumato.errors import TableError
from sfumato.events import watched

# Whole numbers side by side in few bits, in the order that Parquet reads them: lowest bit first, eight at a time.
WIDTHS = (1, 2, 4, 8, 16, 24, 32)


def width_of(count: int) -> int:
    """The narrowest of the widths in bits for numbers below a count.

    >>> width_of(1), width_of(3), width_of(256), width_of(257)
    (1, 2, 8, 16)
    """
    return next(width for width in WIDTHS if count <= 1 << width)


def packed(numbers: NDArray[Any], width: int) -> bytes:
    """The numbers in this many bits each, filled up with zeros to a multiple of eight numbers.

    >>> packed(np.array([1, 2, 3], dtype=np.uint8), 2)
    b'9\\x00'
    """
    room = -len(numbers) % 8
    if width == 24:  # the lower three of four bytes
        return numbers.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :3].tobytes() + bytes(room * 3)
    if width >= 8:
        return numbers.astype(f"<u{width // 8}", copy=False).tobytes() + bytes(room * width // 8)
    filled = np.append(numbers, np.zeros(room, numbers.dtype)).astype(np.uint8, copy=False)
    if width == 1:
        return np.packbits(filled, bitorder="little").tobytes()
    found = filled[0 :: 8 // width].copy()
    for place in range(1, 8 // width):
        found |= filled[place :: 8 // width] << np.uint8(place * width)
    return found.tobytes()


def varint(number: int) -> bytes:
    """A number that is not negative, seven bits a byte, the last byte below 128.

    >>> varint(300)
    b'\\xac\\x02'
    """
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)


def run(numbers: NDArray[Any], width: int) -> bytes:
    """One bit-packed run: how many eights there are, then the numbers."""
    return varint((len(numbers) + 7) // 8 << 1 | 1) + packed(numbers, width)


# Thrift's compact encoding, in which Parquet wants its headers: each function gives a value's type and its bytes.
Value = tuple[int, bytes]
"""The number of the type, and the encoded value."""


def i8(number: int) -> Value:
    """A whole number below 128."""
    return 3, bytes([number])


def i32(number: int) -> Value:
    """A whole number that is not negative."""
    return 5, varint(number << 1)


def i64(number: int) -> Value:
    """A whole number that is not negative, and may be large."""
    return 6, varint(number << 1)


def truth(value: bool) -> Value:
    """True or false: the type itself says which."""
    return 1 if value else 2, b""


def text(value: str) -> Value:
    """A text."""
    content = value.encode()
    return 8, varint(len(content)) + content


def several(values: Sequence[Value]) -> Value:
    """A list of values of one type."""
    kind = values[0][0] if values else 12
    head = bytes([len(values) << 4 | kind]) if len(values) < 15 else bytes([15 << 4 | kind]) + varint(len(values))
    return 9, head + b"".join(content for _, content in values)


def struct(fields: Mapping[int, Value]) -> Value:
    """A structure; its fields stand in the order of their numbers."""
    found, last = bytearray(), 0
    for number, (kind, content) in sorted(fields.items()):
        found += bytes([number - last << 4 | kind]) + content
        last = number
    return 12, bytes(found) + b"\0"


MAGIC = b"PAR1"
GROUP = 2**20  # rows
MOST_COLUMNS = 10_000
LARGEST = 2**31 - 1  # bytes of a page
PLAIN, RLE, DICTIONARY = i32(0), i32(3), i32(8)  # encodings
REQUIRED, OPTIONAL, REPEATED = i32(0), i32(1), i32(2)
BOOLEAN, INT32, INT64, DOUBLE, BYTES = 0, 1, 2, 5, 6  # physical types
EMPTY = struct({})
MICROS = struct({2: EMPTY})
LIST = {6: i32(3), 10: struct({3: EMPTY})}


@dataclass(frozen=True)
class Kind:
    """A canonical type as Parquet knows it: how values are stored, and the fields that say what they mean."""

    physical: int
    meaning: Mapping[int, Value]


def kind_of(canonical_type: pa.DataType) -> Kind:
    """Parquet's words for a canonical type."""
    if isinstance(canonical_type, pa.DictionaryType):
        return Kind(BYTES, {6: i32(0), 10: struct({1: EMPTY})})
    if pt.is_timestamp(canonical_type):
        zoned = canonical_type.tz is not None
        meaning = {10: struct({8: struct({1: truth(zoned), 2: MICROS})})}
        return Kind(INT64, {6: i32(10), **meaning} if zoned else meaning)
    if pt.is_time(canonical_type):
        return Kind(INT64, {10: struct({7: struct({1: truth(False), 2: MICROS})})})
    if pt.is_date(canonical_type):
        return Kind(INT32, {6: i32(6), 10: struct({6: EMPTY})})
    if pt.is_uint64(canonical_type):
        return Kind(INT64, {6: i32(14), 10: struct({10: struct({1: i8(64), 2: truth(False)})})})
    physical = {pa.bool_(): BOOLEAN, pa.int64(): INT64, pa.float64(): DOUBLE}[canonical_type]
    return Kind(physical, {})


@dataclass(frozen=True)
class Chunk:
    """A column in one row group: its pages as bytes, and what the footer says of them."""

    dictionary: bytes
    data: bytes
    entries: int

    @property
    def size(self) -> int:
        """Bytes of all its pages."""
        return len(self.dictionary) + len(self.data)


def write_parquet(sheet: Sheet, path: Path, pieces: Iterable[Rows]) -> None:
    """Write a table in its canonical form, its rows piece by piece."""
    if not 0 < len(sheet.columns) <= MOST_COLUMNS:
        raise TableError(
            path.name,
            f"a table has columns, at most {MOST_COLUMNS:,}",
            given=f"{len(sheet.columns):,} columns",
            remedy="declare columns that nobody needs as identifiers, which drops them",
        )
    groups = []
    with path.open("wb") as file:
        file.write(MAGIC)
        for rows in watched(regrouped(pieces, GROUP), -(-sheet.rows // GROUP)):
            take = taking(rows, sheet.rows)
            found = side_by_side(lambda name: _chunk(name, sheet, rows, take), sheet.columns)  # noqa: B023 - used at once
            chunks = dict(zip(sheet.columns, found, strict=True))
            groups.append(_group(sheet.kinds, chunks, rows=len(rows), at=file.tell()))
            for chunk in chunks.values():
                file.write(chunk.dictionary)
                file.write(chunk.data)
        footer = _footer(sheet.kinds, groups, sheet.rows)
        file.write(footer + len(footer).to_bytes(4, "little") + MAGIC)


def _chunk(name: str, sheet: Sheet, rows: Rows, take: Callable[[Codes], Codes]) -> Chunk:
    """The pages of a column in one row group."""
    column = sheet.columns[name]
    if isinstance(column, Column):
        part = pruned(take(column.codes), column.values)
        levels = _level_bytes(part.codes != part.missing_code, 1)
        return _pages(name, part, levels, len(rows), kind_of(sheet.kinds[name]))
    lists: Any = column.take(rows)
    levels, count = _list_levels(lists)
    return _pages(name, rank(lists.flatten()), levels, count, kind_of(lists.type.value_type))


def _pages(name: str, column: Column, levels: bytes, count: int, kind: Kind) -> Chunk:
    """Of some places those that hold something, by their different values, ascending."""
    codes = column.codes[column.codes != column.missing_code] if column.missing else column.codes
    if kind.physical == BOOLEAN:
        truths = column.values.to_numpy(zero_copy_only=False)[codes]
        found = packed(truths, 1)[: (len(truths) + 7) // 8]
        return _checked(name, Chunk(b"", _data_page(levels + found, count, PLAIN), count))
    if not len(column.values):
        return _checked(name, Chunk(b"", _data_page(levels, count, PLAIN), count))
    width = width_of(len(column.values))
    data = levels + bytes([width]) + run(codes, width)
    return _checked(name, Chunk(_dictionary_page(column, kind), _data_page(data, count, DICTIONARY), count))


def _missing(array: pa.Array[Any]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = array.is_null().to_numpy(zero_copy_only=False)
    return found


def _list_levels(part: Any) -> tuple[bytes, int]:
    """Where rows begin and what each place holds (0: no list, 1: a list of no items, 2: an item); how many places."""
    lengths = np.diff(part.offsets.to_numpy())
    missing = _missing(part)
    lengths[missing] = 0
    places = np.maximum(lengths, 1)
    count = int(places.sum())
    repeated = np.ones(count, dtype=np.uint8)
    repeated[np.cumsum(places) - places] = 0
    defined = np.repeat(np.where(missing, 0, np.where(lengths == 0, 1, 2)).astype(np.uint8), places)
    return _level_bytes(repeated, 1) + _level_bytes(defined, 2), count


def _level_bytes(levels: NDArray[Any], width: int) -> bytes:
    found = run(levels, width)
    return len(found).to_bytes(4, "little") + found


def _dictionary_page(column: Column, kind: Kind) -> bytes:
    """The different values, ascending: text as its length and its bytes, all else as it lies in memory."""
    if is_text(column.values.type):
        texts = [str(value).encode() for value in column.values.to_pylist()]
        content = b"".join(len(value).to_bytes(4, "little") + value for value in texts)
    else:
        bits = column.values.view(pa.int32() if kind.physical == INT32 else pa.int64())
        content = bits.to_numpy().astype("<i4" if kind.physical == INT32 else "<i8", copy=False).tobytes()
    return _page(2, content, {7: struct({1: i32(len(column.values)), 2: PLAIN})})


def _data_page(content: bytes, count: int, encoding: Value) -> bytes:
    return _page(0, content, {5: struct({1: i32(count), 2: encoding, 3: RLE, 4: RLE})})


def _page(kind: int, content: bytes, own: Mapping[int, Value]) -> bytes:
    return struct({1: i32(kind), 2: i32(len(content)), 3: i32(len(content)), **own})[1] + content


def _checked(name: str, chunk: Chunk) -> Chunk:
    if max(len(chunk.dictionary), len(chunk.data)) > LARGEST:
        raise TableError(
            name,
            f"a column of {GROUP:,} rows is written in at most {LARGEST:,} bytes",
            given="more",
            remedy="shorten its texts or its lists, or leave it out",
        )
    return chunk


def _group(kinds: Mapping[str, pa.DataType], chunks: Mapping[str, Chunk], *, rows: int, at: int) -> Value:
    """A row group of the footer; its pages begin at this byte."""
    found = []
    for name, chunk in chunks.items():
        found.append(struct({2: i64(0), 3: _column(name, kinds[name], chunk, at=at)}))
        at += chunk.size
    return struct({1: several(found), 2: i64(sum(chunk.size for chunk in chunks.values())), 3: i64(rows)})


def _column(name: str, canonical_type: Any, chunk: Chunk, *, at: int) -> Value:
    path = [name]
    if is_list(canonical_type):
        path, canonical_type = [name, "list", "element"], canonical_type.value_type
    where = {9: i64(at + len(chunk.dictionary)), **({11: i64(at)} if chunk.dictionary else {})}
    return struct(
        {
            1: i32(kind_of(canonical_type).physical),
            2: several([PLAIN, RLE, DICTIONARY] if chunk.dictionary else [PLAIN, RLE]),
            3: several([text(step) for step in path]),
            4: i32(0),
            5: i64(chunk.entries),
            6: i64(chunk.size),
            7: i64(chunk.size),
            **where,
        }
    )


def _footer(kinds: Mapping[str, pa.DataType], groups: list[Value], rows: int) -> bytes:
    elements = [struct({4: text("schema"), 5: i32(len(kinds))})]
    for name, kind in kinds.items():
        elements += _elements(name, kind)
    return struct({1: i32(2), 2: several(elements), 3: i64(rows), 4: several(groups)})[1]


def _elements(name: str, canonical_type: Any) -> list[Value]:
    """A column of the schema; a list is three of them, one in the other."""
    if not is_list(canonical_type):
        kind = kind_of(canonical_type)
        return [struct({1: i32(kind.physical), 3: OPTIONAL, 4: text(name), **kind.meaning})]
    kind = kind_of(canonical_type.value_type)
    return [
        struct({3: OPTIONAL, 4: text(name), 5: i32(1), **LIST}),
        struct({3: REPEATED, 4: text("list"), 5: i32(1)}),
        struct({1: i32(kind.physical), 3: REQUIRED, 4: text("element"), **kind.meaning}),
    ]
