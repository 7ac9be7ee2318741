"""Fitting: cut the table into parts, and show of each part what occurs in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from sfumato.data.axis import make_axis, numbers_of
from sfumato.data.masked import Masked
from sfumato.data.schema import Attribute, ItemSet, Number, Schema
from sfumato.data.shown import SUPPRESSED
from sfumato.data.table import Column
from sfumato.errors import RecipeError, TableError
from sfumato.maskers.masker import K_ANONYMITY, Guarantee, Masker, Outcome, Task
from sfumato.maskers.mondrian.extents import Holding
from sfumato.maskers.partition.cells import Binned
from sfumato.maskers.partition.cutting import Cutting, Part
from sfumato.maskers.partition.description import Description, Fitted
from sfumato.maskers.partition.extents import Along, Extent, Labels
from sfumato.maskers.partition.guidance import guide_for
from sfumato.maskers.partition.labels import by_labels, chosen
from sfumato.maskers.partition.mask import ClusteredTree, RegionTree
from sfumato.maskers.sensitive import check_top, sensitive_columns
from sfumato.privacy.requirements import Basic, KMap, Requirement, basic, largest_k, without_covered

EXTENTS = ("parts", "cuts")
SHOWS = ("sets", "labels", "auto")


@dataclass(frozen=True, kw_only=True)
class Partition(Masker):
    """A tree of cuts guided by the structure; every record shows the extent of its part. The default.

    - `pure`: parts have records of one cluster each, so that clusters survive as well as they can; clusters with too
      few records are joined first. Parts overlap then: new rows cannot be told theirs.
    - `extent`: "parts" shows of a part what occurs in it, so that it also tells what does not; "cuts" shows no more
      than the cuts tell, which is coarser.
    - `show`: of a category "sets" shows the labels that occur, `{Chile, Peru}`; "labels" the lowest label of its
      taxonomy above all of them, `South`, and `*` without one. "auto" takes labels where they tell the classes of
      held-out records clearly better, and else sets.

    Every part satisfies every requirement on its attributes. Quasi-identifiers that have no attribute in common are cut
    by trees of their own; those that have are cut together, so that what holds on all their attributes holds on each.

    >>> Partition().extent
    'parts'
    """

    guarantee: ClassVar[Guarantee] = K_ANONYMITY

    extent: Literal["parts", "cuts"] = "parts"
    pure: bool = False
    show: Literal["sets", "labels", "auto"] = "sets"

    def __post_init__(self) -> None:
        if not isinstance(self.pure, bool):
            raise RecipeError("pure", "it is true or false", given=repr(self.pure), remedy="leave it out")
        if self.extent not in EXTENTS:
            raise RecipeError("extent", "it is parts or cuts", given=repr(self.extent), remedy="say 'parts'")
        if self.show not in SHOWS:
            raise RecipeError("show", "it is sets, labels or auto", given=repr(self.show), remedy="leave it out")

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Partition needs requirements, on numbers and categories, and knows no population."""
        if not requirements:
            raise RecipeError(
                "privacy",
                "Partition needs at least one requirement",
                given="none",
                remedy="add for example {k_anonymity: 10, on: [age, sex]}",
            )
        if any(isinstance(requirement, KMap) for requirement in requirements):
            raise RecipeError(
                "privacy",
                "Partition counts the table alone",
                given="a k-map, which asks about others",
                remedy="say mask: top_down, or ask for k_anonymity",
            )
        for name in {name for requirement in requirements for name in requirement.on}:
            if isinstance(schema[name], ItemSet):
                raise RecipeError(
                    name,
                    "Partition cuts numbers and categories",
                    given="an item set",
                    remedy="give it another role, or use a masker for sets such as microaggregate",
                )

    def unguided(self) -> Partition:
        """There are no clusters to be pure of."""
        if self.pure:
            raise RecipeError(
                "pure", "parts are pure of clusters", given="no structure", remedy="ask for clusters, or leave it out"
            )
        return self

    def mask(self, task: Task) -> Outcome:
        """Cut the table and show each record the extent of its part."""
        if self.pure and task.labels.told_in_part:
            raise RecipeError(
                "pure",
                "parts are pure of clusters: pure of a class, they would tell the class of everybody",
                given="a class column",
                remedy="leave it out",
            )
        demands = without_covered(task.requirements)
        fits = [fit(task, some, cuts=self.extent == "cuts", pure=self.pure) for some in connected(demands.kept)]
        along: Mapping[str, Along] = {name: one for fitted in fits for name, one in fitted.along.items()}
        attributes = {name: along[name] for name in task.table.schema.quasi if name in along}
        trees = tuple(fitted.tree for fitted in fits)
        sets = ClusteredTree(attributes, trees, apart=False) if self.pure else RegionTree(attributes, trees)
        ways = {"sets": sets} if self.show == "sets" else {"sets": sets, "labels": by_labels(sets, task.table.schema)}
        shown = {show: _masked(mask, fits, task.table.rows) for show, mask in ways.items()}
        choice = chosen(self.show, shown, task)
        mask = ways[choice["chosen"]]
        _refuse_alike(mask)
        history = {} if self.show == "sets" else {"show": choice}
        return Outcome(mask, shown[choice["chosen"]], demands.covered, history)

    @staticmethod
    def read_mask(files: Mapping[str, Any]) -> RegionTree:
        """The mask of a written release."""
        return RegionTree.read(files)


