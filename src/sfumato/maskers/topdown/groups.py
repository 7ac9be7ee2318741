"""The groups of a search: for every quasi-identifier its tuples, kept in group order.

Information gain needs only histograms (PAPERS.md, 002-19), so tuples are touched for groups alone, and
only those of groups that the last refinement made. The smallest group that a candidate makes only falls,
as does what its groups measure, so running minima are exact.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.counting import Engine, Measure, Needs, Records, Tuples
from sfumato.errors import Stopped
from sfumato.events import checkpoint, watched
from sfumato.maskers.topdown import kernels
from sfumato.maskers.topdown.refinement import UNTOUCHED, Minima, Refinement
from sfumato.maskers.topdown.tallies import AttributeState, Chosen, Inside, Levels, Rows, Sizes

Job = Callable[[], None]
Run = Callable[[Iterable[Job]], None]
Tally = Sizes | Levels


class Groups:
    """Owns rows in group order, and hands the groups that are new to its tally."""

    def __init__(self, tuples: Tuples, on: tuple[int, ...], states: Sequence[AttributeState], tally: Tally) -> None:
        codes = np.empty(0, dtype=np.uint8) if tuples.codes is None else tuples.codes
        self._rows = Rows(dict(zip(on, tuples.columns, strict=True)), tuples.counts, codes)
        self._states, self.tally = states, tally
        self._starts: Ints = np.array([0], dtype=np.int64)
        self._ends: Ints = np.array([len(tuples)], dtype=np.int64)
        self._fresh: NDArray[np.bool_] = np.array([True])
        self.touched = 0
        self._target: NDArray[np.uint32] = np.empty(len(tuples), dtype=np.uint32)
        tally.take_note(self._rows, Chosen(self._starts, self._ends, np.zeros(0, dtype=bool)))

    def drop_idle(self) -> None:
        """Let go of columns that no candidate asks about any more."""
        columns = self._rows.columns
        for attribute in [a for a in columns if not self._states[a].active]:
            del columns[attribute]

    def recount(self, attribute: int, value: int) -> None:
        """Forget what was counted for a value whose children changed, and count it again in all groups."""
        if attribute not in self._rows.columns:
            return
        self.tally.forget(attribute, value)
        hit = self._holding(attribute, value)
        only = np.zeros_like(self._states[attribute].asked)
        only[value] = True
        chosen = Chosen(self._starts[hit], self._ends[hit], only)
        self.tally.count(self._rows, attribute, self._states[attribute], chosen)

    def jobs(self) -> list[Job]:
        """One counting job per column over the groups that are new since the last time."""
        if not self._fresh.any():
            return []
        starts, ends = self._starts[self._fresh], self._ends[self._fresh]
        self._fresh = np.zeros_like(self._fresh)
        return [
            partial(
                self.tally.count,
                self._rows,
                attribute,
                self._states[attribute],
                Chosen(starts, ends, self._states[attribute].asked),
            )
            for attribute in self._rows.columns
        ]

    def smallest(self, candidate: Refinement) -> int:
        """The smallest group that a candidate would make."""
        if candidate.attribute not in self._rows.columns:
            return int(UNTOUCHED)
        return self.tally.smallest(candidate.attribute, _place(candidate))

    def worst(self, candidate: Refinement, measure: int) -> float:
        """The least that a group would measure which a candidate would make."""
        if candidate.attribute not in self._rows.columns or not isinstance(self.tally, Levels):
            return float("inf")
        return self.tally.worst(candidate.attribute, _place(candidate), measure)

    def refine(self, step: Refinement, run: Run) -> None:
        """Split every group that holds the refined value. Called before the states are refined."""
        if step.attribute not in self._rows.columns:
            return
        column = self._rows.columns[step.attribute]
        hit = self._holding(step.attribute, step.value)
        starts, ends = self._starts[hit], self._ends[hit]
        sizes = np.zeros((len(starts), len(step.parts) + step.rest), dtype=np.int64)
        child_at = _child_at(step, len(self._states[step.attribute].value_at))
        kernels.plan(column, child_at, starts, ends, sizes, self._target)
        torn = np.count_nonzero(sizes, axis=1) > 1
        self.touched += int(sizes.sum())
        self._move(starts[torn], ends[torn], run)
        self._place(hit, starts, sizes)

    def _holding(self, attribute: int, value: int) -> NDArray[np.bool_]:
        """(groups,): which hold a value of an attribute."""
        found: NDArray[np.bool_] = (
            self._states[attribute].value_at[self._rows.columns[attribute][self._starts]] == value
        )
        return found

    def _move(self, starts: Ints, ends: Ints, run: Run) -> None:
        others = [column for column in (self._rows.weights, self._rows.codes) if len(column)]
        columns = [*self._rows.columns.values(), *others]
        run(partial(kernels.move, column, starts, ends, self._target, np.empty_like(column)) for column in columns)

    def _place(self, hit: NDArray[np.bool_], starts: Ints, sizes: Ints) -> None:
        """Replace the split groups by their non-empty children."""
        ends = starts[:, None] + np.cumsum(sizes, axis=1)
        full = sizes > 0
        child_ends = ends[full]
        child_starts = (ends - sizes)[full]
        self._starts = np.concatenate([self._starts[~hit], child_starts])
        self._ends = np.concatenate([self._ends[~hit], child_ends])
        self._fresh = np.concatenate([self._fresh[~hit], np.ones(len(child_starts), dtype=bool)])
        if len(child_starts):
            self.tally.take_note(self._rows, Chosen(child_starts, child_ends, np.zeros(0, dtype=bool)))

    def bad_splits(self, interval: Refinement, thresholds: Sequence[float]) -> NDArray[np.bool_]:
        """(positions of the interval - 1,): boundaries that would leave a group below a threshold on one side."""
        first, end = interval.parts[0][0], interval.parts[-1][1]
        change = np.zeros(end - first + 2, dtype=np.int64)
        if interval.attribute in self._rows.columns:
            hit = self._holding(interval.attribute, interval.value)
            for start, stop in watched(zip(self._starts[hit], self._ends[hit], strict=True)):
                self.tally.mark_bad(change, self._inside(interval.attribute, first, slice(start, stop)), thresholds)
        return np.cumsum(change)[1 : end - first] > 0

    def _inside(self, attribute: int, first: int, part: slice) -> Inside:
        rows = self._rows
        weights = rows.weights[part] if len(rows.weights) else np.ones(part.stop - part.start, dtype=np.int64)
        return Inside(rows.columns[attribute][part].astype(np.int64) - first, weights, rows.codes[part])


def _place(candidate: Refinement) -> int:
    """Where a candidate's minimum stands: at its value, or at the position that is disclosed."""
    return candidate.parts[0][0] if candidate.rest else candidate.value


