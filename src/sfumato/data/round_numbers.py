"""Round numbers: where the end of an interval stands between two values, and on which grid a mean is shown.

An end that were a person's own value would tell it. So it is the roundest number between the two neighbouring
values that it separates, or the upper of them where that is rounder still and many records hold it. A mean is shown
on a grid of powers of ten, and not on a grid number that is the value of a few. docs/tables.md tells the rule.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache, cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

Real = int | float
Free = Callable[[Real], bool]
"""Whether a number may be shown: nobody holds it, or many do."""
MOST_TRIED = 16
"""Of the multiples of one step, so many are tried, from the middle of the gap outwards."""
DECADES = 19
"""Every number of 64 bits has at most 17 digits: finer steps lead to no other number."""
ENDLESS = Fraction(int(sys.float_info.max) + 1)
"""Stands for infinity: further away than any number that is held."""
GRID = 3
"""A mean is shown to the power of ten that is at most a thousandth of the range, and more than a ten thousandth."""
SMALL = 1000
"""Whole numbers below are round enough for a mean of whole numbers."""
SIGNIFICANT = 6
"""Digits of a mean of numbers without a declared range."""


@dataclass(frozen=True, eq=False)
class Holders:
    """How many records hold each number: distinct `numbers` in ascending order, with their `counts`. `k` are many."""

    numbers: NDArray[Any]
    counts: NDArray[np.int64]
    k: int

    @classmethod
    def of(cls, numbers: NDArray[Any], counts: NDArray[np.int64], k: int) -> Holders:
        """From numbers in any order, some of them twice; what is no number is left out.

        >>> Holders.of(np.array([3.0, 1.0, 3.0]), np.array([1, 1, 1]), 2).counts.tolist()
        [1, 2]
        """
        known = ~np.isnan(numbers) & (counts > 0)
        distinct, at = np.unique(numbers[known], return_inverse=True)
        return cls(distinct, np.bincount(at, weights=counts[known], minlength=len(distinct)).astype(np.int64), k)

    @cached_property
    def _rare(self) -> NDArray[Any]:
        return self.numbers[(self.counts > 0) & (self.counts < self.k)]

    def few(self, number: Real) -> bool:
        """Whether somebody holds this number, but fewer than k records do."""
        return bool(self.few_of(np.array([number]))[0])

    def few_of(self, numbers: NDArray[Any]) -> NDArray[np.bool_]:
        """(numbers,): the same of many."""
        held = self._rare
        at = np.searchsorted(held, numbers.astype(held.dtype))
        found = np.zeros(len(numbers), dtype=np.bool_)
        for near in (at - 1, at):
            there = (near >= 0) & (near < len(held))
            found[there] |= held[near[there]] == numbers[there]
        return found

    def free(self, number: Real) -> bool:
        """Whether nobody holds this number, or many do."""
        return not self.few(number)


def roundest(low: Real, high: Real, *, free: Free = lambda number: True) -> Real | None:
    """The roundest number strictly between two: a multiple of the largest of ... 10, 5, 2, 1, 0.5 ... that has one.

    Of several multiples it is the nearest to the middle that is `free`, the lower on a tie. None where the computer
    holds no number between them. Whole numbers between whole numbers stay whole, however large.

    >>> roundest(36, 37), roundest(30, 41), roundest(-3, 8), roundest(41234.56, 41234.59)
    (36.5, 40, 0, 41234.58)
    >>> roundest(1.0, 1.0000000000000002) is None
    True
    """
    below, above = _exact(low), _exact(high)
    whole = isinstance(low, int) and isinstance(high, int)
    if below < 0 < above and free(0):
        return 0 if whole else 0.0
    for step in _steps(max(abs(below), abs(above))):
        for multiple in _multiples(below, above, step):
            found = _held(multiple, whole)
            if found is not None and below < Fraction(found) < above and free(found):
                return found
    return None


def end_between(low: Real, high: Real, *, shared: bool, free: Free = lambda number: True) -> Real | None:
    """Where an interval ends that holds `low`, the next one beginning with `high`: the roundest number between them,
    or `high` itself if it is rounder and `shared` by many. None if there is neither.

    >>> end_between(36, 37, shared=True), end_between(36, 37, shared=False), end_between(35, 37, shared=True)
    (37, 36.5, 36)
    """
    inside = roundest(low, high, free=free)
    if shared and math.isfinite(high) and (inside is None or roundness(high) > roundness(inside)):
        return high + 0  # zero has no sign
    return inside


def roundness(number: Real) -> Fraction:
    """The largest of ... 10, 5, 2, 1, 0.5, 0.2, 0.1 ... of which a number, as it is written, is a multiple.

    >>> [str(roundness(number)) for number in (40, 150, 37, 0.25, 1200)]
    ['20', '50', '1', '1/20', '200']
    """
    if number == 0:
        return ENDLESS
    written = Decimal(number if isinstance(number, int) else repr(float(number)))
    _, digits, exponent = written.as_tuple()
    zeros = len(digits) - len(str(int("".join(map(str, digits)))).rstrip("0")) - _leading(digits)
    last = digits[len(digits) - 1 - zeros]
    return (5 if last == 5 else 2 if last % 2 == 0 else 1) * Fraction(10) ** (int(exponent) + zeros)


def separable(numbers: NDArray[Any]) -> NDArray[np.bool_]:
    """(numbers,): whether the computer holds a number between each of these ascending ones and the one before it."""
    found = np.zeros(len(numbers), dtype=np.bool_)
    lower, upper = numbers[:-1], numbers[1:]
    if numbers.dtype.kind == "f":
        found[1:] = np.nextafter(lower, np.inf) < upper
    else:
        found[1:] = (lower < upper - 1) | ((upper <= 2**52) & (upper > -(2**52)))
    return found


@dataclass(frozen=True, eq=False)
class Grid:
    """On which numbers means are shown: to `digits` decimals (None: to six digits in all), as `whole` numbers if asked,
    and on none that a few hold."""

    digits: int | None
    holders: Holders
    whole: bool = False

    @classmethod
    def of(cls, ends: tuple[float, float] | None, holders: Holders, *, whole: bool = False) -> Grid:
        """To a thousandth of the declared range, or six digits where none is declared: extremes tell nothing.

        >>> nobody = Holders(np.zeros(0), np.zeros(0, dtype=np.int64), 5)
        >>> Grid.of((17, 90), nobody).digits, Grid.of((0, 500_000), nobody).digits
        (2, -2)
        """
        if ends is None:
            return cls(None, holders, whole)
        width = min(ends[1] - ends[0], sys.float_info.max)
        return cls(GRID - math.floor(math.log10(width)) if width > 0 else GRID, holders, whole)

    def show(self, mean: float, low: float, high: float) -> float:
        """A mean of numbers from `low` to `high`: the nearest number of the grid that no few hold.

        That is one of the two around the mean, or the next ones that are still between the numbers. If few hold each
        of these, the nearest is shown: it is there for its roundness, whoever holds it. Whole numbers of a declared
        range below a thousand, or themselves below it, are their own grid, and zero is round anywhere.
        """
        near = self._near(mean)
        first = next(near)
        allowed = (number for at, number in enumerate(chain((first,), near)) if at < 2 or low <= number <= high)
        return next((number for number in allowed if self.holders.free(number)), first)

    def show_all(self, means: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> list[float]:
        """Many of them, each as `show` has it."""
        nearest = [next(self._near(mean)) for mean in means.tolist()]
        few = self.holders.few_of(np.array(nearest))
        for at in np.flatnonzero(few).tolist():
            nearest[at] = self.show(float(means[at]), float(low[at]), float(high[at]))
        return nearest

    def show_within(self, mean: float, low: float, high: float) -> float:
        """Likewise, but not outside the numbers themselves if that can be had: where the grid is too coarse for it,
        the roundest number between them, or the one that all of them are."""
        near = list(self._near(mean))
        inside = [number for number in near if low <= number <= high]
        found = next((number for number in inside if self.holders.free(number)), None)
        if found is None and not (inside and self._small(mean)):
            between = low if low == high else roundest(low, high, free=self.holders.free)
            if between is not None and self.holders.free(between) and (float(between).is_integer() or not self.whole):
                found = float(between)
        return self.show(mean, low, high) if found is None else found

    def _small(self, mean: float) -> bool:
        """Whether whole numbers are their own grid here: in steps of one, the next would be too far away."""
        return self.whole and self._digits(mean) > 0 and (self.digits is not None or abs(mean) < SMALL)

    def _digits(self, mean: float) -> int:
        if self.digits is not None:
            return self.digits
        return SIGNIFICANT - 1 - math.floor(math.log10(abs(mean))) if mean else GRID

    def _near(self, mean: float) -> Iterator[float]:
        """Numbers of the grid from a mean outwards."""
        if self.digits is None and not mean:
            yield 0.0
            return
        digits = min(self._digits(mean), 0) if self.whole else self._digits(mean)
        try:
            first, step = float(round(mean, digits)), 10.0**-digits
            side = 1 if mean > first else -1
            tried = 1 if self._small(mean) else 2 if self.whole and self._digits(mean) > 0 else MOST_TRIED
        except OverflowError:
            yield mean
            return
        for at in range(tried):
            many = (at + 1) // 2 * (side if at % 2 else -side)
            yield float(round(first + step * many, digits)) + 0.0


def _exact(number: Real) -> Fraction:
    if math.isinf(number):
        return ENDLESS if number > 0 else -ENDLESS
    return Fraction(number)


def _steps(most: Fraction) -> Iterator[Fraction]:
    """5, 2 and 1 times falling powers of ten, from the one above `most` on."""
    power = len(str(math.ceil(most))) if most >= 1 else math.ceil(math.log10(most)) + 1 if most else 0
    for exponent in range(power, power - DECADES - 1, -1):
        yield from _decade(exponent)


@cache
def _decade(exponent: int) -> tuple[Fraction, ...]:
    return tuple(digit * Fraction(10) ** exponent for digit in (5, 2, 1))


def _multiples(below: Fraction, above: Fraction, step: Fraction) -> Iterator[Fraction]:
    """The multiples of a step strictly between two numbers, from the middle outwards, the lower on a tie."""
    part, whole = step.numerator, step.denominator  # in whole numbers: fractions would be reduced each time
    first = below.numerator * whole // (below.denominator * part) + 1
    last = -(-above.numerator * whole // (above.denominator * part)) - 1
    if first > last:
        return
    middle = (below + above) / (2 * step)
    under = min(math.floor(middle), last)
    over = under + 1
    for _ in range(min(last - first + 1, MOST_TRIED)):
        if under >= first and (over > last or middle - under <= over - middle):
            yield under * step
            under -= 1
        else:
            yield over * step
            over += 1


def _held(exact: Fraction, whole: bool) -> Real | None:
    """The number that the computer holds for it; None if it is too large."""
    if whole and exact.denominator == 1:
        return int(exact)
    try:
        return float(exact) + 0.0
    except OverflowError:
        return None


def _leading(digits: tuple[int, ...]) -> int:
    """How many zeros a number's digits begin with."""
    return next(at for at, digit in enumerate(digits) if digit)
