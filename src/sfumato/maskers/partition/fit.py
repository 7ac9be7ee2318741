"""Fitting: cut the table into parts, and show of each part what occurs in it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from sfumato.calls import constructed
from sfumato.data.axis import NumberAxis, make_axis, numbers_of, positions
from sfumato.data.detail import Detail, Span, Width, ends_of
from sfumato.data.masked import Masked
from sfumato.data.schema import Attribute, ItemSet, Number, Schema
from sfumato.data.table import Column
from sfumato.errors import RecipeError
from sfumato.events import part, watched
from sfumato.maskers.detail.bands import too_many
from sfumato.maskers.detail.refusal import Unkept, refusal
from sfumato.maskers.masker import K_ANONYMITY, Guarantee, Labels, Mask, Masker, Outcome, Task
from sfumato.maskers.mondrian.holding import Holding
from sfumato.maskers.partition.cells import Binned, guide_of
from sfumato.maskers.partition.cutting import Begun, Cutting, Part, leaves_of
from sfumato.maskers.partition.explanation import Groups, whys_to_json
from sfumato.maskers.partition.explanation import Sensitive as Needed
from sfumato.maskers.partition.extents import Along
from sfumato.maskers.partition.guidance import guide_for
from sfumato.maskers.partition.labels import by_labels, chosen
from sfumato.maskers.partition.mask import ClusteredTree, RegionTree
from sfumato.maskers.partition.routes import route
from sfumato.maskers.partition.showing import Fitted, Showing
from sfumato.maskers.partition.tree import Tree
from sfumato.maskers.partition.wished import Kept, Planner, Sensitive, band_starts
from sfumato.maskers.sensitive import check_top, measure_of, sensitive_columns
from sfumato.privacy.requirements import KMap, Requirement, basic, codes_of, largest_k, without_covered

LEARNING = 0.5
"""The share of the work, about, that learning is of which class records are likely to be."""
EXTENTS = ("parts", "cuts")
SHOWS = ("sets", "labels", "auto")


@constructed
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
    settles: ClassVar[bool] = True

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
                    "Partition cuts by the one value that a record has: numbers and categories",
                    given="an item set, of which a record has several",
                    remedy="give it another role, or say mask: top_down (with a taxonomy of items) or microaggregate",
                )

    def unguided(self) -> Partition:
        """There are no clusters to be pure of."""
        if self.pure:
            raise RecipeError(
                "pure", "parts are pure of clusters", given="no structure", remedy="ask for clusters, or leave it out"
            )
        return self

    def check_detail(self, detail: Detail) -> None:
        """Wishes are kept by what occurs in a part; what cuts leave of it, or a label above it, may be wider."""
        if detail and (self.extent == "cuts" or self.show == "labels"):
            raise RecipeError(
                "detail",
                "a part shows what occurs in it as finely as it says, not what cuts leave of it, nor a label above it",
                given="extent: cuts" if self.extent == "cuts" else "show: labels",
                remedy="say extent: parts and show: sets, or leave detail out",
            )

    def mask(self, task: Task) -> Outcome:
        """Cut the table and show each record the extent of its part."""
        if self.pure and task.labels.told_in_part:
            raise RecipeError(
                "pure",
                "parts are pure of clusters: pure of a class, they would tell the class of everybody",
                given="a class column",
                remedy="leave it out",
            )
        try:
            return self._masked(task)
        except Unkept:
            raise refusal(task, lambda other: keeps_detail(other, pure=self.pure)) from None

    def _masked(self, task: Task) -> Outcome:
        demands = without_covered(task.requirements)
        apart = watched(connected(demands.kept))
        fits = [fit(task, some, cuts=self.extent == "cuts", pure=self.pure) for some in apart]
        along: Mapping[str, Along] = {name: one for fitted in fits for name, one in fitted.along.items()}
        attributes = {name: along[name] for name in task.table.schema.quasi if name in along}
        trees = tuple(fitted.tree for fitted in fits)
        sets = ClusteredTree(attributes, trees, apart=False) if self.pure else RegionTree(attributes, trees)
        show = "sets" if task.detail else self.show  # a label above those that occur may be wider than a wish
        ways = {"sets": sets} if show == "sets" else {"sets": sets, "labels": by_labels(sets, task.table.schema)}
        shown = {way: _over(mask, fits, task.table.rows) for way, mask in ways.items()}
        choice = chosen(show, shown, task)
        mask = ways[choice["chosen"]]
        history = {} if show == "sets" else {"show": choice}
        settled = f"with {sum(len(tree.leaves) for tree in trees):,} groups" if any(f.settled for f in fits) else None
        return Outcome(mask, shown[choice["chosen"]], demands.covered, history, settled=settled)

    @staticmethod
    def read_mask(files: Mapping[str, Any]) -> RegionTree:
        """The mask of a written release."""
        return RegionTree.read(files)

    def explained(self, task: Task, history: Mapping[str, Any], mask: Mask) -> Mapping[str, Any]:
        """The history with what stood in the way of finer values; of pure parts it is not known who is in them."""
        if not isinstance(mask, RegionTree) or self.pure:
            return history
        asked = connected(without_covered(task.requirements).kept)
        groups = (_groups(task, some, tree, mask) for tree, some in zip(mask.trees, asked, strict=True))
        return {**history, "values": whys_to_json([why for one in groups for why in one.whys()])}

    def explained_row(self, task: Task, mask: Mask, row: int) -> Mapping[str, str]:
        """What stood in the way of the next cut of the record's own part, along each attribute."""
        if not isinstance(mask, RegionTree) or self.pure:
            return {}
        asked = connected(without_covered(task.requirements).kept)
        groups = (_groups(task, some, tree, mask) for tree, some in zip(mask.trees, asked, strict=True))
        return {why.attribute: why.of_this_group for one in groups for why in one.of_row(row)}


