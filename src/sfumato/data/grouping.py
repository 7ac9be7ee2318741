"""Grouping: which rows have the same codes, how many, and which codes meet; large columns some rows at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.events import checkpoint, watched

_BLOCK = 2**20
_CELLS = 2**22
"""Numbers that could be, up to which those that there are are found in a table of all."""


def group_numbers(columns: Iterable[NDArray[np.integer[Any]]], rows: int) -> NDArray[np.int64]:
    """(rows,): the group of each row, numbered from 0 without gaps. Codes are not negative.

    >>> group_numbers([np.array([0, 0, 1]), np.array([5, 5, 5])], 3).tolist()
    [0, 0, 1]
    """
    numbers, span = np.zeros(rows, dtype=np.int64), 1
    for codes in columns:
        checkpoint()
        size = int(codes.max(initial=0)) + 1
        if span * size > _CELLS:  # gaps are closed only where numbers would become large
            renumber(numbers)
            span = int(numbers.max(initial=0)) + 1
        numbers *= size
        numbers += codes
        span *= size
    renumber(numbers)
    return numbers


def different(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each key once, ascending. Of many different ones numpy makes a hash, which takes fifty times as long.

    >>> different(np.array([7, 3, 7])).tolist()
    [3, 7]
    """
    found = np.sort(keys)
    return found[np.append(True, found[1:] != found[:-1])] if len(found) else found


def counted(codes: NDArray[np.integer[Any]], size: int) -> NDArray[np.int64]:
    """(size,): how often each code comes; counted some rows at a time, as counting makes eight bytes of each code.

    >>> counted(np.array([2, 0, 2], dtype=np.uint8), 4).tolist()
    [1, 0, 2, 0]
    """
    found = np.zeros(size, dtype=np.int64)
    step = max(_BLOCK, 2 * size)
    for begin in range(0, len(codes), step):
        found += np.bincount(codes[begin : begin + step], minlength=size)
    return found


def first_rows(of_row: NDArray[np.int64]) -> NDArray[np.int64]:
    """(groups,): the first row of each group.

    >>> first_rows(np.array([1, 0, 1])).tolist()
    [1, 0]
    """
    found = np.zeros(int(of_row.max(initial=-1)) + 1, dtype=np.int64)
    found[of_row[::-1]] = np.arange(len(of_row))[::-1]
    return found


def group_sizes(columns: Iterable[NDArray[np.integer[Any]]], rows: int) -> NDArray[np.int64]:
    """(groups,): rows in each group."""
    return np.bincount(group_numbers(columns, rows))


def renumber(keys: NDArray[np.int64]) -> None:
    """Number keys anew from 0 without gaps, in their order: by a table of all that could be, or of those that are."""
    if not len(keys):
        return
    places: NDArray[np.integer[Any]]
    if int(keys.max()) > 2 * len(keys) + 1024:
        hashed: Any = pa.array(keys).dictionary_encode()  # each key once; only those are sorted
        different, at = hashed.dictionary.to_numpy(), hashed.indices.to_numpy()
        places = np.empty(len(different), dtype=np.int64)
        places[np.argsort(different)] = np.arange(len(different))
    else:
        used = np.zeros(int(keys.max()) + 1, dtype=np.bool_)
        used[keys] = True
        places, at = np.cumsum(used, dtype=np.int32) - np.int32(1), keys
    for begin in range(0, len(keys), _BLOCK):
        keys[begin : begin + _BLOCK] = places[at[begin : begin + _BLOCK]]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Each pair of two codes that some row has, ascending by the first, and how many rows have it."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    counts: NDArray[np.int64]


def pairs(first: NDArray[np.integer[Any]], second: NDArray[np.integer[Any]]) -> Pairs:
    """How often two columns of codes meet; counted some rows at a time.

    >>> found = pairs(np.array([1, 0, 1]), np.array([5, 5, 5]))
    >>> found.first.tolist(), found.second.tolist(), found.counts.tolist()
    ([0, 1], [5, 5], [1, 2])
    """
    width = int(second.max(initial=0)) + 1
    cells = (int(first.max(initial=0)) + 1) * width
    step = max(_BLOCK, 2 * cells if cells <= _CELLS else 0)
    keys = (
        first[at : at + step].astype(np.int64) * width + second[at : at + step] for at in range(0, len(first), step)
    )
    if cells <= _CELLS:
        table = sum((np.bincount(some, minlength=cells) for some in watched(keys)), np.zeros(cells, dtype=np.int64))
        there = np.flatnonzero(table)
        return Pairs(*np.divmod(there, width), table[there])
    parts = [np.unique(some, return_counts=True) for some in watched(keys)]
    every, at = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
    counts = np.bincount(at, weights=np.concatenate([part[1] for part in parts])).astype(np.int64)
    return Pairs(*np.divmod(every, width), counts)
