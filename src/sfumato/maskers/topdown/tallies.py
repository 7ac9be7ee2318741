"""Tallies: how small the smallest group is and how private the least private, now and after each possible refinement.

They look at tuples in group order, and at what is asked about each attribute at the moment. Sizes are counted alone
where nothing else is asked; else groups are counted by value into histograms and measured, a chunk of groups at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats, Ints
from sfumato.counting import Measure, Positions
from sfumato.events import checkpoint
from sfumato.maskers.topdown import kernels
from sfumato.maskers.topdown.refinement import UNTOUCHED, Refinement


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one requirement: positions by attribute, and weights, which are empty where every row counts one.

    `codes`: the value by which each row is counted; empty where only records are counted.
    """

    columns: dict[int, Positions]
    weights: Ints
    codes: Positions


@dataclass(frozen=True, eq=False)
class Chosen:
    """Groups to look at, rows starts[s]..ends[s], and which values of an attribute are asked about."""

    starts: Ints
    ends: Ints
    asked: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Inside:
    """One group on one attribute: positions counted from the first of an interval, weights, and codes."""

    positions: Ints
    weights: Ints
    codes: Positions


class AttributeState:
    """Owns what is asked about one attribute now: which value each position holds, and its next child."""

    def __init__(self, size: int) -> None:
        self.value_at: NDArray[np.int32] = np.zeros(size, dtype=np.int32)
        self.child_at: NDArray[np.uint16] = np.zeros(size, dtype=np.uint16)
        self.asked: NDArray[np.bool_] = np.zeros(1, dtype=bool)
        self.parts: dict[int, tuple[tuple[int, int], ...]] = {}
        self.disclosing = False
        self.waiting = False

    @property
    def active(self) -> bool:
        """Whether any of its values may still be refined, now or (`waiting`) when others have been."""
        return self.waiting or self.disclosing or bool(self.asked.any())

    def ask(self, candidates: Sequence[Refinement]) -> list[int]:
        """Take up this round's candidates; gives the values whose children are other than before."""
        self.waiting = self.waiting and not candidates
        self.disclosing = any(candidate.rest for candidate in candidates)
        highest = max((candidate.value for candidate in candidates), default=0)
        self.asked = np.zeros(max(highest + 1, int(self.value_at.max()) + 1), dtype=bool)
        changed = []
        for candidate in candidates if not self.disclosing else ():
            self.asked[candidate.value] = True
            if self.parts.get(candidate.value) != candidate.parts:
                if candidate.value in self.parts:
                    changed.append(candidate.value)
                self.parts[candidate.value] = candidate.parts
                for child, (first, end) in enumerate(candidate.parts):
                    self.child_at[first:end] = child
        return changed

    def refine(self, step: Refinement) -> None:
        """Write the children's numbers over the value's positions."""
        for (first, end), child in zip(step.parts, step.children, strict=False):
            self.value_at[first:end] = child


class Sizes:
    """Owns running minima of group sizes. They only fall, so they are exact."""

    def __init__(self, on: Sequence[int]) -> None:
        self.anonymity = int(UNTOUCHED)
        self._smallest = {attribute: np.full(1, UNTOUCHED, dtype=np.int64) for attribute in on}

    def take_note(self, rows: Rows, chosen: Chosen) -> None:
        """Groups that are there now."""
        self.anonymity = min(self.anonymity, int(self._totals(rows, chosen).min()))

    def count(self, rows: Rows, attribute: int, state: AttributeState, chosen: Chosen) -> None:
        """What refining an attribute would make of the chosen groups."""
        column = rows.columns[attribute]
        smallest = self.room(attribute, len(state.value_at) if state.disclosing else len(chosen.asked))
        if state.disclosing:
            kernels.smallest_disclosed(column, rows.weights, state.value_at, chosen.starts, chosen.ends, smallest)
        else:
            kernels.smallest_children(
                column,
                rows.weights,
                state.value_at,
                state.child_at,
                chosen.asked,
                chosen.starts,
                ends=chosen.ends,
                smallest=smallest,
            )

    def forget(self, attribute: int, value: int) -> None:
        """The value's children changed: what was counted for it is void."""
        self.room(attribute, value + 1)[value] = UNTOUCHED

    def smallest(self, attribute: int, at: int) -> int:
        """The smallest group that refining a value, or disclosing a position, would make."""
        return int(self.room(attribute, at + 1)[at])

    def room(self, attribute: int, wanted: int) -> Ints:
        """The minima of an attribute, at least so many of them."""
        held = self._smallest[attribute]
        if len(held) < wanted:
            more = np.full(wanted + len(held), UNTOUCHED, dtype=np.int64)
            more[: len(held)] = held
            self._smallest[attribute] = held = more
        return held

    def mark_bad(self, change: Ints, inside: Inside, thresholds: Sequence[float]) -> None:
        """Mark boundaries that would leave one group with too few records on a side.

        A split at p leaves fewer than the threshold, but not nobody, below it exactly for
        lowest < p <= (position of the threshold-th lowest record); and likewise from above.
        """
        for threshold in thresholds:
            _mark_bad(change, inside.positions, inside.weights, threshold)

    def _totals(self, rows: Rows, chosen: Chosen) -> Ints:
        if not len(rows.weights):
            return chosen.ends - chosen.starts
        totals = np.empty(len(chosen.starts), dtype=np.int64)
        kernels.add_weights(rows.weights, chosen.starts, chosen.ends, totals)
        return totals


