"""Whether one column settles another: every town lies in one province, up to a few misspelt rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.data.drafting.profile import FEW, comparable

EXCEPTIONS = 0.01
"""Of the rows at most so many may hold another value than most rows with the same value of the settling column."""
_OF_CHANCE = 0.1
"""And of the rows that would be wrong if the commonest value were told for everybody, at most so many."""
_ENOUGH = 0.5
_LARGEST = 1 << 22  # cells of a table of counts


def codes(column: pa.ChunkedArray[Any]) -> NDArray[np.int64]:
    """A column as places of its different values, missing being one of them."""
    coded: Any = pc.dictionary_encode(comparable(column), null_encoding="encode")
    found: NDArray[np.int64] = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def settles(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    """Whether each value of one column goes with a single value of the other, coarser one, and that is no accident.

    Only values that several rows share are looked at, and they must be those of most rows: of rare values everything is
    settled.

    >>> town = np.repeat(np.arange(20), 30)
    >>> settles(town, town // 5), settles(town // 5, town), settles(town, np.arange(600) % 2)
    (True, False, False)
    """
    rows = np.bincount(one)
    common = rows >= FEW
    looked_at = int(rows[common].sum())
    commonest = int(np.bincount(other).max())
    if looked_at < _ENOUGH * len(one):
        return False
    wrong = looked_at - int(_most(one, other, len(rows))[common].sum())
    return wrong <= min(EXCEPTIONS * looked_at, _OF_CHANCE * (len(other) - commonest))


def told_share(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """How many of the rows that are wrong if the other's commonest value is told for everybody are right if each value
    of one column tells its own commonest: Goodman and Kruskal's lambda (1954), over values that several rows share.

    >>> town = np.repeat(np.arange(20), 30)
    >>> told_share(town, town // 5), told_share(town, np.arange(600) % 2), round(told_share(town // 2, town), 2)
    (1.0, 0.0, 0.47)
    """
    rows = np.bincount(one)
    common = rows >= FEW
    looked_at = int(rows[common].sum())
    if looked_at < _ENOUGH * len(one):
        return 0.0
    wrong = looked_at - int(np.bincount(other[common[one]]).max())
    right = int(_most(one, other, len(rows))[common].sum()) - (looked_at - wrong)
    return right / wrong if wrong else 0.0


def _most(one: NDArray[np.int64], other: NDArray[np.int64], values: int) -> NDArray[np.int64]:
    """(values,): of the rows with each value of one column, how many hold the other's commonest value among them."""
    width = int(other.max()) + 1
    pairs = one * width + other
    if values * width <= _LARGEST:
        table: NDArray[np.int64] = np.bincount(pairs, minlength=values * width).reshape(values, width)
        largest: NDArray[np.int64] = table.max(axis=1)
        return largest
    held, counts = np.unique(pairs, return_counts=True)
    most = np.zeros(values, dtype=np.int64)
    np.maximum.at(most, held // width, counts)
    return most
