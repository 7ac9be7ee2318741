"""Dates and times as numbers: microseconds since 1970 in UTC, whole calendar units, and ISO 8601 text."""

from __future__ import annotations

import re
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
_WHOLE_DATE = r"^\d{4}-\d{2}-\d{2}$"
_ZONE = r"(Z|[+-]\d{2}(:?\d{2})?)$"


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
    if calendar in ("hour", "minute", "second"):
        step = {"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000}[calendar]
        return numbers // step * step
    days = numbers // DAY
    if calendar == "week":
        return ((days + 3) // 7 * 7 - 3) * DAY  # 1970 began on a Thursday
    if calendar == "day":
        return days * DAY
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    step = {"month": 1, "quarter": 3, "year": 12}[calendar]
    first = (months // step * step).astype("datetime64[M]")
    return first.astype("datetime64[D]").astype(np.int64) * DAY


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
        return start, datetime(months // 12, months % 12 + 1, 1, tzinfo=UTC)
    moment = datetime.fromisoformat(text)
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    time = re.split(r"[Zz+]|(?<=:\d\d)-", text)[0][11:]
    lengths = {0: timedelta(days=1), 2: timedelta(hours=1), 5: timedelta(minutes=1), 8: timedelta(seconds=1)}
    return moment, moment + lengths.get(len(time), timedelta(microseconds=1))


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
