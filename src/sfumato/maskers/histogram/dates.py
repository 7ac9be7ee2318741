"""Dates and times under a budget: a declared range in whole calendar units, counted from the one that 1970 began in.

Unless they are declared, bins are equally long but for this: each begins where the calendar does, with the year, or the
quarter, month, day, ... that is nearest, the longest of which none would begin two bins. Range and unit are declared,
so all of it is public.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data import calendar
from sfumato.data.cut_points import Wrong, inner_edges, wrong_cuts
from sfumato.data.schema import Calendar, Number
from sfumato.data.shown import interval_text
from sfumato.errors import RecipeError

ROUND: tuple[Calendar, ...] = ("year", "quarter", "month", "day", "hour", "minute", "second")
"""With which bins may begin, the longest first."""


def declared_units(attribute: Number) -> tuple[int, int] | None:
    """The numbers of the first and of the last unit of a declared range; None where it is no range of dates.

    >>> declared_units(Number(calendar="year", range=("1965", "1972-06")))
    (-5, 2)
    """
    if attribute.calendar is None or attribute.range is None:
        return None
    low, high = (str(end) for end in attribute.range)
    moments = np.array([calendar.parse(low), calendar.parse(high, end=True)], dtype=np.int64)
    first, last = calendar.unit_numbers(moments, attribute.calendar).tolist()
    return first, last


def bin_edges(first: int, last: int, unit: Calendar, bins: int) -> tuple[float, ...]:
    """The numbers of the units that bins begin with, and of the one behind the range.

    >>> [unit_text(int(edge), "day") for edge in bin_edges(0, 3 * 365, "day", 3)]
    ['1970-01-01', '1971-01-01', '1972-01-01', '1973-01-01']
    """
    width = last + 1 - first
    count = min(bins, width)
    even = first + np.arange(1, count) * width // count
    for period in (one for one in ROUND if calendar.LONGEST[one] > calendar.LONGEST[unit]):
        found = _nearest(even, unit, period)
        if (np.diff([first, *found, last + 1]) > 0).all():
            even = found
            break
    return (float(first), *even.astype(np.float64).tolist(), float(last + 1))


def cut_edges(name: str, number: Number, first: int, last: int) -> tuple[float, ...]:
    """The same where cut points are declared: each begins a unit of the range.

    >>> born = Number(calendar="year", range=("1930", "2009"), bins=("1950", "1980-01-01"))
    >>> [unit_text(int(edge), "year") for edge in cut_edges("born", born, *(declared_units(born) or (0, 0)))]
    ['1930', '1950', '1980', '2010']
    """
    unit, cuts = number.calendar or "day", [str(cut) for cut in number.bins or ()]
    moments = np.array([calendar.parse(cut) for cut in cuts], dtype=np.int64)
    numbers = calendar.unit_numbers(moments, unit)
    wrong = wrong_cuts(numbers.tolist(), first, last, whole=True)
    inside = np.flatnonzero(calendar.unit_starts(numbers, unit) != moments)
    if len(inside):
        near = unit_text(int(numbers[inside[0]]), unit)
        wrong = Wrong(f"each cut point begins a {unit}, the unit of its calendar", f"write for example {near!r}")
    if wrong is not None:
        raise RecipeError(name, wrong.rule, given=repr(cuts), remedy=wrong.remedy)
    return (float(first), *inner_edges(numbers.tolist(), first, whole=True), float(last + 1))


def _nearest(numbers: NDArray[np.int64], unit: Calendar, period: Calendar) -> NDArray[np.int64]:
    """The first unit of the period that begins nearest to each unit."""
    moments = calendar.unit_starts(numbers, unit)
    inside = calendar.unit_numbers(moments, period)
    before, behind = (calendar.unit_starts(inside + later, period) for later in (0, 1))
    starts = np.where(moments - before <= behind - moments, before, behind)
    return np.asarray(calendar.unit_numbers(starts - 1, unit) + 1)


def unit_text(number: int, unit: Calendar) -> str:
    """ISO text of the start of a unit.

    >>> unit_text(-5, "year"), unit_text(1, "quarter")
    ('1965', '1970-04')
    """
    return calendar.show(int(calendar.unit_starts(np.array([number]), unit)[0]), unit)


def units_text(first: int, end: int, unit: Calendar) -> str:
    """Units from one up to another as an interval, written as in every release.

    >>> units_text(-5, 3, "year")
    '[1965-1973)'
    """
    return interval_text(unit_text(first, unit), unit_text(end, unit), closed=False)


def date_column(numbers: NDArray[np.int64], gone: NDArray[np.bool_], unit: Calendar) -> pa.Array[Any]:
    """Dates, each the first day of its unit; of hours, minutes and seconds moments. `gone`: which are missing."""
    starts = calendar.unit_starts(numbers, unit)
    if calendar.LONGEST[unit] < calendar.DAY:
        return pa.array(starts, type=pa.timestamp("us"), mask=gone)
    return pa.array((starts // calendar.DAY).astype(np.int32), type=pa.date32(), mask=gone)
