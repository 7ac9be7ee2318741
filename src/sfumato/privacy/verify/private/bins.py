"""Bins that were declared, from format 8 on: where they begin, and what a column may show of them.

A bin begins at each cut point. The lower end of a range of decimals may be the first one: a bin of its own, `[0-0]`.
"""

from __future__ import annotations

from itertools import pairwise

from sfumato.privacy.verify.fields import Form, field
from sfumato.privacy.verify.private import dates
from sfumato.privacy.verify.values import after, floor
from sfumato.privacy.verify.verdict import CheckError

KEY = "bins"
MOST = 255


def cuts_of(domain: Form, name: str) -> list[float] | list[str] | None:
    """The cut points of a range, each in its one form; None where bins are equal.

    >>> cuts_of({"range": [0, 9], "integer": True, "bins": [1, 5]}, "debts")
    [1, 5]
    """
    if KEY not in domain:
        return None
    found: list[float] | list[str] = field(domain, KEY, list)
    if not 0 < len(found) <= MOST:
        raise CheckError(f"the range of {name} has 1 to {MOST} cut points")
    fits = _dated(found, domain, name) if dates.UNIT in domain else _numbers(found, domain)
    if not fits:
        raise CheckError(f"the cut points of {name} ascend in its range, each in the form of its ends")
    return found


def _numbers(found: list[float] | list[str], domain: Form) -> bool:
    whole, ends = field(domain, "integer", bool), field(domain, "range", list)
    points = [cut for cut in (*ends, *found) if type(cut) is (int if whole else float)]
    if len(ends) != 2 or len(points) != len(found) + 2:
        return False
    low, high, *cuts = points
    rising = all(one < other for one, other in pairwise(cuts)) and str(cuts[0]) != "-0.0"
    return rising and (low < cuts[0] if whole else low <= cuts[0]) and cuts[-1] <= high


def _dated(found: list[float] | list[str], domain: Form, name: str) -> bool:
    unit, (low, high) = dates.unit_of(domain), dates.range_of(domain, name)
    texts = [cut for cut in found if isinstance(cut, str) and floor(cut, unit) == cut]
    return len(texts) == len(found) and all(one < other for one, other in pairwise([low, *texts])) and texts[-1] <= high


def ends_of(domain: Form, name: str) -> set[str] | None:
    """Where intervals may begin and end, as texts; None where bins are equal."""
    cuts = cuts_of(domain, name)
    if cuts is None:
        return None
    low, high = field(domain, "range", list)
    top = after(high, dates.unit_of(domain)) if dates.UNIT in domain else high
    return {_text(end) for end in (low, *cuts, top)}


def low_alone(domain: Form, name: str) -> bool:
    """Whether the lower end of a range of decimals is a bin of its own."""
    cuts = cuts_of(domain, name)
    return cuts is not None and cuts[0] == field(domain, "range", list)[0]


def _text(end: object) -> str:
    """As it stands in an interval."""
    return str(int(end)) if isinstance(end, float) and end.is_integer() else str(end)
