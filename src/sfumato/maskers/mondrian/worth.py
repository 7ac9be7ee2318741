"""What a cut is worth, in compiled loops: the information that it gains, or how even its parts are. And an order.

Gains are those of `scores` to the bit, so that ties are settled as everywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from sfumato.arrays import Floats, Ints
from sfumato.maskers.topdown.scores import STEP

ZERO: Any = np.int64(0)
"""Of this type, so that a loop is compiled once, and not again for a number that is written out."""
BLOCK = 128
"""So many terms numpy adds without halving them."""
DEEP = 192
"""Halves that wait for each other: three for each time that a number of terms can be halved."""


@njit(cache=True, nogil=True)
def evenness(parts: Ints) -> float:
    """Of (parts, classes) of records: the boundary nearest to the median is best."""
    most = 0
    for part in range(len(parts)):
        size = 0
        for c in range(parts.shape[1]):
            size += parts[part, c]
        most = max(most, size)
    return float(-most)


@njit(cache=True, nogil=True)
def gain(bits: Floats, every: Ints, parts: Ints, n: int, terms: Floats) -> float:
    """`scores.gains`, to the bit: of the n records of `every` class, cut into (parts, classes)."""
    whole = _mixed(bits, every, terms)
    for part in range(len(parts)):
        terms[part] = _mixed(bits, parts[part], terms[len(parts) :])
    found = (whole - added(terms, len(parts))) / max(n, 1)
    return float(np.rint(max(found, 0.0) * STEP) / STEP)


@njit(cache=True, nogil=True)
def _mixed(bits: Floats, counts: Ints, terms: Floats) -> float:
    """`scores.mixed_bits`, to the bit."""
    total = 0
    for c in range(len(counts)):
        total += counts[c]
        terms[c] = bits[counts[c]]
    return float(bits[total] - added(terms, len(counts)))


@njit(cache=True, nogil=True)
def added(terms: Floats, n: int) -> float:
    """The sum of n terms, added in the order in which numpy adds them, so that both give the same to the bit.

    More than a block are halved, and halved again; a function that calls itself does not come back from the cache.
    """
    if n <= BLOCK:
        return _added_block(terms, ZERO, n)
    first, size, sums = np.zeros(DEEP, dtype=np.int64), np.zeros(DEEP, dtype=np.int64), np.zeros(DEEP)
    size[0], waiting, made = n, 1, 0
    while waiting:
        waiting -= 1
        at, many = first[waiting], size[waiting]
        if many == 0:  # both halves of it are there
            made -= 1
            sums[made - 1] += sums[made]
        elif many <= BLOCK:
            sums[made] = _added_block(terms, at, many)
            made += 1
        else:
            half = many // 2 - many // 2 % 8
            size[waiting] = 0
            first[waiting + 1], size[waiting + 1] = at + half, many - half
            first[waiting + 2], size[waiting + 2] = at, half
            waiting += 3
    return float(sums[0])


@njit(cache=True, nogil=True)
def _added_block(terms: Floats, first: int, n: int) -> float:
    total, done = 0.0, 0
    if n >= 8:
        lane = terms[first : first + 8].copy()
        done = 8
        while done + 8 <= n:
            for i in range(8):
                lane[i] += terms[first + done + i]
            done += 8
        total = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]))
    for i in range(done, n):
        total += terms[first + i]
    return float(total)


@njit(cache=True, nogil=True)
def put_in_order(items: Ints, keys: Floats) -> None:
    """Sort items, and their keys, by the keys; those with the same stay as they stand.

    By merging: runs of one, of two, of four. numpy's sorts would take longer to compile than all of this package.
    """
    n, run = len(items), 1
    from_items, from_keys = np.empty(n, dtype=np.int64), np.empty(n)
    while run < n:
        for i in range(n):
            from_items[i], from_keys[i] = items[i], keys[i]
        for start in range(0, n, 2 * run):
            left, middle, end = start, min(start + run, n), min(start + 2 * run, n)
            right = middle
            for i in range(start, end):
                if right == end or (left < middle and from_keys[left] <= from_keys[right]):
                    items[i], keys[i] = from_items[left], from_keys[left]
                    left += 1
                else:
                    items[i], keys[i] = from_items[right], from_keys[right]
                    right += 1
        run *= 2
