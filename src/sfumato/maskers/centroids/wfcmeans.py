"""WF-C-means (001): c-means that learns the weight of each attribute, then merges classes below k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.maskers.centroids.nearest import nearest
from sfumato.maskers.centroids.points import Floats, Ints, Points, Sums, loss
from sfumato.randomness import Seeded

ROUNDS = 50
"""The iteration is no descent and may go in circles: it ends here at the latest."""
FLOOR = 0.01
"""An attribute without separation within classes (e_n = 0) would weigh infinitely much: Eq. 13 divides by
e_n plus this share of the attribute's whole sum of squares."""


@dataclass(frozen=True, eq=False)
class Weighted:
    """Classes of at least k (rows,), and the attributes' weights with which they were made, adding up to 1."""

    labels: Ints
    weights: Floats
    settled: bool


def wf_c_means(points: Points, k: int, *, seed: int = 0) -> Weighted:
    """The algorithm of 001, Fig. 2 and 3.

    It stops when no record changes its class; the classes of that round are merged. If that does not come
    about in `ROUNDS` rounds, the round is taken whose merged classes have the least unweighted loss.
    """
    vectors, owners = points.vectors, points.owners
    weights = np.full(int(owners.max()) + 1, 1.0 / (int(owners.max()) + 1))
    chosen = Seeded(seed).generator().choice(len(vectors), len(vectors) // k, replace=False)
    centres, before = vectors[np.sort(chosen)], np.full(len(vectors), -1, dtype=np.int64)
    best: Weighted | None = None
    for _ in range(ROUNDS):
        labels = assign(vectors, centres, weights[owners])
        found = Weighted(merge(vectors, labels, weights[owners], k), weights, bool((labels == before).all()))
        if found.settled:
            return found
        if best is None or loss(vectors, found.labels) < loss(vectors, best.labels):
            best = found
        before, centres = labels, Sums.of(vectors, labels).centres
        weights = adjust(points, labels, weights)
    assert best is not None
    return best


def assign(vectors: Floats, centres: Floats, weights: Floats) -> Ints:
    """(rows,): the nearest centre in weighted distance (Eq. 6), classes numbered without gaps.

    Classes that nobody is nearest to are dropped; of equal centres the first takes all.
    """
    scales = np.sqrt(weights)
    places, first = np.unique(centres * scales, axis=0, return_index=True)
    places = places[np.argsort(first)]
    return np.unique(nearest(vectors * scales, places), return_inverse=True)[1].astype(np.int64)


def adjust(points: Points, labels: Ints, weights: Floats) -> Floats:
    """The next round's weights, one per attribute (Eq. 12-16): halfway to each one's share of f_n / e_n."""
    vectors, owners = points.vectors, points.owners
    sums = Sums.of(vectors, labels)
    within = _by_owner(((vectors - sums.centres[labels]) ** 2).sum(axis=0), owners)
    mean = vectors.mean(axis=0)
    between = _by_owner((sums.sizes[:, None] * (sums.centres - mean) ** 2).sum(axis=0), owners)
    floor = FLOOR * (within + between)
    shares = np.divide(between, within + floor, out=np.zeros_like(between), where=floor > 0)
    if not shares.any():
        return weights
    return np.asarray((weights + shares / shares.sum()) / 2, dtype=np.float64)


def merge(vectors: Floats, labels: Ints, weights: Floats, k: int) -> Ints:
    """Every class below k joins the legal class whose centre is nearest (Eq. 17-18, Fig. 3), all at once.

    A legal class there always is: fewer than k in each of at most floor(rows / k) classes are not all rows.
    """
    sums = Sums.of(vectors, labels)
    legal: NDArray[np.bool_] = sums.sizes >= k
    places = sums.centres * np.sqrt(weights)
    target = np.arange(len(legal))
    if not legal.all():
        target[~legal] = np.flatnonzero(legal)[nearest(places[~legal], places[legal])]
    return np.unique(target[labels], return_inverse=True)[1].astype(np.int64)


def _by_owner(per_coordinate: Floats, owners: Ints) -> Floats:
    return np.asarray(np.bincount(owners, weights=per_coordinate), dtype=np.float64)
