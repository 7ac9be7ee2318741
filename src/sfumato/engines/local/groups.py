"""The rows of one quasi-identifier in group order, torn further apart by every refinement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sfumato.counting import UNTOUCHED, Refinement
from sfumato.engines.local import kernels
from sfumato.engines.local.attributes import AttributeState
from sfumato.engines.local.compress import Compressed
from sfumato.engines.local.levels import Levels
from sfumato.engines.local.rows import Chosen, Inside, Rows
from sfumato.engines.local.sizes import Sizes

Ints = NDArray[np.int64]
Job = Callable[[], None]
Run = Callable[[Iterable[Job]], None]
Tally = Sizes | Levels


class Groups:
    """Owns rows in group order, and hands the groups that are new to its tally."""

    def __init__(self, rows: Compressed, on: tuple[int, ...], states: Sequence[AttributeState], tally: Tally) -> None:
        codes = np.empty(0, dtype=np.uint8) if rows.codes is None else rows.codes
        self._rows = Rows(dict(zip(on, rows.columns, strict=True)), rows.weights, codes)
        self._states, self.tally = states, tally
        self._starts: Ints = np.array([0], dtype=np.int64)
        self._ends: Ints = np.array([rows.rows], dtype=np.int64)
        self._fresh: NDArray[np.bool_] = np.array([True])
        self.touched = 0
        self._target: NDArray[np.uint32] = np.empty(rows.rows, dtype=np.uint32)
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
            partial(self.tally.count, self._rows, attribute, self._states[attribute],
                    Chosen(starts, ends, self._states[attribute].asked))
            for attribute in self._rows.columns
        ]  # fmt: skip

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
            for start, stop in zip(self._starts[hit], self._ends[hit], strict=True):
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
