"""k-means on vectors in plain Python: slow and obviously right. The compiled loops on codes are compared with it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Run:
    """Where k-means ended."""

    labels: list[int]
    centres: Floats
    inertia: float
    rounds: int


def square(one: Floats, other: Floats) -> float:
    return float(sum((a - b) ** 2 for a, b in zip(one.tolist(), other.tolist(), strict=True)))


def assigned(vectors: Floats, centres: Floats) -> list[int]:
    """The nearest centre of each vector, the first on a tie."""
    apart = [[square(vector, centre) for centre in centres] for vector in vectors]
    return [row.index(min(row)) for row in apart]


def means(vectors: Floats, weights: Floats, labels: list[int], centres: Floats) -> Floats:
    """The mean of each cluster; an empty one gets the vector that is farthest from its centre, the first such one."""
    sums, sizes = np.zeros_like(centres), np.zeros(len(centres))
    for vector, weight, label in zip(vectors, weights, labels, strict=True):
        sums[label] += weight * vector
        sizes[label] += weight
    far = [square(vector, centres[label]) for vector, label in zip(vectors, labels, strict=True)]
    farthest = sorted(range(len(far)), key=lambda row: (-far[row], row))
    empty = [cluster for cluster in range(len(centres)) if sizes[cluster] == 0]
    for cluster, row in zip(empty if max(far) > 1e-20 else [], farthest, strict=False):
        sums[labels[row]] -= weights[row] * vectors[row]
        sizes[labels[row]] -= weights[row]
        sums[cluster], sizes[cluster] = weights[row] * vectors[row], weights[row]
    largest = int(sizes.argmax())
    return np.array(
        [sums[at] / sizes[at] if sizes[at] > 0 else sums[largest] / sizes[largest] for at in range(len(sizes))]
    )


def lloyd(vectors: Floats, weights: Floats, centres: Floats, *, tolerance: float, rounds: int) -> Run:
    """Round after round, until no label changes or centres stand nearly still."""
    before: list[int] = []
    done = 0
    while done < rounds:
        done += 1
        labels = assigned(vectors, centres)
        last, centres = centres, means(vectors, weights, labels, centres)
        if labels == before or sum(square(a, b) for a, b in zip(centres, last, strict=True)) <= tolerance:
            break
        before = labels
    labels = assigned(vectors, centres)
    spent = (weight * square(v, centres[at]) for v, weight, at in zip(vectors, weights, labels, strict=True))
    return Run(labels, centres, sum(spent), done)


def far_apart(vectors: Floats, weights: Floats, k: int, draws: np.random.RandomState) -> list[int]:
    """Greedy k-means++: rows far from each other."""
    chosen = [int(draws.choice(len(vectors), p=weights / weights.sum()))]
    while len(chosen) < k:
        far = [min(square(vector, vectors[row]) for row in chosen) for vector in vectors]
        heights = np.cumsum(np.array(far) * weights)
        drawn = draws.uniform(size=2 + int(math.log(k))) * heights[-1]
        candidates = [int(min(np.searchsorted(heights, height), len(vectors) - 1)) for height in drawn]
        left = [
            sum(w * min(f, square(v, vectors[row])) for v, f, w in zip(vectors, far, weights, strict=True))
            for row in candidates
        ]
        chosen.append(candidates[left.index(min(left))])
    return chosen
