"""Regions: what Mondrian learned. A tree of cuts, at its leaves what a record of that region shows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data import calendar
from sfumato.data.axis import Axis, NumberAxis, TreeAxis, labels_of, numbers_of
from sfumato.data.masked import Masked
from sfumato.data.schema import Calendar, Category, Number
from sfumato.data.table import Column, Table, narrow
from sfumato.data.taxonomy.bare_form import from_form, to_form
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import TableError
from sfumato.events import checkpoint, watched
from sfumato.maskers.masker import WHOLE, Mask, refuse_lifted
from sfumato.maskers.recoding.intervals import Bound, interval_labels, outside, plain_number
from sfumato.maskers.recoding.recoding import tree_file
from sfumato.maskers.recoding.rules import SUPPRESSED

Rows = NDArray[np.int64]
Shown = Mapping[str, str | None]
NOWHERE = -1
"""A row that no region takes."""


@dataclass(frozen=True)
class Along:
    """What an attribute is cut along: numbers in a range, labels below a root, or labels without a tree.

    `missing`: of numbers, whether some are missing: until these are set apart, `*` hides them among all others.
    `root`: None where it is not told, because no region shows it.
    """

    kind: Literal["number", "tree", "labels"]
    range: tuple[Bound, Bound] | None = None
    missing: bool = False
    calendar: Calendar | None = None
    root: str | None = SUPPRESSED

    @classmethod
    def of(cls, axis: Axis) -> Along:
        """An attribute's axis, in the words of regions.json."""
        if isinstance(axis, NumberAxis):
            return cls("number", axis.attribute.range, axis.missing, axis.attribute.calendar)
        return cls("tree", root=axis.taxonomy.root) if isinstance(axis, TreeAxis) else cls("labels")

    @property
    def top(self) -> str:
        """What the most masked record shows."""
        if self.kind != "number":
            return self.root or SUPPRESSED
        return SUPPRESSED if self.missing else interval_labels(self.range, (), self.calendar)[0]

    def to_json(self) -> dict[str, Any]:
        """Plain mapping."""
        if self.kind == "tree":
            return {"kind": self.kind, "root": self.root}
        if self.kind == "labels":
            return {"kind": self.kind}
        ends = None if self.range is None else [b if isinstance(b, str) else plain_number(b) for b in self.range]
        unit = {} if self.calendar is None else {"calendar": self.calendar}
        return {"kind": self.kind, "range": ends, "missing": self.missing, **unit}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Along:
        """What `to_json` wrote."""
        ends = form.get("range")
        return cls(
            form["kind"],
            None if ends is None else (ends[0], ends[1]),
            form.get("missing", False),
            form.get("calendar"),
            form.get("root", SUPPRESSED),
        )


@dataclass(frozen=True)
class Leaf:
    """What every record of a region shows, by attribute; None for missing."""

    shown: Shown


@dataclass(frozen=True)
class Branch:
    """A cut along an attribute. `test` is {"cut": "below", "at": 37}, {"cut": "missing"} or {"cut": "labels",
    "labels": [[...], [...]]}; labels of a tree stand for all below them. `below` are the children's numbers, in the
    order of the parts; None for a part without records, which is no region."""

    attribute: str
    test: Mapping[str, Any]
    below: tuple[int | None, ...]


Node = Leaf | Branch


