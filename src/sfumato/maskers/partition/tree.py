"""A tree of cuts: nodes that send values left or right, and at its leaves what a record of that part shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from sfumato.maskers.partition.extents import Extent


@dataclass(frozen=True)
class Leaf:
    """What every record of a part shows, by attribute."""

    shown: Mapping[str, Extent]


@dataclass(frozen=True)
class Below:
    """Numbers below `at` go left. `missing`: where missing ones go, 0 left, 1 right; None: there were none."""

    attribute: str
    at: float
    missing: int | None
    below: tuple[int, ...]


@dataclass(frozen=True)
class Among:
    """Labels of the first part go left, those of the second right; None is missing. Numbers are `...` (any of them)."""

    attribute: str
    labels: tuple[tuple[str | None, ...], tuple[str | None, ...]]
    below: tuple[int, ...]


@dataclass(frozen=True)
class Apart:
    """Numbers go left, missing ones right."""

    attribute: str
    below: tuple[int, ...]


@dataclass(frozen=True)
class Clustered:
    """Each cluster has a tree of its own; which cluster a row is in, the attributes do not tell."""

    below: tuple[int, ...]


Node = Leaf | Below | Among | Apart | Clustered


@dataclass(frozen=True)
class Tree:
    """One tree over some attributes; nodes stand before those below them."""

    on: tuple[str, ...]
    nodes: tuple[Node, ...]

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """Every part."""
        return tuple(node for node in self.nodes if isinstance(node, Leaf))
