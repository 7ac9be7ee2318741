"""Detail: how finely a quasi-identifier must be shown to everybody, at the least. A wish about use, not about privacy.

Of numbers it is the width of an interval, of dates so many calendar units, of labels how many of them one shown value
may stand for. The width of `[17-27)` is 10; an interval of dates reaches to the end of its last unit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, get_args

from sfumato.data import calendar
from sfumato.data.schema import LARGEST, Attribute, Calendar, ItemSet, Number, Schema
from sfumato.errors import RecipeError, did_you_mean

Given = float | str
"""A wish as a recipe has it: `10`, `3`, `10 years`."""
LONGEST_SPAN = 10_000 * calendar.LONGEST["year"]
FINE = 4
"""Positions are joined to pieces of at most this part of a width."""
_SPAN = re.compile(r"([1-9][0-9]{0,11}) +([a-z]+)")


@dataclass(frozen=True)
class Width:
    """Of a number: no interval is wider.

    >>> Width(10).fits(17, 27), Width(10).fits(17, 27.5), Width(0.2).fits(0.9, 1.1)
    (True, False, True)
    """

    most: float

    def fits(self, low: float, high: float) -> bool:
        """Whether an interval is narrow enough, counted as the numbers are written."""
        return Decimal(str(high)) - Decimal(str(low)) <= Decimal(str(self.most))

    @property
    def step(self) -> float:
        """A part of it, as numbers on the axis."""
        return self.most / FINE

    @property
    def given(self) -> Given:
        """As a recipe has it."""
        return self.most

    def coarser(self, times: float) -> Width:
        """So many times as wide; a whole number stays one."""
        wide = self.most * times
        return Width(math.ceil(wide) if isinstance(self.most, int) else float(f"{wide:.6g}"))

    def __str__(self) -> str:
        return f"in intervals of at most {self.most:,.10g}"


@dataclass(frozen=True)
class Span:
    """Of dates and times: no interval is longer than so many calendar units.

    >>> Span(10, "year").fits(calendar.parse("1990"), calendar.parse("2000"))
    True
    """

    most: int
    unit: Calendar

    def fits(self, low: float, high: float) -> bool:
        """Whether it is short enough; moments are microseconds."""
        return calendar.later(int(low), self.most, self.unit) >= int(high)

    @property
    def step(self) -> float:
        """A part of it, as numbers on the axis."""
        return self.most * calendar.LONGEST[self.unit] / FINE

    @property
    def given(self) -> Given:
        """As a recipe has it."""
        return f"{self.most} {self.unit}{'' if self.most == 1 else 's'}"

    def coarser(self, times: float) -> Span:
        """So many times as long."""
        return replace(self, most=min(math.ceil(self.most * times), LONGEST_SPAN // calendar.LONGEST[self.unit]))

    def __str__(self) -> str:
        return f"in intervals of at most {self.given}"


@dataclass(frozen=True)
class Few:
    """Of labels: no shown value stands for more of them. A missing value among them counts as one."""

    most: int

    @property
    def given(self) -> Given:
        """As a recipe has it."""
        return self.most

    def coarser(self, times: float) -> Few:
        """So many times as many."""
        return Few(math.ceil(self.most * times))

    def __str__(self) -> str:
        return f"by values of at most {self.most} label{'' if self.most == 1 else 's'}"


Wish = Width | Span | Few
Detail = Mapping[str, Wish]


def ends_of(attribute: Number) -> tuple[float, float]:
    """Where a declared range begins and ends; of dates where its last unit is over."""
    if attribute.range is None:
        return -math.inf, math.inf
    low, high = attribute.range
    if attribute.calendar is None:
        return float(low), float(high)
    return calendar.parse(str(low)), calendar.parse(str(high), end=True) + 1


def read_detail(given: Any, schema: Schema) -> dict[str, Wish]:
    """What a recipe wishes, by attribute; what is not understood, or cannot be wished, is refused."""
    if not isinstance(given, Mapping):
        raise RecipeError(
            "detail",
            "it is a mapping of attributes to how finely they are shown",
            given=type(given).__name__,
            remedy="write for example detail: {age: 10}",
        )
    schema.require((str(name) for name in given), "detail")
    return {str(name): _wish(f"detail: {name}", one, schema[str(name)]) for name, one in given.items()}


def _wish(what: str, given: Any, attribute: Attribute) -> Wish:
    if isinstance(attribute, ItemSet):
        raise RecipeError(
            what, "detail is wished of numbers and categories", given="an item set", remedy="leave it out"
        )
    if attribute.role != "quasi":
        raise RecipeError(
            what,
            "detail is wished of what is masked, attributes with the role quasi",
            given=f"one that is {attribute.role}",
            remedy="leave it out",
        )
    if not isinstance(attribute, Number):
        return _few(what, given)
    if attribute.range is None:
        raise RecipeError(
            what,
            "widths are counted in a declared range: without one the outer intervals are open",
            given="no range",
            remedy="declare range: [lowest, highest]",
        )
    return _width(what, given) if attribute.calendar is None else _span(what, given, attribute.calendar)


def _few(what: str, given: Any) -> Few:
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise RecipeError(
            what,
            "of a category it is how many labels one shown value may stand for, a whole number of at least 1",
            given=repr(given),
            remedy="write for example 3",
        )
    return Few(given)


def _width(what: str, given: Any) -> Width:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given <= LARGEST:
        raise RecipeError(
            what,
            "of a number it is the width of its intervals, a number above 0",
            given=repr(given),
            remedy="write for example 10",
        )
    return Width(given)


def _span(what: str, given: Any, unit: Calendar) -> Span:
    units: tuple[Calendar, ...] = get_args(Calendar)
    read = _SPAN.fullmatch(given) if isinstance(given, str) else None
    if read is None:
        raise RecipeError(
            what,
            "of a date or a time it is so many calendar units",
            given=repr(given),
            remedy=f"write for example 10 {unit}s",
        )
    named = read[2].removesuffix("s")
    if named not in units:
        raise RecipeError(
            what,
            "a calendar unit is one of " + ", ".join(units),
            given=repr(read[2]),
            remedy=did_you_mean(named, units),
        )
    found = Span(int(read[1]), named)
    longest = found.most * calendar.LONGEST[named]
    if longest < calendar.LONGEST[unit] or longest > LONGEST_SPAN:
        raise RecipeError(
            what,
            f"its intervals begin at whole {unit}s, and none is longer than 10,000 years",
            given=repr(given),
            remedy=f"write at least 1 {unit}, or declare a finer calendar",
        )
    return found
