"""One opened table on one machine: for every requirement its own columns, kept in group order.

Information gain needs only histograms (PAPERS.md, 002-19), so rows are touched for group sizes alone, and
only the rows of groups that the last refinement made. The smallest group that a candidate makes only falls,
so a running minimum is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sfumato.counting import UNTOUCHED, Counts, Needs, Positions, Records, Refinement
from sfumato.engines.local import kernels
from sfumato.engines.local.compress import Compressed, compress

Ints = NDArray[np.int64]
Job = Callable[[], None]
Run = Callable[[Iterable[Job]], None]

SMALL = 50_000
"""Rows below which starting threads costs more than it saves."""


class AttributeState:
    """Owns what is asked about one attribute now: which value each position holds, and its next child."""

    def __init__(self, size: int) -> None:
        self.value_at: NDArray[np.int32] = np.zeros(size, dtype=np.int32)
        self.child_at: NDArray[np.uint16] = np.zeros(size, dtype=np.uint16)
        self.asked: NDArray[np.bool_] = np.zeros(1, dtype=bool)
        self.parts: dict[int, tuple[tuple[int, int], ...]] = {}
        self.disclosing = False

    @property
    def active(self) -> bool:
        """Whether any of its values may still be refined."""
        return self.disclosing or bool(self.asked.any())

    def ask(self, candidates: Sequence[Refinement]) -> list[int]:
        """Take up this round's candidates; gives the values whose children are other than before."""
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


class Groups:
    """Owns the rows of one requirement in group order, and the smallest group of each possible refinement."""

    def __init__(self, rows: Compressed, on: tuple[int, ...], states: Sequence[AttributeState]) -> None:
        self.columns: dict[int, Positions] = dict(zip(on, rows.columns, strict=True))
        self.weights = rows.weights
        self._states = states
        self.starts: Ints = np.array([0], dtype=np.int64)
        self.ends: Ints = np.array([rows.rows], dtype=np.int64)
        self._fresh: NDArray[np.bool_] = np.array([True])
        self.touched = 0
        self._smallest = {a: np.full(1, UNTOUCHED, dtype=np.int64) for a in on}
        self._target: NDArray[np.uint32] = np.empty(rows.rows, dtype=np.uint32)
        self.anonymity = int(self._totals(self.starts, self.ends).min())

    def drop_idle(self) -> None:
        """Let go of columns that no candidate asks about any more."""
        for attribute in [a for a in self.columns if not self._states[a].active]:
            del self.columns[attribute]

    def recount(self, attribute: int, value: int) -> None:
        """Forget what was counted for a value whose children changed, and count it again in all groups."""
        if attribute not in self.columns:
            return
        self._room(attribute, value + 1)[value] = UNTOUCHED
        column, value_at = self.columns[attribute], self._states[attribute].value_at
        hit = value_at[column[self.starts]] == value
        only = np.zeros_like(self._states[attribute].asked)
        only[value] = True
        self._count_column(attribute, self.starts[hit], self.ends[hit], only)

    def jobs(self) -> list[Job]:
        """One counting job per column over the groups that are new since the last time."""
        if not self._fresh.any():
            return []
        starts, ends = self.starts[self._fresh], self.ends[self._fresh]
        self._fresh = np.zeros_like(self._fresh)
        return [
            partial(self._count_column, attribute, starts, ends, self._states[attribute].asked)
            for attribute in self.columns
        ]

    def _count_column(self, attribute: int, starts: Ints, ends: Ints, asked: NDArray[np.bool_]) -> None:
        state, column = self._states[attribute], self.columns[attribute]
        smallest = self._room(attribute, len(state.value_at) if state.disclosing else len(asked))
        if state.disclosing:
            kernels.smallest_disclosed(column, self.weights, state.value_at, starts, ends, smallest)
        else:
            kernels.smallest_children(
                column, self.weights, state.value_at, state.child_at, asked, starts, ends, smallest
            )

    def _room(self, attribute: int, wanted: int) -> Ints:
        held = self._smallest[attribute]
        if len(held) < wanted:
            more = np.full(wanted + len(held), UNTOUCHED, dtype=np.int64)
            more[: len(held)] = held
            self._smallest[attribute] = held = more
        return held

    def smallest(self, candidate: Refinement) -> int:
        """The smallest group that a candidate would make."""
        if candidate.attribute not in self.columns:
            return int(UNTOUCHED)
        at = candidate.parts[0][0] if candidate.rest else candidate.value
        return int(self._room(candidate.attribute, at + 1)[at])

    def refine(self, step: Refinement, run: Run) -> None:
        """Split every group that holds the refined value. Called before the states are refined."""
        if step.attribute not in self.columns:
            return
        state, column = self._states[step.attribute], self.columns[step.attribute]
        hit = state.value_at[column[self.starts]] == step.value
        starts, ends = self.starts[hit], self.ends[hit]
        sizes = np.zeros((len(starts), len(step.parts) + step.rest), dtype=np.int64)
        kernels.plan(column, _child_at(step, len(state.value_at)), starts, ends, sizes, self._target)
        torn = np.count_nonzero(sizes, axis=1) > 1
        self.touched += int(sizes.sum())
        self._move(starts[torn], ends[torn], run)
        self._place(hit, starts, sizes)

    def _move(self, starts: Ints, ends: Ints, run: Run) -> None:
        columns = [*self.columns.values(), *([self.weights] if len(self.weights) else [])]
        run(partial(kernels.move, column, starts, ends, self._target, np.empty_like(column)) for column in columns)

    def _place(self, hit: NDArray[np.bool_], starts: Ints, sizes: Ints) -> None:
        """Replace the split groups by their non-empty children."""
        ends = starts[:, None] + np.cumsum(sizes, axis=1)
        full = sizes > 0
        child_ends = ends[full]
        child_starts = (ends - sizes)[full]
        self.starts = np.concatenate([self.starts[~hit], child_starts])
        self.ends = np.concatenate([self.ends[~hit], child_ends])
        self._fresh = np.concatenate([self._fresh[~hit], np.ones(len(child_starts), dtype=bool)])
        if len(child_starts):
            self.anonymity = min(self.anonymity, int(self._totals(child_starts, child_ends).min()))

    def _totals(self, starts: Ints, ends: Ints) -> Ints:
        if not len(self.weights):
            return ends - starts
        totals = np.empty(len(starts), dtype=np.int64)
        kernels.add_weights(self.weights, starts, ends, totals)
        return totals

    def bad_splits(self, interval: Refinement, threshold: int) -> NDArray[np.bool_]:
        """(positions of the interval - 1,): boundaries that would leave a group too small on one side.

        A split at p leaves fewer than the threshold, but not nobody, below it exactly for
        lowest < p <= (position of the threshold-th lowest record); and likewise from above.
        """
        first, end = interval.parts[0][0], interval.parts[-1][1]
        change = np.zeros(end - first + 2, dtype=np.int64)
        if interval.attribute in self.columns:
            column, value_at = self.columns[interval.attribute], self._states[interval.attribute].value_at
            for start, stop in zip(self.starts, self.ends, strict=True):
                if value_at[column[start]] == interval.value:
                    _mark_bad(
                        change,
                        column[start:stop].astype(np.int64) - first,
                        self._weights_of(start, stop),
                        threshold,
                    )
        return np.cumsum(change)[1 : end - first] > 0

    def _weights_of(self, start: int, stop: int) -> Ints:
        return self.weights[start:stop] if len(self.weights) else np.ones(stop - start, dtype=np.int64)


