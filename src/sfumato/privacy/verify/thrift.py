"""Thrift's compact encoding, of which Parquet makes its headers: read byte by byte as expected, or not at all."""

from __future__ import annotations

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
