"""What a column of numbers or dates may show: `[17-37)`, the last one closed, `[37-90]`; without a range `[*..37)`.

Two dots stand between ends of which one has a minus sign of its own or is not told: `[-5..3)`, `[1990-03..1991-01)`.
Up to format 3 a minus sign stood between any two ends, and two dots for an end that is not told. Dates are open above,
and their ends begin calendar units; up to format 4 they ended where the range was declared to.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise
from typing import NoReturn

from sfumato.privacy.verify.explained.trees import Node
from sfumato.privacy.verify.fields import Form, field, only_keys
from sfumato.privacy.verify.spelling import NOW, OR_MISSING, Spelling
from sfumato.privacy.verify.values import LENGTHS, after, cut, floor, iso, moment
from sfumato.privacy.verify.verdict import CheckError

SUPPRESSED = "*"


@dataclass(frozen=True)
class Rule:
    """Which values may be shown (None: missing), what a lifted record shows, what a raw value becomes.

    `separator`: of sets alone, what stands between two labels in a text file; `becomes` then gives the labels of the
    set in order, joined by a mark that no label has.
    """

    kind: str
    shown: frozenset[str | None]
    top: str
    becomes: Callable[[object], str | None]
    separator: str | None = None


def has_no_place() -> NoReturn:
    """A raw value that the rule cannot show."""
    raise CheckError("a raw value has no place in the recoding")


def unread(what: str) -> NoReturn:
    """A raw cell that is written as this program does not read it; whoever knows its column names it."""
    raise Unread(
        f"a raw cell is no {what}. Others are not read here: give the table with numbers and dates by type, or say "
        "sfumato verify --raw beside the holder's folder, whose recipe tells how they are written"
    )


class Unread(CheckError):
    """A raw cell is not understood, so that nothing can be said of it."""


OPEN = ".."
Place = tuple[float, str]  # a number and no text, or zero and a date's text: either sorts as it should


@dataclass(frozen=True)
class Bound:
    """An end of an interval: where it lies, and how it is written."""

    at: Place
    text: str


def discretize(form: Form, *, spelling: Spelling = NOW) -> Rule:
    """Intervals between ascending breaks inside the range.

    >>> rule = discretize({"kind": "discretize", "range": [17, 90], "breaks": [37], "missing": "apart"})
    >>> rule.becomes(36), rule.becomes(37), rule.becomes(None), rule.top
    ('[17-37)', '[37-90]', None, '*')
    """
    only_keys(form, {"kind", "range", "breaks", "missing", "calendar", "tree"}, "the rule")
    calendar = field(form, "calendar", str) if form.get("calendar") is not None else None
    missing = form.get("missing")
    if (calendar is not None and calendar not in LENGTHS) or missing not in (None, "apart", "together"):
        raise CheckError("its calendar or its rule for missing values is not understood")
    dates = calendar is not None
    ends = None if form.get("range") is None else _bounds(field(form, "range", list), dates=dates)
    breaks = _bounds(field(form, "breaks", list), dates=dates)
    _check_order(ends, breaks)
    if calendar is not None and any(len(bound.text) != LENGTHS[calendar] for bound in breaks):
        raise CheckError("its breaks are more exact than its calendar unit")
    top = labels(ends, (), calendar, spelling=spelling)[0] if missing is None else SUPPRESSED
    if missing == "together":
        return Rule("discretize", frozenset({SUPPRESSED}), top, lambda value: SUPPRESSED)
    shown, places = labels(ends, breaks, calendar, spelling=spelling), [bound.at for bound in breaks]

    def becomes(value: object) -> str | None:
        at = _date_place(value) if dates else _number_place(value)
        if at is None:
            return None if missing == "apart" else has_no_place()
        return shown[bisect_right(places, at)] if inside(at, ends) else has_no_place()

    return Rule("discretize", frozenset({*shown, *([None] if missing else [])}), top, becomes)


def nested(form: Form, tree: Sequence[Node], *, spelling: Spelling = NOW) -> None:
    """A tree of intervals: its narrowest are those between the breaks, in their order, and each other one joins those
    below it; so every break is an end of the tree, and no end of the tree is anything else."""
    unit = field(form, "calendar", str) if form.get("calendar") is not None else None
    ends = None if form.get("range") is None else _bounds(field(form, "range", list), dates=unit is not None)
    breaks = _bounds(field(form, "breaks", list), dates=unit is not None)
    held: list[tuple[int, int]] = [(0, 0)] * len(tree)
    seen = len(breaks) + 1
    for at in range(len(tree) - 1, -1, -1):  # parents stand first, and what is below each in its order
        below = tree[at].below
        if len(below) == 1:
            raise CheckError("an interval of its tree has one interval alone below it")
        held[at] = (held[below[0]][0], held[below[-1]][1]) if below else (seen - 1, seen)
        seen -= not below
    if seen != 0:
        raise CheckError("the narrowest intervals of its tree are not those between its breaks")
    for node, (first, end) in zip(tree, held, strict=True):
        own = [*breaks[max(first - 1, 0) : first], *breaks[end - 1 : end]]
        if node.label != labels(ends, own, unit, spelling=spelling)[0 if first == 0 else 1]:
            raise CheckError("an interval of its tree is not what it joins, or ends at no break")


def plain(entry: object) -> None:
    """A number in the one form that it has: whole numbers without a point."""
    if isinstance(entry, float) and entry.is_integer() and abs(entry) < 2**63:
        raise CheckError("a whole number is written with a point")


def ends_of_shown(form: Form, shown: Collection[str | None], *, spelling: Spelling) -> list[bool]:
    """Of every break, whether it is an end of an interval that is shown."""
    unit = field(form, "calendar", str) if form.get("calendar") is not None else None
    ends = None if form.get("range") is None else _bounds(field(form, "range", list), dates=unit is not None)
    breaks = _bounds(field(form, "breaks", list), dates=unit is not None)
    used = [label in shown for label in labels(ends, breaks, unit, spelling=spelling)]
    return [below or above for below, above in pairwise(used)]


def labels(
    ends: Sequence[Bound] | None, breaks: Sequence[Bound], unit: str | None = None, *, spelling: Spelling = NOW
) -> tuple[str, ...]:
    """How each interval is written, from low to high; `unit`: of dates.

    >>> labels(None, _bounds([0.5, 2.0], dates=False))
    ('[*..0.5)', '[0.5-2)', '[2..*]')
    >>> labels(_bounds(["1930", "2009"], dates=True), _bounds(["1990-07"], dates=True), "month")
    ('[1930-01..1990-07)', '[1990-07..2010-01)')
    >>> labels(None, _bounds(["1990"], dates=True), "year", spelling=Spelling(dotted=False, whole_units=False))
    ('[..-1990)', '[1990-..]')
    """
    untold = SUPPRESSED if spelling.dotted else OPEN
    whole = unit is not None and spelling.whole_units
    low, high = (untold, untold) if ends is None else _outer(ends, unit if whole else None)
    marks = [low, *(bound.text for bound in breaks), high]
    both = [f"{a}{between(a, b) if spelling.dotted else '-'}{b}" for a, b in pairwise(marks)]
    return (*(f"[{text})" for text in both[:-1]), f"[{both[-1]}{')' if whole else ']'}")


def _outer(ends: Sequence[Bound], unit: str | None) -> tuple[str, str]:
    """How the ends of a range are written: as declared, or where the first unit begins and the last one is over."""
    if unit is None:
        return ends[0].text, ends[1].text
    low, high = floor(ends[0].at[1], unit), after(ends[1].at[1], unit)
    if low is None or high is None:
        raise CheckError("its range and its breaks are ISO texts")
    return low, high


def between(low: str, high: str) -> str:
    """What stands between two ends: dots where a minus sign would leave a doubt."""
    return OPEN if "-" in low + high or SUPPRESSED in (low, high) else "-"


def bound_of(entry: object, unit: str | None) -> Bound:
    """A number in its one form, or a date as long as its calendar unit needs."""
    plain(entry)
    bound = _bounds([entry], dates=unit is not None)[0]
    if unit is not None and len(bound.text) != LENGTHS.get(unit):
        raise CheckError("a date is as exact as its calendar unit")
    return bound


def range_of(entries: object, unit: str | None) -> tuple[Bound, Bound] | None:
    """A declared range, or none."""
    if unit is not None and unit not in LENGTHS:
        raise CheckError("a calendar unit is not understood")
    if entries is None:
        return None
    for entry in entries if isinstance(entries, list) else ():
        plain(entry)
    bounds = _bounds(entries if isinstance(entries, list) else [], dates=unit is not None)
    _check_order(bounds, ())
    return bounds[0], bounds[1]


@dataclass(frozen=True)
class Shape:
    """The declared range of a column of intervals, if there is one, and the calendar unit of its dates."""

    low: float | str | None
    high: float | str | None
    calendar: str | None

    @classmethod
    def of(cls, form: Form) -> Shape:
        """As a rule or an axis has it."""
        unit = field(form, "calendar", str) if form.get("calendar") is not None else None
        bounds = range_of(form.get("range"), unit)
        if bounds is None:
            return cls(None, None, unit)
        low, high = (bound.at[1] if unit else bound.at[0] for bound in bounds)
        return cls(low, high, unit)


@lru_cache(maxsize=1 << 16)
def ends_of(label: str, *, dates: bool) -> tuple[float | str | None, float | str | None] | None:
    """The ends of an interval as it is written, None for an open one; None for what is no interval.

    >>> ends_of("[-5..-1)", dates=False), ends_of("[*..1970-04)", dates=True), ends_of("*", dates=False)
    ((-5.0, -1.0), (None, '1970-04'), None)
    >>> ends_of("[-5--1)", dates=False), ends_of("[..-1970-04)", dates=True)
    ((-5.0, -1.0), (None, '1970-04'))
    """
    text = label.removesuffix(OR_MISSING)
    inner = text[1:-1] if text.startswith("[") and text.endswith((")", "]")) else ""
    for both in _splits(inner):
        found = [_end(text, dates=dates) for text in both]
        if None not in found:
            low, high = (None if end == OPEN else end for end in found)
            return low, high
    return None


def _splits(inner: str) -> list[tuple[str, str]]:
    """In which ways two ends may be told apart; where dots stand between them, in one."""
    if OPEN in inner.strip("."):
        low, _, high = inner.partition(OPEN)
        return [(low, high)]
    return [(inner[:at], inner[at + 1 :]) for at, letter in enumerate(inner) if letter == "-"]


def _end(text: str, *, dates: bool) -> float | str | None:
    if text in (OPEN, SUPPRESSED):
        return OPEN
    if dates:
        return iso(text)
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _bounds(entries: list[object], *, dates: bool) -> list[Bound]:
    return [_date_bound(entry) if dates else _number_bound(entry) for entry in entries]


def _number_bound(entry: object) -> Bound:
    """A whole number is written without a point, another one by its shortest exact text."""
    if not isinstance(entry, int | float) or isinstance(entry, bool) or not math.isfinite(entry):
        raise CheckError("its range and its breaks are numbers")
    whole = float(entry).is_integer() and abs(entry) < 2**63
    return Bound((entry, ""), str(int(entry)) if whole else repr(float(entry)))


def _date_bound(entry: object) -> Bound:
    text = iso(entry) if isinstance(entry, str) else None
    if text is None:
        raise CheckError("its range and its breaks are ISO texts")
    return Bound((0.0, text), str(entry))


def _check_order(ends: Sequence[Bound] | None, breaks: Sequence[Bound]) -> None:
    places = [bound.at for bound in breaks]
    if any(not a < b for a, b in pairwise(places)):
        raise CheckError("its breaks do not ascend")
    if ends is None:
        return
    if len(ends) != 2 or not ends[0].at < ends[1].at:
        raise CheckError("its range has no lower end below an upper end")
    if any(not (ends[0].at < at and inside(at, ends)) for at in places):
        raise CheckError("its breaks do not lie inside its range")


def inside(at: Place, ends: Sequence[Bound] | None) -> bool:
    """Whether a place lies in the range; an upper end such as `1990` reaches to the end of that year."""
    if ends is None:
        return True
    high = ends[1].at
    return ends[0].at <= at and (at[0], cut(at[1], high[1])) <= high


def place_of(value: object, *, dates: bool) -> Place | None:
    """Where a raw number, or a raw date, lies; None if it is missing."""
    return _date_place(value) if dates else _number_place(value)


def _number_place(value: object) -> Place | None:
    """Where a raw number lies; None if it is missing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, int | float):
        return value, ""
    try:
        return float(Decimal(str(value).strip())), ""
    except ArithmeticError:
        return unread("plain number such as 1234.5")


def _date_place(value: object) -> Place | None:
    """Where a raw date lies; None if it is missing."""
    if value is None:
        return None
    text = moment(value)
    return unread("date in ISO 8601, such as 1990-03-31") if text is None else (0.0, text)
