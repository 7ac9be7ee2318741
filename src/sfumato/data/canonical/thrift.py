"""Thrift's compact encoding, in which Parquet wants its headers: each function gives a value's type and its bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sfumato.data.canonical.bits import varint

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
