"""Identical rows as one row with a weight, where the quasi-identifier is short enough for that to pay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.counting import Needs, Positions, Records

MOST_CELLS = 1 << 22
"""Combinations of values up to which counting cells is cheaper than carrying rows."""
Weights = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Compressed:
    """Columns of one quasi-identifier, copied; `weights` is empty where every row counts one.

    `codes`: the value by which each row is counted, where that is asked; `values`: how many there are.
    """

    columns: tuple[Positions, ...]
    weights: Weights
    rows: int
    codes: Positions | None = None
    values: int = 1


def compress(records: Records, need: Needs) -> Compressed:
    """The rows seen through the attributes of a requirement, and the value that it counts by, alone.

    >>> codes = np.array([0, 1, 1], dtype=np.uint8)
    >>> same = compress(Records((codes,), (2,), np.zeros(3, dtype=np.uint8), 1), Needs((0,)))
    >>> same.columns[0].tolist(), same.weights.tolist()
    ([0, 1], [1, 2])
    """
    sizes = [records.sizes[attribute] for attribute in need.on]
    columns = [records.positions[attribute] for attribute in need.on]
    if need.population is not None:
        return _with_population(records, need, columns, sizes)
    if need.by is None:
        return _compressed(columns, sizes, records.weights)
    values = records.sensitive_sizes[need.by]
    codes = records.sensitive[need.by]
    return _last_as_codes(_compressed([*columns, codes], [*sizes, values], records.weights), values)


def _with_population(records: Records, need: Needs, columns: Sequence[Positions], sizes: Sequence[int]) -> Compressed:
    """The rows of the table, which count by 0, and those of the population, by 1."""
    others = [records.populations[need.population or 0][attribute] for attribute in need.on]
    more = len(others[0])
    both: list[Any] = [np.concatenate(pair) for pair in zip(columns, others, strict=True)]
    codes = np.repeat(np.array([0, 1], dtype=np.uint8), [records.rows, more])
    own = np.ones(records.rows, dtype=np.int64) if records.weights is None else records.weights
    weights = np.concatenate([own, np.ones(more, dtype=np.int64)])
    return _last_as_codes(_compressed([*both, codes], [*sizes, 2], weights), 2)


def _last_as_codes(rows: Compressed, values: int) -> Compressed:
    return Compressed(rows.columns[:-1], rows.weights, rows.rows, rows.columns[-1], values)


def _compressed(columns: Sequence[Positions], sizes: Sequence[int], weights: Weights | None) -> Compressed:
    rows = len(columns[0])
    if prod(sizes) > MOST_CELLS:
        kept = np.empty(0, dtype=np.int64) if weights is None else weights.copy()
        return Compressed(tuple(column.copy() for column in columns), kept, rows)
    cell = np.zeros(rows, dtype=np.int64)
    for column, size in zip(columns, sizes, strict=True):
        cell *= size
        cell += column
    held = np.bincount(cell, weights=weights, minlength=prod(sizes)).astype(np.int64)
    cells = np.flatnonzero(held)
    return Compressed(_columns_of(cells, columns, sizes), held[cells], len(cells))


def _columns_of(cells: NDArray[np.int64], columns: Sequence[Positions], sizes: Sequence[int]) -> tuple[Positions, ...]:
    found: list[Positions] = []
    for column, size in zip(reversed(columns), reversed(sizes), strict=True):
        cells, position = np.divmod(cells, size)
        narrow: Any = position.astype(column.dtype)
        found.append(narrow)
    return tuple(reversed(found))