def _mark_bad(change: Ints, positions: Ints, weights: Ints, threshold: int) -> None:
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


def _child_at(step: Refinement, size: int) -> NDArray[np.uint16]:
    child_at = np.full(size, len(step.parts), dtype=np.uint16)
    for child, (first, end) in enumerate(step.parts):
        child_at[first:end] = child
    return child_at


class LocalSession:
    """Owns the groups of every requirement, and the threads that count columns side by side."""

    def __init__(self, records: Records, needs: Sequence[Needs], threads: int) -> None:
        self._records, self._needs, self._threads = records, needs, threads
        self._states = [AttributeState(size) for size in records.sizes]
        self._groups = [Groups(compress(records, need.on), need.on, self._states) for need in needs]

    def histogram(self, attribute: int) -> NDArray[np.int64]:
        """(positions, classes) by one count over position and class together."""
        records = self._records
        cell = records.positions[attribute].astype(np.int64) * records.n_classes + records.classes
        flat = np.bincount(cell, weights=records.weights, minlength=records.sizes[attribute] * records.n_classes)
        return flat.astype(np.int64).reshape(-1, records.n_classes)

    def counts(self, candidates: Sequence[Refinement]) -> Counts:
        """Count the groups made since the last round; everything else stands."""
        for attribute, state in enumerate(self._states):
            for value in state.ask([c for c in candidates if c.attribute == attribute]):
                for groups in self._groups:
                    groups.recount(attribute, value)
        for groups in self._groups:
            groups.drop_idle()
        self._run(job for groups in self._groups for job in groups.jobs())
        return Counts(
            np.array([groups.anonymity for groups in self._groups], dtype=np.int64),
            np.array([[g.smallest(c) for g in self._groups] for c in candidates], dtype=np.int64).reshape(
                len(candidates), len(self._groups)
            ),
        )

    def splits(self, interval: Refinement, thresholds: Sequence[int]) -> NDArray[np.bool_]:
        """Boundaries at which every requirement would still hold."""
        bad = [g.bad_splits(interval, k) for g, k in zip(self._groups, thresholds, strict=True)]
        good: NDArray[np.bool_] = ~np.logical_or.reduce(bad)
        return good

    def refine(self, step: Refinement) -> None:
        """Split the groups that hold the value."""
        for groups in self._groups:
            groups.refine(step, self._run)
        self._states[step.attribute].refine(step)

    @property
    def touched(self) -> int:
        """Rows that refinements have had to look at so far, over all requirements."""
        return sum(groups.touched for groups in self._groups)

    def _run(self, jobs: Iterable[Job]) -> None:
        waiting = list(jobs)
        if self._threads == 1 or len(waiting) < 2 or self._records.rows < SMALL:
            for job in waiting:
                job()
            return
        with ThreadPoolExecutor(self._threads) as pool:
            for done in [pool.submit(job) for job in waiting]:
                done.result()
