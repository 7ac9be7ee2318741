"""Information gain as 003 defines it, and the sensitivity that really holds for it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

GRAIN = 2**20
"""Utilities are rounded down to whole multiples of 1 / GRAIN."""


def entropy(classes: NDArray[np.int64] | Sequence[int]) -> float:
    """003 Eq. 3, from the number of records of each class; 0 where there are none.

    >>> round(entropy([4, 6]), 4)
    0.971
    """
    counts = np.asarray(classes, dtype=np.float64)
    total = counts.sum()
    shares = counts[counts > 0] / total if total else counts[:0]
    return float(-(shares * np.log2(shares)).sum())


def gain(children: Iterable[NDArray[np.int64] | Sequence[int]]) -> float:
    """003 Eq. 4, from the class counts of each child: how much their union's entropy exceeds their own.

    >>> round(gain([[3, 2], [1, 4]]), 4)
    0.1245
    """
    parts = [np.asarray(child, dtype=np.int64) for child in children]
    whole = np.sum(parts, axis=0)
    total = int(whole.sum())
    if not total:
        return 0.0
    return entropy(whole) - sum(int(part.sum()) / total * entropy(part) for part in parts)


def whole(utility: float) -> int:
    """A utility in whole grains; it lies between 0 and log2 of the number of classes."""
    return math.floor(max(utility, 0.0) * GRAIN)


def reach(classes: int) -> int:
    """How much a utility in whole grains can change, whatever changes in the table: its full range.

    The labels come from clustering the raw table, and one record can change every one of them. So nothing smaller than
    the range from 0 to log2 |classes| bounds the change (PAPERS.md, 003-4). `classes` is the declared number: how many
    there are in the table is a fact about its records.
    """
    return math.ceil(math.log2(max(classes, 2)) * GRAIN) + 1
