"""Levels: how private the least private group is, now and after each possible refinement, in several measures.

Groups are counted by value into histograms, a chunk of groups at a time, and measured chunk by chunk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.counting import UNTOUCHED, Measure
from sfumato.engines.local import kernels
from sfumato.engines.local.attributes import AttributeState
from sfumato.engines.local.rows import Chosen, Inside, Rows
from sfumato.engines.local.sizes import Sizes

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

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
            kernels.count_children(column, rows.codes, rows.weights, state.child_at, starts[part], ends[part],
                                   offsets, counts)  # fmt: skip
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
            made = kernels.count_positions(column, rows.codes, rows.weights, starts[part], ends[part],
                                           np.full(size, -1), counts, about)  # fmt: skip
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
        before = int(upto[first - 1]) if first else 0
        end = max(int(np.searchsorted(upto, before + MOST_CELLS, side="right")), first + 1)
        yield slice(first, end)
        first = end
