"""Shares and their differences, each with a 95 % confidence interval."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

Z = 1.959964
"""Two-sided 95 %."""


@dataclass(frozen=True)
class Estimate:
    """A share, or a difference of shares, between its limits.

    >>> print(Estimate(0.147, 0.141, 0.153))
    14.70 % (14.10 to 15.30)
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{100 * self.value:.2f} % ({100 * self.low:.2f} to {100 * self.high:.2f})"


def share(hits: NDArray[np.bool_]) -> Estimate:
    """The share of hits, with Wilson's interval.

    >>> share(np.array([True, False, False, False])).value
    0.25
    """
    n, p = len(hits), float(hits.mean())
    middle = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
    reach = Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n)
    return Estimate(p, middle - reach, middle + reach)


def difference(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> Estimate:
    """Share of the first less share of the second, over the same rows, with Agresti and Min's interval (2005).

    Rows on which both agree cancel out, so the interval is narrower than the two shares' own. Rows are taken
    as independent and the trained classifiers as given: it does not tell how much another training set matters.

    >>> difference(np.array([True, True, False]), np.array([True, False, False])).value
    0.3333333333333333
    """
    n = len(first)
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    b, c, m = only_first + 0.5, only_second + 0.5, n + 2
    reach = Z * sqrt(max(b + c - (b - c) ** 2 / m, 0.0)) / m
    middle = (b - c) / m
    return Estimate((only_first - only_second) / n, middle - reach, middle + reach)
