"""Axes of a drawing: where a number stands along one, and the round numbers that are written beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Floats

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
"""What two neighbouring marks may differ by, times a power of ten."""
DECADES = 10.0
"""From this ratio of its ends on, a logarithmic axis has marks at powers of ten, and from 60 on at these alone."""


@dataclass(frozen=True)
class Axis:
    """The numbers from `low` to `high`, and what they are.

    `whole`: only whole numbers are written beside it. `shown`: no axis is drawn where it is False.
    """

    low: float
    high: float
    says: str = ""
    log: bool = False
    whole: bool = False
    shown: bool = True

    def ticks(self, most: int) -> list[float]:
        """Round numbers on it, about `most` of them.

        >>> Axis(0, 190).ticks(5), Axis(50, 121, log=True).ticks(5), Axis(1, 4000, log=True).ticks(5)
        ([0.0, 50.0, 100.0, 150.0], [60.0, 80.0, 100.0, 120.0], [1.0, 10.0, 100.0, 1000.0])
        """
        if not self.log or self.high < DECADES * self.low:
            return self._linear(most)
        factors = (1.0, 2.0, 5.0) if self.high < 60 * self.low else (1.0,)
        powers = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        found = [factor * 10.0**power for power in powers for factor in factors]
        return [one for one in found if self.low <= one <= self.high]

    def _linear(self, most: int) -> list[float]:
        width = self.high - self.low
        power = 10.0 ** floor(log10(width / most))
        steps = [factor * power for factor in STEPS]
        if self.whole:
            steps = [step for step in steps if step >= 1 and step == round(step)] or [1.0]
        step = next((step for step in steps if width / step <= most), steps[-1])
        first = ceil(self.low / step - 1e-9)
        return [at * step for at in range(first, floor(self.high / step + 1e-9) + 1)]


@dataclass(frozen=True)
class Ruler:
    """An axis laid on paper: its lowest number stands at `start`, its highest at `end`."""

    axis: Axis
    start: float
    end: float

    def __call__(self, values: ArrayLike) -> Floats:
        """Where numbers stand.

        >>> Ruler(Axis(1, 100, log=True), 0, 10)([1, 10, 100]).tolist()
        [0.0, 5.0, 10.0]
        """
        low, high, at = self.axis.low, self.axis.high, np.asarray(values, dtype=np.float64)
        if self.axis.log:
            low, high, at = log10(low), log10(high), np.log10(np.maximum(at, low))
        return self.start + (at - low) / (high - low) * (self.end - self.start)


def written(ticks: Sequence[float]) -> list[str]:
    """Numbers beside an axis, with as many digits as they need to differ.

    >>> written([0.0, 0.5, 1.0]), written([0.0, 20000.0]), written([1e9, 2e9])
    (['0', '0.5', '1'], ['0', '20,000'], ['1e+09', '2e+09'])
    """
    largest = max(map(abs, ticks), default=0.0)
    if largest >= 1e7 or 0 < largest < 1e-3:
        return [f"{one:.6g}" for one in ticks]
    return [f"{round(one, 6):,.6f}".rstrip("0").rstrip(".") for one in ticks]