@dataclass(frozen=True)
class Regions(Mask):
    """A cut table: what the attributes are cut along, in order, and the nodes of the tree, parents first.

    `trees`: the whole taxonomies, which the holder keeps: the nodes name the labels that are cut, not those below.
    """

    local: ClassVar[bool] = True
    attributes: Mapping[str, Along]
    nodes: tuple[Node, ...]
    trees: Mapping[str, Taxonomy] = field(default_factory=dict, compare=False, repr=False)

    def files(self) -> dict[str, Any]:
        """regions.json."""
        return {"regions.json": self.to_json()}

    def to_json(self) -> dict[str, Any]:
        """The content of regions.json."""
        attributes = {name: along.to_json() for name, along in self.attributes.items()}
        return {"attributes": attributes, "nodes": [self._form(node) for node in self.nodes]}

    @classmethod
    def read(cls, files: Mapping[str, Any]) -> Regions:
        """From the JSON files of a release and its holder's folder, by name."""
        form = files["regions.json"]
        attributes = {name: Along.from_json(part) for name, part in form["attributes"].items()}
        trees = {name: from_form(files[tree_file(name)]) for name in attributes if tree_file(name) in files}
        return cls(attributes, tuple(_node(node) for node in form["nodes"]), trees)

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """Every region."""
        return tuple(node for node in self.nodes if isinstance(node, Leaf))

    @property
    def top(self) -> Shown:
        """The most masked value of each attribute."""
        return {name: along.top for name, along in self.attributes.items()}

    @property
    def hidden(self) -> Shown:
        """What a row shows that no region takes: no interval holds every number, a missing one, say."""
        return {name: SUPPRESSED if along.kind == "number" else along.top for name, along in self.attributes.items()}

    def kept_back(self) -> dict[str, Any]:
        """The whole taxonomies, and the regions with the names of labels that no region shows."""
        if all(along.kind != "tree" for along in self.attributes.values()):
            return {}
        trees = {tree_file(name): to_form(tree) for name, tree in self.trees.items()}
        return {f"{WHOLE}/{name}": form for name, form in (self.files() | trees).items()}

    def released(self, masked: Masked, needed: Mapping[str, Collection[str]]) -> Regions:
        """The regions with the names of labels that some region shows; others are cut without one."""
        trees = {name for name, along in self.attributes.items() if along.kind == "tree"}
        leaves = self.leaves
        shown = {name: {leaf.shown[name] for leaf in leaves} for name in trees}
        bare = {name: replace(self.attributes[name], root=None) for name in trees if self.top[name] not in shown[name]}
        return Regions({**self.attributes, **bare}, _bare_nodes(self.nodes, shown))

    def apply(self, table: Table, *, unseen: str = "refuse", lifted: NDArray[np.bool_] | None = None) -> Masked:
        """What each row shows. Rows that no region takes are refused, or shown at the top, their numbers as `*`."""
        refuse_lifted(lifted)
        at = self._route(table)
        at[self._undeclared(table)] = NOWHERE
        if unseen == "refuse" and (at < 0).any():
            raise TableError(
                "regions",
                "every row falls into a region",
                given="values that were not there when the regions were learned",
                remedy="say unseen='suppress' to show these rows at the top",
            )
        return self.shown_by(at)

    def _undeclared(self, table: Table) -> NDArray[np.bool_]:
        """(rows,): whether a number of a row lies outside its declared range, to the end of which intervals reach."""
        found = np.zeros(table.rows, dtype=bool)
        for name, along in self.attributes.items():
            if along.kind == "number" and along.range is not None:
                numbers = numbers_of(table.column(name).values, Number(calendar=along.calendar))
                beyond = outside(numbers, along.range, along.calendar)
                found |= np.append(beyond, False)[table.column(name).codes]
        return found

    def shown_by(self, leaves: Rows) -> Masked:
        """What rows show that fall into these leaves, by their numbers; what is hidden, if it is -1."""
        number = np.zeros(len(self.nodes) + 1, dtype=np.int64)  # the last is -1
        number[leaves] = 1
        used = np.flatnonzero(number)
        number[used] = np.arange(len(used))
        nodes = (*self.nodes, None)
        shown = [node.shown if isinstance(node := nodes[at], Leaf) else self.hidden for at in used.tolist()]
        at = number[leaves]
        columns = {name: _column([each[name] for each in shown], at) for name in self.attributes}
        return Masked.made(columns, word="region", rows=len(leaves))

    def _route(self, table: Table) -> Rows:
        """(rows,): the leaf of each row, -1 for none."""
        found = np.full(table.rows, -1, dtype=np.int64)
        waiting = [(0, np.arange(table.rows))]
        while waiting:
            checkpoint()
            number, rows = waiting.pop()
            node = self.nodes[number]
            if isinstance(node, Leaf):
                found[rows] = number
            elif len(rows):
                way = self._ways(node, table)[table.column(node.attribute).codes[rows]]
                waiting += [(child, rows[way == part]) for part, child in enumerate(node.below) if child is not None]
        return found

    def _ways(self, branch: Branch, table: Table) -> Rows:
        """(values + 1,): which child each value goes to, missing last; -1 for none."""
        values = table.column(branch.attribute).values
        kind = branch.test["cut"]
        if kind == "labels":
            at = {label: number for number, part in enumerate(branch.test["labels"]) for label in part}
            if self.attributes[branch.attribute].kind == "tree":
                at = _leaves(at, self._tree(branch.attribute, table))
            return np.array([at.get(label, -1) for label in (*labels_of(values), None)], dtype=np.int64)
        attribute = table.schema[branch.attribute]
        numbers = numbers_of(values, attribute if isinstance(attribute, Number) else Number())
        gone = np.isnan(numbers)
        if kind == "missing":
            return np.append(gone.astype(np.int64), 1)
        return np.append(np.where(gone, -1, numbers >= branch.test["at"]).astype(np.int64), -1)

    def _tree(self, name: str, table: Table) -> Taxonomy:
        attribute = table.schema[name]
        found = self.trees.get(name) or (attribute.taxonomy if isinstance(attribute, Category) else None)
        if found is None:
            raise TableError(
                name,
                "its labels are placed by the whole taxonomy",
                given="none",
                remedy="keep the holder's folder beside the release, or declare the taxonomy",
            )
        return found

    def _form(self, node: Node) -> dict[str, Any]:
        if isinstance(node, Leaf):
            return {"shown": dict(node.shown)}
        test, unit = dict(node.test), self.attributes[node.attribute].calendar
        if "at" in test:
            test["at"] = calendar.show(test["at"], unit) if unit else plain_number(test["at"])
        return {"attribute": node.attribute, **test, "below": list(node.below)}


