"""How intervals are written: `[17-37)`, and the last one closed: `[37-90]`; see `data/shown.py` for their ends."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.data import calendar
from sfumato.data.schema import Calendar
from sfumato.data.shown import interval_text

Bound = float | str


def interval_labels(
    ends: tuple[Bound, Bound] | None, breaks: Sequence[float], unit: Calendar | None = None
) -> tuple[str, ...]:
    """One label per interval, from low to high.

    >>> interval_labels((17, 90), [37.0])
    ('[17-37)', '[37-90]')
    >>> interval_labels(None, [0.5])
    ('[*..0.5)', '[0.5..*]')
    """
    low, high = (None, None) if ends is None else (_end(ends[0]), _end(ends[1]))
    inner = [calendar.show(b, unit) if unit else show_number(b) for b in breaks]
    lower, upper = [low, *inner], [*inner, high]
    last = len(inner)
    return tuple(interval_text(a, b, closed=i == last) for i, (a, b) in enumerate(zip(lower, upper, strict=True)))


def covers(ends: tuple[Bound, Bound], unit: Calendar | None) -> tuple[float, float]:
    """The lowest and the highest number of a declared range; of dates, the starts of their calendar units."""
    low, high = ends
    if unit is None:
        return float(low), float(high)
    units = calendar.floor(np.array([calendar.parse(str(low)), calendar.parse(str(high), end=True)]), unit)
    return float(units[0]), float(units[1])


def _end(bound: Bound) -> str:
    return bound if isinstance(bound, str) else show_number(bound)


def show_number(number: float) -> str:
    """A number as short as it can be written without loss; whole numbers without a point.

    >>> show_number(37.0), show_number(0.1)
    ('37', '0.1')
    """
    return str(int(number)) if float(number).is_integer() and abs(number) < 2**63 else repr(float(number))


def plain_number(number: float) -> float:
    """The one form of a number in JSON: whole numbers without a point.

    >>> plain_number(37.0), plain_number(0.5)
    (37, 0.5)
    """
    return int(number) if float(number).is_integer() and abs(number) < 2**63 else float(number)
