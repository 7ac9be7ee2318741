"""What lies in the pages of one column of a row group: each byte follows from the values.

A page of different values, ascending and each in use, then a page of places among them; levels that say which rows
miss a value, or where lists begin. Every run, every width and every bit of padding is the only one that there can be.
The headers before them are in Thrift's compact form, of which a `Cursor` takes what must stand there.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.privacy.verify.verdict import CheckError

OTHERWISE = "the file is no table in the one form in which Sfumato writes Parquet"
LARGEST = 2**62  # no number in a file of this world


class Cursor:
    """Owns a position in some bytes before an end, and takes what must stand there."""

    def __init__(self, data: memoryview, at: int, end: int) -> None:
        self.data, self.at, self.end = data, at, end

    def take(self, size: int) -> memoryview:
        """The next bytes."""
        if not 0 <= size <= self.end - self.at:
            raise CheckError("a part of the file says that it is longer than the file")
        self.at += size
        return self.data[self.at - size : self.at]

    def expect(self, content: bytes) -> None:
        """The next bytes are these."""
        if self.take(len(content)) != content:
            raise CheckError(OTHERWISE)

    def meets(self, content: bytes) -> bool:
        """Whether the next bytes are these; then they are taken."""
        if self.data[self.at : min(self.at + len(content), self.end)] != content:
            return False
        self.at += len(content)
        return True

    def varint(self) -> int:
        """A number that is not negative, in as few bytes as it takes."""
        number, shift = 0, 0
        byte = 128
        while byte >= 128 and shift <= 63:
            byte = self.take(1)[0]
            number |= (byte & 127) << shift
            shift += 7
        if byte >= 128 or number > LARGEST or (shift > 7 and not byte):
            raise CheckError("a number in the file is too large, or written longer than it is")
        return number

    def whole(self) -> int:
        """A number that could be negative, and is not."""
        number = self.varint()
        if number & 1:
            raise CheckError("a size in the file is negative")
        return number >> 1

    def text(self) -> bytes:
        """A text behind its length."""
        return bytes(self.take(self.varint()))


def varint(number: int) -> bytes:
    """A number that is not negative.

    >>> varint(127).hex(), varint(128).hex()
    ('7f', '8001')
    """
    groups = [number >> shift & 127 for shift in range(0, max(number.bit_length(), 1), 7)]
    return bytes([*(group | 128 for group in groups[:-1]), groups[-1]])


def whole(number: int) -> bytes:
    """A number that could be negative, and is not."""
    return varint(2 * number)


def text(content: bytes) -> bytes:
    """A text behind its length."""
    return varint(len(content)) + content


def listed(kind: int, entries: list[bytes]) -> bytes:
    """A list of values of one type."""
    count = len(entries)
    head = bytes([16 * count + kind]) if count < 15 else bytes([240 + kind]) + varint(count)
    return head + b"".join(entries)


Numbers = NDArray[np.integer[Any]]
WIDTHS = (1, 2, 4, 8, 16, 24, 32)
NAN = np.float64(np.nan).view(np.uint64)
MINUS_ZERO = np.float64(-0.0).view(np.uint64)


@dataclass(frozen=True)
class Leaf:
    """A column as the footer describes it: its name, what its values are, and whether rows hold lists of them."""

    name: bytes
    kind: str
    lists: bool


@dataclass(frozen=True)
class Chunk:
    """A column of one row group: where its pages lie, how many places it has, how many rows miss a value.

    `beyond`: whether a whole number needs to be unsigned. `letters`: bytes of text that all its rows show together.
    """

    start: int
    data: int
    end: int
    places: int
    missing: int
    beyond: bool
    letters: int


@dataclass(frozen=True, eq=False)
class _Entries:
    """The different values of a column: how many, how long if they are texts, and whether one must be unsigned."""

    count: int
    lengths: NDArray[np.int64] | None = None
    beyond: bool = False


@dataclass(frozen=True, eq=False)
class _Filled:
    """What levels say: how many values follow, how many rows have none, and which values go on with a list."""

    values: int
    missing: int
    goes_on: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class _Page:
    """A page: how many values it says that it has, and its content."""

    count: int
    content: Cursor


def read_chunk(cursor: Cursor, leaf: Leaf, rows: int) -> Chunk:
    """Walk over a column's pages, which begin here."""
    start, entries = cursor.at, _Entries(0)
    by_place = cursor.meets(b"\x15\x04")  # a dictionary page
    if by_place:
        entries = _entries(_page(cursor, b"\x4c\x15", b"\x15\x00\x00\x00"), leaf.kind)
    data = cursor.at
    cursor.expect(b"\x15\x00")  # a data page
    encoding = b"\x15\x10" if by_place else b"\x15\x00"
    page = _page(cursor, b"\x2c\x15", encoding + b"\x15\x06\x15\x06\x00\x00")
    filled = _lists(page, rows) if leaf.lists else _flat(page, rows)
    letters = _values(page.content, leaf, filled, entries)
    if page.content.at != page.content.end:
        raise CheckError("a page goes on behind its values")
    return Chunk(
        start=start,
        data=data,
        end=cursor.at,
        places=page.count,
        missing=filled.missing,
        beyond=entries.beyond,
        letters=letters,
    )


