"""The paper's algorithm written straightforwardly in numpy: the baseline that the compiled groups are measured against.

Every round it regroups all rows for every candidate. Same questions, same answers, no cleverness.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.counting import Engine, Needs, Records
from sfumato.data.grouping import renumber
from sfumato.maskers.topdown.refinement import UNTOUCHED, Minima, Refinement


class NumpySession:
    """Owns each row's group under every requirement."""

    def __init__(self, records: Records, needs: Sequence[Needs]) -> None:
        self._records, self._needs = records, needs
        self._value_at: list[Ints] = [np.zeros(size, dtype=np.int64) for size in records.sizes]
        self._groups: list[Ints] = [np.zeros(records.rows, dtype=np.int64) for _ in needs]

    def minima(self, candidates: Sequence[Refinement]) -> Minima:
        """Group sizes after each candidate, from all rows."""
        now = np.array([np.bincount(groups).min() for groups in self._groups], dtype=np.int64)
        found = [[self._smallest(c, at) for at in range(len(self._needs))] for c in candidates]
        return Minima.of_sizes(now, np.array(found, dtype=np.int64).reshape(len(candidates), len(self._needs)))

    def _smallest(self, candidate: Refinement, need: int) -> int:
        if candidate.attribute not in self._needs[need].on:
            return int(UNTOUCHED)
        child, held = self._children(candidate)
        sizes = np.bincount(self._groups[need][held] * (len(candidate.parts) + 1) + child[held])
        sizes = sizes[sizes > 0]
        return int(sizes.min()) if len(sizes) else int(UNTOUCHED)

    def _children(self, step: Refinement) -> tuple[Ints, NDArray[np.bool_]]:
        positions = self._records.positions[step.attribute]
        child = np.full(self._records.sizes[step.attribute], len(step.parts), dtype=np.int64)
        for at, (first, end) in enumerate(step.parts):
            child[first:end] = at
        return child[positions], (self._value_at[step.attribute] == step.value)[positions]

    def splits(self, interval: Refinement, thresholds: Sequence[float]) -> NDArray[np.bool_]:
        """Not part of the papers' algorithm."""
        raise NotImplementedError

    def refine(self, step: Refinement) -> None:
        """Regroup all rows."""
        child, held = self._children(step)
        for at, need in enumerate(self._needs):
            if step.attribute in need.on:
                self._groups[at] = self._groups[at] * (len(step.parts) + 2) + np.where(held, child + 1, 0)
                renumber(self._groups[at])
        for (first, end), number in zip(step.parts, step.children, strict=False):
            self._value_at[step.attribute][first:end] = number


def open_numpy(
    engine: Engine, records: Records, needs: Sequence[Needs], *, waiting: Sequence[int] = ()
) -> NumpySession:
    """In place of `open_groups`; rows are regrouped, so no tuples are asked for and no attribute has to wait."""
    return NumpySession(records, needs)
