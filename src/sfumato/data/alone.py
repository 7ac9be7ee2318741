"""How many rows are alone with their values, counted from codes fast enough to be asked while somebody waits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.randomness import Seeded

EXACT = 1 << 63
"""Up to so many combinations each has a number of its own."""
Keys = NDArray[np.uint64]


def share_alone_coded(columns: Sequence[NDArray[np.integer[Any]]]) -> float:
    """The share of rows whose combination of codes nobody else has. Codes are not negative.

    >>> share_alone_coded([np.array([0, 0, 1]), np.array([5, 5, 5])]) == 1 / 3
    True
    """
    if not columns or not len(columns[0]):
        return 0.0
    keys = np.sort(_keys(columns))
    ends = np.flatnonzero(np.diff(keys))
    sizes = np.diff(np.concatenate([[-1], ends, [len(keys) - 1]]))
    return float(np.count_nonzero(sizes == 1) / len(keys))


def _keys(columns: Sequence[NDArray[np.integer[Any]]]) -> Keys:
    """(rows,): a number for each combination. Of too many they are hashed to 64 bits: with a million rows two
    combinations share one by a chance of 1 in 30 million, and the share is then a little low."""
    radices = [int(codes.max(initial=0)) + 1 for codes in columns]
    if math.prod(radices) < EXACT:
        keys = np.zeros(len(columns[0]), dtype=np.uint64)
        for codes, radix in zip(columns, radices, strict=True):
            keys = keys * np.uint64(radix) + codes.astype(np.uint64)
        return keys
    odd = Seeded(0).generator().integers(1, EXACT, size=len(columns), dtype=np.uint64) | np.uint64(1)
    keys = np.zeros(len(columns[0]), dtype=np.uint64)
    for codes, by in zip(columns, odd, strict=True):
        keys = (keys ^ codes.astype(np.uint64)) * by
        keys ^= keys >> np.uint64(29)
    return keys
