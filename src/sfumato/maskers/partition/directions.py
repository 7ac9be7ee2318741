"""The direction along which the bins of an attribute stand, by their classes: where a part is cut first."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from sfumato.arrays import Floats
from sfumato.maskers.partition.problem import TIE, Problem, Work


@njit(cache=True, nogil=True)
def _first_axis(spread: Floats) -> Floats:
    """(dims,): the first principal direction, by power iteration from the widest coordinate."""
    dims = len(spread)
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
def direction(problem: Problem, a: int, n: int, work: Work, depth: int) -> None:
    """Where each held bin's mean of the guide lies along the first principal direction of these means: `work.key`."""
    at, holds, dims = problem.cells.first[a], work.holds[depth, a], problem.guide.n
    off = np.zeros((holds, dims))
    for d in range(dims):
        mean = 0.0
        for i in range(holds):
            mean += work.sums[depth, work.held[depth, at + i], d] / n
        for i in range(holds):
            bin_ = work.held[depth, at + i]
            off[i, d] = work.sums[depth, bin_, d] / work.total[depth, bin_] - mean
    spread = np.zeros((dims, dims))
    for i in range(holds):
        for d in range(dims):
            for e in range(dims):
                spread[d, e] += work.total[depth, work.held[depth, at + i]] * off[i, d] * off[i, e]
    axis = _first_axis(spread)
    for i in range(holds):
        along = 0.0
        for d in range(dims):
            along += off[i, d] * axis[d]
        work.key[depth, i] = math.floor(along * 1e9 + 0.5)  # equal labels are settled by their order
