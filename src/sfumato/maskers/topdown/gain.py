"""Information gain from integer counts, in one place, so that every engine gives the same gains to the bit.

Gains are rounded to 2^-40: machines that fuse multiply and add differ below that, and a tie that only one
of them sees would publish another table (PAPERS.md, 002-8 and 002-20).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Counts2D = NDArray[np.int64]
STEP = 2.0**40


def rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values on the grid of 2^-40."""
    found: NDArray[np.float64] = np.rint(values * STEP) / STEP
    return found


def _bits(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """n log2 n of each count, 0 for none."""
    exact = counts.astype(np.float64)
    found: NDArray[np.float64] = exact * np.log2(np.maximum(exact, 1.0))
    return found


def mixed_bits(counts: Counts2D) -> NDArray[np.float64]:
    """|R| I(R) of each row of class counts (..., classes): the entropy of 002 Eq. 3 times the records."""
    found: NDArray[np.float64] = _bits(counts.sum(axis=-1)) - _bits(counts).sum(axis=-1)
    return found


def info_gain(children: Counts2D) -> float:
    """Gain of refining one value into children (children, classes): 002 Eq. 2.

    >>> round(info_gain(np.array([[5, 11], [16, 2]])), 4)
    0.2716
    """
    return float(gains(children.sum(axis=0), children[None])[0])


def gains(parent: NDArray[np.int64], children: NDArray[np.int64]) -> NDArray[np.float64]:
    """(ways,): gain of each way to split one parent (classes,) into children (ways, children, classes)."""
    total = max(int(parent.sum()), 1)
    found = (mixed_bits(parent) - mixed_bits(children).sum(axis=1)) / total
    return rounded(np.maximum(found, 0.0))
