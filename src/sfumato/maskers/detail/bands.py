"""Bands: neighbours on a line that stand together, so that no band is too wide and every band keeps what is required.

The fewest bands are looked for, as they leave most room for everything else that is shown; and of these the most even.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Ints
from sfumato.data.axis import NumberAxis
from sfumato.data.detail import Span, Width, ends_of
from sfumato.events import checkpoint

Holds = Callable[[int, int], bool]
"""Whether the pieces from the first to before the second may stand together."""
MOST_PIECES = 192
"""Pieces that a number's axis has at most, unless a wish asks for finer ones."""
MOST_LOOKED_AT = 100_000
"""Pieces that are looked at, as often as it takes, before it is given up: some seconds."""


class Effort:
    """Owns how much more may be tried."""

    def __init__(self, most: int = MOST_LOOKED_AT) -> None:
        self._left = most

    def spend(self, pieces: int) -> bool:
        """Look at so many pieces; False if it was enough before."""
        checkpoint()
        able = self._left > 0
        self._left -= pieces
        return able


@dataclass(frozen=True, eq=False)
class Line:
    """Pieces in their order: (pieces,) the first with which a band may begin that ends with each, and their records.

    `least`: records that every band has.
    """

    first: Ints
    sizes: Ints
    least: int = 1


def bands(line: Line, holds: Holds, effort: Effort) -> list[int] | None:
    """Where the bands end, each one past its last piece; None if there is no way, or none was found.

    >>> pairs = Line(np.array([0, 0, 1, 2]), np.array([5, 1, 1, 5]))
    >>> bands(pairs, lambda first, end: True, Effort()), bands(pairs, lambda first, end: end - first == 1, Effort())
    ([2, 4], [1, 2, 3, 4])
    """
    refused: set[tuple[int, int]] = set()
    sure: set[tuple[int, int]] = set()
    while effort.spend(len(line.sizes)):
        found = _fewest(line, refused)
        if found is None:
            return None
        # a question may be dear: it is asked of the bands of the best way alone, and of the next best after a refusal
        wrong = len(refused)
        for pair in zip([0, *found[:-1]], found, strict=True):
            if pair not in sure:
                (sure if holds(*pair) else refused).add(pair)
        if len(refused) == wrong:
            return found
    return None


def _fewest(line: Line, refused: set[tuple[int, int]]) -> list[int] | None:
    """The fewest bands with enough records, of these the most even, without some that were refused."""
    pieces = len(line.sizes)
    up_to = np.concatenate([[0], np.cumsum(line.sizes)]).astype(np.int64)
    many, uneven, back = np.full(pieces + 1, NEVER), np.zeros(pieces + 1), np.zeros(pieces + 1, dtype=np.int64)
    many[0] = 0
    ends: dict[int, list[int]] = {}
    for start, end in refused:
        ends.setdefault(end, []).append(start)
    for end in range(1, pieces + 1):
        first = int(line.first[end - 1])
        records = up_to[end] - up_to[first:end]
        count = np.where(records >= line.least, many[first:end] + 1, NEVER)
        count[[start - first for start in ends.get(end, ())]] = NEVER
        if not len(count) or (fewest := int(count.min())) >= NEVER:
            continue
        ways = np.flatnonzero(count == fewest)
        cost = uneven[first + ways] + records[ways].astype(np.float64) ** 2
        best = int(np.argmin(cost))
        many[end], uneven[end], back[end] = fewest, cost[best], first + ways[best]
    if many[pieces] >= NEVER:
        return None
    found = [pieces]
    while back[found[-1]]:
        found.append(int(back[found[-1]]))
    return found[::-1]


NEVER = 2**40


@dataclass(frozen=True, eq=False)
class Pieces:
    """A number's axis in pieces: `starts` (pieces,) the position with which each begins, and the line that they are."""

    starts: Ints
    line: Line

    @classmethod
    def of(cls, axis: NumberAxis, held: Ints, wish: Width | Span, *, least: int) -> Pieces:
        """Positions where an interval may begin, joined where they are many; `held` (numbers,) are their records."""
        starts = _starts(axis, held, wish)
        low, high = ends_of(axis.attribute)
        lows = [low, *(axis.end(int(at)) for at in starts[1:])]
        highs = [*(axis.close(int(at)) for at in starts[1:]), high]
        return cls(starts, Line(first_of(lows, highs, wish), np.add.reduceat(held, starts), least))


def too_many(axis: NumberAxis, wish: Width | Span, records: int, least: int) -> bool:
    """Whether it takes more intervals than there are records for, of which each has some. Gaps may stay uncovered."""
    apart = np.diff(axis.numbers.astype(np.float64))
    covered = float(apart[apart <= 2 * wish.step].sum())
    return covered / (FULL * wish.step) > min(records / max(least, 1), MOST_INTERVALS)


FULL = 6.0
"""An interval is no wider than so many steps: five, and one because not all months have as many days."""
MOST_INTERVALS = 10_000
"""More are not looked for."""


def first_of(lows: Sequence[float], highs: Sequence[float], wish: Width | Span) -> Ints:
    """(pieces,): the first with which a band may begin that ends with each; the one after it, if none may."""
    found, first = [], 0
    for last, high in enumerate(highs):
        while first <= last and not wish.fits(lows[first], high):
            first += 1
        found.append(first)
    return np.array(found, dtype=np.int64)


def _starts(axis: NumberAxis, held: Ints, wish: Width | Span) -> Ints:
    able = np.flatnonzero(axis.separable)
    if len(able) < MOST_PIECES:
        return np.concatenate([[0], able]).astype(np.int64)
    share, up_to = held.sum() / MOST_PIECES, np.concatenate([[0], np.cumsum(held)])
    numbers = axis.numbers.astype(np.float64)
    found = [0]
    for at, after in zip(able.tolist(), [*able[1:].tolist(), len(numbers)], strict=True):
        wide = numbers[after - 1] - numbers[found[-1]] > wish.step
        if wide or up_to[at] - up_to[found[-1]] >= share:
            found.append(at)
    return np.array(found, dtype=np.int64)
