"""Whole numbers side by side in few bits, in the order that Parquet reads them: lowest bit first, eight at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
