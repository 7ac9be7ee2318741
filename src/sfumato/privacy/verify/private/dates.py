"""Dates and times that were generated: their declared range, in whole calendar units, and what a column may show of it.

Dates of a day or longer units are days, each the first of its unit; those of shorter units are moments without a zone.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from sfumato.privacy.verify.fields import Form, field, one_of
from sfumato.privacy.verify.intervals import OPEN, between
from sfumato.privacy.verify.tallies import is_text
from sfumato.privacy.verify.values import FIXED, LENGTHS, after, floor
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    import polars as pl

UNIT = "calendar"
EVERY = {
    "year": "1y",
    "quarter": "1q",
    "month": "1mo",
    "week": "1w",
    "day": "1d",
    "hour": "1h",
    "minute": "1m",
    "second": "1s",
}
DAY, MOMENT = "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"


def unit_of(domain: Form) -> str:
    """The calendar unit of a domain of dates."""
    return one_of(domain, UNIT, tuple(LENGTHS))


def range_of(domain: Form, name: str) -> tuple[str, str]:
    """The first and the last unit, each in its one form; there are at least two.

    >>> range_of({"range": ["1930", "2009"], "calendar": "year"}, "birth")
    ('1930', '2009')
    """
    unit, ends = unit_of(domain), field(domain, "range", list)
    if len(ends) != 2 or any(not isinstance(end, str) or floor(end, unit) != end for end in ends):
        raise CheckError(f"the range of {name} has two ends, each written as the start of its calendar unit")
    low, high = map(str, ends)
    if not low < high or after(high, unit) is None:
        raise CheckError(f"the range of {name} has no lower end below an upper end")
    return low, high


def shown_dates(column: pl.Series, domain: Form) -> bool:
    """Starts of calendar units in the range, days or moments as the unit asks."""
    import polars as pl

    unit, (low, high) = unit_of(domain), range_of(domain, column.name)
    days = FIXED.get(unit, FIXED["day"]) >= FIXED["day"]
    if is_text(column.dtype):
        found = column.cast(pl.String).str.to_datetime(DAY if days else MOMENT, time_unit="us", strict=False)
        if found.null_count() or (found.dt.strftime(DAY if days else MOMENT) != column.cast(pl.String)).any():
            return False
    elif column.dtype == (pl.Date if days else pl.Datetime("us")):
        found = column.cast(pl.Datetime("us"))
    else:
        return False
    first, end = (pl.Series([text]).str.to_datetime(MOMENT, time_unit="us")[0] for text in _moments(low, high, unit))
    return bool(((found >= first) & (found < end) & (found.dt.truncate(EVERY[unit]) == found)).all())


def _moments(low: str, high: str, unit: str) -> tuple[str, str]:
    """When a range begins, and when it is over, to the second."""
    begins, over = floor(low, "second"), floor(after(high, unit), "second")
    if begins is None or over is None:
        raise CheckError("a range of dates has two ends")
    return begins, over


def shown_intervals(column: pl.Series, domain: Form, known: Collection[str] | None = None) -> bool:
    """Intervals of whole units in the range, each open above and in its one form. `known`: all ends that there are."""
    unit, (low, high) = unit_of(domain), range_of(domain, column.name)
    labels, over = map(str, column.unique().to_list()), str(after(high, unit))
    return all(_is_inside(label, low, over, unit, known) for label in labels)


def _is_inside(label: str, low: str, over: str, unit: str, known: Collection[str] | None = None) -> bool:
    """
    >>> [_is_inside(text, "1930", "2010", "year") for text in ("[1930-2010)", "[1930..2010)", "[1940-2010]")]
    [True, False, False]
    """
    mark = OPEN if "-" in low else "-"
    begins, _, ends = label[1:-1].partition(mark)
    return (
        label == f"[{begins}{between(begins, ends)}{ends})"
        and floor(begins, unit) == begins
        and floor(ends, unit) == ends
        and low <= begins < ends <= over
        and (known is None or (begins in known and ends in known))
    )
