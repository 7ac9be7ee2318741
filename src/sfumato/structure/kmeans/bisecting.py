"""Bisecting k-means on codes: the worst cluster is split in two, again and again, as scikit-learn does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Literal

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.events import watched
from sfumato.structure.kmeans.lloyd import Settled
from sfumato.structure.kmeans.points import Points
from sfumato.structure.kmeans.tally import look_ups, settled, tally

Strategy = Literal["biggest_inertia", "largest_cluster"]
LESS = 1 - 1e-6
"""A later start is better only if it leaves less than this share of the inertia: the rest is rounding."""


@dataclass(frozen=True, eq=False)
class Leaf:
    """A cluster that may be split: its records, its centre, their squared distances from it by weight, added up, and
    how much it asks to be split."""

    rows: Ints
    centre: Floats
    spent: float
    score: float


def bisect(
    points: Points,
    k: int,
    split: Callable[[Points], Settled],
    *,
    starts: int = 1,
    strategy: Strategy = "biggest_inertia",
) -> Settled:
    """Clusters from k - 1 splits. `split` finds two in some records, from a start of its own each time.

    Fewer where the cluster that asks most has one record. "largest_cluster" goes by the weight of records.
    """
    leaves = [_root(points)]
    rounds = 0
    for _ in watched(range(k - 1)):
        at = max(range(len(leaves)), key=lambda at: (leaves[at].score, -at))
        if len(leaves[at].rows) < 2:
            break
        part = points.take(leaves[at].rows)
        found = _best(split(part) for _ in watched(range(starts)))
        leaves[at : at + 1] = [_leaf(leaves[at].rows, part, found, side, strategy) for side in (0, 1)]
        rounds += found.rounds
    labels = np.empty(len(points), dtype=np.uint16)
    for at, leaf in enumerate(leaves):
        labels[leaf.rows] = at
    spent = np.array([leaf.spent for leaf in leaves])
    return Settled(labels, np.array([leaf.centre for leaf in leaves]), spent, rounds)


def _root(points: Points) -> Leaf:
    everybody = np.zeros(len(points), dtype=np.uint16)
    centre = tally(points, everybody, 1).sums / (points.total or 1.0)
    spent = settled(points, look_ups(points.ground, centre), everybody)
    return Leaf(np.arange(len(points)), centre[0], float(spent[0]), 0.0)


def _best(runs: Iterable[Settled]) -> Settled:
    return reduce(lambda best, run: run if run.inertia < best.inertia * LESS else best, runs)


def _leaf(rows: Ints, part: Points, found: Settled, side: int, strategy: Strategy) -> Leaf:
    mine = found.labels == side
    spent = float(found.spent[side])
    return Leaf(
        rows[mine],
        found.centres[side],
        spent,
        spent if strategy == "biggest_inertia" else float(part.weights[mine].sum()),
    )
