"""Groups: which rows are alike on some columns of codes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def group_numbers(columns: Iterable[NDArray[np.integer[Any]]], rows: int) -> NDArray[np.int64]:
    """(rows,): the group of each row, numbered from 0 without gaps. Codes are not negative.

    >>> group_numbers([np.array([0, 0, 1]), np.array([5, 5, 5])], 3).tolist()
    [0, 0, 1]
    """
    numbers = np.zeros(rows, dtype=np.int64)
    for codes in columns:
        numbers = dense(numbers * (int(codes.max(initial=0)) + 1) + codes)
    return numbers


def group_sizes(columns: Iterable[NDArray[np.integer[Any]]], rows: int) -> NDArray[np.int64]:
    """(groups,): rows in each group."""
    return np.bincount(group_numbers(columns, rows))


def dense(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Keys renumbered from 0 without gaps, in their order.

    >>> dense(np.array([7, 3, 7])).tolist()
    [1, 0, 1]
    """
    if len(keys) and int(keys.max()) > 8 * len(keys) + 1024:
        return np.unique(keys, return_inverse=True)[1].astype(np.int64)
    used = np.bincount(keys) > 0
    renumbered: NDArray[np.int64] = (np.cumsum(used) - 1)[keys]
    return renumbered
