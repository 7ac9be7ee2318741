"""k-medoids: every cluster is represented by one of its records.

The alternating method of Park and Jun: assign each record to its nearest medoid, make the record with the
least total distance the new medoid, repeat. The distance is the squared Euclidean one of the embedding, which is
the path distance of 003 Eq. 6 for categories. All distances are held at once, so the rows should be few.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.randomness import Seeded

Ints = NDArray[np.int64]
MOST_ROUNDS = 100


@dataclass(frozen=True, eq=False)
class Medoids:
    """The rows that represent their clusters, and the distances to them, added up."""

    medoids: Ints
    cost: float


def k_medoids(vectors: NDArray[Any], k: int, *, seed: int, n_init: int = 10) -> Medoids:
    """The best of `n_init` runs from medoids drawn far apart.

    >>> k_medoids(np.array([[0.0], [0.1], [0.2], [5.0]]), 2, seed=0).medoids.tolist()
    [1, 3]
    """
    distances = import_module("sklearn.metrics").pairwise_distances(vectors, metric="sqeuclidean")
    generator = Seeded(seed).generator()
    runs = (_alternate(distances, _spread(distances, k, generator)) for _ in range(n_init))
    return min(runs, key=lambda run: run.cost)


def _spread(distances: NDArray[Any], k: int, generator: np.random.Generator) -> Ints:
    """Rows drawn with a chance in proportion to their distance from those drawn before."""
    chosen = [int(generator.integers(len(distances)))]
    while len(chosen) < k:
        gaps = distances[:, chosen].min(axis=1).astype(np.float64)
        if gaps.sum() <= 0:
            break
        chosen.append(int(generator.choice(len(gaps), p=gaps / gaps.sum())))
    return np.array(chosen, dtype=np.int64)


def _alternate(distances: NDArray[Any], medoids: Ints) -> Medoids:
    for _ in range(MOST_ROUNDS):
        nearest = distances[:, medoids].argmin(axis=1)
        better = np.array([_middle(distances, np.flatnonzero(nearest == at)) for at in np.unique(nearest)])
        if np.array_equal(better, medoids):
            break
        medoids = better
    return Medoids(np.sort(medoids), float(distances[:, medoids].min(axis=1).sum()))


def _middle(distances: NDArray[Any], members: Ints) -> int:
    """The member with the least total distance to the others."""
    return int(members[distances[np.ix_(members, members)].sum(axis=0).argmin()])
