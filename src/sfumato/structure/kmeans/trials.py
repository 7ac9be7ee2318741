"""Starts of k-means, each tried and the best kept: on all records, or on some of very many."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sfumato.arrays import Floats
from sfumato.randomness import Seeded
from sfumato.structure.kmeans.lloyd import Settled, best_of
from sfumato.structure.kmeans.points import Points

TRIED = 50_000
"""Of more records than this, starts are tried on so many draws from them."""


Begin = Callable[[Points], Floats]
"""Centres that k-means begins with."""
Settle = Callable[[Points, Floats], Settled]
"""Where it ends from given centres."""


def best_start(points: Points, starts: int, begin: Begin, settle: Settle, seed: int) -> Settled:
    """The best of several starts. Of very many records some are drawn, starts are tried on those, and the best goes on
    with all records from where it ended."""
    few = starts == 1 or len(points) <= TRIED
    tried = points if few else some_of(points, TRIED, seed)
    best = best_of(starts, lambda: settle(tried, begin(tried)))
    return best if few else settle(points, best.centres)


def some_of(points: Points, draws: int, seed: int) -> Points:
    """So many draws by weight, at even distances from one that chance decides: each record that is drawn, once, counted
    as often as it was drawn. Records that are neighbours in their order are drawn in their proportion.

    >>> from sfumato.structure.kmeans.points import Coded
    >>> codes = np.array([0, 1, 2])
    >>> points = Points.of(3, 1, coded=[Coded(codes, np.array([[0.0], [1.0], [2.0]]), np.array([0]))])
    >>> drawn = some_of(points.weighted(np.array([2.0, 1.0, 5.0])), 8, seed=0)
    >>> drawn.rows.codes.ravel().tolist(), drawn.rows.weights.tolist()
    ([0, 1, 2], [2.0, 1.0, 5.0])
    """
    ends = np.cumsum(points.weights)
    at = (np.arange(draws) + Seeded(seed).lasting().uniform()) * (ends[-1] / draws)
    rows, times = np.unique(np.searchsorted(ends, at, side="right").clip(max=len(points) - 1), return_counts=True)
    return points.take(rows).weighted(times.astype(np.float64))
