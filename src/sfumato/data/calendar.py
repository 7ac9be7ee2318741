"""Dates and times as numbers: microseconds since 1970 in UTC, whole calendar units, ISO 8601 text, and round dates.

An interval of dates or times ends by the same rule as one of numbers (`sfumato.data.round_numbers`). Values stand at
the starts of calendar units, and so do ends: an end inside a unit would be wrong for half of its records. A start is
the rounder the longer the period that begins with it: centuries, decades, years, halves and quarters of a year,
months, thirds of a month, days and so on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

from sfumato.data.schema import Calendar
from sfumato.errors import SchemaError

DAY = 86_400_000_000
HOUR, MINUTE, SECOND = 3_600_000_000, 60_000_000, 1_000_000
LONGEST: dict[str, int] = {
    "year": 366 * DAY,
    "quarter": 92 * DAY,
    "month": 31 * DAY,
    "week": 7 * DAY,
    "day": DAY,
    "hour": HOUR,
    "minute": MINUTE,
    "second": SECOND,
}
MONTHS: dict[str, int] = {"year": 12, "quarter": 3, "month": 1}
"""Units that are whole months."""
_SHOWN: dict[str, Literal["Y", "M", "D", "m", "s"]] = {
    "year": "Y",
    "quarter": "M",
    "month": "M",
    "week": "D",
    "day": "D",
    "hour": "m",
    "minute": "m",
    "second": "s",
}
_REDUCED = re.compile(r"(\d{4})(?:-(\d{2}))?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST, _END = datetime.max.replace(tzinfo=UTC), 10_000 * 12  # and the first month, counted from 0, without a date
_WHOLE_DATE = r"^\d{4}-\d{2}-\d{2}$"
_ZONE = r"(Z|[+-]\d{2}(:?\d{2})?)$"
Micros = NDArray[np.int64]
Free = Callable[[int], bool]
MOST_TRIED = 16
PUBLIC: dict[str, Calendar] = {"day": "month", "hour": "day", "minute": "hour", "second": "minute"}
"""Where units follow on each other, these starts may be ends, whoever stands there; of other units every start."""


def is_calendar_type(kind: pa.DataType) -> bool:
    """Whether an Arrow type holds dates, or dates with times."""
    return pt.is_date(kind) or pt.is_timestamp(kind)


def to_number(values: pa.Array[Any]) -> NDArray[np.int64]:
    """Microseconds since the beginning of 1970 (UTC), rounded down; values hold no null.

    >>> import datetime
    >>> to_number(pa.array([datetime.date(1970, 1, 2)])).tolist()
    [86400000000]
    """
    numbers = values.view(pa.int32() if pt.is_date32(values.type) else pa.int64()).to_numpy().astype(np.int64)
    if pt.is_date32(values.type):
        return numbers * DAY
    unit = "ms" if pt.is_date64(values.type) else values.type.unit
    if unit == "ns":
        return numbers // 1000
    return numbers * {"s": 1_000_000, "ms": 1000, "us": 1}[unit]


def floor(values: pa.Array[Any] | NDArray[np.int64], calendar: Calendar) -> NDArray[np.int64]:
    """The start of each value's calendar unit, in microseconds; weeks begin on Monday.

    >>> show(int(floor(np.array([parse("1990-05-17")]), "quarter")[0]), "quarter")
    '1990-04'
    """
    numbers = values if isinstance(values, np.ndarray) else to_number(values)
    return unit_starts(unit_numbers(numbers, calendar), calendar)


def unit_numbers(moments: Micros, unit: Calendar) -> Micros:
    """Which calendar unit each moment is in, counted from the one that 1970 began in.

    >>> unit_numbers(np.array([parse("1969-12-31"), parse("1970-02")]), "month").tolist()
    [-1, 1]
    """
    if unit in MONTHS:
        months = (moments // DAY).astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
        return np.asarray(months // MONTHS[unit])
    if unit == "week":
        return np.asarray((moments // DAY + 3) // 7)  # 1970 began on a Thursday
    return np.asarray(moments // LONGEST[unit])


def unit_starts(numbers: Micros, unit: Calendar) -> Micros:
    """When the units of these numbers begin, in microseconds.

    >>> show(int(unit_starts(np.array([1]), "week")[0]), "day")
    '1970-01-05'
    """
    if unit in MONTHS:
        first = (numbers * MONTHS[unit]).astype("datetime64[M]")
        return first.astype("datetime64[D]").astype(np.int64) * DAY
    if unit == "week":
        return np.asarray((numbers * 7 - 3) * DAY)
    return np.asarray(numbers * LONGEST[unit])


def show(number: float, calendar: Calendar) -> str:
    """ISO text of the start of a calendar unit, no longer than the unit needs.

    A quarter shows its first month, a week its Monday.

    >>> show(parse("1990-03-01"), "year"), show(parse("1990-03-01"), "week")
    ('1990', '1990-02-26')
    >>> show(parse("1990-03-01T12:30"), "minute")
    '1990-03-01T12:30'
    """
    start = int(floor(np.array([int(number)], dtype=np.int64), calendar)[0])
    return str(np.datetime_as_string(np.datetime64(start, "us"), unit=_SHOWN[calendar]))


def parse(text: str, *, end: bool = False) -> int:
    """Microseconds of an ISO text; the last microsecond that the text covers if `end`.

    >>> parse("1990", end=True) - parse("1990") == 365 * DAY - 1
    True
    """
    try:
        start, after = _covered(text)
    except ValueError:
        raise SchemaError(
            "calendar",
            "a date or a time is written in ISO 8601",
            given=repr(text),
            remedy="write for example 1990, 1990-03, 1990-03-01 or 1990-03-01T12:00",
        ) from None
    return _micros(after) - 1 if end else _micros(start)


def _micros(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _covered(text: str) -> tuple[datetime, datetime]:
    """From when, and until before when, a text reaches."""
    reduced = _REDUCED.fullmatch(text)
    if reduced:
        year, month = int(reduced[1]), int(reduced[2] or 1)
        start = datetime(year, month, 1, tzinfo=UTC)
        months = year * 12 + month - 1 + (1 if reduced[2] else 12)
        return start, datetime(months // 12, months % 12 + 1, 1, tzinfo=UTC) if months < _END else _LATEST
    moment = datetime.fromisoformat(text)
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    time = re.split(r"[Zz+]|(?<=:\d\d)-", text)[0][11:]
    lengths = {0: timedelta(days=1), 2: timedelta(hours=1), 5: timedelta(minutes=1), 8: timedelta(seconds=1)}
    length = lengths.get(len(time), timedelta(microseconds=1))
    return moment, moment + length if _LATEST - moment > length else _LATEST


def from_text(texts: pa.Array[Any]) -> tuple[pa.Array[Any], NDArray[np.bool_]]:
    """Dates if every text is one, else times, in UTC if they name their zone; and which texts are neither."""
    kind = _type_of(texts)
    try:
        return texts.cast(kind), np.zeros(len(texts), dtype=np.bool_)
    except pa.ArrowInvalid:
        return texts, np.array([not _reads(text, kind) for text in texts])


def _type_of(texts: pa.Array[Any]) -> pa.DataType:
    if pc.all(pc.match_substring_regex(texts, _WHOLE_DATE), min_count=0).as_py():
        return pa.date32()
    zoned = pc.and_(pc.match_substring_regex(texts, ":"), pc.match_substring_regex(texts, _ZONE))
    return pa.timestamp("us", tz="UTC") if pc.any(zoned, min_count=0).as_py() else pa.timestamp("us")


def _reads(text: pa.Scalar[Any], kind: pa.DataType) -> bool:
    try:
        text.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


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
        return 3 * month + min((moment - _begins(month)) // (10 * DAY), 2)

    def start(self, number: int) -> int:
        """When it begins."""
        return _begins(number // 3) + number % 3 * 10 * DAY


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
    Spans(DAY),
    *(Spans(hours * HOUR) for hours in (12, 6, 3, 1)),
    *(Spans(minutes * MINUTE) for minutes in (30, 10, 5, 1)),
    *(Spans(seconds * SECOND) for seconds in (30, 10, 5, 1)),
)
"""From the roundest down."""


def end_between(low: int, high: int, unit: Calendar, *, shared: bool, free: Free = lambda start: True) -> int | None:
    """Where an interval ends whose last unit begins at `low`, the next one's first at `high`, in microseconds.

    The roundest start of a unit between them; or `high` if it is rounder and `shared` by many, or public and the only
    one. None if there is none.

    >>> moments = [parse(text) for text in ("1987-03-05", "1994-11-30", "1994-12-02", "1994-12-03")]
    >>> def shown(at: int, shared: bool) -> str | None:
    ...     found = end_between(moments[at], moments[at + 1], "day", shared=shared)
    ...     return None if found is None else show(found, "day")
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
    found[1:] = (floor(starts[:-1] + LONGEST[unit], unit) < starts[1:]) | _public(starts[1:], unit)
    return found


