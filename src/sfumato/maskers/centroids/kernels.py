"""Compiled loops over records as vectors (rows, coordinates). Arrays in, arrays out or changed in place.

A class's `sums` (classes, coordinates) and `sizes` (classes,) stand for its centre: sums / sizes.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from sfumato.arrays import Floats, Ints

SAMPLE = 256
"""An axis of bisection is found on at most about this many records."""


@njit(cache=True, nogil=True)
def add_up(vectors: Floats, labels: Ints, sums: Floats, sizes: Ints) -> None:
    """Add every record to its class's sum and count."""
    for i in range(len(labels)):
        at = labels[i]
        sizes[at] += 1
        for j in range(vectors.shape[1]):
            sums[at, j] += vectors[i, j]


@njit(cache=True, nogil=True)
def gather(labels: Ints, sizes: Ints) -> Ints:
    """(rows,): rows in class order; class c's are the `sizes[c]` after those of the classes before it."""
    place = np.zeros(len(sizes), dtype=np.int64)
    for c in range(1, len(sizes)):
        place[c] = place[c - 1] + sizes[c - 1]
    order = np.empty(len(labels), dtype=np.int64)
    for i in range(len(labels)):
        order[place[labels[i]]] = i
        place[labels[i]] += 1
    return order


@njit(cache=True, nogil=True)
def principal_axis(vectors: Floats, axis: Floats) -> None:
    """Fill `axis` with the direction in which a sample of the vectors varies most, by power iteration."""
    dims, step = vectors.shape[1], 1 + (len(vectors) - 1) // SAMPLE
    mean = np.zeros(dims)
    spread = np.zeros((dims, dims))
    count = 0
    for i in range(0, len(vectors), step):
        count += 1
        for j in range(dims):
            mean[j] += vectors[i, j]
    mean /= count
    for i in range(0, len(vectors), step):
        for j in range(dims):
            off = vectors[i, j] - mean[j]
            for m in range(j + 1):
                spread[j, m] += off * (vectors[i, m] - mean[m])
    widest = 0
    for j in range(dims):
        for m in range(j):
            spread[m, j] = spread[j, m]
        if spread[j, j] > spread[widest, widest]:
            widest = j
    axis[:] = 0.0
    axis[widest] = 1.0
    for _ in range(8):
        _turn(spread, axis)


@njit(cache=True, nogil=True)
def _turn(spread: Floats, axis: Floats) -> None:
    """One step of power iteration; an axis without any spread stays as it is."""
    dims = len(axis)
    turned = np.zeros(dims)
    length = 0.0
    for j in range(dims):
        for m in range(dims):
            turned[j] += spread[j, m] * axis[m]
        length += turned[j] * turned[j]
    if length > 0.0:
        length = np.sqrt(length)
        for j in range(dims):
            axis[j] = turned[j] / length


