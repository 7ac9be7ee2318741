"""Wished: how parts are cut so that everybody is shown as finely as the recipe wishes, before they are cut for worth.

Along every attribute with a wish a part is cut into bands of bins: of a number neighbours, of labels neighbours in some
order of theirs. Each band goes on along the next such attribute, and what is left at the end keeps every requirement.
Cuts that follow only narrow what a part shows, so that the wish stays kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import islice, permutations

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data.axis import NumberAxis
from sfumato.data.detail import Detail, Few, Span, Width, Wish, ends_of
from sfumato.data.grouping import group_numbers
from sfumato.data.table import Codes
from sfumato.events import watched
from sfumato.maskers.detail.bands import Effort, Line, Pieces, bands, first_of
from sfumato.maskers.detail.refusal import Unkept
from sfumato.maskers.mondrian.holding import Holding, reach
from sfumato.maskers.partition.cells import Binned
from sfumato.maskers.partition.extents import Marks

MOST_ORDERS = 6
"""Orders of the wished attributes that are tried."""
Sensitive = Mapping[str, tuple[Ints, int]]
"""By column: (rows,) the code of each row, and how many codes there are."""


@dataclass(frozen=True, eq=False)
class Bands:
    """A part in bands along an attribute: the bins of each, and how it goes on along the next (None: it does not)."""

    axis: int
    bins: tuple[Ints, ...]
    below: tuple[Bands | None, ...]


@dataclass(frozen=True, eq=False)
class Held:
    """Different records of a part, in order: `bins` (different, wished), `codes` (different, measured), `counts`."""

    bins: Ints
    codes: Ints
    counts: Ints

    @classmethod
    def of(cls, bins: NDArray[np.integer], codes: Sequence[Ints]) -> Held:
        """Rows that are alike together."""
        rows = len(bins)
        groups = group_numbers([*bins.T, *codes], rows)
        counts = np.bincount(groups)
        one = np.empty(len(counts), dtype=np.int64)
        one[groups] = np.arange(rows)
        measured = np.column_stack([code[one] for code in codes]) if codes else np.empty((len(one), 0), dtype=np.int64)
        return cls(bins[one].astype(np.int64), measured, counts)

    def taken(self, rows: Ints | slice) -> Held:
        """Some of them."""
        return Held(self.bins[rows], self.codes[rows], self.counts[rows])


@dataclass(frozen=True, eq=False)
class Kept:
    """What every band must keep: so many records, and what is measured in sensitive columns."""

    holding: Holding
    sizes: tuple[int, ...]

    def __call__(self, held: Held) -> bool:
        """Whether some records together keep it."""
        if held.counts.sum() < self.holding.least:
            return False
        for at, (need, size) in enumerate(zip(self.holding.measured, self.sizes, strict=True)):
            counts = np.bincount(held.codes[:, at], weights=held.counts, minlength=size).astype(np.int64)
            if not reach(counts[None, None], need)[0]:
                return False
        return True


@dataclass(frozen=True, eq=False)
class Along:
    """A wished attribute in bins. Of numbers `first` (bins,): the first bin that may stand with each, `missing` the bin
    of those that have none; of labels `most` may stand together. `direction`: bins in the order of what guides."""

    axis: int
    first: Ints | None = None
    missing: int = -1
    most: int = 0
    direction: Ints | None = None

    def lines(self, held: Ints, sizes: Ints, least: int) -> Iterator[tuple[Ints, Line]]:
        """Ways to put the bins of a part in order, with which of them may stand together."""
        if self.first is None:
            span = np.arange(len(held))
            for order in self._orders(held, sizes):
                yield held[order], Line(np.maximum(span - self.most + 1, 0), sizes[order], least)
            return
        first = np.searchsorted(held, self.first[held])
        if held[-1] == self.missing and len(held) > 1:  # missing numbers stand alone, or with the highest
            first[-1] = first[-2]
        yield held, Line(first, sizes, least)

    def _orders(self, held: Ints, sizes: Ints) -> Iterator[Ints]:
        if self.direction is not None:
            place = {bin_: at for at, bin_ in enumerate(self.direction.tolist())}
            yield np.argsort([place[bin_] for bin_ in held.tolist()], kind="stable")
        yield np.arange(len(held))
        yield evened(sizes, self.most)


def evened(sizes: Ints, most: int) -> Ints:
    """Labels in an order in which rare ones stand beside frequent ones: as few groups of at most `most` as there can
    be, each next label, the most frequent first, to the smallest group that has room.

    >>> evened(np.array([9, 1, 2, 8]), 2).tolist()
    [0, 1, 3, 2]
    """
    groups: list[list[int]] = [[] for _ in range(-(-len(sizes) // most))]
    room = [(0, group) for group in range(len(groups))]
    for label in np.argsort(-sizes, kind="stable").tolist():
        records, group = heappop(room)
        groups[group].append(label)
        if len(groups[group]) < most:
            heappush(room, (records + int(sizes[label]), group))
    return np.array([label for group in groups for label in group], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Planner:
    """Wished attributes of a table in bins, and what every part must keep."""

    along: tuple[Along, ...]
    bins: NDArray[np.integer]
    codes: tuple[Ints, ...]
    kept: Kept

    @classmethod
    def of(
        cls, binned: Binned, detail: Detail, holding: Holding, sensitive: Sensitive, directions: Mapping[int, Ints]
    ) -> Planner:
        """The attributes of a table that have a wish. `directions`: of axes of labels, their bins in order."""
        wished = [(a, detail[axis.name]) for a, axis in enumerate(binned.axes) if axis.name in detail]
        along = tuple(_along(binned, a, wish, directions.get(a)) for a, wish in wished)
        tables = [sensitive[need.sensitive] for need in holding.measured]
        return cls(
            along,
            binned.cells.bins[:, [a for a, _ in wished]],
            tuple(codes for codes, _ in tables),
            Kept(holding, tuple(size for _, size in tables)),
        )

    def plan_all(self, parts: Iterable[NDArray[np.int32]]) -> list[Bands]:
        """How each of some parts is cut, of which the rows are given."""
        return [self.plan(rows) for rows in watched(list(parts))]

    def plan(self, rows: NDArray[np.int32]) -> Bands:
        """How a part of these rows is cut. Wished attributes are tried in several orders, the given one first."""
        held = Held.of(self.bins[rows], [codes[rows] for codes in self.codes])
        for order in islice(permutations(range(len(self.along))), MOST_ORDERS):
            found = self._planned(held, order, Effort())
            if found is not None:
                return found
        raise Unkept

    def _planned(self, held: Held, order: Sequence[int], effort: Effort) -> Bands | None:
        """Bands along the first of some attributes whose records can be cut along the others."""
        column, along = held.bins[:, order[0]], self.along[order[0]]
        present, place = np.unique(column, return_inverse=True)
        sizes = np.bincount(place, weights=held.counts).astype(np.int64)
        for bins, line in along.lines(present, sizes, self.kept.holding.least):
            rank = np.empty(len(present), dtype=np.int64)
            rank[np.searchsorted(present, bins)] = np.arange(len(bins))
            stand = np.argsort(rank[place], kind="stable")
            ends = np.searchsorted(rank[place][stand], np.arange(len(bins) + 1))
            one = _Along(self, held.taken(stand), ends, order[1:], effort)
            found = bands(line, one.holds, effort)
            if found is not None:
                starts = [0, *found[:-1]]
                below = tuple(one.below[pair] for pair in zip(starts, found, strict=True))
                parts = tuple(bins[first:end] for first, end in zip(starts, found, strict=True))
                return Bands(along.axis, parts, below)
        return None

    def goes_on(self, held: Held, order: Sequence[int], effort: Effort) -> tuple[bool, Bands | None]:
        """Whether records can stand in one band, and how they are cut along the attributes that are left."""
        if not order:
            return self.kept(held), None
        found = self._planned(held, order, effort)
        return found is not None, found


class _Along:
    """Owns what was found of bands along one attribute: how each of those that hold goes on."""

    def __init__(self, planner: Planner, held: Held, ends: Ints, order: Sequence[int], effort: Effort) -> None:
        self._planner, self._held, self._ends, self._order, self._effort = planner, held, ends, order, effort
        self.below: dict[tuple[int, int], Bands | None] = {}

    def holds(self, first: int, end: int) -> bool:
        """Whether the bins from the first to before the second can stand together."""
        inside = self._held.taken(slice(self._ends[first], self._ends[end]))
        able, below = self._planner.goes_on(inside, self._order, self._effort)
        if able:
            self.below[first, end] = below
        return able


def _along(binned: Binned, a: int, wish: Wish, direction: Ints | None) -> Along:
    marks = binned.marks[a]
    if isinstance(wish, Few):
        return Along(a, most=wish.most, direction=direction)
    if marks is None:
        raise TypeError("a width is wished of a number")
    return Along(a, first=_first(marks, binned.bin_of[a], wish), missing=_missing(marks, binned.bin_of[a]))


def _missing(marks: Marks, bin_of: Ints) -> int:
    return int(bin_of[-1]) if marks.axis.missing else -1


def _first(marks: Marks, bin_of: Ints, wish: Width | Span) -> Ints:
    """(bins,): the first bin that may stand with each; missing numbers may stand with any."""
    numbers = bin_of[: len(marks.piece_of)]
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    low, high = ends_of(marks.axis.attribute)
    begins = [marks.begin(int(marks.piece_of[at])) for at in starts]
    ends = [marks.end(int(marks.piece_of[at]) - 1) for at in starts]
    lows = [low, *(begin for begin in begins[1:] if begin is not None)]
    found = first_of(lows, [*(end for end in ends[1:] if end is not None), high], wish)
    return np.append(found, len(found)) if marks.axis.missing else found


def band_starts(axis: NumberAxis, places: Codes, wish: Wish, kept: Kept, codes: Sequence[Ints]) -> list[int]:
    """Positions with which the bands of the whole table begin, the lowest left out; none where there is no way.

    Where bands are known before numbers are joined to pieces, no piece stands across two of them.
    """
    if isinstance(wish, Few):
        return []
    numbers = len(axis.numbers)
    pieces = Pieces.of(axis, axis.held, wish, least=kept.holding.least)
    held = Held.of(places[:, None], codes)
    held = held.taken(slice(0, int(np.searchsorted(held.bins[:, 0], numbers))))  # without missing ones
    ends = np.append(np.searchsorted(held.bins[:, 0], pieces.starts), len(held.counts))
    found = bands(pieces.line, lambda first, end: kept(held.taken(slice(ends[first], ends[end]))), Effort())
    return [] if found is None else [int(pieces.starts[end]) for end in found[:-1]]
