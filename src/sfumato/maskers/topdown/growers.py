"""Growers: the one for an attribute's kind, and what it did in labels. A given tree of intervals has one of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.data.axis import MISSING, Axis, NumberAxis, TreeAxis, ValueAxis
from sfumato.data.shown import braced
from sfumato.data.taxonomy.intervals import Intervals
from sfumato.data.taxonomy.parsing import MOST_LEVELS
from sfumato.maskers.recoding.intervals import interval_labels, levels_of
from sfumato.maskers.recoding.rules import SUPPRESSED, Discretize, Generalize, Missing, Rule, Suppress
from sfumato.maskers.topdown.candidates import (
    Candidate,
    Grower,
    Histogram,
    Holds,
    NumberGrower,
    Sums,
    TreeGrower,
    ValueGrower,
    counted,
    falls,
    freed,
    places_of,
)
from sfumato.maskers.topdown.item_sets import SetAxis, SetGrower, set_cuts
from sfumato.maskers.topdown.refinement import Refinement


class IntervalGrower:
    """Owns a cut through a given tree of intervals.

    Value numbers are nodes in depth-first order, one more each where numbers are missing: 0 then stands for all, and
    the missing ones come last. A child that nobody can be in has no positions; where all are in one child, the step to
    it shows more and parts nobody, so that it is taken along.
    """

    def __init__(self, attribute: int, axis: NumberAxis, histogram: Histogram, tree: Intervals) -> None:
        self._attribute, self._axis, self._sums, self._tree = attribute, axis, Sums(histogram), tree
        self._more, self._places = int(axis.missing), places_of(axis)
        self._first = np.searchsorted(axis.numbers, [low for low, _ in tree.spans]).tolist()
        self.refined: set[int] = set()
        self.missing_apart = False
        self._open: dict[int, Candidate] = {}
        if axis.missing:
            parts = ((0, len(axis.numbers)), (len(axis.numbers), axis.size))
            gate = self._made(Refinement(attribute, 0, parts, (1, len(tree.spans) + 1)))
            below = [self._part(child) for child in self._held([*self._down(0)][-1])]
            behind = freed(self._places, self._sums, below) if below else 0.0  # what waits for it counts for it
            self._open[0] = replace(gate, freed=gate.freed + behind)
        else:
            self._offer(0)

    def _part(self, node: int) -> tuple[int, int]:
        """The positions of an interval."""
        high = self._tree.spans[node][1]
        count = len(self._axis.numbers)
        end = count if high == self._tree.ends[1] else int(np.searchsorted(self._axis.numbers, high))
        return self._first[node], end

    def _held(self, node: int) -> list[int]:
        """The children of an interval that somebody is in."""
        return [child for child in self._tree.children(node) if self._part(child)[0] < self._part(child)[1]]

    def _down(self, node: int) -> Iterator[int]:
        """An interval, and those below it as long as all are in one child."""
        yield node
        while len(held := self._held(node)) == 1:
            node = held[0]
            yield node

    def _made(self, refinement: Refinement) -> Candidate:
        parts = refinement.parts
        return counted(refinement, np.array([self._sums.of(*part) for part in parts]), falls(self._places, parts))

    def _offer(self, node: int) -> None:
        *_, split = self._down(node)
        parts = [self._part(child) for child in self._held(split)]
        if parts:
            children = tuple([*self._down(child)][-1] + self._more for child in self._held(split))
            self._open[node + self._more] = self._made(
                Refinement(self._attribute, node + self._more, tuple(parts), children)
            )

    def candidates(self) -> list[Candidate]:
        """Intervals of the cut that have others below them, from low to high."""
        return sorted(self._open.values(), key=lambda candidate: candidate.refinement.parts[0][0])

    def refine(self, step: Refinement) -> None:
        """Replace an interval by those below it, or set the missing values apart."""
        self._open.pop(step.value, None)
        if self._axis.missing and step.value == 0:
            self.missing_apart = True
            self._offer(0)
            return
        *above, split = self._down(step.value - self._more)
        self.refined.update([*above, split])
        for child in self._held(split):
            *passed, last = self._down(child)
            self.refined.update(passed)
            self._offer(last)

    def drop(self, refinement: Refinement) -> None:
        """The interval stays whole."""
        del self._open[refinement.value]

    def same(self, step: Refinement) -> Refinement:
        """Numbers are nodes: the same in every search."""
        return step

    @property
    def breaks(self) -> tuple[float, ...]:
        """Where the intervals of the cut begin, but for the lowest."""
        spans, parents = self._tree.spans, self._tree.parents
        lows = {spans[node][0] for node, parent in enumerate(parents) if parent in self.refined}
        return tuple(sorted(lows - {self._tree.ends[0]}))

    @property
    def wider(self) -> tuple[tuple[float, float], ...]:
        """The intervals above the cut, infinite at the outer ends."""
        low, high = self._tree.ends
        found = [self._tree.spans[node] for node in sorted(self.refined)]
        return tuple((-np.inf if a == low else a, np.inf if b == high else b) for a, b in found)


AnyAxis = Axis | SetAxis
"""What a search refines: one for each attribute, several for a set-valued one."""


def make_growers(axes: Sequence[AnyAxis], counted: Sequence[Histogram], holds: Holds | None) -> list[Grower]:
    """A grower for each axis; those of one set-valued attribute share its cut."""
    cuts = set_cuts(axes) if any(isinstance(axis, SetAxis) for axis in axes) else {}
    return [
        SetGrower(at, axis, counted[at], cuts[axis.name])
        if isinstance(axis, SetAxis)
        else make_grower(at, axis, counted[at], holds)
        for at, axis in enumerate(axes)
    ]


def make_grower(attribute: int, axis: Axis, histogram: Histogram, holds: Holds | None) -> Grower:
    """The grower for an axis's kind."""
    if isinstance(axis, TreeAxis):
        return TreeGrower(attribute, axis, histogram)
    if isinstance(axis, ValueAxis):
        return ValueGrower(attribute, axis, histogram)
    if axis.attribute.taxonomy is not None and (tree := axis.attribute.intervals) is not None:
        return IntervalGrower(attribute, axis, histogram, tree)
    return NumberGrower(attribute, axis, histogram, holds)


