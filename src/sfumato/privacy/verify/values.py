"""Sensitive values: which cells are the value that a claim names, and in which order values stand.

Dates and times stand as ISO 8601 text in UTC, which sorts by time: `1990-03-05` lies after `1990-03`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal

from sfumato.privacy.verify.letters import look
from sfumato.privacy.verify.verdict import CheckError

# How long the text of a break is: no longer than its calendar unit needs.
LENGTHS = {"year": 4, "quarter": 7, "month": 7, "week": 10, "day": 10, "hour": 16, "minute": 16, "second": 19}
_SHAPE = re.compile(
    r"(\d{4}(?:-\d{2}(?:-\d{2}(?:[T ]\d{2}(?::\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?)?)?)?)(Z|[+-]\d{2}:?\d{2})?"
)


def iso(text: str) -> str | None:
    """The text in UTC, as exact as it was; None if it is no date.

    >>> iso("1990-03"), iso("1990-03-01 00:30+01:00"), iso("March")
    ('1990-03', '1990-02-28T23:30', None)
    """
    found = _SHAPE.fullmatch(text)
    full = moment(text)
    return None if found is None or full is None else full[: len(found[1])]


def moment(value: object) -> str | None:
    """The start of a date or a time, to the microsecond; None if it is none.

    >>> moment(date(1990, 3, 1)), moment("1990")
    ('1990-03-01T00:00:00.000000', '1990-01-01T00:00:00.000000')
    """
    if isinstance(value, datetime):
        start = value
    elif isinstance(value, date):
        start = datetime(value.year, value.month, value.day)
    else:
        found = _SHAPE.fullmatch(str(value).strip())
        if found is None:
            return None
        try:
            start = datetime.fromisoformat(found[1] + "0000-01-01"[len(found[1]) :] + (found[2] or ""))
        except ValueError:
            return None
    utc = start if start.tzinfo is None else start.astimezone(UTC).replace(tzinfo=None)
    return utc.isoformat(timespec="microseconds")


def cut(text: str, like: str) -> str:
    """The text, no more exact than another."""
    return text[: len(like)]


def floor(value: object, unit: str) -> str | None:
    """The start of a date's calendar unit, as long as the unit needs; weeks begin on Monday. None if it is no date.

    >>> floor("1990-05-31", "quarter"), floor("1990-03-01", "week"), floor("1990-03-01T12:30:10", "hour")
    ('1990-04', '1990-02-26', '1990-03-01T12:00')
    """
    text = moment(value)
    if text is None or unit not in LENGTHS:
        return None
    start = datetime.fromisoformat(text)
    if unit == "quarter":
        start = start.replace(month=(start.month - 1) // 3 * 3 + 1, day=1)  # April has no 31st
    elif unit == "week":
        start -= timedelta(days=start.weekday())
    elif unit == "hour":
        start = start.replace(minute=0)
    return start.isoformat(timespec="seconds")[: LENGTHS[unit]]


STEPS = {10: timedelta(days=1), 13: timedelta(hours=1), 16: timedelta(minutes=1), 19: timedelta(seconds=1)}
MONTHS = {"year": 12, "quarter": 3, "month": 1}
FIXED = {"week": 7 * 86400, "day": 86400, "hour": 3600, "minute": 60, "second": 1}  # seconds


def after(text: str, unit: str) -> str | None:
    """Where the calendar unit is over in which a text such as `iso` gives ends; None if it is no date, or if there is
    no such day.

    >>> after("2009", "day"), after("2009-06", "quarter"), after("2009-12-31", "week")
    ('2010-01-01', '2009-07', '2010-01-04')
    """
    begins = moment(text)
    if begins is None or unit not in LENGTHS:
        return None
    start = datetime.fromisoformat(begins)
    try:
        if len(text) <= 7:
            over = _months_later(start, 12 if len(text) == 4 else 1)
        else:
            over = start + STEPS.get(len(text), timedelta(microseconds=1))
        last = datetime.fromisoformat(str(moment(floor(over - timedelta(microseconds=1), unit))))
        found = _months_later(last, MONTHS[unit]) if unit in MONTHS else last + timedelta(seconds=FIXED[unit])
    except (ValueError, OverflowError):
        return None
    return floor(found, unit)


def _months_later(start: datetime, months: int) -> datetime:
    """The first day of a month some months later."""
    month = start.year * 12 + start.month - 1 + months
    return datetime(month // 12, month % 12 + 1, 1)


MIDNIGHT = "T00:00:00.000000"
WHOLE = 1e15  # floats below are written with all their digits
EXACT = Context(prec=1000)  # digits; no cell has as many


def spellings(value: object) -> tuple[str | None, ...]:
    """How a raw label may be told: as Python writes it, or as labels are declared; true and false, 1.0 as 1.

    >>> spellings("a"), spellings(True), spellings(2.0), spellings(None)
    (('a',), ('True', 'true'), ('2.0', '2'), (None,))
    """
    if value is None:
        return (None,)
    if isinstance(value, bool):
        return str(value), str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < WHOLE:
        return str(value), str(int(value))
    return (str(value),)


def same(cell: object, value: object) -> bool:
    """Whether a cell is the value that a certificate names; numbers, dates and truth stand as text in CSV.

    Truth may stand as text in the certificate, too: a column of true and false holds no other 'true'.

    >>> same(1, 1.0), same("1", 1), same(1, "1"), same("true", True), same(True, "true"), same(1, True)
    (True, True, False, True, True, False)
    """
    if cell is None or value is None:
        return cell is value
    if isinstance(value, bool) or isinstance(cell, bool):
        return isinstance(cell, bool | str) and isinstance(value, bool | str) and _label(cell) == _label(value)
    if isinstance(value, int | float):
        number = _number(cell)
        return number is not None and number == value
    if isinstance(cell, date):
        return moment(cell) == moment(value)
    if not isinstance(cell, str) or not isinstance(value, str):
        return False
    return look(cell) in (look(value), look(_day(value) or value))


def plain(text: str) -> str | None:
    """A number or a date that stands as text, in one form for all that are equal; None for what is no number (NaN).

    >>> plain("01"), plain("1.0"), plain("-0.0"), plain("nan"), plain("2020-05-01T00:00"), plain("low")
    ('1', '1', '0', None, '2020-05-01', 'low')
    """
    try:
        number = Decimal(text)
    except ArithmeticError:
        return _day(text) or text
    if number.is_nan():
        return None
    return str(number.normalize(EXACT)) if number else "0"


def _day(text: str) -> str | None:
    """A date, or a time to the microsecond; None if it is neither."""
    start = moment(text)
    return None if start is None else start.removesuffix(MIDNIGHT)


def _label(value: bool | str) -> str:
    return value if isinstance(value, str) else str(value).lower()


def cells_of(value: object, cells: Sequence[object]) -> list[object]:
    """The cells that are this value: a claim about a value that nobody has is no claim."""
    if value is None or isinstance(value, list | dict):
        raise CheckError("'value' is a text, a number, or true or false")
    found = [cell for cell in cells if same(cell, value)]
    if not found:
        raise CheckError("the claim names a value that nobody has")
    return found


def ranks(cells: Sequence[object], order: Sequence[object] | None) -> list[int]:
    """The rank of each cell: in the order that is given, or by size.

    >>> ranks(["10", "9"], None), ranks(["high", "low"], ["low", "high"])
    ([1, 0], [1, 0])
    """
    if None in cells:
        raise CheckError("a missing value has no place in an order")
    if order is not None and len(order) != len(cells):
        raise CheckError("'order' does not list every value of the sensitive column once, and no other")
    keys = _sizes(cells) if order is None else [_place(cell, order) for cell in cells]
    places = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    if order is not None and len(order) != len(places):
        raise CheckError("'order' lists a value that nobody has")
    return [places[key] for key in keys]


def _place(cell: object, order: Sequence[object]) -> tuple[float, str]:
    found = [place for place, value in enumerate(order) if same(cell, value)]
    if len(found) != 1:
        raise CheckError("'order' does not list every value of the sensitive column once")
    return float(found[0]), ""


def _sizes(cells: Sequence[object]) -> list[tuple[float, str]]:
    """Numbers by size, dates by time."""
    numbers = [_number(cell) for cell in cells]
    if all(number is not None for number in numbers):
        return [(number, "") for number in numbers if number is not None]
    moments = [moment(cell.upper() if isinstance(cell, str) else cell) for cell in cells]  # T and Z
    if any(text is None for text in moments):
        raise CheckError("the ordered distance of categories needs their order")
    return [(0.0, text) for text in moments if text is not None]


def _number(cell: object) -> float | None:
    """A cell as a number, be it written as text; None if it is none."""
    if isinstance(cell, int | float | Decimal):
        return float(cell)
    try:
        number = float(str(cell)) if isinstance(cell, str) else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None
