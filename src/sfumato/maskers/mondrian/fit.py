"""Fitting: cut the table into regions until no cut is left that keeps every requirement."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.axis import Axis, TreeAxis, make_axis, positions
from sfumato.data.schema import ItemSet, Schema
from sfumato.data.table import Table
from sfumato.errors import RecipeError
from sfumato.events import checkpoint
from sfumato.maskers.masker import K_ANONYMITY, Guarantee, Labels, Masker, Outcome, Task
from sfumato.maskers.mondrian.extents import AIMS, Counted, Cut, Extent, Holding, whole
from sfumato.maskers.mondrian.mask import Along, Branch, Leaf, Node, Regions
from sfumato.maskers.sensitive import check_top, sensitive_columns
from sfumato.privacy.requirements import KMap, Requirement, basic, largest_k, without_covered

Rows = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Mondrian(Masker):
    """Regions of many dimensions; local recoding, whose interpretation is harder (see the package).

    - `score`: "infogain" cuts where that tells most about the classes (LeFevre et al. 2006), "median" cuts the widest
      attribute in halves and knows nothing of classes (their Mondrian of the same year); without a structure it is
      always the median.

    Every region satisfies every requirement. Records of a region show the same values on every attribute, so each
    group on any quasi-identifier is made of whole regions, and requirements are monotone: what holds in all parts of
    a group holds in the group. With several quasi-identifiers they hold more strictly than they ask.

    >>> Mondrian().score
    'infogain'
    """

    guarantee: ClassVar[Guarantee] = K_ANONYMITY

    score: Literal["infogain", "median"] = "infogain"

    def __post_init__(self) -> None:
        if self.score not in ("infogain", "median"):
            raise RecipeError("score", "it is infogain or median", given=repr(self.score), remedy="say 'infogain'")

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Mondrian needs requirements, on numbers and categories, and knows no population."""
        if not requirements:
            raise RecipeError(
                "privacy",
                "Mondrian needs at least one requirement",
                given="none",
                remedy="add for example {k_anonymity: 10, on: [age, sex]}",
            )
        if any(isinstance(requirement, KMap) for requirement in requirements):
            raise RecipeError(
                "privacy",
                "Mondrian counts the table alone",
                given="a k-map, which asks about others",
                remedy="use top_down, or ask for k_anonymity",
            )
        for name in {name for requirement in requirements for name in requirement.on}:
            if isinstance(schema[name], ItemSet):
                raise RecipeError(
                    name,
                    "Mondrian cuts numbers and categories",
                    given="an item set",
                    remedy="give it another role, or use another masker",
                )

    def unguided(self) -> Mondrian:
        """Regions are cut in their middle: there are no labels of which a cut could tell something."""
        return replace(self, score="median")

    def mask(self, task: Task) -> Outcome:
        """Learn regions and show each record the bounds of its own."""
        demands = without_covered(task.requirements)
        regions = fit(task.table, task.labels, demands.kept, score=self.score)
        return Outcome(regions, regions.apply(task.table), demands.covered)

    @staticmethod
    def read_mask(files: Mapping[str, Any]) -> Regions:
        """The mask of a written release."""
        return Regions.read(files)


def fit(table: Table, labels: Labels, requirements: Sequence[Requirement], *, score: str) -> Regions:
    """Cut the table into regions."""
    parts = basic(requirements)
    check_top(table, parts)
    names = [name for name in table.schema.quasi if any(name in r.on for r in requirements)]
    many = largest_k(requirements)
    axes = [make_axis(name, table.schema[name], table.column(name), many=many[name]) for name in names]
    places = [positions(axis, table.column(axis.name)).astype(np.int64) for axis in axes]
    sensitive = {
        name: (table.column(name).codes.astype(np.int64), len(column.values))
        for name, column in sensitive_columns(table, parts).items()
    }
    cutting = _Cutting(
        axes, places, (labels.classes.astype(np.int64), labels.n), sensitive, Holding.of(table, parts), score
    )
    trees = {axis.name: axis.taxonomy for axis in axes if isinstance(axis, TreeAxis)}
    return Regions({axis.name: Along.of(axis) for axis in axes}, cutting.regions(), trees)


@dataclass(frozen=True, eq=False)
class _Region:
    """Records, what is shown of them, and the number of its node."""

    rows: Rows
    extents: tuple[Extent, ...]
    node: int


@dataclass(frozen=True, eq=False)
class _Choice:
    """A cut of the attribute with this number."""

    worth: float
    at: int
    cut: Cut


