"""Extents: what a region shows of one attribute, and the best way to cut it in two or more.

An extent is a set of positions on the attribute's axis. It shrinks from the whole axis to single values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.counting import Measure
from sfumato.data.axis import Axis, NumberAxis, TreeAxis, ValueAxis
from sfumato.data.table import Table
from sfumato.maskers.recoding.intervals import interval_labels
from sfumato.maskers.recoding.rules import SUPPRESSED
from sfumato.maskers.sensitive import measure_of, sensitive_columns
from sfumato.maskers.topdown.scores import gains
from sfumato.privacy.requirements import Basic, KAnonymity


@dataclass(frozen=True)
class Aim:
    """`worth`: what each way to cut (ways, children, classes) is worth. `by_class`: labels without a taxonomy are
    put in the order of their classes, else in label order."""

    worth: Callable[[Histogram], NDArray[np.float64]]
    by_class: bool


@dataclass(frozen=True, eq=False)
class Cut:
    """One way to cut a region along an attribute: `way` (positions,) says which child a record goes to.

    `test` is the cut in labels, as regions.json has it.
    """

    worth: float
    children: tuple[Extent, ...]
    way: NDArray[np.int64]
    test: dict[str, Any] = field(default_factory=dict)


class Extent(Protocol):
    """What a region shows of one attribute."""

    @property
    def label(self) -> str | None:
        """How it is shown; None for missing."""

    @property
    def width(self) -> float:
        """Which share of the axis it covers."""

    def cut(self, counted: Counted, holding: Holding, aim: Aim) -> Cut | None:
        """The best cut whose children all hold, or are empty; None if there is none."""


@dataclass(frozen=True, eq=False)
class NumberExtent:
    """Positions first..end-1 of a number; the position past the last number is missing.

    `low`, `high`: the ends that its interval shows, None where it reaches to that of the axis.
    """

    axis: NumberAxis
    first: int
    end: int
    low: float | None = None
    high: float | None = None

    @property
    def label(self) -> str | None:
        """An interval; `*` while missing values are among them."""
        count = len(self.axis.numbers)
        if self.first == count:
            return None
        if self.end > count:
            return SUPPRESSED
        breaks = [end for end in (self.low, self.high) if end is not None]
        labels = interval_labels(self.axis.attribute.range, breaks, self.axis.attribute.calendar)
        return labels[0 if self.low is None else 1]

    @property
    def width(self) -> float:
        """By the number of values."""
        return (self.end - self.first) / self.axis.size

    def cut(self, counted: Counted, holding: Holding, aim: Aim) -> Cut | None:
        """At the best boundary; before that missing values are set apart."""
        count = len(self.axis.numbers)
        if self.first == count:
            return None
        held = self.first + np.flatnonzero(counted.classes[self.first : self.end].any(axis=1))
        boundaries = np.array([count]) if self.end > count else self._boundaries(held)

        def sides(histogram: Histogram) -> NDArray[np.int64]:
            inside = histogram[self.first : self.end]
            below = np.cumsum(inside, axis=0)[boundaries - self.first - 1]
            return np.stack([below, inside.sum(axis=0) - below], axis=1)

        able = holding.able(counted, sides)
        if not len(able):
            return None
        worths = aim.worth(sides(counted.classes)[able])
        at = int(boundaries[able[int(np.argmax(worths))]])
        way = (np.arange(self.axis.size) >= at).astype(np.int64)
        if at == count:
            apart = (NumberExtent(self.axis, self.first, at), NumberExtent(self.axis, at, self.end))
            return Cut(float(worths.max()), apart, way, {"cut": "missing"})
        end = self.axis.end(at, int(held[np.searchsorted(held, at) - 1]))
        halves = (
            NumberExtent(self.axis, self.first, at, self.low, end),
            NumberExtent(self.axis, at, self.end, end, self.high),
        )
        return Cut(float(worths.max()), halves, way, {"cut": "below", "at": end})

    def _boundaries(self, held: NDArray[np.int64]) -> NDArray[np.int64]:
        """The positions with which a second half may begin: between it and the one held before it, or on it, there
        is a number that is nobody's own."""
        up_to = np.cumsum(self.axis.separable)
        return held[1:][up_to[held[1:]] > up_to[held[:-1]]]


@dataclass(frozen=True, eq=False)
class TreeExtent:
    """A node of a taxonomy; None is missing. The root holds the missing values too."""

    axis: TreeAxis
    node: str | None

    @property
    def label(self) -> str | None:
        """The node."""
        return self.node

    @property
    def width(self) -> float:
        """By the number of leaves."""
        return len(self._positions(self.node)) / self.axis.size

    def _positions(self, node: str | None) -> range:
        leaves = len(self.axis.taxonomy.leaves)
        if node is None:
            return range(leaves, leaves + 1)
        if node == self.axis.taxonomy.root:
            return range(self.axis.size)
        return range(*self.axis.taxonomy.leaf_range(node))

    def cut(self, counted: Counted, holding: Holding, aim: Aim) -> Cut | None:
        """Into the node's children, all of them at once."""
        tree = self.axis.taxonomy
        if self.node is None or tree.is_leaf(self.node):
            return None
        nodes: list[str | None] = list(tree.children(self.node))
        if self.axis.missing and self.node == tree.root:
            nodes.append(None)

        def children_of(histogram: Histogram) -> NDArray[np.int64]:
            return np.stack([histogram[list(self._positions(node))].sum(axis=0) for node in nodes])[None]

        if not len(holding.able(counted, children_of)):
            return None
        way = np.full(self.axis.size, -1, dtype=np.int64)
        for number, node in enumerate(nodes):
            way[list(self._positions(node))] = number
        labels = [[node] for node in nodes]
        children = tuple(TreeExtent(self.axis, node) for node in nodes)
        return Cut(
            float(aim.worth(children_of(counted.classes))[0]), children, way, {"cut": "labels", "labels": labels}
        )


