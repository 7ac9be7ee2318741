"""Local search, compiled: moves and swaps of records between neighbouring classes, never raising the loss."""

from __future__ import annotations

import numpy as np
from numba import njit

from sfumato.arrays import Floats, Ints, Marks

TINY = 1e-10
"""A change must lower the sum of squares by more than this, so that rounding cannot make it go in circles."""


@njit(cache=True, nogil=True)
def members(labels: Ints, sizes: Ints, least: int) -> Ints:
    """(classes, most): the records of each class; a class may grow to `4 * least` or one above the largest."""
    found = np.empty((len(sizes), max(4 * least, 1 + int(np.max(sizes)))), dtype=np.int64)
    filled = np.zeros(len(sizes), dtype=np.int64)
    for i in range(len(labels)):
        found[labels[i], filled[labels[i]]] = i
        filled[labels[i]] += 1
    return found


@njit(cache=True, nogil=True)
def sweep(  # noqa: PLR0913  a kernel takes its arrays one by one
    vectors: Floats,
    labels: Ints,
    sizes: Ints,
    sums: Floats,
    members: Ints,
    centres: Floats,
    neighbours: Ints,
    due: Marks,
    changed: Marks,
    least: int,
    classes: Ints,
) -> int:
    """Make the best change of each record of some classes that are due, from the first to the second of `classes`.

    Changes labels, sizes, sums, members, centres and marks; gives the number of changes. A class of `least` records
    gives none away but may swap.
    """
    chosen = np.empty(2, dtype=np.int64)
    reach = np.empty(neighbours.shape[1])
    total = 0
    for a in range(classes[0], classes[1]):
        at = sizes[a]
        if due[a]:
            find_reach(centres, sizes, neighbours, a, reach)
            at = 0
        while at < sizes[a]:
            best_change(vectors, centres, sizes, members, neighbours, reach, least=least, a=a, at=at, chosen=chosen)
            if chosen[0] < 0:
                at += 1
                continue
            total += 1
            changed[a] = changed[chosen[0]] = True
            make_change(vectors, labels, sizes, sums, members, centres, a=a, at=at, chosen=chosen)
            find_reach(centres, sizes, neighbours, a, reach)
            at += chosen[1] >= 0
    return total


@njit(cache=True, nogil=True)
def find_reach(centres: Floats, sizes: Ints, neighbours: Ints, a: int, reach: Floats) -> None:
    """Fill `reach` with how near to its centre a record of class a must be to have no business elsewhere.

    By the triangle inequality a record within reach[q] (squared) of its centre gains nothing in neighbour q.
    """
    for q in range(neighbours.shape[1]):
        b = neighbours[a, q]
        favour = 1.0 + 1.0 / sizes[b]
        if sizes[a] > 1:
            favour *= sizes[a] / (sizes[a] - 1.0)
        side = 1.0 + np.sqrt(favour)
        reach[q] = squared(centres, a, centres, b) / (side * side)


@njit(cache=True, nogil=True)
def spread_marks(changed: Marks, neighbours: Ints, due: Marks) -> None:
    """Mark the classes that changed or that have a neighbour that did; forget the changes."""
    for c in range(len(due)):
        due[c] = changed[c]
        for q in range(neighbours.shape[1]):
            due[c] |= changed[neighbours[c, q]]
    changed[:] = False


@njit(cache=True, nogil=True)
def best_change(  # noqa: PLR0913  a kernel takes its arrays one by one
    vectors: Floats,
    centres: Floats,
    sizes: Ints,
    members: Ints,
    neighbours: Ints,
    reach: Floats,
    least: int,
    a: int,
    at: int,
    chosen: Ints,
) -> None:
    """Fill `chosen` with the class that record members[a, at] should go to and the place there of the record
    that comes back, -1 for none; chosen[0] is -1 if it should stay.
    """
    x = members[a, at]
    home = squared(vectors, x, centres, a)
    best = TINY
    chosen[0] = chosen[1] = -1
    for q in range(neighbours.shape[1]):
        b = neighbours[a, q]
        if b == a or home <= reach[q]:
            continue
        away = squared(vectors, x, centres, b)
        # Hartigan's rule: what leaving lowers, less what joining raises, both centres having moved
        if sizes[a] > least and sizes[b] < members.shape[1]:
            gain = home * sizes[a] / (sizes[a] - 1.0) - away * sizes[b] / (sizes[b] + 1.0)
            if gain > best:
                best, chosen[0], chosen[1] = gain, b, -1
        # a class that can give nobody away may still swap: with every member of the neighbour, so only if x is nearer
        if away < home and least > 1 and sizes[a] <= least:
            both = 1.0 / sizes[a] + 1.0 / sizes[b]
            for u in range(sizes[b]):
                gain = swap_gain(vectors, centres, x, members[b, u], a, b, both=both)
                if gain > best:
                    best, chosen[0], chosen[1] = gain, b, u


@njit(cache=True, nogil=True)
def squared(one: Floats, i: int, other: Floats, m: int) -> float:
    """Squared distance between row i of one array and row m of the other; no views, they cost time."""
    found = 0.0
    for j in range(one.shape[1]):
        found += (one[i, j] - other[m, j]) * (one[i, j] - other[m, j])
    return found


@njit(cache=True, nogil=True)
def swap_gain(vectors: Floats, centres: Floats, x: int, y: int, a: int, b: int, both: float) -> float:
    """How much the sum of squares falls when x of class a and y of class b change places.

    `both` is 1 / size of a + 1 / size of b.
    """
    along, apart = 0.0, 0.0
    for j in range(vectors.shape[1]):
        step = vectors[y, j] - vectors[x, j]
        along += step * (centres[a, j] - centres[b, j])
        apart += step * step
    return 2.0 * along + apart * both


@njit(cache=True, nogil=True)
def make_change(  # noqa: PLR0913  a kernel takes its arrays one by one
    vectors: Floats,
    labels: Ints,
    sizes: Ints,
    sums: Floats,
    members: Ints,
    centres: Floats,
    a: int,
    at: int,
    chosen: Ints,
) -> None:
    """Move or swap what `best_change` has chosen."""
    x, b, u = members[a, at], chosen[0], chosen[1]
    labels[x] = b
    if u < 0:
        sizes[a] -= 1
        members[a, at] = members[a, sizes[a]]
        members[b, sizes[b]] = x
        sizes[b] += 1
    else:
        y = members[b, u]
        labels[y] = a
        members[a, at], members[b, u] = y, x
    for j in range(sums.shape[1]):
        step = vectors[x, j] - (vectors[y, j] if u >= 0 else 0.0)
        sums[a, j] -= step
        sums[b, j] += step
        centres[a, j] = sums[a, j] / sizes[a]
        centres[b, j] = sums[b, j] / sizes[b]
