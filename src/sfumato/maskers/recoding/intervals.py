"""How intervals are written: `[17-37)`, the last one closed: `[37-90]` (ends: `data/shown.py`); trees of them.

Intervals of dates all end before their upper end, and both ends are starts of calendar units, those of the declared
range too: `[1930-01..1990-07)`, `[1990-07..2010-01)` for months from 1930 to 2009.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data import calendar
from sfumato.data.axis import Numbers
from sfumato.data.schema import Calendar
from sfumato.data.shown import interval_text

Bound = float | str
Span = tuple[float, float]
"""From where to where an interval reaches; infinite where to the end of all."""


def interval_labels(
    ends: tuple[Bound, Bound] | None, breaks: Sequence[float], unit: Calendar | None = None
) -> tuple[str, ...]:
    """One label per interval, from low to high.

    >>> interval_labels((17, 90), [37.0])
    ('[17-37)', '[37-90]')
    >>> interval_labels(None, [0.5])
    ('[*..0.5)', '[0.5..*]')
    >>> interval_labels(("1930", "2009"), [calendar.parse("1990-07")], "month")
    ('[1930-01..1990-07)', '[1990-07..2010-01)')
    """
    low, high = (None, None) if ends is None else _outer(ends, unit)
    inner = [calendar.show(b, unit) if unit else show_number(b) for b in breaks]
    lower, upper = [low, *inner], [*inner, high]
    last = len(inner) if unit is None else None
    return tuple(interval_text(a, b, closed=i == last) for i, (a, b) in enumerate(zip(lower, upper, strict=True)))


def covers(ends: tuple[Bound, Bound], unit: Calendar | None) -> tuple[float, float]:
    """The lowest and the highest number of a declared range; of dates, the starts of their calendar units."""
    low, high = ends
    if unit is None:
        return float(low), float(high)
    units = calendar.floor(np.array([calendar.parse(str(low)), calendar.parse(str(high), end=True)]), unit)
    return float(units[0]), float(units[1])


def outside(numbers: Numbers, ends: tuple[Bound, Bound] | None, unit: Calendar | None) -> NDArray[np.bool_]:
    """(numbers,): which of them lie outside a declared range; none without one, and none that is missing.

    >>> outside(np.array([16, 17, 90, 999, np.nan]), (17, 90), None).tolist()
    [True, False, False, True, False]
    """
    if ends is None:
        return np.zeros(len(numbers), dtype=bool)
    low, high = covers(ends, unit)
    return np.asarray((numbers < low) | (numbers > high), dtype=bool)


def _outer(ends: tuple[Bound, Bound], unit: Calendar | None) -> tuple[str, str]:
    """The ends of a declared range: of dates where its first unit begins, and where its last one is over."""
    if unit is None:
        return _end(ends[0]), _end(ends[1])
    low, high = covers(ends, unit)
    return calendar.show(low, unit), calendar.show(calendar.following(int(high), unit), unit)


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


def interval_label(
    ends: tuple[Bound, Bound] | None, breaks: Sequence[float], unit: Calendar | None, first: int, end: int
) -> str:
    """How the interval is written that joins the intervals between breaks from the first to before the end.

    >>> interval_label((0, 9), [5, 7], None, 1, 3)
    '[5-9]'
    """
    own = [*breaks[max(first - 1, 0) : first], *breaks[end - 1 : end]]
    return interval_labels(ends, own, unit)[0 if first == 0 else 1]


def nested_form(label: Callable[[int, int], str], count: int, inner: Collection[tuple[int, int]]) -> dict[str, Any]:
    """The tree of so many intervals as a release has it; `inner`: which neighbours each wider one joins.

    >>> nested_form(lambda first, end: f"{first}-{end}", 3, {(0, 3), (1, 3)})
    {'label': '0-3', 'below': ['0-1', {'label': '1-3', 'below': ['1-2', '2-3']}]}
    """
    begin: dict[int, list[int]] = {}
    for first, end in sorted(inner):
        if end - first > 1 and (first, end) != (0, count):
            begin.setdefault(first, []).append(end)

    def part(first: int, end: int) -> Any:
        if end - first == 1:
            return label(first, end)
        below, at = [], first
        while at < end:
            upto = begin[at].pop() if begin.get(at) else at + 1  # the widest that begins there, then what is in it
            below.append(part(at, upto))
            at = upto
        return {"label": label(first, end), "below": below}

    root = part(0, count)
    return root if isinstance(root, dict) else {"label": root, "below": []}


def levels_of(spans: Iterable[Span]) -> int:
    """How many levels a tree with these wider intervals has, the shown ones below them included.

    >>> levels_of([(0, 9), (0, 5), (5, 9), (5, 7)])
    4
    """
    above: list[Span] = []
    most = 0
    for low, high in sorted(spans, key=lambda span: (span[0], -span[1])):
        while above and above[-1][1] <= low:
            above.pop()
        above.append((low, high))
        most = max(most, len(above))
    return most + 1


def spans_of(form: Mapping[str, Any], breaks: Sequence[float]) -> tuple[Span, ...]:
    """The wider intervals of a tree as a release has it: its leaves are the intervals between the breaks, in order."""
    ends = [-math.inf, *breaks, math.inf]
    found: list[Span] = []

    def walk(part: Any, first: int) -> int:
        below = [] if isinstance(part, str) else part["below"]
        end = first
        for one in below:
            end = walk(one, end)
        if below:
            found.append((ends[first], ends[end]))
        return end if below else first + 1

    walk(form, 0)
    return tuple(found)


def exact_edges(breaks: Sequence[float], numbers: Numbers) -> Numbers:
    """Breaks of the kind of the numbers: large whole numbers compared with a break such as 36.5 would be rounded."""
    if numbers.dtype.kind == "f":
        return np.array(breaks, dtype=np.float64)
    limits = np.iinfo(numbers.dtype)
    whole = [math.ceil(number) for number in breaks]
    inside = all(limits.min <= number <= limits.max for number in whole)
    return np.array(whole, dtype=numbers.dtype if inside else object)
