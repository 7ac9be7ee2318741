"""Round dates: where an interval of dates or times ends, by the same rule as numbers (`sfumato.data.round_numbers`).

Values stand at the starts of calendar units, and so do ends: an end inside a unit would be wrong for half of its
records. A start is the rounder the longer the period that begins with it: centuries, decades, years, halves and
quarters of a year, months, thirds of a month, days and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data import calendar
from sfumato.data.schema import Calendar

Micros = NDArray[np.int64]
Free = Callable[[int], bool]
HOUR, MINUTE, SECOND = 3_600_000_000, 60_000_000, 1_000_000
MOST_TRIED = 16
LONGEST: dict[str, int] = {
    "year": 366 * calendar.DAY,
    "quarter": 92 * calendar.DAY,
    "month": 31 * calendar.DAY,
    "week": 7 * calendar.DAY,
    "day": calendar.DAY,
    "hour": HOUR,
    "minute": MINUTE,
    "second": SECOND,
}
PUBLIC: dict[str, Calendar] = {"day": "month", "hour": "day", "minute": "hour", "second": "minute"}
"""Where units follow on each other, these starts may be ends, whoever stands there; of other units every start."""


@dataclass(frozen=True)
class Months:
    """Periods of so many months, counted from the year 0: 1200 is a century."""

    count: int

    def number(self, moment: int) -> int:
        """Which period a moment is in."""
        return (_month(moment) + 1970 * 12) // self.count

    def start(self, number: int) -> int:
        """When a period begins, in microseconds."""
        return _begins(number * self.count - 1970 * 12)


@dataclass(frozen=True)
class Thirds:
    """Thirds of months, from the 1st, the 11th and the 21st."""

    def number(self, moment: int) -> int:
        """Which third a moment is in."""
        month = _month(moment)
        return 3 * month + min((moment - _begins(month)) // (10 * calendar.DAY), 2)

    def start(self, number: int) -> int:
        """When it begins."""
        return _begins(number // 3) + number % 3 * 10 * calendar.DAY


@dataclass(frozen=True)
class Spans:
    """Periods of so many microseconds, which divide a day or are one."""

    length: int

    def number(self, moment: int) -> int:
        """Which period a moment is in."""
        return moment // self.length

    def start(self, number: int) -> int:
        """When it begins."""
        return number * self.length


Period = Months | Thirds | Spans
PERIODS: tuple[Period, ...] = (
    *(Months(12 * years) for years in (1000, 500, 200, 100, 50, 20, 10, 5, 2, 1)),
    *(Months(count) for count in (6, 3, 1)),
    Thirds(),
    Spans(calendar.DAY),
    *(Spans(hours * HOUR) for hours in (12, 6, 3, 1)),
    *(Spans(minutes * MINUTE) for minutes in (30, 10, 5, 1)),
    *(Spans(seconds * SECOND) for seconds in (30, 10, 5, 1)),
)
"""From the roundest down."""


def end_between(low: int, high: int, unit: Calendar, *, shared: bool, free: Free = lambda start: True) -> int | None:
    """Where an interval ends whose last unit begins at `low`, the next one's first at `high`, in microseconds.

    The roundest start of a unit between them; or `high` if it is rounder and `shared` by many, or public and the only
    one. None if there is none.

    >>> moments = [calendar.parse(text) for text in ("1987-03-05", "1994-11-30", "1994-12-02", "1994-12-03")]
    >>> def shown(at: int, shared: bool) -> str | None:
    ...     found = end_between(moments[at], moments[at + 1], "day", shared=shared)
    ...     return None if found is None else calendar.show(found, "day")
    >>> shown(0, False), shown(1, False), shown(2, False), shown(2, True)
    ('1990-01-01', '1994-12-01', None, '1994-12-03')
    """
    inside = _roundest(low, high, unit, free)
    if inside is None:
        return high if shared or bool(_public(np.array([high]), unit)[0]) else None
    return high if shared and _rank(high, unit) < _rank(inside, unit) else inside


def separable(starts: Micros, unit: Calendar) -> NDArray[np.bool_]:
    """(starts,): whether an interval may end between each of these ascending starts of units and the one before it."""
    found = np.zeros(len(starts), dtype=np.bool_)
    found[1:] = (calendar.floor(starts[:-1] + LONGEST[unit], unit) < starts[1:]) | _public(starts[1:], unit)
    return found


def _public(starts: Micros, unit: Calendar) -> NDArray[np.bool_]:
    if unit not in PUBLIC:
        return np.ones(len(starts), dtype=np.bool_)
    return np.asarray(calendar.floor(starts, PUBLIC[unit]) == starts)


def _roundest(low: int, high: int, unit: Calendar, free: Free) -> int | None:
    if _next(low, unit) >= high:
        return None
    for period in PERIODS:
        for start in _starts(low, high, period, unit):
            if low < start < high and free(start):
                return start
    return None


def _starts(low: int, high: int, period: Period, unit: Calendar) -> Iterator[int]:
    """The first units of the periods between two moments, from the middle outwards."""
    first, last = period.number(low), period.number(high)
    middle = (low + high) // 2
    under = period.number(middle)
    over = under + 1
    for _ in range(min(last - first + 1, MOST_TRIED)):
        if under >= first and (over > last or middle - period.start(under) <= period.start(over) - middle):
            yield _from(period.start(under), unit)
            under -= 1
        else:
            yield _from(period.start(over), unit)
            over += 1


def _rank(start: int, unit: Calendar) -> int:
    """Of which of the periods this is the first unit; a small one is round."""
    found = (at for at, period in enumerate(PERIODS) if _from(period.start(period.number(start)), unit) == start)
    return next(found, len(PERIODS))


def _from(moment: int, unit: Calendar) -> int:
    """The first start of a unit that is no earlier."""
    start = int(calendar.floor(np.array([moment]), unit)[0])
    return start if start == moment else _next(start, unit)


def _next(start: int, unit: Calendar) -> int:
    return int(calendar.floor(np.array([start + LONGEST[unit]]), unit)[0])


def _month(moment: int) -> int:
    """Months since the beginning of 1970."""
    return int(np.datetime64(moment, "us").astype("datetime64[M]").astype(np.int64))


def _begins(month: int) -> int:
    return int(np.datetime64(month, "M").astype("datetime64[us]").astype(np.int64))
