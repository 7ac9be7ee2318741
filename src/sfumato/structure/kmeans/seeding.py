"""Where k-means begins: records that are far from each other, or any records. The draws are those of scikit-learn."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.events import checkpoint
from sfumato.structure.kmeans import kernels
from sfumato.structure.kmeans.points import Points
from sfumato.structure.kmeans.tally import distances, each_stretch, look_ups

Init = Literal["k-means++", "random"]


def start(
    points: Points, k: int, draws: np.random.RandomState, *, init: Init = "k-means++", threads: int = 1
) -> Floats:
    """(k, dims): the centres that k-means begins with, each a record."""
    rows = far_apart(points, k, draws, threads=threads) if init == "k-means++" else _any(points, k, draws)
    return points.vectors(rows)


def _any(points: Points, k: int, draws: np.random.RandomState) -> Ints:
    """(k,): records drawn by weight, none twice."""
    return draws.choice(len(points), size=k, replace=False, p=points.weights / points.total)


def far_apart(points: Points, k: int, draws: np.random.RandomState, *, threads: int = 1) -> Ints:
    """(k,): greedy k-means++. The first is drawn by weight; for each further one a few candidates are drawn by weight
    times squared distance from those before, and that which leaves the least distance is taken."""
    trials = 2 + int(math.log(k))
    chosen = [int(draws.choice(len(points), p=points.weights / points.total))]
    far = np.full(len(points), np.inf)
    left = _nearer(points, chosen[0], far, threads)
    while len(chosen) < k:
        checkpoint()
        drawn = draws.uniform(size=trials) * left
        candidates = np.searchsorted(np.cumsum(_by_weight(points, far)), drawn).clip(max=len(points) - 1)
        chosen.append(int(candidates[_left(points, candidates, far, threads).argmin()]))
        left = _nearer(points, chosen[-1], far, threads)
    return np.array(chosen, dtype=np.int64)


def _by_weight(points: Points, far: Floats) -> Floats:
    return far * points.rows.weights if len(points.rows.weights) else far


def _left(points: Points, candidates: Ints, far: Floats, threads: int) -> Floats:
    """(candidates,): how far all records would be from the nearest, added up, with each candidate among the chosen."""
    look = look_ups(points.ground, points.vectors(candidates))

    def work(stretch: slice) -> Floats:
        rows, spent = points.rows.part(stretch), np.zeros(len(look.base))
        kernels.gather(distances(rows, points.ground, look), rows.weights, far[stretch], spent)
        return spent

    total = np.zeros(len(look.base))
    for spent in each_stretch(points, len(look.base), work, threads=threads):
        total += spent
    return total[: len(candidates)]


def _nearer(points: Points, chosen: int, far: Floats, threads: int) -> float:
    """Write into `far` how far records are from the nearest, one more being chosen, and add it up."""
    look = look_ups(points.ground, points.vectors(np.array([chosen])))

    def work(stretch: slice) -> None:
        apart = distances(points.rows.part(stretch), points.ground, look)[:, 0]
        np.minimum(far[stretch], np.maximum(apart, 0.0), out=far[stretch])

    for _ in each_stretch(points, len(look.base), work, threads=threads):
        pass
    return float(_by_weight(points, far).sum())