def _masked(mask: RegionTree, fits: Sequence[Fitted], rows: int) -> Masked:
    """What the table shows that the parts were cut from."""
    columns: dict[str, Column] = {}
    for tree, fitted in zip(mask.trees, fits, strict=True):
        columns |= mask.columns(tree, fitted.leaf_of)
    return Masked.made({name: columns[name] for name in mask.attributes}, word="extent", rows=rows)


def connected(requirements: Sequence[Requirement]) -> list[list[Requirement]]:
    """Requirements whose attributes are connected, through others or directly.

    >>> from sfumato.privacy.requirements import KAnonymity
    >>> asked = [KAnonymity(["a", "b"], 5), KAnonymity(["c"], 5), KAnonymity(["b", "d"], 2)]
    >>> [[str(one) for one in part] for part in connected(asked)]
    [['5-anonymity on {a, b}', '2-anonymity on {b, d}'], ['5-anonymity on {c}']]
    """
    found: list[list[Requirement]] = []
    for requirement in requirements:
        near = [part for part in found if any(set(one.on) & set(requirement.on) for one in part)]
        joined = [one for part in near for one in part] + [requirement]
        found = [part for part in found if part not in near] + [joined]
    place = {id(one): at for at, one in enumerate(requirements)}
    parts = [sorted(part, key=lambda one: place[id(one)]) for part in found]
    return sorted(parts, key=lambda part: place[id(part[0])])


def fit(task: Task, requirements: Sequence[Requirement], *, cuts: bool, pure: bool = False) -> Fitted:
    """Cut the table on the attributes of some requirements."""
    table, parts = task.table, basic(requirements)
    check_top(table, parts)
    names = [name for name in table.schema.quasi if any(name in one.on for one in requirements)]
    many = largest_k(requirements)
    varied = [name for name in names if _varies(table.column(name), table.schema[name])]
    axes = [make_axis(name, table.schema[name], table.column(name), many=many.get(name, 1)) for name in varied]
    holding = Holding.of(table, parts)
    binned = Binned.of(table, axes, least=min(max(holding.least, 2), max(2, table.rows // 50)))
    found, order = [Part(0, table.rows)], np.arange(table.rows, dtype=np.int32)
    if axes:
        cutting = _cutting(task, binned, holding, parts)
        found, order = cutting.parts(cutting.joined(task.labels) if pure else None)
    return Description(table, binned, found, order, cuts=cuts).fitted(names)


def _cutting(task: Task, binned: Binned, holding: Holding, parts: Sequence[Basic]) -> Cutting:
    sensitive = {
        name: (task.table.column(name).codes.astype(np.int64), len(column.values))
        for name, column in sensitive_columns(task.table, parts).items()
    }
    return Cutting(binned.cells, guide_for(task.labels, binned), holding, sensitive)


def _varies(column: Column, attribute: Attribute) -> bool:
    """Whether there is something to cut: two labels, missing among them, or two numbers."""
    if not isinstance(attribute, Number):
        return len(column.values) + (column.missing > 0) > 1
    numbers = numbers_of(column.values, attribute).astype(np.float64)
    return len(np.unique(numbers[np.isfinite(numbers)])) > 1


def _texts(mask: RegionTree) -> Iterator[tuple[str, str | None, Extent]]:
    for tree in mask.trees:
        for name in tree.on:
            for extent in dict.fromkeys(leaf.shown[name] for leaf in tree.leaves):
                yield name, mask.attributes[name].text(extent), extent


def _refuse_alike(mask: RegionTree) -> None:
    """Two extents that would be written alike, because a label looks like a set, or like `*`."""
    seen: dict[tuple[str, str | None], Extent] = {}
    for name, text, extent in _texts(mask):
        star = text == SUPPRESSED and isinstance(extent, Labels) and not extent.every
        if star or seen.setdefault((name, text), extent) != extent:
            raise TableError(
                name,
                "what is shown can be told apart",
                given="labels with commas, braces or a star that look like several labels together",
                remedy="rename them before publishing, or say mask: top_down",
            )
