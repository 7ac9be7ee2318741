"""Reading a shown number back: `[17-37)`, `[..-0.5)`, `[1990-04-1995-01]`, `37`."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.data import calendar
from sfumato.data.schema import Calendar
from sfumato.errors import SchemaError

_OPEN = ".."


@dataclass(frozen=True)
class Ends:
    """The lower and the upper end of an interval; None where it is open."""

    low: float | None
    high: float | None


def interval_ends(label: str, unit: Calendar | None = None) -> Ends | None:
    """The ends of a shown interval or number; None if the label is neither.

    >>> interval_ends("[-5--1)")
    Ends(low=-5.0, high=-1.0)
    >>> interval_ends("[..-0.5)"), interval_ends("37"), interval_ends("*")
    (Ends(low=None, high=0.5), Ends(low=37.0, high=37.0), None)
    """
    if not (label.startswith("[") and label[-1:] in (")", "]")):
        point = _bound(label, unit)
        return None if point is None else Ends(point, point)
    inner = label[1:-1]
    for at in (at for at, letter in enumerate(inner) if letter == "-"):
        low, high = inner[:at], inner[at + 1 :]
        if _reads(low, unit) and _reads(high, unit):
            return Ends(_bound(low, unit), _bound(high, unit))
    return None


def _reads(text: str, unit: Calendar | None) -> bool:
    return text == _OPEN or _bound(text, unit) is not None


def _bound(text: str, unit: Calendar | None) -> float | None:
    if text == _OPEN:
        return None
    try:
        return float(calendar.parse(text) if unit else text)
    except (ValueError, SchemaError):
        return None
