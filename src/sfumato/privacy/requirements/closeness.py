"""t-closeness: sensitive values are distributed in every group nearly as in the whole table (Li et al., 2007)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, ClassVar, Literal

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.calls import constructed
from sfumato.counting import Measure
from sfumato.data.lookalikes import alike, looks
from sfumato.data.schema import Category
from sfumato.data.table import Table
from sfumato.data.taxonomy.taxonomy import Taxonomy, pruned
from sfumato.errors import RecipeError, SchemaError, quoted
from sfumato.privacy.requirements.requirement import (
    ROUNDING,
    Sensitive,
    Usual,
    column,
    figure,
    learner,
    listed,
    said,
    same,
    share,
    told,
)

Distance = Literal["equal", "ordered", "hierarchical"]
DISTANCES = ("equal", "ordered", "hierarchical")


@constructed
@dataclass(frozen=True, init=False)
class TCloseness(Usual):
    """The distance between the sensitive values of every group and those of the whole table is at most t.

    The earth mover's distance of Li, Li and Venkatasubramanian, with their ground distances: "equal" between any two
    values, "ordered" by rank (numbers by size; categories as `order` lists them), "hierarchical" by the height of the
    lowest common label in the sensitive attribute's taxonomy, of which the labels count that join values which occur:
    a branch where nobody is brings nobody nearer. It is convex, and the table's distribution never
    changes, so a group is no further away than the furthest of its parts: t-closeness is monotone as well.

    >>> TCloseness(on=["age"], sensitive="disease", t=0.2).distance
    'equal'
    """

    name: ClassVar[str] = "t_closeness"
    main: ClassVar[str | None] = "t"

    on: tuple[str, ...]
    sensitive: str
    t: float
    distance: Distance
    order: tuple[Any, ...] | None

    def __init__(
        self,
        on: Iterable[str],
        sensitive: str,
        t: float,
        distance: Distance = "equal",
        order: Sequence[Any] | None = None,
    ) -> None:
        names = listed("t-closeness", on)
        object.__setattr__(self, "on", names)
        object.__setattr__(self, "sensitive", column("t-closeness", sensitive, names))
        object.__setattr__(self, "t", share("t-closeness", "t", t))
        if distance not in DISTANCES:
            raise RecipeError(
                "t-closeness", "distance is one of " + ", ".join(DISTANCES), given=repr(distance), remedy="say equal"
            )
        if order is not None and distance != "ordered":
            raise RecipeError(
                "t-closeness",
                "an order goes with the ordered distance",
                given=repr(distance),
                remedy="say distance: ordered, or leave the order out",
            )
        if order is not None and len({_look(value) for value in order}) < len(order):
            raise RecipeError(
                "t-closeness",
                "`order` lists every value once",
                given="values that look alike",
                remedy="list one of them",
            )
        object.__setattr__(self, "distance", distance)
        object.__setattr__(self, "order", None if order is None else tuple(order))

    @property
    def threshold(self) -> float:
        """-t: the further away, the less private."""
        return -self.t - ROUNDING

    def measure(self, sensitive: Sensitive) -> Measure:
        """Minus the distance to the whole table."""
        q = sensitive.totals / sensitive.totals.sum()
        if self.distance == "ordered":
            place = np.array(self._places(sensitive.values))
            return lambda counts: -_ordered(_shares(counts)[:, place] - q[place])
        if self.distance == "hierarchical":
            tree = self._tree(sensitive)
            return lambda counts: -_hierarchical(_shares(counts) - q, tree)
        return lambda counts: np.asarray(-np.abs(_shares(counts) - q).sum(axis=1) / 2, dtype=np.float64)

    def _places(self, values: tuple[Any, ...]) -> list[int]:
        """The codes in the order of their values; a missing value has no place in an order."""
        if any(value is None or value != value for value in values):
            raise SchemaError(
                self.sensitive,
                "an ordered distance needs every value to have a place in the order",
                given="missing values",
                remedy=f"drop them with missing: {{{self.sensitive}: drop}}, or say distance: equal",
            )
        if self.order is not None:
            known = {_look(value) for value in self.order}
            if any(_look(value) not in known for value in values):
                raise SchemaError(
                    self.sensitive,
                    "`order` lists every value of the sensitive attribute",
                    given="values that it does not list",
                    remedy="add them in their places",
                )
            held = {_look(value): code for code, value in enumerate(values)}
            return [held[_look(value)] for value in self.order if _look(value) in held]
        if any(isinstance(value, str) for value in values):
            raise SchemaError(
                self.sensitive,
                "the ordered distance of categories needs their order",
                given="none",
                remedy="list it in the requirement: order: [low, middle, high]",
            )
        return sorted(range(len(values)), key=lambda code: values[code])

    def _tree(self, sensitive: Sensitive) -> list[tuple[float, list[Ints]]]:
        """For each inner label its height as a share of the tree's, and the codes under each of its children."""
        tree = sensitive.taxonomy
        if tree is None or None in sensitive.values:
            raise SchemaError(
                self.sensitive,
                "a hierarchical distance needs every value in a taxonomy",
                given="no taxonomy" if tree is None else "missing values",
                remedy="declare a taxonomy for it, or say distance: equal",
            )
        code = {value: at for at, value in enumerate(sensitive.values)}
        if alike(tree.leaves):
            raise SchemaError(
                self.sensitive,
                "a value has one place in the tree of a hierarchical distance",
                given="leaves that look alike",
                remedy="write them alike, or say distance: equal",
            )
        return branches(pruned(tree, set(code), root=False), code)

    def falls_short(self, level: float) -> str:
        """The distance."""
        return f"values of {self.sensitive} at a distance of {-level:.4g} from the whole table's, and t is {self.t}"

    def remedy(self, level: float) -> str:
        """A larger t; the whole table is at no distance from itself."""
        bound = ceil(-level * 1000) / 1000
        return f"ask for t of at least {bound}" if bound < 1 else "leave it out: no distance is more than 1"

    def achieved(self, worst: Sequence[float]) -> dict[str, float]:
        """The distance of the furthest group."""
        return {"t": figure(max(-worst[0], 0.0))}

    def also(self, people: Table) -> dict[str, Any]:
        """Of values in an order or a tree those that somebody has."""
        attribute = people.schema[self.sensitive]
        if self.order is not None:
            held = people.column(self.sensitive).values.to_pylist()
            return {"order": [told(has) for value in self.order for has in held if same(has, value)]}
        if self.distance == "hierarchical" and isinstance(attribute, Category) and attribute.taxonomy is not None:
            return {"tree": bare_tree(attribute.taxonomy, people.column(self.sensitive).values.to_pylist())}
        return {}

    def attacker(self) -> str:
        """Against whom."""
        return learner(self.on, self.sensitive, "learns little more than the whole table tells of anybody")

    def sentence(self) -> str:
        """For people."""
        return (
            f"among records that look alike on {said(self.on)} the values of {quoted(self.sensitive)} are "
            f"distributed as in the whole table, up to a distance of {self.t} ({self.distance})"
        )

    def __str__(self) -> str:
        return f"{self.t}-closeness ({self.distance}) of {self.sensitive} on {{{', '.join(self.on)}}}"


