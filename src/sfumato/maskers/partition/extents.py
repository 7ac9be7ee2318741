"""Extents: what a part shows of one attribute, and how that is written.

Of numbers an interval from the lowest to the highest that occur, of labels those that occur, or the label of a taxonomy
that stands above them all. An interval's ends lie between marks, pieces of the axis that hold enough records of the
table: an end tells of no single person.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from sfumato.arrays import Ints
from sfumato.data import calendar
from sfumato.data.axis import Axis, NumberAxis, TreeAxis
from sfumato.data.round_numbers import roundest
from sfumato.data.schema import Calendar
from sfumato.data.shown import OR_MISSING, SUPPRESSED, set_text
from sfumato.data.taxonomy.bare_form import to_form
from sfumato.data.taxonomy.taxonomy import Taxonomy, pruned
from sfumato.maskers.recoding.intervals import Bound, interval_labels, plain_number

CHOICE = 30
"""Records more than it needs that a piece may have, so that it ends on a round number; at most as many again."""
MOST_PIECES = 2_000
"""Pieces of an axis, at most: of a large table an end is told among more records than anything asks for."""


@dataclass(frozen=True)
class Interval:
    """Numbers from `low` to before `high`; None where it reaches to the end of the range."""

    low: float | None
    high: float | None
    missing: bool = False


@dataclass(frozen=True)
class Labels:
    """Some labels, in the order of their letters; `every`: all that there are. `above`: the label of a taxonomy that is
    shown in their place."""

    labels: tuple[str, ...]
    missing: bool = False
    every: bool = False
    above: str | None = None


Extent = Interval | Labels | None
"""None: every value is missing."""


@dataclass(frozen=True)
class Along:
    """What an attribute's extents are made of: numbers in a range, labels, or labels of a tree. `missing`: whether some
    values are. `named`: the labels of the tree that have a name where it is released (None: all of them)."""

    kind: Literal["number", "labels", "tree"]
    range: tuple[Bound, Bound] | None = None
    calendar: Calendar | None = None
    missing: bool = False
    tree: Taxonomy | None = None
    named: frozenset[str] | None = None

    @classmethod
    def of(cls, axis: Axis) -> Along:
        """An attribute's axis."""
        if isinstance(axis, NumberAxis):
            return cls("number", axis.attribute.range, axis.attribute.calendar, axis.missing)
        return cls("labels", missing=axis.missing)

    def text(self, extent: Extent) -> str | None:
        """How an extent is written; None for missing."""
        if extent is None:
            return None
        if isinstance(extent, Labels):
            several = set_text(extent.labels, missing=extent.missing)
            return SUPPRESSED if extent.every else extent.above or several
        return _interval_text(self.range, self.calendar, extent.low, extent.high, extent.missing)

    def entry(self, extent: Extent) -> list[Any] | None:
        """An extent as JSON; None where its text says all: missing, or anything."""
        if extent is None or self.text(extent) == SUPPRESSED:
            return None
        if isinstance(extent, Labels):
            shown = extent.labels if extent.above is None else (extent.above,)
            return [*shown, *([None] if extent.missing else [])]
        return [self._end(extent.low), self._end(extent.high), *([None] if extent.missing else [])]

    def extent(self, entry: Sequence[Any]) -> Extent:
        """What `entry` wrote."""
        if self.tree is not None:
            return under(self.tree, entry[0])
        if self.kind == "labels":
            return Labels(tuple(label for label in entry if label is not None), None in entry)
        low, high = (calendar.parse(end) if isinstance(end, str) else end for end in entry[:2])
        return Interval(low, high, len(entry) > 2)

    def _end(self, end: float | None) -> float | str | None:
        if end is None:
            return None
        return calendar.show(end, self.calendar) if self.calendar else plain_number(end)

    def to_json(self) -> dict[str, Any]:
        """Plain mapping."""
        if self.kind != "number":
            return {"kind": self.kind}
        ends = None if self.range is None else [b if isinstance(b, str) else plain_number(b) for b in self.range]
        return {"kind": self.kind, "range": ends, **({"calendar": self.calendar} if self.calendar else {})}

    @classmethod
    def from_json(cls, form: Mapping[str, Any], *, missing: bool, tree: Taxonomy | None = None) -> Along:
        """What `to_json` wrote, with the tree that lies beside it."""
        ends = form.get("range")
        return cls(form["kind"], None if ends is None else (ends[0], ends[1]), form.get("calendar"), missing, tree)

    def released(self, shown: Collection[str | None], needed: Collection[str]) -> Along:
        """Of its tree what leads to the labels that rows show, and to the needed ones; only these have names."""
        if self.tree is None:
            return self
        named = frozenset(label for label in (*shown, *needed) if label is not None and label in self.tree)
        return replace(self, tree=pruned(self.tree, named), named=named)

    def tree_form(self) -> dict[str, Any] | None:
        """Its tree as a release tells of it; None without one."""
        return None if self.tree is None else to_form(self.tree, self.named)