def _child_at(step: Refinement, size: int) -> NDArray[np.uint16]:
    child_at = np.full(size, len(step.parts), dtype=np.uint16)
    for child, (first, end) in enumerate(step.parts):
        child_at[first:end] = child
    return child_at


SMALL = 50_000
"""Tuples below which starting threads costs more than it saves."""


@dataclass(frozen=True)
class Shared:
    """What is counted for some requirements: `asked` are their numbers, each with its measure.

    Where all of them count records alone there are no measures.
    """

    need: Needs
    asked: list[int]
    measures: list[Measure]


def share(needs: Sequence[Needs]) -> list[Shared]:
    """Requirements that count the same attributes by the same values, in the order in which they are first met.

    Those that count records alone go with any other on the same attributes, as group sizes are counted anyway.

    >>> three = share([Needs((0, 1)), Needs((1, 0), by=0, measure=records), Needs((1,))])
    >>> [one.asked for one in three]
    [[1, 0], [2]]
    """
    found: dict[Needs, Shared] = {}
    for number, need in sorted(enumerate(needs), key=lambda one: one[1].measure is None):
        same = replace(need, on=tuple(sorted(need.on)), measure=None)
        if need.measure is None:
            alone = Needs(same.on)
            same = next((other for other in found if replace(other, by=None) == alone), alone)
        one = found.setdefault(same, Shared(same, [], []))
        one.asked.append(number)
        if need.measure is not None or one.measures:
            one.measures.append(need.measure or records)
    return list(found.values())