def _look(value: Any) -> Any:
    return looks(value) if isinstance(value, str) else (type(value) is bool, value)


def branches(tree: Taxonomy, code: dict[Any, int]) -> list[tuple[float, list[Ints]]]:
    """The inner labels of a tree, with their heights, and the codes of the leaves under each child."""
    heights = heights_of(tree)
    top = heights[tree.root]
    return [
        (
            height / top,
            [
                np.array([code[leaf] for leaf in tree.leaves_of(child) if leaf in code], dtype=np.int64)
                for child in tree.children(label)
            ],
        )
        for label, height in heights.items()
        if height
    ]


def heights_of(tree: Taxonomy) -> dict[str, int]:
    """How far above its deepest leaf each label stands."""
    heights: dict[str, int] = {}

    def height(label: str) -> int:
        below = [height(child) for child in tree.children(label)]
        heights[label] = 1 + max(below) if below else 0
        return heights[label]

    height(tree.root)
    return heights


def bare_tree(taxonomy: Taxonomy, held: Collection[Any]) -> dict[str, Any]:
    """A tree for a distance: values that somebody has, and how high what joins them stands above the deepest.

    >>> ills = Taxonomy.from_tree({"ANY": {"lungs": ["flu", "cough"], "skin": ["rash", "acne"]}})
    >>> bare_tree(ills, ["cough", "flu", "rash"])
    {'height': 2, 'below': [{'height': 1, 'below': ['cough', 'flu']}, 'rash']}
    """
    tree = pruned(taxonomy, {str(value) for value in held}, root=False)
    heights = heights_of(tree)

    def node(label: str) -> Any:
        below = [node(child) for child in tree.children(label)]
        return {"height": heights[label], "below": sorted(below, key=_first)} if below else label

    return {"height": 1, "below": [tree.root]} if tree.is_leaf(tree.root) else dict(node(tree.root))


def _first(node: Any) -> str:
    return node if isinstance(node, str) else min(map(_first, node["below"]))


def _shares(counts: Ints) -> Floats:
    return np.asarray(counts / counts.sum(axis=1, keepdims=True), dtype=np.float64)


def _ordered(excess: Floats) -> Floats:
    """Li et al., section 4.2: the mean absolute cumulated difference; (groups, values in order) to (groups,)."""
    if excess.shape[1] < 2:
        return np.zeros(len(excess))
    return np.asarray(np.abs(np.cumsum(excess, axis=1)[:, :-1]).sum(axis=1) / (excess.shape[1] - 1), dtype=np.float64)


def _hierarchical(excess: Floats, tree: list[tuple[float, list[Ints]]]) -> Floats:
    """Li et al., section 4.3: at each label, what its children can settle among themselves moves its height."""
    cost = np.zeros(len(excess))
    for height, children in tree:
        extra = np.stack([excess[:, codes].sum(axis=1) for codes in children], axis=1)
        settled = np.minimum(np.maximum(extra, 0).sum(axis=1), np.maximum(-extra, 0).sum(axis=1))
        cost += height * settled
    return cost
