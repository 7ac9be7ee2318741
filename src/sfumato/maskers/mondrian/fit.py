"""Fitting: cut the table into regions until no cut is left that keeps every requirement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.cut import Axis, TreeAxis, make_axis, positions
from sfumato.data.schema import ItemSet, Schema
from sfumato.data.table import Table
from sfumato.errors import RecipeError
from sfumato.maskers.masker import Labels, Outcome, Task
from sfumato.maskers.mondrian.extents import AIMS, Cut, Extent, whole
from sfumato.maskers.mondrian.holding import Counted, Holding
from sfumato.maskers.mondrian.mask import Along, Branch, Leaf, Node, Regions
from sfumato.maskers.mondrian.telling import told
from sfumato.maskers.sensitive import check_top, sensitive_columns
from sfumato.privacy.requirements import KMap, Requirement, basic, largest_k, without_covered

Rows = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Mondrian:
    """Regions of many dimensions; local recoding, whose interpretation is harder (see the package).

    `score`: "infogain" cuts where that tells most about the classes (LeFevre et al. 2006), "median" cuts the
    widest attribute in halves and knows nothing of classes (their Mondrian of the same year).

    Every region satisfies every requirement. Records of a region show the same values on every attribute, so each
    group on any quasi-identifier is made of whole regions, and requirements are monotone: what holds in all parts of
    a group holds in the group. With several quasi-identifiers they hold more strictly than they ask.

    >>> Mondrian().score
    'infogain'
    """

    guarantee: ClassVar[str] = "k_anonymity"

    score: Literal["infogain", "median"] = "infogain"

    def __post_init__(self) -> None:
        if self.score not in ("infogain", "median"):
            raise RecipeError("score", "it is infogain or median", given=repr(self.score),
                              remedy="say 'infogain'")  # fmt: skip

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Mondrian needs requirements, on numbers and categories, and knows no population."""
        if not requirements:
            raise RecipeError("privacy", "Mondrian needs at least one requirement", given="none",
                              remedy="add for example {k_anonymity: 10, on: [age, sex]}")  # fmt: skip
        if any(isinstance(requirement, KMap) for requirement in requirements):
            raise RecipeError("privacy", "Mondrian counts the table alone", given="a k-map, which asks about others",
                              remedy="use top_down, or ask for k_anonymity")  # fmt: skip
        for name in {name for requirement in requirements for name in requirement.on}:
            if isinstance(schema[name], ItemSet):
                raise RecipeError(name, "Mondrian cuts numbers and categories", given="an item set",
                                  remedy="give it another role, or use another masker")  # fmt: skip

    def mask(self, task: Task) -> Outcome:
        """Learn regions and show each record the bounds of its own."""
        demands = without_covered(task.requirements)
        regions = fit(task.table, task.labels, demands.kept, score=self.score)
        columns = regions.apply(task.table)
        return Outcome(regions, columns, dict.fromkeys(columns, "region"), demands.covered)

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
    cutting = _Cutting(axes, places, (labels.classes.astype(np.int64), labels.n), sensitive,
                       Holding.of(table, parts), score)  # fmt: skip
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
        waiting, count = [top], 1
        while waiting:
            region = waiting.pop()
            if not len(region.rows):
                empty.add(region.node)
            best = self._best(region)
            if best is None:
                nodes[region.node] = self._leaf(region)
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