def _leaves(at: Mapping[str | None, int], tree: Taxonomy) -> dict[str | None, int]:
    """The part of every leaf that stands below a label of a part."""
    found: dict[str | None, int] = {None: at[None]} if None in at else {}
    for label, part in at.items():
        if label is not None and label in tree:
            found.update(dict.fromkeys(tree.leaves_of(label), part))
    return found


def _column(labels: list[str | None], at: Rows) -> Column:
    """What each row shows: the label of this number."""
    shown = sorted({label for label in labels if label is not None})
    missing = len(shown)
    place: dict[str | None, int] = {None: missing, **{label: number for number, label in enumerate(shown)}}
    codes = np.array([place[label] for label in labels], dtype=np.int64)[at]
    return Column(narrow(codes, missing), pa.array(shown, type=pa.string()))


def _node(form: Mapping[str, Any]) -> Node:
    if "shown" in form:
        return Leaf(dict(form["shown"]))
    test = {key: value for key, value in form.items() if key not in ("attribute", "below")}
    if isinstance(test.get("at"), str):
        test["at"] = calendar.parse(test["at"])
    return Branch(form["attribute"], test, tuple(form["below"]))


def _bare_nodes(nodes: Sequence[Node], shown: Mapping[str, set[str | None]]) -> tuple[Node, ...]:
    """The same tree; cuts of the attributes in `shown` name these labels alone, and their parts stand in the order of
    letters, missing last, so that the order tells nothing of the labels without a name."""
    first = _first_shown(nodes, shown)
    ways = [_bare_ways(node, shown, first) for node in watched(iter(nodes))]
    order, waiting = [], [0]
    while waiting:  # parents first, as whoever counts again walks the tree
        order.append(waiting.pop())
        waiting += [way.below for way in reversed(ways[order[-1]]) if way.below is not None]
    checkpoint()
    number = {old: new for new, old in enumerate(order)}
    return tuple(_renumbered(nodes[old], ways[old], number) for old in order)


@dataclass(frozen=True)
class _Way:
    """One part of a cut: its labels, of cuts along labels, and the number of the node below."""

    labels: list[str | None] | None
    below: int | None


def _bare_ways(node: Node, shown: Mapping[str, set[str | None]], first: Sequence[Mapping[str, str]]) -> list[_Way]:
    if isinstance(node, Leaf):
        return []
    name = node.attribute
    if name not in shown:
        return [_Way(None, child) for child in node.below]

    def place(way: _Way) -> tuple[bool, str]:
        labels = way.labels or []
        return labels == [None], labels[0] or "" if labels else first[way.below or 0][name]

    parts = [[label for label in part if label in shown[name]] for part in node.test["labels"]]
    return sorted((_Way(part, child) for part, child in zip(parts, node.below, strict=True)), key=place)


def _renumbered(node: Node, ways: Sequence[_Way], number: Mapping[int, int]) -> Node:
    if isinstance(node, Leaf):
        return node
    labels = [way.labels for way in ways]
    test = node.test if None in labels else {**node.test, "labels": labels}
    return Branch(node.attribute, test, tuple(None if way.below is None else number[way.below] for way in ways))


def _first_shown(nodes: Sequence[Node], names: Collection[str]) -> list[dict[str, str]]:
    """Of each node and each of these columns, the first label that a region below it shows."""
    found: list[dict[str, str]] = [{} for _ in nodes]
    for number in watched(iter(range(len(nodes) - 1, -1, -1))):
        node = nodes[number]
        below = [found[child] for child in node.below if child is not None] if isinstance(node, Branch) else []
        parts = [node.shown] if isinstance(node, Leaf) else below
        for name in names:
            labels = [label for part in parts if (label := part.get(name)) is not None]
            if labels:
                found[number][name] = min(labels)
    return found
