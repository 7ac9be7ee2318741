"""The direction along which the bins of an attribute stand, by their classes: where a part is cut first."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from sfumato.arrays import Floats
from sfumato.maskers.partition.problem import TIE, Work


@njit(cache=True, nogil=True)
def _first_axis(spread: Floats, dims: int) -> Floats:
    """(dims,): the first principal direction, by power iteration from the widest coordinate."""
    axis, turned, widest = np.zeros(dims), np.zeros(dims), 0
    for d in range(dims):
        if spread[d, d] > spread[widest, widest] * (1.0 + TIE):  # not by rounding
            widest = d
    axis[widest] = 1.0
    for _ in range(12):
        length = 0.0
        for d in range(dims):
            turned[d] = 0.0
            for e in range(dims):
                turned[d] += spread[d, e] * axis[e]
            length += turned[d] * turned[d]
        if length <= 1e-24:
            break
        for d in range(dims):
            axis[d] = turned[d] / math.sqrt(length)
    return axis


@njit(cache=True, nogil=True)
def direction(a: int, n: int, work: Work) -> None:
    """Where the mean of the guide lies in each slot of an attribute, along the first principal direction of these
    means: `work.key`. Coordinates that are nothing everywhere turn no direction, and are left out."""
    at, holds, dims = work.begin[a], work.begin[a + 1] - work.begin[a], work.lives[0]
    if dims == 0:
        work.key[:holds] = 0.0
        return
    off, spread = work.off, work.spread
    for j in range(dims):
        d, mean = work.live[j], 0.0
        for i in range(holds):
            mean += work.sums[work.held[at + i], d] / n
        for i in range(holds):
            off[i, j] = work.sums[work.held[at + i], d] / work.records[at + i] - mean
    for j in range(dims):
        for e in range(dims):
            spread[j, e] = 0.0
    for i in range(holds):
        for j in range(dims):
            for e in range(dims):
                spread[j, e] += work.records[at + i] * off[i, j] * off[i, e]
    axis = _first_axis(spread, dims)
    for i in range(holds):
        along = 0.0
        for j in range(dims):
            along += off[i, j] * axis[j]
        work.key[i] = math.floor(along * 1e9 + 0.5)  # equal labels are settled by their order