@dataclass(frozen=True, eq=False)
class _Cutting:
    """One table in positions, ready to be cut; classes and sensitive columns are codes and how many there are."""

    axes: Sequence[Axis]
    places: Sequence[Rows]
    classes: tuple[Rows, int]
    sensitive: Mapping[str, tuple[Rows, int]]
    holding: Holding
    score: str

    def regions(self) -> tuple[Node, ...]:
        """Cut each region by its best cut, until none is allowed."""
        top = _Region(np.arange(len(self.classes[0])), tuple(whole(axis) for axis in self.axes), 0)
        nodes: dict[int, Node] = {}
        empty: set[int] = set()
        waiting, count, done = [top], 1, 0
        while waiting:
            checkpoint(done / len(top.rows))
            region = waiting.pop()
            if not len(region.rows):
                empty.add(region.node)
            best = self._best(region)
            if best is None:
                nodes[region.node] = self._leaf(region)
                done += len(region.rows)
                continue
            children = self._children(region, best, count)
            count += len(children)
            below = tuple(child.node for child in children)
            nodes[region.node] = Branch(self.axes[best.at].name, best.cut.test, below)
            waiting += children
        return told(nodes, empty, [axis.name for axis in self.axes if isinstance(axis, TreeAxis)])

    def _best(self, region: _Region) -> _Choice | None:
        """The attribute and the cut worth most; the first in the schema on a tie."""
        best: _Choice | None = None
        if len(region.rows) < self.holding.least:
            return None
        for at, extent in enumerate(region.extents):
            checkpoint()
            cut = extent.cut(self._counted(region.rows, at), self.holding, AIMS[self.score])
            if cut is None:
                continue
            worth = cut.worth if self.score == "infogain" else extent.width
            if best is None or worth > best.worth:
                best = _Choice(worth, at, cut)
        return best

    def _counted(self, rows: Rows, at: int) -> Counted:
        by = {name: self._histogram(rows, at, *column) for name, column in self.sensitive.items()}
        return Counted(self._histogram(rows, at, *self.classes), by)

    def _histogram(self, rows: Rows, at: int, codes: Rows, n: int) -> NDArray[np.int64]:
        size = self.axes[at].size
        return np.bincount(self.places[at][rows] * n + codes[rows], minlength=size * n).reshape(size, n)

    def _children(self, region: _Region, chosen: _Choice, first: int) -> list[_Region]:
        at, cut = chosen.at, chosen.cut
        way = cut.way[self.places[at][region.rows]]
        before, after = region.extents[:at], region.extents[at + 1 :]
        return [
            _Region(region.rows[way == part], (*before, child, *after), first + part)
            for part, child in enumerate(cut.children)
        ]

    def _leaf(self, region: _Region) -> Leaf:
        return Leaf({axis.name: e.label for axis, e in zip(self.axes, region.extents, strict=True)})


def told(nodes: Mapping[int, Node], empty: Collection[int], trees: Collection[str]) -> tuple[Node, ...]:
    """The nodes below the first, each before those below it, without empty ones.

    `trees`: the attributes with a taxonomy. Along these, parts without records are left out, and so is a cut into one
    part whose label no region shows.
    """
    filled = {number: _filled(node, empty, trees) for number, node in nodes.items() if number not in empty}
    silent = _silent(filled, trees)
    found: list[Node] = []
    waiting: list[tuple[int, int | None, int]] = [(0, None, 0)]
    while waiting:
        number, parent, part = waiting.pop()
        node = filled[number]
        while isinstance(node, Branch) and number in silent:
            number = next(child for child in node.below if child is not None)
            node = filled[number]
        if parent is not None:
            found[parent] = _with_child(found[parent], part, len(found))
        at = len(found)
        found.append(node)
        if isinstance(node, Branch):
            below = [(child, at, place) for place, child in enumerate(node.below) if child is not None]
            waiting += reversed(below)
    return tuple(found)


def _filled(node: Node, empty: Collection[int], trees: Collection[str]) -> Node:
    """A node whose parts stand in the order of their labels; parts without records are None, or gone from a tree."""
    if isinstance(node, Leaf):
        return node
    below = [None if child in empty else child for child in node.below]
    if node.test["cut"] != "labels":
        return replace(node, below=tuple(below))
    pairs = [
        (part, child)
        for part, child in zip(node.test["labels"], below, strict=True)
        if child is not None or node.attribute not in trees
    ]
    pairs.sort(key=lambda pair: [(label is None, label or "") for label in pair[0]])
    return replace(
        node,
        test={"cut": "labels", "labels": [list(part) for part, _ in pairs]},
        below=tuple(child for _, child in pairs),
    )


def _silent(nodes: Mapping[int, Node], trees: Collection[str]) -> set[int]:
    """The cuts into one part whose label no region shows; children have larger numbers than their parents."""
    found: set[int] = set()
    shown: dict[int, set[tuple[str, str | None]]] = {}
    for number in sorted(nodes, reverse=True):
        node = nodes[number]
        if isinstance(node, Leaf):
            shown[number] = {(name, node.shown[name]) for name in trees}
            continue
        below = sorted((shown.pop(child) for child in node.below if child is not None), key=len)
        shown[number] = _together(below)
        one = node.attribute in trees and len(node.below) == 1
        if one and (node.attribute, node.test["labels"][0][0]) not in shown[number]:
            found.add(number)
    return found


def _together(sets: list[set[tuple[str, str | None]]]) -> set[tuple[str, str | None]]:
    """All of them in the last, which is the largest: of a tall tree the same is not copied at every cut."""
    sets[-1].update(*sets[:-1])
    return sets[-1]


def _with_child(node: Node, part: int, child: int) -> Node:
    if not isinstance(node, Branch):
        raise TypeError("only a cut has parts")
    return replace(node, below=tuple(child if at == part else old for at, old in enumerate(node.below)))
