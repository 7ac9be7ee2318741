"""Bins that are declared: the cut points of a number's range, at each of which a bin begins.

An end of the range that is a cut point, too, is a bin of its own: zero, where an amount may be none, or the end at
which everything beyond stands. Cut points are declared, so they are public, as the range is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from sfumato.errors import SchemaError

MOST_CUTS = 255
EXAMPLE = "bins: [0, 1000, 5000, 20000]"


def draws_whole(number: Any) -> bool:
    """Whether whole numbers are drawn: as declared; where nothing is, ends such as 0 and 120 say so, 4.0 and 12 do not.

    >>> from sfumato.data.schema import Number
    >>> draws_whole(Number(range=(0, 120))), draws_whole(Number(range=(4.0, 12))), draws_whole(Number(range=(4.5, 12)))
    (True, False, False)
    >>> draws_whole(Number(range=(4, 12), integer=False))
    False
    """
    if number.integer is not None:
        return bool(number.integer)
    return all(isinstance(end, int) for end in number.range or ())


class Wrong(NamedTuple):
    """What is wrong with cut points: the rule, and what to do."""

    rule: str
    remedy: str


def wrong_cuts(cuts: Sequence[float], low: float, high: float, *, whole: bool) -> Wrong | None:
    """What is wrong with cut points of a range of numbers, or of calendar units, which are whole; maybe nothing.

    >>> wrong_cuts([0, 1000], 0, 200_000, whole=True) is None, wrong_cuts([0, 1], 0, 9, whole=True).remedy
    (True, 'leave the second one out')
    """
    if not all(low <= cut <= high for cut in cuts):  # of what is no number neither holds
        return Wrong("cut points lie in the declared range, whose ends may be among them", "leave others out")
    if any(not float(one) < float(other) for one, other in pairwise(cuts)):
        return Wrong("cut points increase, none of them twice", "sort them")
    if whole and not all(float(cut).is_integer() for cut in cuts):
        return Wrong("cut points of whole numbers are whole", "round them, or say integer: false to draw decimals")
    if whole and len(cuts) > 1 and cuts[0] == low and cuts[1] == low + 1:
        return Wrong("every bin holds a number: the lower end has one of its own already", "leave the second one out")
    return None


def inner_edges(cuts: Sequence[float], low: float, *, whole: bool) -> tuple[float, ...]:
    """Where bins begin behind the first; of whole numbers the bin of the lower end alone is over one later.

    >>> inner_edges([0, 1000], 0, whole=True), inner_edges([0, 1000], 0, whole=False)
    ((1.0, 1000.0), (0.0, 1000.0))
    """
    return tuple(float(cut + (whole and cut == low)) + 0.0 for cut in cuts)


def check_bins(number: Any) -> None:
    """Refuse cut points that are none. Those of dates are read where their calendar is known."""
    if number.range is None:
        raise SchemaError(
            "number",
            "bins are cut points of a declared range",
            given="bins without a range",
            remedy="declare the range as well, range: [0, 200000], or leave bins out",
        )
    several = isinstance(number.bins, list | tuple)
    cuts = tuple(number.bins) if several else ()
    if not 0 < len(cuts) <= MOST_CUTS:
        raise SchemaError(
            "number",
            f"bins is a list of 1 to {MOST_CUTS} cut points",
            given=f"{len(cuts):,} of them" if several else type(number.bins).__name__,
            remedy=f"write for example {EXAMPLE}",
        )
    if number.calendar is None and draws_whole(number) and cuts[:2] == (number.range[0], number.range[0] + 1):
        cuts = (cuts[0], *cuts[2:])  # 0 alone is over before 1
    object.__setattr__(number, "bins", cuts)
    kinds: Any = str if number.calendar is not None else (int, float)
    if not all(isinstance(cut, kinds) and not isinstance(cut, bool) for cut in cuts):
        wanted = "ISO texts such as ['1950-01-01', '1980-01-01']" if number.calendar is not None else "numbers"
        raise SchemaError(
            "number", f"the cut points of this range are {wanted}", given=repr([*cuts]), remedy=f"write {wanted}"
        )
    if number.calendar is None:
        wrong = wrong_cuts(cuts, *number.range, whole=draws_whole(number))
        if wrong is not None:
            raise SchemaError("number", wrong.rule, given=repr([*cuts]), remedy=wrong.remedy)


def powers_of_ten(number: Any) -> tuple[float, ...]:
    """Cut points for an amount of which many are 0, by its declared range alone; none where it has no use for them.

    >>> from sfumato.data.schema import Number
    >>> powers_of_ten(Number(range=(0, 200_000))), powers_of_ten(Number(range=(0.0, 50.0)))
    ((0, 10, 100, 1000, 10000, 100000), (0, 1, 10))
    >>> powers_of_ten(Number(range=(18, 90)))
    ()
    """
    if number.calendar is not None or number.range is None or number.range[0] != 0:
        return ()
    found = tuple(10**power for power in range(19) if 10**power < number.range[1])
    found = found[1:] if draws_whole(number) and found else found
    return (0, *found) if found else ()