def _over(mask: RegionTree, fits: Sequence[Fitted], rows: int) -> Masked:
    """What the table shows that the parts were cut from."""
    columns: dict[str, Column] = {}
    for tree, fitted in zip(mask.trees, fits, strict=True):
        columns |= mask.columns(tree, fitted.leaf_of)
    return Masked.made({name: columns[name] for name in mask.attributes}, word="extent", rows=rows)


def _groups(task: Task, requirements: Sequence[Requirement], tree: Tree, mask: RegionTree) -> Groups:
    """The groups of one tree, to be asked why their values look as they do."""
    ready, parts = Ready.of(task, requirements), basic(requirements)
    columns = sensitive_columns(task.table, parts)
    needs = [
        Needed(part, measure_of(part, columns), *ready.sensitive[part.sensitive])
        for part in parts
        if part.sensitive is not None
    ]
    texts = {name: [mask.attributes[name].text(leaf.shown[name]) for leaf in tree.leaves] for name in tree.on}
    return Groups(route(tree, task.table), texts, ready.binned, ready.holding.least, needs)


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


@dataclass(frozen=True, eq=False)
class Ready:
    """A table in bins on the attributes of some requirements, with what must hold. `names`: all of these attributes,
    those among them that have one value everywhere."""

    names: tuple[str, ...]
    binned: Binned
    holding: Holding
    sensitive: Sensitive

    @classmethod
    def of(cls, task: Task, requirements: Sequence[Requirement]) -> Ready:
        """Put a table into bins."""
        table, parts = task.table, basic(requirements)
        check_top(table, parts)
        names = [name for name in table.schema.quasi if any(name in one.on for one in requirements)]
        many = largest_k(requirements)
        varied = [name for name in names if _varies(table.column(name), table.schema[name])]
        _check_single(task, set(names) - set(varied))
        axes = [
            make_axis(name, table.schema[name], table.column(name), many=many.get(name, 1), wish=task.detail.get(name))
            for name in varied
        ]
        holding = Holding.of(table, parts)
        sensitive = {
            name: (codes_of(table, name).astype(np.int64), len(column.values))
            for name, column in sensitive_columns(table, parts).items()
        }
        least = min(max(holding.least, 2), max(2, table.rows // 50))
        wished = [axis for axis in axes if isinstance(axis, NumberAxis) and axis.wish is not None]
        if any(axis.wish and too_many(axis, axis.wish, table.rows, least) for axis in wished):
            raise Unkept
        tables = [sensitive[need.sensitive] for need in holding.measured]
        kept = Kept(replace(holding, least=max(least, holding.least)), tuple(size for _, size in tables))
        codes = [codes for codes, _ in tables]
        bands = {
            axis.name: band_starts(axis, positions(axis, table.column(axis.name)), task.detail[axis.name], kept, codes)
            for axis in wished
        }
        binned = Binned.of(table, axes, least=least, detail=task.detail, bands=bands)
        return cls(tuple(names), binned, holding, sensitive)

    def cutting(self, labels: Labels | None) -> Cutting:
        """The table, ready to be cut, guided by labels; by nothing without them."""
        rows = len(self.binned.cells.bins)
        guide = guide_of(np.zeros(rows, dtype=np.int64), 1) if labels is None else guide_for(labels, self.binned)
        return Cutting(self.binned.cells, guide, self.holding, self.sensitive)

    def planner(self, cutting: Cutting, detail: Detail) -> Planner | None:
        """How wishes are kept; None where there are none."""
        if not any(axis.name in detail for axis in self.binned.axes):
            return None
        return Planner.of(self.binned, detail, self.holding, self.sensitive, cutting.directions())


def fit(task: Task, requirements: Sequence[Requirement], *, cuts: bool, pure: bool = False) -> Fitted:
    """Cut the table on the attributes of some requirements."""
    ready = Ready.of(task, requirements)
    begun = Begun([Part(0, task.table.rows)], np.arange(task.table.rows, dtype=np.int32))
    if ready.binned.axes:
        learning = LEARNING if task.labels.told_in_part else 0.0
        with part(0.0, learning):
            cutting = ready.cutting(task.labels)
        clusters = cutting.joined(task.labels) if pure else None
        try:
            with part(learning, 1.0):
                begun = cutting.parts(clusters, ready.planner(cutting, task.detail))
        except Unkept:  # labels in the direction of the guide may have taken all of the effort
            begun = cutting.parts(clusters, ready.planner(ready.cutting(None), task.detail))
    shown = Showing(task.table, ready.binned, begun, cuts=cuts, listed=task.detail).fitted(ready.names)
    return replace(shown, settled=begun.settled)


def keeps_detail(task: Task, *, pure: bool) -> bool:
    """Whether the wishes of a task can be kept, as far as it is known before anything is cut for its worth."""
    try:
        for requirements in connected(without_covered(task.requirements).kept):
            ready = Ready.of(task, requirements)
            if not ready.binned.axes:
                continue
            cutting = ready.cutting(None)
            planner = ready.planner(cutting, task.detail)
            begun = cutting.begun(cutting.joined(task.labels) if pure else None)
            if planner is not None:
                planner.plan_all(begun.rows_of(number) for number in leaves_of(begun.parts))
    except Unkept:
        return False
    return True


def _check_single(task: Task, names: Collection[str]) -> None:
    """A number that is the same for everybody is shown as its whole range."""
    for name in names:
        wish, attribute = task.detail.get(name), task.table.schema[name]
        if not isinstance(attribute, Number) or not isinstance(wish, Width | Span):
            continue
        if len(task.table.column(name).values) and not wish.fits(*ends_of(attribute)):
            raise Unkept


def _varies(column: Column, attribute: Attribute) -> bool:
    """Whether there is something to cut: two labels, missing among them, or two numbers."""
    if not isinstance(attribute, Number):
        return len(column.values) + (column.missing > 0) > 1
    numbers = numbers_of(column.values, attribute).astype(np.float64)
    return len(np.unique(numbers[np.isfinite(numbers)])) > 1
