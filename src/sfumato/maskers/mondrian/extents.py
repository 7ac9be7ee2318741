"""Extents: what a region shows of one attribute, and into what it is cut.

An extent is a set of positions on the attribute's axis. It shrinks from the whole axis to single values. Where that
is cut, `kernels` choose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from sfumato.data.axis import Axis, NumberAxis, TreeAxis, ValueAxis
from sfumato.data.shown import set_text
from sfumato.maskers.mondrian.mask import Branch
from sfumato.maskers.recoding.intervals import interval_labels
from sfumato.maskers.recoding.rules import SUPPRESSED


@dataclass(frozen=True, eq=False)
class Cut:
    """What a region shows of an attribute after it was cut, part by part.

    `below`: of numbers, where the second half begins; None where missing ones are set apart. `labels` of each part, and
    the `order` in which they are told, by letters. `bare`: a part without records is not told.
    """

    parts: tuple[Extent, ...]
    below: float | None = None
    labels: tuple[list[str | None], ...] = ()
    order: tuple[int, ...] = (0, 1)
    bare: bool = False

    @classmethod
    def of_labels(cls, parts: tuple[Extent, ...], labels: tuple[list[str | None], ...], *, bare: bool) -> Cut:
        """A cut along labels."""
        order = sorted(range(len(parts)), key=lambda part: [(name is None, name or "") for name in labels[part]])
        return cls(parts, None, labels, tuple(order), bare)

    def branch(self, attribute: str, numbers: Sequence[int | None]) -> Branch:
        """As regions.json has it; `numbers`: of the parts' nodes, None for a part without records."""
        if not self.labels:
            test = {"cut": "missing"} if self.below is None else {"cut": "below", "at": self.below}
            return Branch(attribute, test, tuple(numbers))
        told = [part for part in self.order if numbers[part] is not None or not self.bare]
        labels = [list(self.labels[part]) for part in told]
        return Branch(attribute, {"cut": "labels", "labels": labels}, tuple(numbers[part] for part in told))


class Extent(Protocol):
    """What a region shows of one attribute."""

    @property
    def label(self) -> str | None:
        """How it is shown; None for missing."""

    def cut(self, where: Sequence[int]) -> Cut:
        """Cut where the kernels say: see `problem.Cuts`."""


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

    @cached_property
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

    def cut(self, where: Sequence[int]) -> Cut:
        """In two, on a number between the last that somebody has below the cut and the first above it; before that,
        missing values are set apart."""
        at, below = where
        if at == len(self.axis.numbers):
            apart = (NumberExtent(self.axis, self.first, at), NumberExtent(self.axis, at, self.end))
            return Cut(apart)
        end = self.axis.end(at, below)
        halves = (
            NumberExtent(self.axis, self.first, at, self.low, end),
            NumberExtent(self.axis, at, self.end, end, self.high),
        )
        return Cut(halves, end)


@dataclass(frozen=True, eq=False)
class TreeExtent:
    """A node of a taxonomy; None is missing. The root holds the missing values too."""

    axis: TreeAxis
    node: str | None

    @property
    def label(self) -> str | None:
        """The node."""
        return self.node

    def cut(self, where: Sequence[int]) -> Cut:
        """Into the node's children, all of them at once."""
        return self._cut

    @cached_property
    def _cut(self) -> Cut:
        tree = self.axis.taxonomy
        nodes: list[str | None] = [] if self.node is None else list(tree.children(self.node))
        if self.axis.missing and self.node == tree.root:
            nodes.append(None)
        parts = tuple(TreeExtent(self.axis, node) for node in nodes)
        return Cut.of_labels(parts, tuple([node] for node in nodes), bare=True)


@dataclass(frozen=True, eq=False)
class ValueExtent:
    """A set of labels without a taxonomy."""

    axis: ValueAxis
    members: tuple[int, ...]

    @cached_property
    def label(self) -> str | None:
        """`*` for all of them, a label alone, or the labels in braces; None for missing."""
        if len(self.members) == self.axis.size:
            return SUPPRESSED
        names = self._names(self.members)
        known = [name for name in names if name is not None]
        return set_text(known, missing=len(known) < len(names)) if known else None

    def _names(self, members: tuple[int, ...]) -> list[str | None]:
        """In the order of letters, missing last: as regions.json has them."""
        labels = self.axis.labels
        names = (labels[member] if member < len(labels) else None for member in members)
        return sorted(names, key=lambda name: (name is None, name or ""))

    def cut(self, where: Sequence[int]) -> Cut:
        """In two; labels without records stay with the first part."""
        second = set(where)
        parts = (
            tuple(m for m in self.members if m not in second),
            tuple(m for m in self.members if m in second),
        )
        extents = tuple(ValueExtent(self.axis, part) for part in parts)
        return Cut.of_labels(extents, tuple(self._names(part) for part in parts), bare=False)


def whole(axis: Axis) -> Extent:
    """All of an axis."""
    if isinstance(axis, TreeAxis):
        return TreeExtent(axis, axis.taxonomy.root)
    if isinstance(axis, ValueAxis):
        return ValueExtent(axis, tuple(range(axis.size)))
    return NumberExtent(axis, 0, axis.size)