def _page(cursor: Cursor, before: bytes, after: bytes) -> _Page:
    """The sizes, twice the same since nothing is compressed; what the header says of the values; the content."""
    cursor.expect(b"\x15")
    size = cursor.whole()
    cursor.expect(b"\x15" + whole(size) + before)
    count = cursor.whole()
    cursor.expect(after)
    cursor.take(size)
    return _Page(count, Cursor(cursor.data, cursor.at - size, cursor.at))


def _values(content: Cursor, leaf: Leaf, filled: _Filled, entries: _Entries) -> int:
    """Truth values, or places among the entries, of which each is in use; how many bytes of text they show."""
    count = filled.values
    if leaf.kind == "truth" or not count:
        if entries.count:
            raise CheckError("a dictionary has an entry that no row shows")
        if leaf.kind == "truth":
            _check_sets(_bits(content.take((count + 7) // 8), count, 1), filled)
        return 0
    width = next((width for width in WIDTHS if entries.count <= 1 << width), 0)
    if not entries.count or content.take(1)[0] != width:
        raise CheckError(OTHERWISE)
    places = _run(content, count, width)
    if int(places.max()) >= entries.count:
        raise CheckError("a row shows an entry that the dictionary does not have")
    counts = np.bincount(places, minlength=entries.count)
    if not counts.all():
        raise CheckError("a dictionary has an entry that no row shows")
    _check_sets(places, filled)
    return 0 if entries.lengths is None else int(counts @ entries.lengths)


def _check_sets(places: Numbers, filled: _Filled) -> None:
    """The items of a list ascend: a set has no order in which something could be told."""
    if filled.goes_on is not None and not (places[1:] > places[:-1])[filled.goes_on[1:]].all():
        raise CheckError("the items of a set do not ascend")


def _flat(page: _Page, rows: int) -> _Filled:
    if page.count != rows:
        raise CheckError("a column has another number of rows than its row group")
    there = int(_levels(page.content, rows, 1).sum())
    return _Filled(there, rows - there)


def _lists(page: _Page, rows: int) -> _Filled:
    """Lists: which places go on with a list, and whether a place holds no list, none of its items, or an item."""
    goes_on = _levels(page.content, page.count, 1).view(np.bool_)
    holds = _levels(page.content, page.count, 2)
    if page.count < rows or int(np.count_nonzero(goes_on)) != page.count - rows or goes_on[0]:
        raise CheckError("a column has another number of rows than its row group")
    if int(holds.max()) > 2 or (holds[1:][goes_on[1:]] != 2).any() or (holds[:-1][goes_on[1:]] != 2).any():
        raise CheckError("the levels of a list say what cannot be")
    item = holds == 2
    return _Filled(int(np.count_nonzero(item)), int(np.count_nonzero(holds == 0)), goes_on[item])


def _levels(content: Cursor, count: int, width: int) -> NDArray[np.uint8]:
    size = int.from_bytes(content.take(4), "little")
    inner = Cursor(content.data, content.at, content.at + len(content.take(size)))
    found = _run(inner, count, width)
    if inner.at != inner.end:
        raise CheckError("levels go on behind their end")
    return found.astype(np.uint8, copy=False)


def _run(content: Cursor, count: int, width: int) -> Numbers:
    """One bit-packed run of as many eights as it takes. The bytes are there before a number is unpacked."""
    eights = (count + 7) // 8
    content.expect(varint(2 * eights + 1))
    return _bits(content.take(eights * width), count, width)


def _bits(packed: memoryview, count: int, width: int) -> Numbers:
    """So many numbers of so many bits each; what fills up the last bytes is zero."""
    raw = np.frombuffer(packed, dtype=np.uint8)
    if width == 24:
        wide = np.zeros((len(raw) // 3, 4), dtype=np.uint8)
        wide[:, :3] = raw.reshape(-1, 3)
        numbers: Numbers = wide.view("<u4").ravel()
    elif width >= 8:
        numbers = raw.view(f"<u{width // 8}")
    elif width == 1:
        numbers = np.unpackbits(raw, bitorder="little")
    else:
        shifts = np.arange(0, 8, width, dtype=np.uint8)
        numbers = (raw[:, np.newaxis] >> shifts & ((1 << width) - 1)).ravel()
    if numbers[count:].any():
        raise CheckError("what fills up the last byte of a run is not zero")
    return numbers[:count]


def _entries(page: _Page, kind: str) -> _Entries:
    """The entries ascend and none stands twice."""
    content = page.content.take(page.content.end - page.content.at)
    if kind == "text":
        return _texts(bytes(content), page.count)
    size = 4 if kind == "day" else 8
    if kind == "truth" or not page.count or len(content) != page.count * size:
        raise CheckError(OTHERWISE)
    if kind == "number":
        values: NDArray[Any] = _floats(content)
    else:
        values = np.frombuffer(content, dtype=f"<{'u' if kind == 'unsigned' else 'i'}{size}")
    if not (values[1:] > values[:-1]).all():
        raise CheckError("the entries of a dictionary do not ascend")
    return _Entries(page.count, beyond=kind == "unsigned" and int(values[-1]) >= 2**63)


def _floats(content: memoryview) -> NDArray[np.float64]:
    """Numbers with one zero, and at the end at most one NaN, which has one form; it is left away."""
    bits = np.frombuffer(content, dtype="<u8")
    values = bits.view("<f8")
    odd = np.isnan(values)
    if (bits == MINUS_ZERO).any() or (bits[odd] != NAN).any() or odd[:-1].any():
        raise CheckError("a number is a minus zero, or a NaN that tells more than that it is none")
    return values[: len(values) - int(odd.sum())]


def _texts(content: bytes, count: int) -> _Entries:
    """Texts behind their lengths, in UTF-8, ascending by their bytes."""
    texts, at, end = [], 0, len(content)
    while at + 4 <= end:
        start = at + 4
        at = start + int.from_bytes(content[at:start], "little")
        texts.append(content[start:at])
    if at != end or len(texts) != count:
        raise CheckError("a dictionary of texts does not end where it should")
    if any(one >= two for one, two in pairwise(texts)):
        raise CheckError("the entries of a dictionary do not ascend")
    try:
        b"\n".join(texts).decode()
    except UnicodeDecodeError:
        raise CheckError("a text of the table is not UTF-8") from None
    return _Entries(count, np.array([len(text) for text in texts], dtype=np.int64))