def _public(starts: Micros, unit: Calendar) -> NDArray[np.bool_]:
    if unit not in PUBLIC:
        return np.ones(len(starts), dtype=np.bool_)
    return np.asarray(floor(starts, PUBLIC[unit]) == starts)


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
    start = int(floor(np.array([moment]), unit)[0])
    return start if start == moment else _next(start, unit)


def later(moment: int, count: int, unit: Calendar) -> int:
    """So many units after a moment; of months the same day, or the last one of a shorter month.

    >>> show(later(parse("1990-01-31"), 1, "month"), "day"), show(later(parse("1990-01-31"), 3, "week"), "day")
    ('1990-02-28', '1990-02-21')
    """
    if unit not in MONTHS:
        return moment + count * LONGEST[unit]
    month = _month(moment)
    first, after = month + count * MONTHS[unit], month + count * MONTHS[unit] + 1
    return min(_begins(first) + moment - _begins(month), _begins(after) - DAY + moment % DAY)


def following(start: int, unit: Calendar) -> int:
    """When the unit after that of a moment begins.

    >>> show(following(parse("2009-12-31"), "year"), "year"), show(following(parse("2009-12-31"), "week"), "week")
    ('2010', '2010-01-04')
    """
    return _next(int(floor(np.array([start]), unit)[0]), unit)


def _next(start: int, unit: Calendar) -> int:
    return int(floor(np.array([start + LONGEST[unit]]), unit)[0])


def _month(moment: int) -> int:
    """Months since the beginning of 1970."""
    return int(np.datetime64(moment, "us").astype("datetime64[M]").astype(np.int64))


def _begins(month: int) -> int:
    return int(np.datetime64(month, "M").astype("datetime64[us]").astype(np.int64))
