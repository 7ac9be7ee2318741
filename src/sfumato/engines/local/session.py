"""One opened table on one machine: for every quasi-identifier its own columns, kept in group order.

Information gain needs only histograms (PAPERS.md, 002-19), so rows are touched for groups alone, and
only the rows of groups that the last refinement made. The smallest group that a candidate makes only falls,
as does what its groups measure, so running minima are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from sfumato.counting import Counts, Needs, Records, Refinement
from sfumato.engines.local.attributes import AttributeState
from sfumato.engines.local.compress import compress
from sfumato.engines.local.groups import Groups, Job
from sfumato.engines.local.levels import Levels
from sfumato.engines.local.sharing import Shared, share
from sfumato.engines.local.sizes import Sizes

SMALL = 50_000
"""Rows below which starting threads costs more than it saves."""


class LocalSession:
    """Owns the groups of every quasi-identifier, and the threads that count columns side by side."""

    def __init__(self, records: Records, needs: Sequence[Needs], threads: int) -> None:
        self._records, self._threads = records, threads
        self._states = [AttributeState(size) for size in records.sizes]
        self._needs = len(needs)
        self._shared = share(needs)
        self._groups = [self._open(one) for one in self._shared]

    def _open(self, one: Shared) -> Groups:
        rows = compress(self._records, one.need)
        on = one.need.on
        levels = Levels(on, rows.values, one.measures, people=one.need.population is not None)
        return Groups(rows, on, self._states, levels if one.measures else Sizes(on))

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
        return self._answer(candidates)

    def _answer(self, candidates: Sequence[Refinement]) -> Counts:
        anonymity = np.empty(self._needs, dtype=np.int64)
        smallest = np.empty((len(candidates), self._needs), dtype=np.int64)
        for one, groups in zip(self._shared, self._groups, strict=True):
            anonymity[one.asked] = groups.tally.anonymity
            smallest[:, one.asked] = np.array([groups.smallest(c) for c in candidates], dtype=np.int64)[:, None]
        found = Counts.of_sizes(anonymity, smallest)
        for one, groups in zip(self._shared, self._groups, strict=True):
            if isinstance(groups.tally, Levels):
                for measure, need in enumerate(one.asked):
                    found.level[need] = groups.tally.levels[measure]
                    found.worst[:, need] = [groups.worst(c, measure) for c in candidates]
        return found

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
            groups.refine(step, self._run)
        self._states[step.attribute].refine(step)

    @property
    def touched(self) -> int:
        """Rows that refinements have had to look at so far, over all quasi-identifiers."""
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
