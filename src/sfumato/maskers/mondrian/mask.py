"""Regions: what Mondrian learned. A tree of cuts, at its leaves what a record of that region shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.cut import labels_of, numbers_of
from sfumato.data.schema import Number
from sfumato.data.table import Table
from sfumato.errors import TableError

Rows = NDArray[np.int64]
Shown = Mapping[str, str | None]


@dataclass(frozen=True)
class Leaf:
    """What every record of a region shows, by attribute; None for missing."""

    shown: Shown


@dataclass(frozen=True)
class Branch:
    """A cut along an attribute. `test` is {"cut": "below", "at": 37}, {"cut": "missing"} or {"cut": "labels",
    "labels": [[...], [...]]}. `below` are the children's numbers, in the order of the parts."""

    attribute: str
    test: Mapping[str, Any]
    below: tuple[int, ...]


Node = Leaf | Branch


@dataclass(frozen=True)
class Regions:
    """A cut table: `attributes` in order, the nodes of the tree, the first its root, and `top`, the most
    masked value of each attribute."""

    attributes: tuple[str, ...]
    nodes: tuple[Node, ...]
    top: Shown

    def files(self) -> dict[str, Any]:
        """regions.json."""
        return {"regions.json": self.to_json()}

    def to_json(self) -> dict[str, Any]:
        """The content of regions.json."""
        return {"attributes": list(self.attributes), "top": dict(self.top), "nodes": [_form(n) for n in self.nodes]}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Regions:
        """Read regions.json."""
        return cls(tuple(form["attributes"]), tuple(_node(n) for n in form["nodes"]), dict(form["top"]))

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """Every region."""
        return tuple(node for node in self.nodes if isinstance(node, Leaf))

    def apply(self, table: Table, *, unseen: str = "refuse") -> dict[str, pa.Array[Any]]:
        """Masked columns, dictionary-encoded. Rows that no region takes are refused, or shown at the top."""
        at = self._route(table)
        if unseen == "refuse" and (at < 0).any():
            raise TableError("regions", "every row falls into a region",
                             given="values that were not there when the regions were learned",
                             remedy="say unseen='suppress' to show these rows at the top")  # fmt: skip
        shown = [node.shown if isinstance(node, Leaf) else self.top for node in self.nodes] + [self.top]
        return {name: _column([each[name] for each in shown], at) for name in self.attributes}

    def _route(self, table: Table) -> Rows:
        """(rows,): the leaf of each row, -1 for none."""
        found = np.full(table.rows, -1, dtype=np.int64)
        waiting = [(0, np.arange(table.rows))]
        while waiting:
            number, rows = waiting.pop()
            node = self.nodes[number]
            if isinstance(node, Leaf):
                found[rows] = number
            elif len(rows):
                way = _ways(node, table)[table.column(node.attribute).codes[rows]]
                waiting += [(child, rows[way == part]) for part, child in enumerate(node.below)]
        return found


def _ways(branch: Branch, table: Table) -> Rows:
    """(values + 1,): which child each value goes to, missing last; -1 for none."""
    values = table.column(branch.attribute).values
    kind = branch.test["cut"]
    if kind == "labels":
        at = {label: number for number, part in enumerate(branch.test["labels"]) for label in part}
        return np.array([at.get(label, -1) for label in (*labels_of(values), None)], dtype=np.int64)
    attribute = table.schema[branch.attribute]
    numbers = numbers_of(values, attribute if isinstance(attribute, Number) else Number())
    gone = np.isnan(numbers)
    if kind == "missing":
        return np.append(gone.astype(np.int64), 1)
    return np.append(np.where(gone, -1, numbers >= branch.test["at"]).astype(np.int64), -1)


def _column(labels: list[str | None], at: Rows) -> pa.Array[Any]:
    """What each row shows; the last label is for rows without a region. Only what occurs is in the dictionary."""
    shown = sorted({label for label in (labels[n] for n in np.unique(at)) if label is not None})
    place = {label: number for number, label in enumerate(shown)}
    codes = np.array([place.get(label, -1) if label is not None else -1 for label in labels], dtype=np.int32)[at]
    return pa.DictionaryArray.from_arrays(
        pa.array(codes, type=pa.int32(), mask=codes < 0), pa.array(shown, type=pa.string())
    )


def _form(node: Node) -> dict[str, Any]:
    if isinstance(node, Leaf):
        return {"shown": dict(node.shown)}
    return {"attribute": node.attribute, **node.test, "below": list(node.below)}


def _node(form: Mapping[str, Any]) -> Node:
    if "shown" in form:
        return Leaf(dict(form["shown"]))
    test = {key: value for key, value in form.items() if key not in ("attribute", "below")}
    return Branch(form["attribute"], test, tuple(form["below"]))
