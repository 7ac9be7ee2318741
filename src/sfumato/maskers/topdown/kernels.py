"""Compiled loops over one column at a time. Arrays in, arrays changed in place; nothing is decided here.

Rows stand in group order: group s is rows starts[s]..ends[s]. All rows of a group hold the same value on
every attribute, so `value_at[column[starts[s]]]` tells the group's value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sfumato.arrays import Ints, Marks

Codes = NDArray[Any]
"""(rows,) of uint8, uint16 or uint32"""


@njit(cache=True, nogil=True)
def plan(column: Codes, child_at: Codes, starts: Ints, ends: Ints, sizes: Ints, target: Codes) -> None:
    """Where each row of the given groups goes when a group's rows are put in order of their child.

    Fills `sizes` (groups, children) with rows per child and `target` (rows,) with the new row numbers.
    """
    children = sizes.shape[1]
    at = np.empty(children, dtype=np.int64)
    for s in range(len(starts)):
        for c in range(children):
            sizes[s, c] = 0
        for i in range(starts[s], ends[s]):
            sizes[s, child_at[column[i]]] += 1
        place = starts[s]
        for c in range(children):
            at[c] = place
            place += sizes[s, c]
        for i in range(starts[s], ends[s]):
            c = child_at[column[i]]
            target[i] = at[c]
            at[c] += 1


@njit(cache=True, nogil=True)
def move(column: Codes, starts: Ints, ends: Ints, target: Codes, spare: Codes) -> None:
    """Put the rows of the given groups where `target` says."""
    for s in range(len(starts)):
        for i in range(starts[s], ends[s]):
            spare[target[i]] = column[i]
        for i in range(starts[s], ends[s]):
            column[i] = spare[i]


@njit(cache=True, nogil=True)
def add_weights(weights: Ints, starts: Ints, ends: Ints, totals: Ints) -> None:
    """Records in each group."""
    for s in range(len(starts)):
        total = 0
        for i in range(starts[s], ends[s]):
            total += weights[i]
        totals[s] = total


@njit(cache=True, nogil=True)
def smallest_children(
    column: Codes,
    weights: Ints,
    value_at: Codes,
    child_at: Codes,
    asked: Marks,
    starts: Ints,
    ends: Ints,
    smallest: Ints,
) -> None:
    """Lower smallest[v] to the smallest non-empty child of any given group that holds an asked value v.

    Four lanes of counters, because one counter written twice in a row makes the second write wait.
    """
    lanes = np.zeros((4, 1 + np.max(child_at)), dtype=np.int64)
    weighted = len(weights) > 0
    for s in range(len(starts)):
        value = value_at[column[starts[s]]]
        if not asked[value]:
            continue
        lanes[:] = 0
        if weighted:
            for i in range(starts[s], ends[s]):
                lanes[0, child_at[column[i]]] += weights[i]
        else:
            i, end = starts[s], ends[s]
            while i + 4 <= end:
                lanes[0, child_at[column[i]]] += 1
                lanes[1, child_at[column[i + 1]]] += 1
                lanes[2, child_at[column[i + 2]]] += 1
                lanes[3, child_at[column[i + 3]]] += 1
                i += 4
            while i < end:
                lanes[0, child_at[column[i]]] += 1
                i += 1
        for c in range(lanes.shape[1]):
            size = lanes[0, c] + lanes[1, c] + lanes[2, c] + lanes[3, c]
            if 0 < size < smallest[value]:
                smallest[value] = size


@njit(cache=True, nogil=True)
def smallest_disclosed(column: Codes, weights: Ints, value_at: Codes, starts: Ints, ends: Ints, smallest: Ints) -> None:
    """Lower smallest[p] to the smallest non-empty group that disclosing position p makes, p's or the rest.

    Only groups whose value is still suppressed (number 0) are touched.
    """
    held = np.zeros(len(value_at), dtype=np.int64)
    weighted = len(weights) > 0
    for s in range(len(starts)):
        if value_at[column[starts[s]]] != 0:
            continue
        total = 0
        for i in range(starts[s], ends[s]):
            weight = weights[i] if weighted else 1
            held[column[i]] += weight
            total += weight
        for i in range(starts[s], ends[s]):
            p = column[i]
            size = held[p]
            if size > 0:
                rest = total - size
                if rest > 0 and rest < size:
                    size = rest
                if size < smallest[p]:
                    smallest[p] = size
                held[p] = 0


@njit(cache=True, nogil=True)
def count_groups(codes: Codes, weights: Ints, starts: Ints, ends: Ints, counts: Ints) -> None:
    """Add the records of each group by value to `counts` (groups, values)."""
    weighted = len(weights) > 0
    for s in range(len(starts)):
        for i in range(starts[s], ends[s]):
            counts[s, codes[i]] += weights[i] if weighted else 1


@njit(cache=True, nogil=True)
def count_children(
    column: Codes, codes: Codes, weights: Ints, child_at: Codes, starts: Ints, ends: Ints, offsets: Ints, counts: Ints
) -> None:
    """Add the records of each group's children by value to `counts`; child c of group s is row offsets[s] + c."""
    weighted = len(weights) > 0
    for s in range(len(starts)):
        for i in range(starts[s], ends[s]):
            counts[offsets[s] + child_at[column[i]], codes[i]] += weights[i] if weighted else 1


@njit(cache=True, nogil=True)
def count_positions(
    column: Codes,
    codes: Codes,
    weights: Ints,
    starts: Ints,
    ends: Ints,
    row_of: Ints,
    counts: Ints,
    about: Ints,
) -> int:
    """Add the records of each group by position and value to `counts`; gives how many of its rows are in use.

    `about` (2, rows) tells the position and the group of each row of `counts`. `row_of` (positions,) is -1 everywhere.
    """
    weighted = len(weights) > 0
    made = 0
    for s in range(len(starts)):
        first = made
        for i in range(starts[s], ends[s]):
            p = column[i]
            if row_of[p] < 0:
                row_of[p], about[0, made], about[1, made] = made, p, s
                made += 1
            counts[row_of[p], codes[i]] += weights[i] if weighted else 1
        for row in range(first, made):
            row_of[about[0, row]] = -1
    return made