@dataclass(frozen=True, eq=False)
class ValueExtent:
    """A set of labels without a taxonomy."""

    axis: ValueAxis
    members: tuple[int, ...]

    @property
    def label(self) -> str | None:
        """`*` for all of them, a label alone, or the labels in braces."""
        if len(self.members) == self.axis.size:
            return SUPPRESSED
        names = self._names(self.members)
        return names[0] if len(names) == 1 else "{" + ", ".join(name or "" for name in names) + "}"

    @property
    def width(self) -> float:
        """By the number of labels."""
        return len(self.members) / self.axis.size

    def _names(self, members: tuple[int, ...]) -> list[str | None]:
        """In the order of letters, missing last: as regions.json has them."""
        names = (*self.axis.labels, None)
        return sorted((names[member] for member in members), key=lambda name: (name is None, name or ""))

    def cut(self, counted: Counted, holding: Holding, aim: Aim) -> Cut | None:
        """In two along their order; labels without records stay with the first part."""
        inside = counted.classes[list(self.members)]
        held = inside.sum(axis=1)
        used = np.flatnonzero(held)
        if aim.by_class:
            main = int(inside.sum(axis=0).argmax())
            used = used[np.argsort(inside[used, main] / held[used], kind="stable")]

        def sides(histogram: Histogram) -> NDArray[np.int64]:
            along = histogram[list(self.members)][used]
            below = np.cumsum(along, axis=0)[:-1]
            return np.stack([below, along.sum(axis=0) - below], axis=1)

        able = holding.able(counted, sides)
        if not len(able):
            return None
        worths = aim.worth(sides(counted.classes)[able])
        second = {self.members[at] for at in used[able[int(np.argmax(worths))] + 1 :]}
        parts = (
            tuple(m for m in self.members if m not in second),
            tuple(m for m in self.members if m in second),
        )
        way = np.full(self.axis.size, -1, dtype=np.int64)
        for number, part in enumerate(parts):
            way[list(part)] = number
        test = {"cut": "labels", "labels": [self._names(part) for part in parts]}
        return Cut(float(worths.max()), tuple(ValueExtent(self.axis, part) for part in parts), way, test)


def whole(axis: Axis) -> Extent:
    """All of an axis."""
    if isinstance(axis, TreeAxis):
        return TreeExtent(axis, axis.taxonomy.root)
    if isinstance(axis, ValueAxis):
        return ValueExtent(axis, tuple(range(axis.size)))
    return NumberExtent(axis, 0, axis.size)


def by_gain(ways: NDArray[np.int64]) -> NDArray[np.float64]:
    """Information gained about the classes."""
    return gains(ways[0].sum(axis=0), ways)


def by_evenness(ways: NDArray[np.int64]) -> NDArray[np.float64]:
    """How even the children are: the boundary nearest to the median is best."""
    found: NDArray[np.float64] = -ways.sum(axis=2).max(axis=1).astype(np.float64)
    return found


AIMS = {"infogain": Aim(by_gain, by_class=True), "median": Aim(by_evenness, by_class=False)}


Histogram = NDArray[np.int64]
"""(positions, classes) or (positions, sensitive values): a region's records."""
Ways = Callable[[Histogram], NDArray[np.int64]]
"""Adds a histogram up to (ways, children, columns): the children of each way to cut."""


@dataclass(frozen=True, eq=False)
class Counted:
    """A region's records along one attribute: by class, and by each sensitive column that is asked about."""

    classes: Histogram
    sensitive: Mapping[str, Histogram]


@dataclass(frozen=True)
class Measured:
    """A requirement on a sensitive column."""

    sensitive: str
    measure: Measure
    threshold: float


@dataclass(frozen=True)
class Holding:
    """Every region has at least `least` records, and reaches the threshold of every measure."""

    least: int
    measured: tuple[Measured, ...] = ()

    @classmethod
    def of(cls, table: Table, requirements: Sequence[Basic]) -> Holding:
        """All requirements, whatever they are on: a region looks alike on every attribute."""
        columns = sensitive_columns(table, requirements)
        measured = (
            Measured(part.sensitive, measure_of(part, columns), part.threshold)
            for part in requirements
            if part.sensitive is not None
        )
        return cls(max((part.k for part in requirements if isinstance(part, KAnonymity)), default=1), tuple(measured))

    def able(self, counted: Counted, ways: Ways) -> NDArray[np.int64]:
        """The numbers of the ways whose children all hold, or are empty."""
        sizes = ways(counted.classes).sum(axis=2)
        found = np.flatnonzero(((sizes >= self.least) | (sizes == 0)).all(axis=1))
        for need in self.measured:
            found = found[reach(ways(counted.sensitive[need.sensitive])[found], need)]
        return found


def reach(children: NDArray[np.int64], need: Measured) -> NDArray[np.bool_]:
    """(ways,): whether every child that holds records measures enough; children are (ways, children, values)."""
    flat = children.reshape(-1, children.shape[2])
    full = flat.any(axis=1)
    holds = np.ones(len(flat), dtype=bool)
    holds[full] = need.measure(flat[full]) >= need.threshold
    return np.asarray(holds.reshape(children.shape[:2]).all(axis=1), dtype=bool)
