"""Mondrian by its definition, from the rows, in loops and lists: what the compiled loops are compared with.

What it takes from the masker are the places of the rows on their axes, where intervals end and how they are written,
and the information gain of counts. Which ways there are to cut a region, which of them is taken and what the tree
becomes is said here once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from sfumato.data.axis import Axis, NumberAxis, TreeAxis, ValueAxis
from sfumato.maskers.mondrian.holding import Holding
from sfumato.maskers.mondrian.mask import Branch, Regions
from sfumato.maskers.recoding.intervals import interval_labels
from sfumato.maskers.topdown.scores import gains

Told = dict[str, Any]
"""A leaf is {"shown": ...}; a cut is {"attribute": ..., **test, "below": (...)}, None for a part without records."""


@dataclass(frozen=True)
class Extent:
    """Positions of an axis; of a tree the node (None is missing), of a number the ends that its interval shows."""

    members: tuple[int, ...]
    node: str | None = None
    ends: tuple[float | None, float | None] = (None, None)


@dataclass(frozen=True)
class Way:
    """One way to cut a region: what its parts have of the attribute, and how it is told."""

    parts: tuple[Extent, ...]
    test: dict[str, Any]


@dataclass(frozen=True)
class Twin:
    """A table as lists: for each axis the position of every row; the class of every row; sensitive codes by column."""

    axes: Sequence[Axis]
    places: Sequence[Sequence[int]]
    classes: Sequence[int]
    sensitive: dict[str, tuple[Sequence[int], int]]
    holding: Holding
    gain: bool

    def tree(self) -> Told:
        """The whole table, cut as long as that is allowed."""
        return self._cut(list(range(len(self.classes))), [self._whole(axis) for axis in self.axes])

    def _whole(self, axis: Axis) -> Extent:
        return Extent(tuple(range(axis.size)), axis.taxonomy.root if isinstance(axis, TreeAxis) else None)

    def _cut(self, rows: list[int], extents: list[Extent]) -> Told:
        best: tuple[float, int, Way] | None = None
        for at, extent in enumerate(extents):
            allowed = [way for way in self._ways(at, extent, rows) if self._holds(at, way, rows)]
            if not allowed:
                continue
            worths = [self._worth(at, way, rows) for way in allowed]
            first = worths.index(max(worths))
            worth = worths[first] if self.gain else len(extent.members) / self.axes[at].size
            if best is None or worth > best[0]:
                best = worth, at, allowed[first]
        if best is None:
            return {"shown": {axis.name: self._label(axis, one) for axis, one in zip(self.axes, extents, strict=True)}}
        _, at, way = best
        below = [
            self._cut(inside, [*extents[:at], part, *extents[at + 1 :]]) if inside else None
            for part, inside in zip(way.parts, self._divided(at, way, rows), strict=True)
        ]
        return {"attribute": self.axes[at].name, **way.test, "below": below}

    def _divided(self, at: int, way: Way, rows: list[int]) -> list[list[int]]:
        return [[row for row in rows if self.places[at][row] in part.members] for part in way.parts]

    def _worth(self, at: int, way: Way, rows: list[int]) -> float:
        parts = self._divided(at, way, rows)
        if not self.gain:
            return -float(max(map(len, parts)))
        n = max(self.classes) + 1
        counts = np.array([[[sum(self.classes[row] == c for row in part) for c in range(n)] for part in parts]])
        return float(gains(counts[0].sum(axis=0), counts)[0])

    def _holds(self, at: int, way: Way, rows: list[int]) -> bool:
        for part in self._divided(at, way, rows):
            if part and len(part) < self.holding.least:
                return False
            for need in self.holding.measured if part else ():
                codes, n = self.sensitive[need.sensitive]
                counts = np.bincount([codes[row] for row in part], minlength=n)
                if need.measure(counts[None])[0] < need.threshold:
                    return False
        return True

    def _ways(self, at: int, extent: Extent, rows: list[int]) -> Iterator[Way]:
        axis, held = self.axes[at], sorted({self.places[at][row] for row in rows})
        if isinstance(axis, NumberAxis):
            yield from self._number_ways(axis, extent, held)
        elif isinstance(axis, TreeAxis):
            yield from self._tree_ways(axis, extent)
        else:
            yield from self._label_ways(axis, extent, self._in_line(at, held, rows))

    def _number_ways(self, axis: NumberAxis, extent: Extent, held: list[int]) -> Iterator[Way]:
        missing = len(axis.numbers)
        if missing in extent.members:
            if len(extent.members) > 1:
                yield Way((Extent(extent.members[:-1]), Extent((missing,))), {"cut": "missing"})
            return
        for below, at in pairwise(held):
            if axis.separable[below + 1 : at + 1].any():
                end = axis.end(at, below)
                lower = Extent(tuple(m for m in extent.members if m < at), ends=(extent.ends[0], end))
                upper = Extent(tuple(m for m in extent.members if m >= at), ends=(end, extent.ends[1]))
                yield Way((lower, upper), {"cut": "below", "at": end})

    def _tree_ways(self, axis: TreeAxis, extent: Extent) -> Iterator[Way]:
        tree = axis.taxonomy
        if extent.node is None or not tree.children(extent.node):
            return
        parts = [Extent(tuple(range(*tree.leaf_range(child))), child) for child in tree.children(extent.node)]
        if axis.missing and extent.node == tree.root:
            parts.append(Extent((axis.size - 1,)))
        yield Way(tuple(parts), {"cut": "labels", "labels": [[part.node] for part in parts]})

    def _label_ways(self, axis: ValueAxis, extent: Extent, line: list[int]) -> Iterator[Way]:
        for at in range(1, len(line)):
            second = tuple(m for m in extent.members if m in line[at:])
            first = tuple(m for m in extent.members if m not in second)
            labels = [self._names(axis, part) for part in (first, second)]
            yield Way((Extent(first), Extent(second)), {"cut": "labels", "labels": labels})

    def _in_line(self, at: int, held: list[int], rows: list[int]) -> list[int]:
        if not self.gain:
            return held
        inside = [self.classes[row] for row in rows]
        main = max(range(max(self.classes) + 1), key=inside.count)

        def share(position: int) -> float:
            own = [self.classes[row] for row in rows if self.places[at][row] == position]
            return own.count(main) / len(own)

        return sorted(held, key=share)

    def _names(self, axis: ValueAxis, members: tuple[int, ...]) -> list[str | None]:
        names = [(*axis.labels, None)[member] for member in members]
        return sorted(names, key=lambda name: (name is None, name or ""))

    def _label(self, axis: Axis, extent: Extent) -> str | None:
        if isinstance(axis, TreeAxis):
            return extent.node
        if isinstance(axis, ValueAxis):
            names = self._names(axis, extent.members)
            known = [name for name in names if name is not None]
            several = "{" + ", ".join(known) + "}" + (" or missing" if None in names else "")
            return "*" if len(names) == axis.size else names[0] if len(names) == 1 else several
        missing = len(axis.numbers)
        if missing in extent.members:
            return "*" if len(extent.members) > 1 else None
        breaks = [end for end in extent.ends if end is not None]
        labels = interval_labels(axis.attribute.range, breaks, axis.attribute.calendar)
        return labels[extent.ends[0] is not None]


def told(tree: Told, trees: Sequence[str]) -> Told:
    """As regions.json tells it: parts in the order of letters; of attributes with a taxonomy without those that have no
    records, and without cuts into one part whose label no region below shows."""
    if "shown" in tree:
        return tree
    below = [child and told(child, trees) for child in tree["below"]]
    if tree["cut"] != "labels":
        return {**tree, "below": below}
    taxonomic = tree["attribute"] in trees
    pairs = [pair for pair in zip(tree["labels"], below, strict=True) if pair[1] is not None or not taxonomic]
    pairs.sort(key=lambda pair: [(label is None, label or "") for label in pair[0]])
    (labels, only), one = pairs[0], taxonomic and len(pairs) == 1
    if one and labels[0] not in {leaf[tree["attribute"]] for leaf in leaves(only)}:
        return dict(only)
    return {**tree, "labels": [labels for labels, _ in pairs], "below": [child for _, child in pairs]}


def leaves(tree: Told) -> Iterator[dict[str, str | None]]:
    """What the regions of a tree show."""
    if "shown" in tree:
        yield tree["shown"]
    for child in tree.get("below", ()):
        if child is not None:
            yield from leaves(child)


def nested(regions: Regions, at: int = 0) -> Told:
    """The masker's tree in the same form."""
    node = regions.nodes[at]
    if not isinstance(node, Branch):
        return {"shown": dict(node.shown)}
    below = [None if child is None else nested(regions, child) for child in node.below]
    return {"attribute": node.attribute, **node.test, "below": below}
