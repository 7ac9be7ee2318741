"""The loop: regions are cut where that is worth most, as long as their parts keep every requirement.

Compiled loops choose the cuts of many regions at once. With requirements on sensitive columns all ways to cut them are
counted first, and measured here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sfumato.arrays import Ints, Marks
from sfumato.data.axis import Axis
from sfumato.events import checkpoint
from sfumato.maskers.mondrian import kernels
from sfumato.maskers.mondrian.extents import Extent, whole
from sfumato.maskers.mondrian.holding import Holding
from sfumato.maskers.mondrian.mask import Leaf, Node
from sfumato.maskers.mondrian.problem import (
    TREE,
    Cuts,
    Level,
    Problem,
    Rows,
    Ways,
    Work,
    cuts_for,
    level_for,
    most_parts,
    top_level,
    work_for,
)

CHUNK = 100_000
"""Records of the regions that are cut together: a search can be stopped between two such batches."""
REGION, COUNTS = 20, 20
"""A region costs as much as so many records, and a record as much as so many counts of sensitive values."""
NOT_YET = Leaf({})
"""In the place of a node until it is known what becomes of it."""


Shows = tuple[Extent, ...]
"""What a region shows, attribute by attribute."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Regions that are cut together, and what each shows."""

    level: Level
    shows: Sequence[Shows]


@dataclass(frozen=True, eq=False)
class Grown:
    """The tree of cuts: the whole table is the first node, and every node stands before those below it. A part without
    records is no node. `leaves` (rows,): the number of the leaf that each row falls into."""

    nodes: Sequence[Node]
    leaves: Ints


@dataclass(frozen=True, eq=False)
class Cutting:
    """One table in positions, ready to be cut. `sensitive`: codes (rows,) and how many there are, by column."""

    axes: Sequence[Axis]
    problem: Problem
    sensitive: Mapping[str, tuple[Rows, int]]
    holding: Holding

    def grown(self) -> Grown:
        """Cut each region by its best cut, until none is allowed."""
        rows = len(self.problem.cells.places)
        order, work = np.arange(rows, dtype=np.int32), work_for(self.problem)
        leaves = np.zeros(rows, dtype=np.int64)
        nodes: list[Node] = [NOT_YET]
        waiting = [Batch(top_level(self.problem), [tuple(whole(axis) for axis in self.axes)])]
        left = total = _ahead(waiting[0].level)
        while waiting:
            checkpoint(1 - left / total if total else None)
            batch = waiting.pop()
            cuts = cuts_for(self.problem, batch.level)
            allowed = self._allowed(order, batch.level, work)
            kernels.best_cuts(self.problem, order, batch.level, allowed=allowed, cuts=cuts, work=work)
            first, below = len(nodes), self._entered(batch, cuts, nodes)
            level = level_for(self.problem, first, len(below))
            kernels.fill_level(self.problem, order, batch.level, cuts, below=level, leaves=leaves)
            left += _ahead(level) - _ahead(batch.level)
            waiting += self._batches(Batch(level, below))
        return Grown(nodes, leaves)

    def _entered(self, batch: Batch, cuts: Cuts, nodes: list[Node]) -> list[Shows]:
        """Enter what became of each region; what those show that it was cut into, which are numbered in this order."""
        names, below = [axis.name for axis in self.axes], []
        where, first, ends = cuts.where.tolist(), cuts.first.tolist(), cuts.ends.tolist()
        numbers, chosen = batch.level.node.tolist(), cuts.attribute.tolist()
        for r, shows in enumerate(batch.shows):
            at = chosen[r]
            if at < 0:
                nodes[numbers[r]] = Leaf(dict(zip(names, [extent.label for extent in shows], strict=True)))
                continue
            cut, start = shows[at].cut(where[first[r] : first[r + 1]]), 0
            parts: list[int | None] = []
            for part, end in zip(cut.parts, ends[r], strict=False):
                parts.append(len(nodes) if end > start else None)
                if end > start:
                    nodes.append(NOT_YET)
                    below.append((*shows[:at], part, *shows[at + 1 :]))
                start = end
            nodes[numbers[r]] = cut.branch(names[at], parts)
        return below

    def _batches(self, batch: Batch) -> Iterator[Batch]:
        """The regions, some at a time."""
        level = batch.level
        weight = level.hi - level.lo + REGION
        if self.holding.measured:
            values = max(n for _, n in self.sensitive.values())
            weight = weight + self._parts(level) * values // COUNTS
        turns = np.flatnonzero(np.diff(np.cumsum(weight) // CHUNK)) + 1
        for first, end in pairwise([0, *turns.tolist(), len(weight)]):
            if end > first:
                yield Batch(Level(*(part[first:end] for part in level)), batch.shows[first:end])

    def _parts(self, level: Level) -> Ints:
        """(regions,): how many parts all ways to cut each have together, at most."""
        cells, held = self.problem.cells, (level.hi - level.lo)[:, None]
        ways = np.maximum(np.minimum(np.diff(cells.first), held), 1)
        return np.asarray(np.where(cells.kind == TREE, most_parts(self.problem.trees), 2 * ways).sum(axis=1))

    def _allowed(self, order: Rows, level: Level, work: Work) -> Marks:
        """(ways,): which keep what is asked of sensitive columns; empty if nothing is."""
        found = np.ones(0, dtype=np.bool_)
        for name, (codes, n) in self.sensitive.items():
            most = int(self._parts(level).sum())
            ways = Ways(np.empty((most, n), dtype=np.int64), np.empty(most, dtype=np.int64))
            by = np.zeros((len(work.total), n), dtype=np.int64)
            made, parts = kernels.count_ways(self.problem, order, level, codes, by=by, ways=ways, work=work)
            found = found if len(found) else np.ones(made, dtype=np.bool_)
            for need in self.holding.measured:
                if need.sensitive == name:
                    found[ways.way[:parts][~need.kept_by(ways.counts[:parts])]] = False
        return found


def _ahead(level: Level) -> float:
    """About how much work is left below some regions: the records of each as often as it can be halved."""
    sizes = level.hi - level.lo
    return float((sizes * np.log2(np.maximum(sizes, 1))).sum())
