"""Thrift's compact encoding, in which Parquet writes its footer and its page headers: just enough to read it."""

from __future__ import annotations

import struct
from collections.abc import Callable
from mmap import mmap

from sfumato.privacy.verify.verdict import CheckError

Value = bool | int | float | bytes | list["Value"] | dict[int, "Value"]
Struct = dict[int, Value]


class Compact:
    """Owns a position in some bytes, and reads one value after the other from there."""

    def __init__(self, data: bytes | mmap, at: int) -> None:
        self.data, self.at = data, at

    def struct(self) -> Struct:
        """A structure: its fields by their numbers."""
        fields: Struct = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            if number in fields:
                raise CheckError("a structure of the file has a field twice")
            kind = head & 15
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind)
        return fields

    def _value(self, kind: int) -> Value:
        readers: dict[int, Callable[[], Value]] = {
            **dict.fromkeys((1, 2), lambda: self._byte() == 1),
            3: self._byte,
            **dict.fromkeys((4, 5, 6), self._zigzag),
            7: lambda: float(struct.unpack("<d", self._take(8))[0]),
            8: lambda: self._take(self._varint()),
            **dict.fromkeys((9, 10), self._list),
            12: self.struct,
        }
        if kind not in readers:
            raise CheckError("a structure of the file holds what Parquet does not know")
        return readers[kind]()

    def _list(self) -> Value:
        head = self._byte()
        size = head >> 4 if head >> 4 < 15 else self._varint()
        return [self._value(head & 15) for _ in range(size)]

    def _byte(self) -> int:
        return self._take(1)[0]

    def _take(self, size: int) -> bytes:
        taken = self.data[self.at : self.at + size]
        if len(taken) != size:
            raise CheckError("the file ends in the middle of a structure")
        self.at += size
        return taken

    def _varint(self) -> int:
        value, shift = 0, 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
