"""The field's own ways to classes of k records: MDAV, single, complete and average link, and WF-C-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sfumato.arrays import Floats, Ints
from sfumato.errors import RecipeError
from sfumato.events import checkpoint, watched
from sfumato.maskers.centroids.points import Link, Points, Sums, loss, nearest
from sfumato.randomness import Seeded

AT_ONCE = 1 << 27
"""Differences of coordinates between two times that it is asked whether to go on: about a tenth of a second."""


def mdav(points: Points, k: int) -> Ints:
    """Classes of k to 2k - 1 records, all but the last of exactly k.

    While 3k records are left: the record farthest from the mean and the record farthest from that one each
    make a class with their k - 1 nearest. Of 2k to 3k - 1 records the farthest from the mean makes a class;
    what is left is the last. Distances to all records left are taken three times in each turn: n * n / k.

    >>> mdav(Points.of(np.array([[1.0], [9.0], [2.0], [8.0]])), 2).tolist()
    [0, 1, 0, 1]
    """
    n, dims = points.vectors.shape
    left, rows, labels = points.vectors.copy(), np.arange(n), np.empty(n, dtype=np.int64)
    total, state = np.zeros(dims), np.array([n, 0])
    add_up(points.vectors, total)
    while True:
        checkpoint(1 - (int(state[0]) / n) ** 2)
        turns(left, rows, total, labels, state, k, most=max(1, AT_ONCE // dims))
        if state[0] < 2 * k:
            return labels


@njit(cache=True, nogil=True)
def farthest(left: Floats, count: int, place: Floats) -> int:
    """Which of the first `count` records is farthest from a place; the first of equals."""
    found, most = 0, -1.0
    for i in range(count):
        apart = 0.0
        for j in range(left.shape[1]):
            apart += (left[i, j] - place[j]) * (left[i, j] - place[j])
        if apart > most:
            found, most = i, apart
    return found


@njit(cache=True, nogil=True)
def nearest_records(left: Floats, count: int, place: Floats, found: Ints, apart: Floats) -> int:
    """Fill `found` with the records nearest to a place, nearest first; gives the farthest of all.

    `apart` has the length of `found` and is written over.
    """
    k, filled, far, most = len(found), 0, 0, -1.0
    for i in range(count):
        off = 0.0
        for j in range(left.shape[1]):
            off += (left[i, j] - place[j]) * (left[i, j] - place[j])
        if off > most:
            far, most = i, off
        if filled < k or off < apart[k - 1]:
            at = filled if filled < k else k - 1
            filled = min(filled + 1, k)
            while at > 0 and apart[at - 1] > off:
                apart[at], found[at] = apart[at - 1], found[at - 1]
                at -= 1
            apart[at], found[at] = off, i
    return far


@njit(cache=True, nogil=True)
def take(left: Floats, rows: Ints, count: int, found: Ints, total: Floats, labels: Ints, label: int) -> int:
    """Put the found records into one class and close the gaps; gives how many are left."""
    for i in np.sort(found)[::-1]:
        labels[rows[i]] = label
        count -= 1
        for j in range(left.shape[1]):
            total[j] -= left[i, j]
            left[i, j] = left[count, j]
        rows[i] = rows[count]
    return count


@njit(cache=True, nogil=True)
def add_up(vectors: Floats, total: Floats) -> None:
    """Add all records up."""
    for i in range(len(vectors)):
        for j in range(vectors.shape[1]):
            total[j] += vectors[i, j]


@njit(cache=True, nogil=True)
def turns(left: Floats, rows: Ints, total: Floats, labels: Ints, state: Ints, k: int, most: int) -> None:
    """Turns of MDAV, until fewer than 2k records are left or `most` distances were taken; what is left is the last.

    `state`: how many records are left, which stand at the front of `left` and `rows`, and how many classes were made.
    """
    dims = left.shape[1]
    found, apart = np.empty(k, dtype=np.int64), np.empty(k)
    place, other = np.empty(dims), np.empty(dims)
    count, made, taken = state[0], state[1], 0
    while count >= 2 * k and taken < most:
        taken += 3 * count
        for j in range(dims):
            place[j] = total[j] / count
        place[:] = left[farthest(left, count, place)]
        other[:] = left[nearest_records(left, count, place, found, apart)]
        both = count >= 3 * k
        count = take(left, rows, count, found, total, labels, label=made)
        made += 1
        if both:
            nearest_records(left, count, other, found, apart)
            count = take(left, rows, count, found, total, labels, label=made)
            made += 1
    if count < 2 * k:
        for i in range(count):
            labels[rows[i]] = made
    state[0], state[1] = count, made


SINGLE, COMPLETE = 0, 1
ROWS_AT_ONCE, MERGERS = 128, 16
"""Records, and mergers, between two times that it is asked whether to go on."""
MOST = 10_000
"""Every pair of records has its distance in memory: 8 bytes times the square of this, 800 MB."""


def linkage(points: Points, k: int, *, link: Link = "average") -> Ints:
    """Classes of at least k records by hierarchical clustering.

    Among all pairs of classes of which at least one has fewer than k records the nearest pair is merged,
    again and again. (Merging legal classes too, until the last record has found company, would leave one or
    two classes.) Distances between records are squared, as in Eq. 3; ties go to the first pair.
    """
    if len(points.vectors) > MOST:
        raise RecipeError(
            "linkage",
            f"it compares every pair of records, so it takes at most {MOST:,} of them",
            given=f"{len(points.vectors):,} rows",
            remedy="use microaggregate",
        )
    n, rule = len(points.vectors), get_args(Link).index(link)
    apart, labels = np.empty((n, n)), np.arange(n)
    sizes, near = np.ones(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for first in range(0, n, ROWS_AT_ONCE):
        checkpoint()
        apart[first : first + ROWS_AT_ONCE] = np.inf
    for first in range(0, n, ROWS_AT_ONCE):
        checkpoint()
        distances(points.vectors, apart, first, min(first + ROWS_AT_ONCE, n))
    for first in range(0, n, ROWS_AT_ONCE):
        checkpoint()
        nearest_classes(apart, near, first, min(first + ROWS_AT_ONCE, n))
    while merge_classes(apart, labels, sizes, near, k, rule, most=MERGERS) == MERGERS:
        checkpoint(1 - np.count_nonzero(sizes) / n)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


@njit(cache=True, nogil=True)
def distances(vectors: Floats, apart: Floats, first: int, end: int) -> None:
    """Fill `apart` (rows, rows) with the squared distances between some records and all before each of them."""
    dims = vectors.shape[1]
    for i in range(first, end):
        for m in range(i):
            off = 0.0
            for j in range(dims):
                off += (vectors[i, j] - vectors[m, j]) * (vectors[i, j] - vectors[m, j])
            apart[i, m] = apart[m, i] = off


@njit(cache=True, nogil=True)
def nearest_classes(apart: Floats, near: Ints, first: int, end: int) -> None:
    """Fill `near` with the class nearest to each of some classes."""
    for a in range(first, end):
        near[a] = np.argmin(apart[a])


@njit(cache=True, nogil=True)
def merge_classes(apart: Floats, labels: Ints, sizes: Ints, near: Ints, k: int, rule: int, most: int) -> int:
    """Merge classes, at most so many times; gives how many times. Fewer: there is nothing left to merge.

    `labels` (rows,): the first record of each record's class. `apart` is written over; gone classes are infinitely far.
    """
    n = len(apart)
    for done in range(most):
        a, least = -1, np.inf  # the class below k that has the nearest neighbour; a legal one never looks for company
        for c in range(n):
            if 0 < sizes[c] < k and (a < 0 or apart[c, near[c]] < least):
                a, least = c, apart[c, near[c]]
        if a < 0 or np.isinf(least):
            return done
        keep, gone = min(a, near[a]), max(a, near[a])
        join(apart, sizes, keep, gone, rule)
        for i in range(n):
            if labels[i] == gone:
                labels[i] = keep
        # only those look again whose nearest class was one of the two; to others the new one may have come nearer
        for c in range(n):
            if sizes[c] == 0:
                continue
            if c == keep or near[c] == keep or near[c] == gone:
                near[c] = np.argmin(apart[c])
            elif apart[c, keep] < apart[c, near[c]]:
                near[c] = keep
    return most


@njit(cache=True, nogil=True)
def join(apart: Floats, sizes: Ints, keep: int, gone: int, rule: int) -> None:
    """Make one class of two, and tell its distance from every other."""
    for c in range(len(sizes)):
        if sizes[c] == 0 or c in (keep, gone):
            continue
        one, other = apart[keep, c], apart[gone, c]
        if rule == SINGLE:
            found = min(one, other)
        elif rule == COMPLETE:
            found = max(one, other)
        else:
            found = (one * sizes[keep] + other * sizes[gone]) / (sizes[keep] + sizes[gone])
        apart[keep, c] = apart[c, keep] = found
    apart[gone, :] = np.inf
    apart[:, gone] = np.inf
    sizes[keep] += sizes[gone]
    sizes[gone] = 0


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
    for _ in watched(range(ROUNDS)):
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
