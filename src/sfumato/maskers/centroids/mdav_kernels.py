"""MDAV, compiled. The records left stand together at the front, so every pass reads memory in order."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@njit(cache=True, nogil=True)
def farthest(left: Floats, count: int, place: Floats) -> int:
    """Which of the first `count` records is farthest from a place; the first of equals."""
    found, most = 0, -1.0
    for i in range(count):
        apart = 0.0
        for j in range(left.shape[1]):
            apart += (left[i, j] - place[j]) * (left[i, j] - place[j])
        if apart > most:
            found, most = i, apart
    return found


@njit(cache=True, nogil=True)
def nearest(left: Floats, count: int, place: Floats, found: Ints, apart: Floats) -> int:
    """Fill `found` with the records nearest to a place, nearest first; gives the farthest of all.

    `apart` has the length of `found` and is written over.
    """
    k, filled, far, most = len(found), 0, 0, -1.0
    for i in range(count):
        off = 0.0
        for j in range(left.shape[1]):
            off += (left[i, j] - place[j]) * (left[i, j] - place[j])
        if off > most:
            far, most = i, off
        if filled < k or off < apart[k - 1]:
            at = filled if filled < k else k - 1
            filled = min(filled + 1, k)
            while at > 0 and apart[at - 1] > off:
                apart[at], found[at] = apart[at - 1], found[at - 1]
                at -= 1
            apart[at], found[at] = off, i
    return far


@njit(cache=True, nogil=True)
def take(left: Floats, rows: Ints, count: int, found: Ints, total: Floats, labels: Ints, label: int) -> int:
    """Put the found records into one class and close the gaps; gives how many are left."""
    for i in np.sort(found)[::-1]:
        labels[rows[i]] = label
        count -= 1
        for j in range(left.shape[1]):
            total[j] -= left[i, j]
            left[i, j] = left[count, j]
        rows[i] = rows[count]
    return count


@njit(cache=True, nogil=True)
def mdav(vectors: Floats, k: int) -> Ints:
    """(rows,): classes by MDAV."""
    n, dims = vectors.shape
    left, rows, labels = vectors.copy(), np.arange(n), np.empty(n, dtype=np.int64)
    found, apart = np.empty(k, dtype=np.int64), np.empty(k)
    total, place, other = np.zeros(dims), np.empty(dims), np.empty(dims)
    for i in range(n):
        for j in range(dims):
            total[j] += vectors[i, j]
    count, made = n, 0
    while count >= 2 * k:
        for j in range(dims):
            place[j] = total[j] / count
        place[:] = left[farthest(left, count, place)]
        other[:] = left[nearest(left, count, place, found, apart)]
        both = count >= 3 * k
        count = take(left, rows, count, found, total, labels, made)
        made += 1
        if both:
            nearest(left, count, other, found, apart)
            count = take(left, rows, count, found, total, labels, made)
            made += 1
    for i in range(count):
        labels[rows[i]] = made
    return labels