def _mark_bad(change: Ints, positions: Ints, weights: Ints, threshold: float) -> None:
    order = np.argsort(positions, kind="stable")
    positions, weights = positions[order], weights[order]
    below = np.cumsum(weights)
    if below[-1] < threshold:  # the whole group is lifted or empty: no boundary can mend it
        change[positions[0] + 1] += 1
        change[positions[-1] + 1] -= 1
        return
    enough = positions[np.searchsorted(below, threshold)]
    enough_above = positions[np.searchsorted(below, below[-1] - threshold, side="right")]
    change[positions[0] + 1] += 1
    change[enough + 1] -= 1
    change[enough_above + 1] += 1
    change[positions[-1] + 1] -= 1


MOST_CELLS = 1 << 20
"""Counts that are held at a time, unless one group alone has more."""


class Levels:
    """Owns running minima of group sizes and of every measure. Measures are monotone, so they are exact.

    `people`: of two values the second counts a population, which is not part of a group's size.
    """

    def __init__(self, on: Sequence[int], values: int, measures: Sequence[Measure], *, people: bool) -> None:
        self._sizes, self._values, self._measures, self._people = Sizes(on), values, measures, people
        self.levels: Floats = np.full(len(measures), np.inf)
        self._worst = {attribute: np.full((1, len(measures)), np.inf) for attribute in on}

    @property
    def anonymity(self) -> int:
        """The smallest group now."""
        return self._sizes.anonymity

    def take_note(self, rows: Rows, chosen: Chosen) -> None:
        """Groups that are there now."""
        for part in chunks(np.full(len(chosen.starts), self._values)):
            counts = np.zeros((part.stop - part.start, self._values), dtype=np.int64)
            kernels.count_groups(rows.codes, rows.weights, chosen.starts[part], chosen.ends[part], counts)
            self.levels = np.minimum(self.levels, self._measured(counts).min(axis=0, initial=np.inf))
            self._sizes.anonymity = min(self._sizes.anonymity, int(self._records(counts).min(initial=UNTOUCHED)))

    def count(self, rows: Rows, attribute: int, state: AttributeState, chosen: Chosen) -> None:
        """What refining an attribute would make of the chosen groups."""
        if state.disclosing:
            self._count_disclosed(rows, attribute, state, chosen)
        else:
            self._count_children(rows, attribute, state, chosen)

    def _count_children(self, rows: Rows, attribute: int, state: AttributeState, chosen: Chosen) -> None:
        column = rows.columns[attribute]
        held = state.value_at[column[chosen.starts]]
        hit = chosen.asked[held]
        held, starts, ends = held[hit], chosen.starts[hit], chosen.ends[hit]
        children = np.zeros(len(chosen.asked), dtype=np.int64)
        for value in np.flatnonzero(chosen.asked):
            children[value] = len(state.parts[int(value)])
        for part in chunks(children[held] * self._values):
            offsets = np.concatenate([[0], np.cumsum(children[held[part]])])
            counts = np.zeros((offsets[-1], self._values), dtype=np.int64)
            kernels.count_children(
                column,
                rows.codes,
                rows.weights,
                state.child_at,
                starts[part],
                ends[part],
                offsets=offsets,
                counts=counts,
            )
            self._lower(attribute, np.repeat(held[part], children[held[part]]), counts)

    def _count_disclosed(self, rows: Rows, attribute: int, state: AttributeState, chosen: Chosen) -> None:
        """Each position that a group holds apart from the rest of it."""
        column, size = rows.columns[attribute], len(state.value_at)
        hit = state.value_at[column[chosen.starts]] == 0
        starts, ends = chosen.starts[hit], chosen.ends[hit]
        widths = np.minimum(ends - starts, size)
        for part in chunks(widths * self._values):
            most = int(widths[part].sum())
            counts = np.zeros((most, self._values), dtype=np.int64)
            about = np.empty((2, most), dtype=np.int64)
            made = kernels.count_positions(
                column,
                rows.codes,
                rows.weights,
                starts[part],
                ends[part],
                np.full(size, -1),
                counts=counts,
                about=about,
            )
            shown, (at, group) = counts[:made], about[:, :made]
            whole = np.add.reduceat(shown, np.flatnonzero(np.diff(group, prepend=-1)), axis=0)
            self._lower(attribute, at, shown)
            self._lower(attribute, at, whole[group] - shown)

    def _lower(self, attribute: int, at: Ints, counts: Ints) -> None:
        """Lower the minima at values, or positions, to what groups of these counts measure."""
        full = counts.any(axis=1)
        at, counts = at[full], counts[full]
        highest = int(at.max(initial=0)) + 1
        np.minimum.at(self._sizes.room(attribute, highest), at, self._records(counts))
        np.minimum.at(self._room(attribute, highest), at, self._measured(counts))

    def _records(self, counts: Ints) -> Ints:
        if not self._people:
            return np.asarray(counts.sum(axis=1), dtype=np.int64)
        return np.where(counts[:, 0] > 0, counts[:, 0], UNTOUCHED)

    def _measured(self, counts: Ints) -> Floats:
        """(groups, measures)"""
        return np.stack([measure(counts) for measure in self._measures], axis=1)

    def _room(self, attribute: int, wanted: int) -> Floats:
        held = self._worst[attribute]
        if len(held) < wanted:
            more = np.full((wanted + len(held), held.shape[1]), np.inf)
            more[: len(held)] = held
            self._worst[attribute] = held = more
        return held

    def forget(self, attribute: int, value: int) -> None:
        """The value's children changed: what was counted for it is void."""
        self._sizes.forget(attribute, value)
        self._room(attribute, value + 1)[value] = np.inf

    def smallest(self, attribute: int, at: int) -> int:
        """The smallest group that refining a value, or disclosing a position, would make."""
        return self._sizes.smallest(attribute, at)

    def worst(self, attribute: int, at: int, measure: int) -> float:
        """The least that a group would measure which refining a value, or disclosing a position, would make."""
        return float(self._room(attribute, at + 1)[at, measure])

    def mark_bad(self, change: Ints, inside: Inside, thresholds: Sequence[float]) -> None:
        """Mark boundaries that would leave one group with a side that measures too little."""
        occupied, at = np.unique(inside.positions, return_inverse=True)
        counts = np.zeros((len(occupied), self._values), dtype=np.int64)
        np.add.at(counts, (at, inside.codes), inside.weights)
        below = np.cumsum(counts, axis=0)[:-1]
        if not len(below):
            return
        least = np.minimum(self._measured(below), self._measured(counts.sum(axis=0) - below))
        bad = (least < np.array(thresholds)).any(axis=1)
        np.add.at(change, occupied[:-1][bad] + 1, 1)
        np.add.at(change, occupied[1:][bad] + 1, -1)


def chunks(cells: Ints) -> Iterator[slice]:
    """Groups in runs that have at most MOST_CELLS counts together, or are one group.

    >>> [(part.start, part.stop) for part in chunks(np.array([MOST_CELLS, 1, 1]))]
    [(0, 1), (1, 3)]
    """
    upto = np.cumsum(cells)
    first = 0
    while first < len(cells):
        checkpoint()
        before = int(upto[first - 1]) if first else 0
        end = max(int(np.searchsorted(upto, before + MOST_CELLS, side="right")), first + 1)
        yield slice(first, end)
        first = end
