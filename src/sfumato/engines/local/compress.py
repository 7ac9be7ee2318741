"""Identical rows as one row with a weight, where the quasi-identifier is short enough for that to pay."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.counting import Positions, Records

MOST_CELLS = 1 << 22
"""Combinations of values up to which counting cells is cheaper than carrying rows."""


@dataclass(frozen=True, eq=False)
class Compressed:
    """Columns of one quasi-identifier, copied; `weights` is empty where every row counts one."""

    columns: tuple[Positions, ...]
    weights: NDArray[np.int64]
    rows: int


def compress(records: Records, on: tuple[int, ...]) -> Compressed:
    """The rows seen through these attributes alone.

    >>> codes = np.array([0, 1, 1], dtype=np.uint8)
    >>> same = compress(Records((codes,), (2,), np.zeros(3, dtype=np.uint8), 1), (0,))
    >>> same.columns[0].tolist(), same.weights.tolist()
    ([0, 1], [1, 2])
    """
    columns = [records.positions[attribute] for attribute in on]
    sizes = [records.sizes[attribute] for attribute in on]
    if prod(sizes) > MOST_CELLS:
        weights = np.empty(0, dtype=np.int64) if records.weights is None else records.weights.copy()
        return Compressed(tuple(column.copy() for column in columns), weights, records.rows)
    cell = np.zeros(records.rows, dtype=np.int64)
    for column, size in zip(columns, sizes, strict=True):
        cell *= size
        cell += column
    held = np.bincount(cell, weights=records.weights, minlength=prod(sizes)).astype(np.int64)
    cells = np.flatnonzero(held)
    return Compressed(_columns_of(cells, columns, sizes), held[cells], len(cells))


def _columns_of(cells: NDArray[np.int64], columns: list[Positions], sizes: list[int]) -> tuple[Positions, ...]:
    found: list[Positions] = []
    for column, size in zip(reversed(columns), reversed(sizes), strict=True):
        cells, position = np.divmod(cells, size)
        narrow: Any = position.astype(column.dtype)
        found.append(narrow)
    return tuple(reversed(found))