def records(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """How many records a group has."""
    return np.asarray(counts.sum(axis=1), dtype=np.float64)


def open_groups(
    engine: Engine, records: Records, needs: Sequence[Needs], *, waiting: Sequence[int] = ()
) -> GroupSession:
    """Ask for the tuples of every requirement, each once, and begin with the most masked state.

    `waiting`: attributes that are refined only after others, and must be kept until then.
    """
    shared = share(needs)
    session = GroupSession(records.sizes, shared, [engine.tuples(records, one.need) for one in shared])
    session.wait(waiting)
    return session


class GroupSession:
    """Owns the groups of every quasi-identifier, and the threads that count columns side by side."""

    def __init__(self, sizes: Sequence[int], shared: Sequence[Shared], tuples: Sequence[Tuples]) -> None:
        self._states = [AttributeState(size) for size in sizes]
        self._needs = sum(len(one.asked) for one in shared)
        self._rows = max((len(of) for of in tuples), default=0)
        self._shared = shared
        self._groups = [self._opened(one, of) for one, of in zip(shared, tuples, strict=True)]

    def _opened(self, one: Shared, tuples: Tuples) -> Groups:
        checkpoint()
        on = one.need.on
        levels = Levels(on, tuples.values, one.measures, people=one.need.population is not None)
        return Groups(tuples, on, self._states, levels if one.measures else Sizes(on))

    def wait(self, attributes: Sequence[int]) -> None:
        """Keep these until they are asked about."""
        for attribute in attributes:
            self._states[attribute].waiting = True

    def minima(self, candidates: Sequence[Refinement]) -> Minima:
        """Count the groups made since the last round; everything else stands."""
        for attribute, state in enumerate(self._states):
            for value in state.ask([c for c in candidates if c.attribute == attribute]):
                checkpoint()
                for groups in self._groups:
                    groups.recount(attribute, value)
        for groups in self._groups:
            groups.drop_idle()
        self._run(job for groups in self._groups for job in groups.jobs())
        return self._answer(candidates)

    def _answer(self, candidates: Sequence[Refinement]) -> Minima:
        anonymity = np.empty(self._needs, dtype=np.int64)
        smallest = np.empty((len(candidates), self._needs), dtype=np.int64)
        for one, groups in zip(self._shared, self._groups, strict=True):
            anonymity[one.asked] = groups.tally.anonymity
            smallest[:, one.asked] = np.array([groups.smallest(c) for c in candidates], dtype=np.int64)[:, None]
        minima = Minima.of_sizes(anonymity, smallest)
        for one, groups in zip(self._shared, self._groups, strict=True):
            if isinstance(groups.tally, Levels):
                for measure, need in enumerate(one.asked):
                    minima.level[need] = groups.tally.levels[measure]
                    minima.worst[:, need] = [groups.worst(c, measure) for c in candidates]
        return minima

    def splits(self, interval: Refinement, thresholds: Sequence[float]) -> NDArray[np.bool_]:
        """Boundaries at which every requirement would still hold."""
        bad = [
            groups.bad_splits(interval, [thresholds[need] for need in one.asked])
            for one, groups in zip(self._shared, self._groups, strict=True)
        ]
        good: NDArray[np.bool_] = ~np.logical_or.reduce(bad)
        return good

    def refine(self, step: Refinement) -> None:
        """Split the groups that hold the value."""
        for groups in self._groups:
            checkpoint()
            groups.refine(step, self._run)
        self._states[step.attribute].refine(step)

    @property
    def touched(self) -> int:
        """Tuples that refinements have had to look at so far, over all quasi-identifiers."""
        return sum(groups.touched for groups in self._groups)

    def _run(self, jobs: Iterable[Job]) -> None:
        waiting = list(jobs)
        if len(waiting) < 2 or self._rows < SMALL:
            for job in waiting:
                checkpoint()
                job()
            return
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            submitted = [pool.submit(job) for job in waiting]
            try:
                for done in submitted:
                    checkpoint()
                    done.result()
            except Stopped:
                pool.shutdown(cancel_futures=True)
                raise