@lru_cache(maxsize=1 << 16, typed=True)
def _interval_text(
    ends: tuple[Bound, Bound] | None, unit: Calendar | None, low: float | None, high: float | None, missing: bool
) -> str:
    """How an interval is written, made once: it is asked for by the table, the mask, its files and their check."""
    breaks = [end for end in (low, high) if end is not None]
    if not breaks and missing:
        return SUPPRESSED
    found = interval_labels(ends, breaks, unit)[0 if low is None else 1]
    return found + OR_MISSING if missing else found


def under(tree: Taxonomy, label: str) -> Labels:
    """A label of a tree: a leaf by itself, another one above its leaves.

    >>> under(Taxonomy.from_tree({"ANY": {"South": ["Peru", "Chile"], "Cuba": None}}), "South")
    Labels(labels=('Chile', 'Peru'), missing=False, every=False, above='South')
    """
    return Labels(tuple(sorted(tree.leaves_of(label))), above=None if tree.is_leaf(label) else label)


@dataclass(frozen=True, eq=False)
class Marks:
    """The pieces of a number's axis between which intervals may end: (positions + 1,) the piece of each position.

    A piece has at least `least` records of the table, and begins where an interval may begin. `banded`: pieces that
    begin a band, which is never joined with the one before it.
    """

    axis: NumberAxis
    piece_of: Ints
    banded: frozenset[int] = frozenset()

    @classmethod
    def of(cls, axis: NumberAxis, held: Ints, *, least: float, bands: Sequence[int] = ()) -> Marks:
        """Pieces from the lowest number on; what is left at the top of a band joins its last piece.

        `bands`: positions with which bands begin that have enough records, the lowest left out.
        """
        count = len(axis.numbers)
        before = np.concatenate([[0], np.cumsum(held[:count])])
        if not bands:
            least = max(least, before[-1] / MOST_PIECES)
        starts: list[int] = []
        banded = set()
        for first, end in pairwise([0, *bands, count]):
            banded.add(len(starts))
            at: int | None = first
            while at is not None:
                starts.append(at)
                at = _next_piece(axis, before, at, end, least)
        found = np.zeros(count, dtype=np.int64)
        found[starts[1:]] = 1
        return cls(axis, np.cumsum(found), frozenset(banded))

    @cached_property
    def starts(self) -> Ints:
        """(pieces,): the position with which each piece begins."""
        return np.flatnonzero(np.diff(self.piece_of, prepend=-1))

    @cached_property
    def _ends(self) -> dict[int, tuple[float, float]]:
        return {}

    def begin(self, piece: int) -> float | None:
        """Where an interval begins that begins with a piece; None for the first one, and past the last."""
        return self._at(piece)[1]

    def end(self, piece: int) -> float | None:
        """Where an interval ends that ends with a piece; None for the last one."""
        return self._at(piece + 1)[0]

    def _at(self, piece: int) -> tuple[float | None, float | None]:
        """Where intervals before a piece end, and those with it begin."""
        if piece <= 0 or piece >= len(self.starts):
            return None, None
        if piece not in self._ends:
            at = int(self.starts[piece])
            self._ends[piece] = (self.axis.close(at), self.axis.end(at))
        return self._ends[piece]


def _next_piece(axis: NumberAxis, before: Ints, first: int, end: int, least: float) -> int | None:
    """The position with which the next piece begins, of those before `end`; None where this one is the last.

    `before` (positions + 1,): records below each. Both pieces have enough, and this one a few more than it needs:
    of the places where it may end that on the roundest number is taken. If there were no choice, where it ends would
    nearly tell the numbers of those two people who are next to it.
    """
    some = least + min(least, CHOICE)
    low, last = np.searchsorted(before, [before[first] + least, before[first] + some]).tolist()
    while low < end and not axis.separable[low]:
        low += 1
    room = int(np.searchsorted(before, before[end] - least, side="right"))
    high = min(max(low + 1, last), room, end)
    if low >= high:
        return None
    if high - low == 1 or axis.attribute.calendar is not None:
        return int(low)
    number = roundest(axis.numbers[low - 1].item(), axis.numbers[high - 1].item(), free=axis.free)
    chosen = low if number is None else int(np.searchsorted(axis.numbers, number))
    return chosen if axis.separable[chosen] else int(low)


def label_names(axis: Axis) -> tuple[str, ...]:
    """The label at each position of an axis of labels, without the missing one."""
    return axis.taxonomy.leaves if isinstance(axis, TreeAxis) else axis.labels  # type: ignore[union-attr]
