"""Fitting: cut the table into regions until no cut is left that keeps every requirement."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from sfumato.arrays import Ints
from sfumato.calls import constructed
from sfumato.data.axis import TreeAxis, make_axis, positions
from sfumato.data.schema import ItemSet, Schema
from sfumato.data.table import Table
from sfumato.errors import RecipeError
from sfumato.events import checkpoint
from sfumato.maskers.masker import K_ANONYMITY, Guarantee, Labels, Masker, Outcome, Task
from sfumato.maskers.mondrian.cutting import Cutting
from sfumato.maskers.mondrian.holding import Holding
from sfumato.maskers.mondrian.mask import Along, Branch, Leaf, Node, Regions
from sfumato.maskers.mondrian.problem import Problem, aim_of, cells_of, trees_of
from sfumato.maskers.sensitive import check_top, sensitive_columns
from sfumato.privacy.requirements import KMap, Requirement, basic, codes_of, largest_k, without_covered


@constructed
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
        fitted = fit(task.table, task.labels, demands.kept, score=self.score)
        return Outcome(fitted.regions, fitted.regions.shown_by(fitted.leaves), demands.covered)

    @staticmethod
    def read_mask(files: Mapping[str, Any]) -> Regions:
        """The mask of a written release."""
        return Regions.read(files)


@dataclass(frozen=True, eq=False)
class Fitted:
    """The regions, and the number of the leaf that each row falls into."""

    regions: Regions
    leaves: Ints


def fit(table: Table, labels: Labels, requirements: Sequence[Requirement], *, score: str) -> Fitted:
    """Cut the table into regions."""
    parts = basic(requirements)
    check_top(table, parts)
    names = [name for name in table.schema.quasi if any(name in r.on for r in requirements)]
    many = largest_k(requirements)
    axes = [make_axis(name, table.schema[name], table.column(name), many=many[name]) for name in names]
    sensitive = {
        name: (codes_of(table, name).astype(np.int32), len(column.values))
        for name, column in sensitive_columns(table, parts).items()
    }
    holding = Holding.of(table, parts)
    problem = Problem(
        cells_of(axes, [positions(axis, table.column(axis.name)) for axis in axes]),
        trees_of(axes),
        aim_of(labels.classes, labels.n, gain=score == "infogain"),
        holding.least,
    )
    grown = Cutting(axes, problem, sensitive, holding).grown()
    trees = {axis.name: axis.taxonomy for axis in axes if isinstance(axis, TreeAxis)}
    order = told(grown.nodes, trees)
    regions = Regions({axis.name: Along.of(axis) for axis in axes}, order.nodes, trees)
    return Fitted(regions, order.number[grown.leaves])


@dataclass(frozen=True, eq=False)
class Told:
    """Nodes, and their number by that which they had before; -1 for those that are not told."""

    nodes: tuple[Node, ...]
    number: Ints


def told(nodes: Sequence[Node], trees: Collection[str]) -> Told:
    """The nodes below the first, each before those below it.

    `trees`: the attributes with a taxonomy. Along these, a cut into one part whose label no region shows is left out.
    """
    stands = _standing(nodes, _silent(nodes, trees))
    order: list[int] = []
    waiting = [stands[0]]
    while waiting:
        checkpoint()
        order.append(waiting.pop())
        waiting += [stands[child] for child in reversed(_below(nodes[order[-1]])) if child is not None]
    number = np.full(len(nodes), -1)
    number[order] = np.arange(len(order))
    new = number[stands].tolist()
    return Told(tuple(_renumbered(nodes[old], new) for old in order), number)


def _below(node: Node) -> tuple[int | None, ...]:
    return node.below if isinstance(node, Branch) else ()


def _silent(nodes: Sequence[Node], trees: Collection[str]) -> set[int]:
    """The cuts into one part whose label no region shows; children have larger numbers than their parents."""
    found: set[int] = set()
    shown: dict[int, set[tuple[str, str | None]]] = {}
    for number in range(len(nodes) - 1, -1, -1):
        checkpoint()
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


def _standing(nodes: Sequence[Node], silent: Collection[int]) -> list[int]:
    """For each node the one that stands in its place: of a silent cut, whatever does for its only part."""
    found = list(range(len(nodes)))
    for number in sorted(silent, reverse=True):
        found[number] = found[next(child for child in _below(nodes[number]) if child is not None)]
    return found


def _renumbered(node: Node, number: Sequence[int]) -> Node:
    if isinstance(node, Leaf):
        return node
    return Branch(node.attribute, node.test, tuple(None if child is None else number[child] for child in node.below))
