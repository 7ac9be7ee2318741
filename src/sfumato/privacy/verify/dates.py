"""Dates and times as ISO 8601 text in UTC, which sorts by time: `1990-03-05` lies after `1990-03`."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

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

    >>> floor("1990-05-17", "quarter"), floor("1990-03-01", "week"), floor("1990-03-01T12:30:10", "hour")
    ('1990-04', '1990-02-26', '1990-03-01T12:00')
    """
    text = moment(value)
    if text is None or unit not in LENGTHS:
        return None
    start = datetime.fromisoformat(text)
    if unit == "quarter":
        start = start.replace(month=(start.month - 1) // 3 * 3 + 1)
    elif unit == "week":
        start -= timedelta(days=start.weekday())
    elif unit == "hour":
        start = start.replace(minute=0)
    return start.isoformat(timespec="seconds")[: LENGTHS[unit]]
