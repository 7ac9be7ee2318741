"""What a shown age, or a shown year of birth, may stand for: from where to where."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from sfumato.privacy.verify.spelling import NOW, Spelling
from sfumato.privacy.verify.verdict import CheckError

_END = r"(\*|-?\d+(?:\.\d+)?)(?:-\d\d(?:-\d\d)?)?"
_INTERVAL = re.compile(rf"[\[(]{_END}(?:-|\.\.){_END}([\])])(?: or missing)?")
_RANGE = re.compile(r"(\d+(?:\.\d+)?) ?(?:-|–|to) ?(\d+(?:\.\d+)?)")
_OVER = re.compile(r"(\d+(?:\.\d+)?) ?(?:\+|and over|or over|or older|and older)")
_POINT = re.compile(r"(-?\d+(?:\.\d+)?)(?:-\d\d(?:-\d\d)?)?(?:[T ].*)?")
NOTHING = {"*", ""}


@dataclass(frozen=True)
class Span:
    """From `low` to `high`; `closed` if the upper end is within."""

    low: float
    high: float
    closed: bool

    def above(self, number: float) -> bool:
        """Whether it holds anything from this whole number on."""
        return self.high >= number if self.closed else self.high > number


def spans(texts: Iterable[object], column: str, *, spelling: Spelling = NOW) -> list[Span]:
    """What each text may stand for; a text that tells nothing has none. `spelling`: how sets were written."""
    return [span for text in texts if text is not None for span in _spans(str(text), column, spelling)]


def _spans(text: str, column: str, spelling: Spelling) -> list[Span]:
    if parts := spelling.pieces(text):
        return [span for part in parts for span in _spans(part, column, spelling)]
    if text in NOTHING:
        return []
    if found := _INTERVAL.fullmatch(text):
        low, high = (-inf if found[1] == "*" else float(found[1])), (inf if found[2] == "*" else float(found[2]))
        return [Span(low, high, found[3] == "]")]
    if found := _RANGE.fullmatch(text):
        return [Span(float(found[1]), float(found[2]), True)]
    if found := _OVER.fullmatch(text):
        return [Span(float(found[1]), inf, True)]
    if found := _POINT.fullmatch(text):
        return [Span(float(found[1]), float(found[1]), True)]
    raise CheckError(f"{column!r} shows a value that cannot be read as an age or a year")


def split_old(found: Iterable[Span], oldest: int) -> bool:
    """Whether ages above the oldest that may be told are told apart.

    >>> split_old([Span(80, 95, True), Span(90, 95, True)], 89)
    False
    >>> split_old([Span(80, 92, False), Span(92, 95, True)], 89)
    True
    """
    old = [span for span in found if span.above(oldest + 1)]
    top = max((span.high for span in old), default=inf)
    return any(span.low > oldest + 1 or span.high < top for span in old)


def split_early(found: Iterable[Span], last: int) -> bool:
    """Whether years of birth up to the last one that tells such an age are told apart."""
    early = [span for span in found if span.low <= last]
    first = min((span.low for span in early), default=-inf)
    return any(not span.above(last) or span.low > first for span in early)
