"""A given tree of nested intervals: what a taxonomy over a number says.

Its labels are intervals as a release shows them, `[17-37)`, or as ARX writes them, `[17, 37[`, or single numbers; a
label that is neither, such as `*` or `young`, covers what hangs below it. An interval begins with its lower end and
ends before its upper end; the last one of all is closed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import TaxonomyError

Ends = tuple[float, float]
_NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_INTERVAL = re.compile(rf"\[\s*(\.\.|{_NUMBER})\s*[-,;]\s*(\.\.|{_NUMBER})\s*[\])\[]")
_ALONE = re.compile(_NUMBER)


@dataclass(frozen=True)
class Intervals:
    """Nested intervals in depth-first order, from low to high; `parents`: the number of each one's parent, -1 on top.

    Every interval that has others below it is made of at least two of them, without a gap.

    >>> tree = Intervals.of(Taxonomy.from_tree({"[17-90]": {"[17-37)": ["[17-25)", "[25-37)"], "[37-90]": None}}))
    >>> tree.spans
    ((17.0, 90.0), (17.0, 37.0), (17.0, 25.0), (25.0, 37.0), (37.0, 90.0))
    >>> tree.children(1), tree.ends
    ((2, 3), (17.0, 90.0))
    """

    spans: tuple[Ends, ...]
    parents: tuple[int, ...]

    @classmethod
    def of(cls, tree: Taxonomy, ends: Ends | None = None) -> Intervals:
        """What a taxonomy of intervals says; `ends`: the declared range, to which the outermost ones then reach."""
        return _read(tree, ends)

    @property
    def ends(self) -> Ends:
        """The lowest and the highest number."""
        return self.spans[0]

    @cached_property
    def _below(self) -> tuple[tuple[int, ...], ...]:
        below: list[list[int]] = [[] for _ in self.spans]
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                below[parent].append(node)
        return tuple(map(tuple, below))

    def children(self, node: int) -> tuple[int, ...]:
        """The intervals just below one, from low to high; none below the narrowest."""
        return self._below[node]


@lru_cache(maxsize=64)
def _read(tree: Taxonomy, ends: Ends | None) -> Intervals:
    stated = [_stated(label) for label in tree.labels]
    first, last = _reached(tree, stated)
    low, high = _outer(tree, (first[0], last[0]), ends)
    spans: list[Ends] = []
    parents: list[int] = []
    waiting: list[tuple[int, Ends, int]] = [(0, (low, high), -1)]
    below = _children(tree)
    while waiting:
        node, span, parent = waiting.pop()
        under = sorted(below[node], key=lambda child: first[child])
        while len(under) == 1:  # a step that shows nothing new
            under = sorted(below[under[0]], key=lambda child: first[child])
        spans.append(span)
        parents.append(parent)
        at = len(spans) - 1
        parts = _parts(tree, under, span, first)
        for child, part in zip(under, parts, strict=True):
            _check_stated(tree.labels[child], stated[child], part, (low, high))
        waiting.extend(reversed([(child, part, at) for child, part in zip(under, parts, strict=True)]))
    return Intervals(tuple(spans), tuple(parents))


def _children(tree: Taxonomy) -> list[list[int]]:
    below: list[list[int]] = [[] for _ in tree.labels]
    for node, parent in enumerate(tree.parents[1:], start=1):
        below[parent].append(node)
    return below


def _stated(label: str) -> Ends | None:
    """The ends that a label names; of a single number twice the same.

    >>> _stated("[17-37)"), _stated("[-5, 2.5["), _stated("42"), _stated("[37-..]"), _stated("young")
    ((17.0, 37.0), (-5.0, 2.5), (42.0, 42.0), (37.0, inf), None)
    """
    text = label.strip()
    if _ALONE.fullmatch(text):
        return float(text), float(text)
    found = _INTERVAL.fullmatch(text)
    if found is None:
        return None
    low, high = found[1], found[2]
    return -math.inf if low == ".." else float(low), math.inf if high == ".." else float(high)


def _reached(tree: Taxonomy, stated: Sequence[Ends | None]) -> tuple[list[float], list[float]]:
    """Of each label where it begins and ends, by its own words or by those below it."""
    first, last = [math.inf] * len(stated), [-math.inf] * len(stated)
    for node in range(len(stated) - 1, -1, -1):
        own = stated[node]
        if own is not None:
            first[node], last[node] = own
        if first[node] > last[node]:
            raise TaxonomyError(
                repr(tree.labels[node]),
                "the narrowest labels of a number's taxonomy are intervals or numbers",
                given="a label that is neither",
                remedy="write intervals such as [17-37), or single numbers",
            )
        if node:
            above = tree.parents[node]
            first[above], last[above] = min(first[above], first[node]), max(last[above], last[node])
    return first, last


def _outer(tree: Taxonomy, found: Ends, ends: Ends | None) -> Ends:
    low, high = found if ends is None else ends
    found = (low if found[0] == -math.inf else found[0], high if found[1] == math.inf else found[1])
    if not math.isfinite(high - low):
        raise TaxonomyError(
            repr(tree.root),
            "intervals with open ends reach to the ends of a declared range",
            given="no range",
            remedy="declare the number's range",
        )
    if not (low <= found[0] and found[1] <= high and low < high):
        raise TaxonomyError(
            repr(tree.root),
            "a tree of intervals lies inside the declared range",
            given="another range" if ends is not None else "a single number",
            remedy="leave the range out: the tree tells it; or widen it",
        )
    return low, high


def _parts(tree: Taxonomy, under: Sequence[int], span: Ends, first: Sequence[float]) -> list[Ends]:
    """Of each child where it begins and ends: the first with its parent, each other where its own numbers begin."""
    starts = [span[0], *(first[child] for child in under[1:])]
    parts = list(zip(starts, [*starts[1:], span[1]], strict=True)) if under else []
    if any(low > high or (low == high and at < len(under) - 1) for at, (low, high) in enumerate(parts)):
        raise TaxonomyError(
            repr(tree.labels[under[0]]),
            "intervals below one another are disjoint and lie inside it",
            given="two that overlap, or one that lies outside",
            remedy="write each as [lower end-upper end), the upper end where the next one begins",
        )
    return parts


def _check_stated(label: str, stated: Ends | None, part: Ends, whole: Ends) -> None:
    """What a label says of its ends is so; the outermost may end before the declared range does."""
    if stated is None:
        return
    stated = (
        whole[0] if stated[0] == -math.inf else stated[0],
        whole[1] if stated[1] == math.inf else stated[1],
    )
    inside = part[0] <= stated[0] and stated[1] <= part[1]
    begins = stated[0] == part[0] or part[0] == whole[0]
    ends = stated[1] == part[1] or part[1] == whole[1]
    if not inside or not (stated[0] == stated[1] or (begins and ends)):
        raise TaxonomyError(
            repr(label),
            "intervals side by side leave no gap: one ends where the next begins, and the first and the last as theirs",
            given="another end",
            remedy="write [17-37) and [37-50) side by side below [17-50)",
        )
