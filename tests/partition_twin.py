"""Partition by its definition, from the rows, in loops and lists: what the compiled loops are compared with.

What it takes from the masker are the bins of the rows and where they lie; what a cut is worth, in which order bins are
cut and what the tree becomes is said here once more.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sfumato.maskers.partition.problem import Problem

TIE = 1e-9
BREADTH = 3
Rows = list[int]
Cut = tuple[float, frozenset[int]]
"""What it is worth, and the bins that go right."""


@dataclass(frozen=True)
class Node:
    """Rows, and for a part that is cut the attribute and its two sides, by their numbers."""

    rows: Rows
    attribute: int = -1
    below: tuple[int, int] = (-1, -1)


class Twin:
    """Owns a table in bins as lists of Python, what must survive of it, and the terms."""

    def __init__(self, problem: Problem) -> None:
        cells, guide, terms = problem.cells, problem.guide, problem.terms
        self.bins: list[list[int]] = cells.bins.tolist()
        self.numbers = [bool(kind) for kind in cells.kind.tolist()]
        first = cells.first.tolist()
        self.places = [cells.place[a:b].tolist() for a, b in pairwise(first)]
        self.missing = [
            int(bin_) - at if bin_ >= 0 else None for bin_, at in zip(cells.missing.tolist(), first[:-1], strict=True)
        ]
        self.labels: list[float] = cells.labels.tolist()
        soft = guide.soft.astype(np.float64).tolist()
        self.points: list[list[float]] = soft or [
            [float(d == one) for d in range(guide.n)] for one in guide.classes.tolist()
        ]
        self.scale, self.k, self.m, self.weight = guide.scale, terms.k, terms.m, terms.weight

    # What a part shows.

    def shown(self, rows: Rows, a: int) -> float:
        """What m draws from the rows show of an attribute, on the average: a share of its labels, or of its range."""
        counts = Counter(self.bins[row][a] for row in rows)
        return self._interval(counts, a) if self.numbers[a] else self._labels(counts, a)

    def _seen(self, n: int, c: int) -> float:
        """The chance that one of m draws from n is among c."""
        return 1.0 - math.pow((n - c) / n, self.m)

    def _labels(self, counts: Counter[int], a: int) -> float:
        """Labels that are seen; none where a label that most rows have is the only one."""
        n = counts.total()
        seen = sum(self._seen(n, c) for c in counts.values())
        alone = sum(math.pow(c / n, self.m) for c in counts.values() if 2 * c > n)
        return max(0.0, seen - alone) / self.labels[a]

    def _interval(self, counts: Counter[int], a: int) -> float:
        """Gaps between neighbours with draws on both sides; a tenth of the range if missing ones are among them."""
        n, lost = counts.total(), self.missing[a]
        gone = 0 if lost is None else counts[lost]
        known = sorted(bin_ for bin_ in counts if bin_ != lost)
        found = 0.0
        for low, high in pairwise(known):
            below = sum(counts[bin_] for bin_ in known if bin_ <= low)
            both = self._seen(n - gone, below) + self._seen(n - gone, n - gone - below) - 1.0
            found += (self.places[a][high] - self.places[a][low]) * both
        if gone and gone < n:
            found += 0.1 * (self._seen(n, gone) + self._seen(n, n - gone) - 1.0)
        return found

    # What a cut is worth.

    def spread(self, rows: Rows) -> float:
        """The sum of the squared distances from the mean of what must survive."""
        points = [self.points[row] for row in rows]
        means = [math.fsum(axis) / len(rows) for axis in zip(*points, strict=True)]
        return math.fsum((x - mean) ** 2 for point in points for x, mean in zip(point, means, strict=True))

    def kept(self, n: int, left: int) -> float:
        """Parts of k that rounding takes away cost their share, three times over and weighed by 0.3."""
        if n < 3 * self.k:
            return 1.0
        lost = n // self.k - left // self.k - (n - left) // self.k
        return max(0.05, 1.0 - 0.3 * lost * 3 / (n // self.k))

    def worth(self, left: Rows, right: Rows) -> float:
        """The fall of the spread, and of what is shown."""
        both = left + right
        fall = self.spread(both) - self.spread(left) - self.spread(right)
        less = math.fsum(
            len(both) * self.shown(both, a) - len(left) * self.shown(left, a) - len(right) * self.shown(right, a)
            for a in range(len(self.numbers))
        )
        return (self.scale * fall + self.weight * less) * self.kept(len(both), len(left))

    # In which order bins are cut.

    def ways(self, rows: Rows, a: int) -> Iterator[list[int]]:
        """Numbers by size, missing ones behind the highest, then before the lowest; labels by where their means lie
        along the first principal direction, then the most frequent first."""
        counts = Counter(self.bins[row][a] for row in rows)
        held = sorted(counts)
        if len(held) < 2:
            return
        if self.numbers[a]:
            yield held
            if self.missing[a] in counts and len(held) > 2:
                yield [held[-1], *held[:-1]]
            return
        along = dict(zip(held, self._along(rows, a, held), strict=True))
        yield sorted(held, key=lambda bin_: along[bin_])
        if len(held) > 2:
            yield sorted(held, key=lambda bin_: -counts[bin_])

    def _along(self, rows: Rows, a: int, held: Sequence[int]) -> list[float]:
        dims = range(len(self.points[0]))
        of = {bin_: [self.points[row] for row in rows if self.bins[row][a] == bin_] for bin_ in held}
        mean = [math.fsum(self.points[row][d] for row in rows) / len(rows) for d in dims]
        off = {bin_: [math.fsum(x[d] for x in some) / len(some) - mean[d] for d in dims] for bin_, some in of.items()}
        spread = [[sum(len(of[bin_]) * off[bin_][d] * off[bin_][e] for bin_ in held) for e in dims] for d in dims]
        axis = self._first_axis(spread)
        return [round(sum(off[bin_][d] * axis[d] for d in dims) * 1e9) / 1e9 for bin_ in held]

    def _first_axis(self, spread: list[list[float]]) -> list[float]:
        """Twelve turns from the widest coordinate, the first of equal ones."""
        dims = range(len(spread))
        widest = next(d for d in dims if all(spread[e][e] <= spread[d][d] * (1 + TIE) for e in dims))
        axis = [float(d == widest) for d in dims]
        for _ in range(12):
            turned = [sum(spread[d][e] * axis[e] for e in dims) for d in dims]
            length = sum(x * x for x in turned)
            if length <= 1e-24:
                break
            axis = [x / math.sqrt(length) for x in turned]
        return axis

    # The tree.

    def cuts(self, rows: Rows) -> list[Cut | None]:
        """The best cut of each attribute; the first of equal ones."""
        return [self._cut(rows, a) for a in range(len(self.numbers))]

    def _cut(self, rows: Rows, a: int) -> Cut | None:
        best: Cut | None = None
        for way in self.ways(rows, a):
            first: Cut | None = None
            for at in range(1, len(way)):
                right = frozenset(way[at:])
                sides = self.sides(rows, a, right)
                if min(map(len, sides)) < self.k:
                    continue
                worth = self.worth(*sides)
                if first is None or worth > first[0] + TIE * len(rows):
                    first = worth, right
            if first is not None and (best is None or first[0] > best[0] + TIE * len(rows)):
                best = first
        return best

    def sides(self, rows: Rows, a: int, right: frozenset[int]) -> tuple[Rows, Rows]:
        """Rows that go left, and rows that go right."""
        return [row for row in rows if self.bins[row][a] not in right], [
            row for row in rows if self.bins[row][a] in right
        ]

    def ahead(self, rows: Rows, deep: int) -> tuple[int, float]:
        """The attribute along which the rows are best cut, and what that is worth with the cuts below it."""
        found = {a: cut for a, cut in enumerate(self.cuts(rows)) if cut is not None} if len(rows) >= 2 * self.k else {}
        chosen, best = -1, 0.0
        for a in self._by_worth({a: cut[0] for a, cut in found.items()}, len(rows))[:BREADTH]:
            now = found[a][0]
            if deep:
                now += sum(self.ahead(side, deep - 1)[1] for side in self.sides(rows, a, found[a][1]))
            if chosen < 0 or now > best + TIE * len(rows):
                chosen, best = a, now
        return chosen, best

    def _by_worth(self, worth: dict[int, float], n: int) -> list[int]:
        """Attributes from the one worth most; of equal ones the first."""
        left, found = dict(worth), list[int]()
        while left:
            best = -1
            for a in sorted(left):
                if best < 0 or left[a] > left[best] + TIE * n:
                    best = a
            found.append(best)
            del left[best]
        return found

    def tree(self, depths: Sequence[int]) -> list[Node]:
        """Parts from the whole table on, level after level; `depths`: below how many rows to look how far ahead."""
        nodes = [Node(list(range(len(self.bins))))]
        for at, node in enumerate(nodes):  # which grows meanwhile
            deep = max((len(depths) - i for i, depth in enumerate(depths) if len(node.rows) < depth), default=0)
            attribute, _ = self.ahead(node.rows, deep)
            if attribute < 0:
                continue
            cut = self._cut(node.rows, attribute)
            assert cut is not None
            nodes[at] = Node(node.rows, attribute, (len(nodes), len(nodes) + 1))
            nodes += [Node(side) for side in self.sides(node.rows, attribute, cut[1])]
        return nodes


# What a part shows of a category, by labels of a taxonomy.

Parents = dict[str, str | None]
"""Of every label of a tree the one above it; None for the root."""


def label_shown(labels: Collection[str | None], parents: Parents | None) -> str | None:
    """One label as it is, several by the lowest that all ways to the root have in common; `*` at the root, without a
    tree, and where a value is missing beside others."""
    if len(set(labels)) == 1:
        return next(iter(labels))
    if parents is None or None in labels:
        return "*"
    ways = [_way(label, parents) for label in labels if label is not None]
    common = [one for one in ways[0] if all(one in way for way in ways)]
    return "*" if parents[common[0]] is None else common[0]


def _way(label: str, parents: Parents) -> list[str]:
    """From a label up to the root."""
    above = parents[label]
    return [label] if above is None else [label, *_way(above, parents)]
