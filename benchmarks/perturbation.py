"""How far numbers were moved: Sec (004 section 5.3), and how well distances between records are kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats
from sfumato.errors import TableError
from sfumato.randomness import Seeded

PAIRS = 100_000
"""Distances are compared on this many pairs of records."""


@dataclass(frozen=True)
class Distances:
    """How distances between records changed.

    `largest` and `mean`: the change as a share of the raw distance, after the one common factor that fits best
    (`factor`); `correlation` of raw and masked distances. An isometry has 0, 0, 1 and 1.
    """

    largest: float
    mean: float
    correlation: float
    factor: float


def distances_kept(raw: Floats, masked: Floats, *, seed: int = 0) -> Distances:
    """Compare the distances of (rows, attributes) before and after, on all pairs or on a seeded sample of pairs.

    >>> points = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 0.0]])
    >>> distances_kept(points, 2 * points)
    Distances(largest=0.0, mean=0.0, correlation=1.0, factor=2.0)
    """
    left, right = _pairs(len(raw), seed)
    before = np.sqrt(((raw[left] - raw[right]) ** 2).sum(axis=1))
    after = np.sqrt(((masked[left] - masked[right]) ** 2).sum(axis=1))
    before, after = before[before > 0], after[before > 0]
    if len(before) < 2:
        raise TableError(
            "distances", "at least three different records are compared", given="fewer", remedy="give more records"
        )
    factor = float(before @ after / (before @ before))
    change = np.abs(after / (factor or 1.0) - before) / before
    flat = before.std() == 0 or after.std() == 0
    correlation = 1.0 if flat else float(np.corrcoef(before, after)[0, 1])
    return Distances(float(change.max()), float(change.mean()), round(correlation, 12), factor)


def _pairs(n: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if n * (n - 1) // 2 <= PAIRS:
        left, right = np.triu_indices(n, 1)
        return left.astype(np.int64), right.astype(np.int64)
    rng = Seeded(seed).generator()
    left, right = rng.integers(0, n, PAIRS), rng.integers(0, n - 1, PAIRS)
    return left, right + (right >= left)
