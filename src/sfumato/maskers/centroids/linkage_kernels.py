"""Agglomeration of classes below k, compiled: distances between classes by the rule of Lance and Williams."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SINGLE, COMPLETE, AVERAGE = 0, 1, 2


@njit(cache=True, nogil=True)
def distances(vectors: Floats) -> Floats:
    """(rows, rows): squared distances; infinite from a record to itself."""
    n, dims = vectors.shape
    apart = np.full((n, n), np.inf)
    for i in range(n):
        for m in range(i):
            off = 0.0
            for j in range(dims):
                off += (vectors[i, j] - vectors[m, j]) * (vectors[i, j] - vectors[m, j])
            apart[i, m] = apart[m, i] = off
    return apart


@njit(cache=True, nogil=True)
def link(apart: Floats, k: int, rule: int) -> Ints:
    """(rows,): the first record of each record's class. `apart` is written over; gone classes are infinitely far."""
    n = len(apart)
    labels, sizes = np.arange(n), np.ones(n, dtype=np.int64)
    near = np.empty(n, dtype=np.int64)
    for a in range(n):
        near[a] = np.argmin(apart[a])
    while True:
        a, least = -1, np.inf
        for c in range(n):
            if 0 < sizes[c] < k and (a < 0 or apart[c, near[c]] < least):
                a, least = c, apart[c, near[c]]
        if a < 0 or np.isinf(least):
            return labels
        keep, gone = min(a, near[a]), max(a, near[a])
        join(apart, sizes, keep, gone, rule)
        for i in range(n):
            if labels[i] == gone:
                labels[i] = keep
        for c in range(n):
            if sizes[c] == 0:
                continue
            if c == keep or near[c] == keep or near[c] == gone:
                near[c] = np.argmin(apart[c])
            elif apart[c, keep] < apart[c, near[c]]:
                near[c] = keep


@njit(cache=True, nogil=True)
def join(apart: Floats, sizes: Ints, keep: int, gone: int, rule: int) -> None:
    """Make one class of two, and tell its distance from every other."""
    for c in range(len(sizes)):
        if sizes[c] == 0 or c in (keep, gone):
            continue
        one, other = apart[keep, c], apart[gone, c]
        if rule == SINGLE:
            found = min(one, other)
        elif rule == COMPLETE:
            found = max(one, other)
        else:
            found = (one * sizes[keep] + other * sizes[gone]) / (sizes[keep] + sizes[gone])
        apart[keep, c] = apart[c, keep] = found
    apart[gone, :] = np.inf
    apart[:, gone] = np.inf
    sizes[keep] += sizes[gone]
    sizes[gone] = 0
