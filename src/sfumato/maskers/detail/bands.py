"""Bands: neighbours on a line that stand together, so that no band is too wide and every band keeps what is required.

The fewest bands are looked for, as they leave most room for everything else that is shown; and of these the most even.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.data.axis import NumberAxis
from sfumato.data.detail import Span, Width, ends_of
from sfumato.events import checkpoint

Holds = Callable[[int, int], bool]
"""Whether the pieces from the first to before the second may stand together."""
MOST_PIECES = 192
"""Pieces that a number's axis has at most, unless a wish asks for finer ones."""
MOST_ASKED = 20_000
"""How often it is asked whether a band holds, before it is given up."""


class Effort:
    """Owns how much more may be tried."""

    def __init__(self, most: int = MOST_ASKED) -> None:
        self._left = most

    def spend(self) -> bool:
        """One more question; False if there were enough."""
        self._left -= 1
        if self._left % 256 == 0:
            checkpoint()
        return self._left >= 0


@dataclass(frozen=True, eq=False)
class Line:
    """Pieces in their order: (pieces,) the first with which a band may begin that ends with each, and their records."""

    first: Ints
    sizes: Ints


def bands(line: Line, holds: Holds, effort: Effort) -> list[int] | None:
    """Where the bands end, each one past its last piece; None if there is no way, or none was found.

    >>> pairs = Line(np.array([0, 0, 1, 2]), np.array([5, 1, 1, 5]))
    >>> bands(pairs, lambda first, end: True, Effort()), bands(pairs, lambda first, end: end - first == 1, Effort())
    ([2, 4], [1, 2, 3, 4])
    """
    up_to = np.concatenate([[0], np.cumsum(line.sizes)]).tolist()
    best: list[tuple[int, int, int] | None] = [(0, 0, 0), *([None] * len(line.sizes))]
    for end in range(1, len(best)):
        # dear questions are asked of the best way first, and no more once one holds
        for way in sorted(_ways(best, up_to, int(line.first[end - 1]), end)):
            if not effort.spend():
                return None
            if holds(way[2], end):
                best[end] = way
                break
    return _back(best)


def _ways(
    best: list[tuple[int, int, int] | None], up_to: list[int], first: int, end: int
) -> list[tuple[int, int, int]]:
    """How many bands there are up to `end`, how uneven they are, and where the last of them begins."""
    found = []
    for start in range(first, end):
        before = best[start]
        if before is not None:
            found.append((before[0] + 1, before[1] + (up_to[end] - up_to[start]) ** 2, start))
    return found


def _back(best: list[tuple[int, int, int] | None]) -> list[int] | None:
    found: list[int] = []
    end = len(best) - 1
    while end:
        way = best[end]
        if way is None:
            return None
        found.append(end)
        end = way[2]
    return found[::-1]


@dataclass(frozen=True, eq=False)
class Pieces:
    """A number's axis in pieces: `starts` (pieces,) the position with which each begins, and the line that they are."""

    starts: Ints
    line: Line

    @classmethod
    def of(cls, axis: NumberAxis, held: Ints, wish: Width | Span) -> Pieces:
        """Positions where an interval may begin, joined where they are many; `held` (numbers,) are their records."""
        starts = _starts(axis, held, wish)
        sizes = np.add.reduceat(held, starts)
        low, high = ends_of(axis.attribute)
        ends = [low, *(axis.end(int(at)) for at in starts[1:]), high]
        return cls(starts, Line(first_of(ends[:-1], ends[1:], wish), sizes))


def first_of(lows: list[float] | Floats, highs: list[float] | Floats, wish: Width | Span) -> Ints:
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