@dataclass(frozen=True)
class Names:
    """A refinement in labels."""

    value: str
    children: tuple[str, ...]


def names(axis: AnyAxis, step: Refinement) -> Names:
    """What is refined, and into what."""
    if isinstance(axis, SetAxis):
        return Names(axis.label, tuple(braced([*some]) for some in axis.combinations))
    if isinstance(axis, TreeAxis):
        labels = (*axis.taxonomy.labels, MISSING)
        return Names(labels[step.value], tuple(labels[child] for child in step.children))
    if isinstance(axis, ValueAxis):
        return Names(SUPPRESSED, ((*axis.labels, MISSING)[step.parts[0][0]], SUPPRESSED))
    if step.parts[-1][1] > len(axis.numbers):
        return Names(SUPPRESSED, (interval_labels(axis.attribute.range, (), axis.attribute.calendar)[0], MISSING))
    if axis.attribute.taxonomy is not None and (tree := axis.attribute.intervals) is not None:
        nodes = [number - axis.missing for number in (step.value, *step.children)]
        value, *children = (_span(tree, node) for node in nodes)
        return Names(value, tuple(children))
    whole = _interval(axis, step.parts[0][0], step.parts[-1][1])
    return Names(whole, tuple(_interval(axis, *part) for part in step.parts))


def _interval(axis: NumberAxis, first: int, end: int) -> str:
    count = len(axis.numbers)
    breaks = [*([axis.end(first)] if first > 0 else []), *([axis.close(end)] if end < count else [])]
    labels = interval_labels(axis.attribute.range, breaks, axis.attribute.calendar)
    return labels[0 if first == 0 else 1]


def _span(tree: Intervals, node: int) -> str:
    """How an interval of a given tree is written."""
    (low, high), (least, most) = tree.spans[node], tree.ends
    breaks = [*([low] if low > least else []), *([high] if high < most else [])]
    return interval_labels(tree.ends, breaks)[0 if low == least else 1]


def rule(axis: AnyAxis, grower: Grower, *, trees: bool = False) -> Rule:
    """What is shown of an attribute at the end of the search; `trees`: with the tree of intervals that was grown."""
    if isinstance(axis, SetAxis) and isinstance(grower, SetGrower):
        return grower.cut.rule(axis.attribute)
    if isinstance(axis, TreeAxis) and isinstance(grower, TreeGrower):
        labels = (*axis.taxonomy.labels, None)
        return Generalize(axis.taxonomy, tuple(labels[node] for node in sorted(grower.cut)))
    if isinstance(axis, ValueAxis) and isinstance(grower, ValueGrower):
        open_labels = (*axis.labels, *([None] if axis.missing else []))
        disclosed = tuple(label for at, label in enumerate(open_labels) if at not in grower.suppressed)
        return Suppress(disclosed, complete=not grower.suppressed)
    if isinstance(axis, NumberAxis) and isinstance(grower, NumberGrower):
        return _discretize(axis, grower, trees)
    if isinstance(axis, NumberAxis) and isinstance(grower, IntervalGrower):
        missing = _missing(axis, grower)
        return Discretize(axis.attribute.range, grower.breaks, missing, None, grower.wider, told=True)
    raise TypeError(f"{type(axis).__name__} does not go with {type(grower).__name__}")


def _discretize(axis: NumberAxis, grower: NumberGrower, told: bool) -> Discretize:
    breaks = tuple(sorted({end for at in grower.breaks for end in (axis.close(at), axis.end(at))}))
    wider = tuple(
        (axis.end(first) if first else -np.inf, axis.close(end) if end < len(axis.numbers) else np.inf)
        for first, end in sorted(grower.joined)
    )
    told = told and levels_of(wider) <= MOST_LEVELS
    tree = wider if told else None
    return Discretize(axis.attribute.range, breaks, _missing(axis, grower), axis.attribute.calendar, tree, told)


def _missing(axis: NumberAxis, grower: NumberGrower | IntervalGrower) -> Missing:
    return "none" if not axis.missing else "apart" if grower.missing_apart else "together"