@njit(cache=True, nogil=True)
def select(keys: Floats, rows: Ints, moved: Floats, nth: int) -> None:
    """Reorder keys, rows and vectors alike, so that the first `nth` keys are no larger than the others."""
    low, high = 0, len(keys) - 1
    while low < high:
        pivot = keys[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                rows[i], rows[j] = rows[j], rows[i]
                for d in range(moved.shape[1]):
                    moved[i, d], moved[j, d] = moved[j, d], moved[i, d]
                i += 1
                j -= 1
        if nth <= j:
            high = j
        elif nth >= i:
            low = i
        else:
            return


@njit(cache=True, nogil=True)
def bisect(moved: Floats, order: Ints, labels: Ints, starts: Ints, waiting: Ints, least: int, most: int) -> None:
    """Halve groups across their longest axes while they have 2 * least rows, until `most` rows were looked at.

    `order` (rows,) is put in class order, and `moved`, the vectors in that order, with it: group g is
    order[starts[g]:starts[g + 1]]. Every cut leaves a multiple of `least` rows on its first side. `labels` (rows,) gets
    the classes. What is left to do is kept in `waiting`: the next group, how many classes were made, how many parts of
    the group before it wait, then from where to where each of them goes.
    """
    dims = moved.shape[1]
    keys, axis = np.empty(len(moved)), np.empty(dims)
    lows, highs = waiting[3:131], waiting[131:]
    g, made, depth, looked = waiting[0], waiting[1], waiting[2], 0
    while looked < most and (depth > 0 or g < len(starts) - 1):
        if depth == 0:
            lows[0], highs[0], depth = starts[g], starts[g + 1], 1
            g += 1
        while depth > 0 and looked < most:
            depth -= 1
            low, high = lows[depth], highs[depth]
            looked += high - low
            if high - low < 2 * least:
                for i in range(low, high):
                    labels[order[i]] = made
                made += 1
                continue
            principal_axis(moved[low:high], axis)
            for i in range(low, high):
                keys[i] = 0.0
                for j in range(dims):
                    keys[i] += moved[i, j] * axis[j]
            cut = low + (high - low) // least // 2 * least
            select(keys[low:high], order[low:high], moved[low:high], cut - low)
            lows[depth], highs[depth] = cut, high
            lows[depth + 1], highs[depth + 1] = low, cut
            depth += 2
    waiting[0], waiting[1], waiting[2] = g, made, depth


@njit(cache=True, nogil=True)
def merge_small(sizes: Ints, sums: Floats, neighbours: Ints, cheapest: Ints, least: int, parents: Ints) -> int:
    """Merge classes below `least`, in the order `cheapest`, each with the neighbour that costs least.

    The cost of a merger is how much it raises the sum of squares. Changes sizes, sums and `parents`, in
    which parents[c] == c marks a class that still is one. Gives the number of mergers.
    """
    done = 0
    for at in range(len(cheapest)):
        a = cheapest[at]
        if parents[a] != a or sizes[a] >= least:
            continue
        best, cost = -1, np.inf
        for q in range(neighbours.shape[1]):
            b = _top(parents, neighbours[at, q])
            if b != a:
                found = merger_cost(sizes, sums, a, b)
                if found < cost:
                    best, cost = b, found
        if best >= 0:
            parents[a] = best
            sizes[best] += sizes[a]
            for j in range(sums.shape[1]):
                sums[best, j] += sums[a, j]
            done += 1
    return done


@njit(cache=True, nogil=True)
def _top(parents: Ints, c: int) -> int:
    """The class that c has become part of."""
    while parents[c] != c:
        parents[c] = parents[parents[c]]
        c = parents[c]
    return c


@njit(cache=True, nogil=True)
def merger_cost(sizes: Ints, sums: Floats, a: int, b: int) -> float:
    """How much the sum of squares grows when two classes become one."""
    apart = 0.0
    for j in range(sums.shape[1]):
        off = sums[a, j] / sizes[a] - sums[b, j] / sizes[b]
        apart += off * off
    return float(apart * sizes[a] * sizes[b] / (sizes[a] + sizes[b]))


@njit(cache=True, nogil=True)
def tops(parents: Ints, numbers: Ints) -> int:
    """Fill `numbers` with the class that each has become part of, counted from 0; gives how many there are."""
    count = 0
    for c in range(len(parents)):
        if parents[c] == c:
            numbers[c] = count
            count += 1
    for c in range(len(parents)):
        numbers[c] = numbers[_top(parents, c)]
    return count


@njit(cache=True, nogil=True)
def best_cuts(numbers: Floats, least: int) -> Ints:
    """(rows,): the classes of sorted numbers that have the least sum of squares, exactly.

    An optimal class of sorted numbers has neighbours as members and fewer than 2 * least of them.
    """
    n = len(numbers)
    total = np.zeros(n + 1)
    squares = np.zeros(n + 1)
    cost = np.full(n + 1, np.inf)
    before = np.zeros(n + 1, dtype=np.int64)
    cost[0] = 0.0
    for end in range(1, n + 1):
        total[end] = total[end - 1] + numbers[end - 1]
        squares[end] = squares[end - 1] + numbers[end - 1] * numbers[end - 1]
        for start in range(max(0, end - 2 * least + 1), end - least + 1):
            sum_ = total[end] - total[start]
            loss = cost[start] + squares[end] - squares[start] - sum_ * sum_ / (end - start)
            if loss < cost[end]:
                cost[end], before[end] = loss, start
    labels = np.empty(n, dtype=np.int64)
    end, made = n, 0
    while end > 0:
        labels[before[end] : end] = made
        end, made = before[end], made + 1
    return labels
