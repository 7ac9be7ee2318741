"""What texts and numbers look like: dates, ranges, separators, texts that mean missing."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from sfumato.data.schema import Calendar

# Texts that usually mean missing, whatever the column holds.
MISSING = (
    "?", "NA", "N/A", "#N/A", "n/a", "na", "NaN", "nan", "NULL", "null", "None", "none", "missing", "Missing",
    "unknown", "Unknown", "-", ".", "",
)  # fmt: skip
_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}.*)?")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
_SEPARATORS = ("; ", ";", "|", ", ", ",", "/")
_LONGEST_ITEM = 40


@dataclass(frozen=True)
class CalendarGuess:
    """A unit for intervals, and whole years around all dates and times."""

    unit: Calendar
    range: tuple[str, str]


def calendar_for(texts: Sequence[str]) -> CalendarGuess | None:
    """The calendar of ISO dates; None if a text is no date.

    >>> calendar_for(["1990-05-17", "2003-01-01"])
    CalendarGuess(unit='month', range=('1990-01-01', '2003-12-31'))
    """
    days: list[date] = []
    for text in texts:
        match = _DATE.fullmatch(text)
        if match is None:
            return None
        try:
            days.append(date.fromisoformat(match[1]))
        except ValueError:
            return None
    if not days:
        return None
    first, last = min(days), max(days)
    span = (last - first).days
    unit: Calendar = "year" if span > 365 * 30 else "month" if span > 365 else "day"
    timed = any(len(text) > len("2026-12-31") for text in texts) and last.year < 9999
    end = f"{last.year + 1:04}-01-01" if timed else f"{last.year:04}-12-31"
    return CalendarGuess(unit, (f"{first.year:04}-01-01", end))


def rounded_range(lowest: float, highest: float) -> tuple[float, float]:
    """Round ends around the numbers, so that the exact extremes of the data are not told.

    >>> rounded_range(17, 90), rounded_range(0.13, 0.87), rounded_range(5, 5)
    ((10, 90), (0.1, 0.9), (5, 6))
    """
    span = highest - lowest
    power = math.floor(math.log10(span)) if span > 0 else 0
    step = 10.0**power
    lower, upper = math.floor(lowest / step) * step, math.ceil(highest / step) * step
    if upper <= lower:
        upper = lower + step
    digits = max(0, -power)
    ends = (round(lower, digits), round(upper, digits))
    if all(end.is_integer() for end in ends):
        return (int(ends[0]), int(ends[1]))
    return ends


def reads_as_number(texts: Sequence[str]) -> bool:
    """Whether all texts are numbers; 0123 is a code, not a number.

    >>> reads_as_number(["1", "2.5"]), reads_as_number(["01", "02"]), reads_as_number([])
    (True, False, False)
    """
    return bool(texts) and all(_NUMBER.fullmatch(text) for text in texts)


def separator_of(texts: Sequence[str]) -> str | None:
    """The separator of texts that list items: the items come again, and their number varies.

    >>> separator_of(["flu;asthma", "flu", "asthma;flu;gout", "gout;flu", "asthma;gout"])
    ';'
    >>> separator_of(["Paris, France", "Lyon, France", "Nice, France"]) is None
    True
    """
    return next((mark for mark in _SEPARATORS if _lists_items(texts, mark)), None)


def _lists_items(texts: Sequence[str], separator: str) -> bool:
    lists = [text.split(separator) for text in texts]
    if sum(len(items) > 1 for items in lists) < 0.3 * len(lists):
        return False
    items = Counter(item for found in lists for item in found)
    comes_again = len(items) * 2 <= items.total()
    short = all(len(item) <= _LONGEST_ITEM for item in items)
    return comes_again and short and len({len(found) for found in lists}) > 1
