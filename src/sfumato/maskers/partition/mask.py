"""RegionTree: what Partition learned. A tree of cuts, at its leaves what a record of that part shows.

The recipient gets partition.json, which says what every shown text stands for and nothing else, and of labels above
others the taxonomy as far as the table shows it; the tree of cuts, by which new rows find their part, stays with the
holder.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data import calendar
from sfumato.data.masked import Masked
from sfumato.data.safe_files import InLines
from sfumato.data.shown import SUPPRESSED
from sfumato.data.table import Column, Table, narrow
from sfumato.data.taxonomy.bare_form import from_form
from sfumato.errors import TableError
from sfumato.events import checkpoint, many
from sfumato.maskers.masker import WHOLE, Mask, refuse_lifted
from sfumato.maskers.partition.extents import Along, Extent, Interval, Labels
from sfumato.maskers.partition.routes import OUTSIDE, covered, no_part
from sfumato.maskers.partition.tree import Among, Apart, Below, Clustered, Leaf, Node, Tree
from sfumato.maskers.recoding.intervals import plain_number
from sfumato.maskers.recoding.recoding import tree_file

NAME = "partition.json"
T = TypeVar("T")


@dataclass(frozen=True)
class RegionTree(Mask):
    """A tree for each set of attributes that requirements connect, and what attributes' extents are made of.

    `apart`: no value lies in the extents of two parts. No two extents of an attribute are written alike: where a label
    looks like a set, or like `*`, the table is refused.
    """

    local: ClassVar[bool] = True
    attributes: Mapping[str, Along]
    trees: tuple[Tree, ...]
    apart: bool = True

    def __post_init__(self) -> None:
        seen: dict[tuple[str, str | None], Extent] = {}
        for name, text, extent in self._texts():
            star = text == SUPPRESSED and isinstance(extent, Labels) and not extent.every
            if star or seen.setdefault((name, text), extent) != extent:
                raise TableError(
                    name,
                    "what is shown can be told apart",
                    given="a label that is a star, as what stands for anything",
                    remedy="rename them before publishing, or say mask: top_down",
                )

    def files(self) -> dict[str, Any]:
        """partition.json, and the taxonomies of whose labels extents are made."""
        told = {name: self._told(name) for name in self.attributes}
        return {NAME: {"attributes": told, **self._overlap()}, **self._taxonomies()}

    def released(self, masked: Masked, needed: Mapping[str, Collection[str]]) -> RegionTree:
        """Its taxonomies as far as rows show them, or something else in the release tells of them."""
        attributes = {
            name: along.released(masked.labels(name), needed.get(name, ())) for name, along in self.attributes.items()
        }
        return replace(self, attributes=attributes)

    def kept_back(self) -> dict[str, Any]:
        """The trees."""
        whole = {NAME: InLines(self.to_json()), **self._taxonomies()}
        return {f"{WHOLE}/{name}": form for name, form in whole.items()}

    def _overlap(self) -> dict[str, Any]:
        return {} if self.apart else {"apart": False}

    def _taxonomies(self) -> dict[str, Any]:
        forms = {name: along.tree_form() for name, along in self.attributes.items()}
        return {tree_file(name): form for name, form in forms.items() if form is not None}

    def to_json(self) -> dict[str, Any]:
        """The trees in plain JSON."""
        trees = [{"on": list(tree.on), "nodes": self._forms(tree)} for tree in self.trees]
        along = {name: {**one.to_json(), "missing": one.missing} for name, one in self.attributes.items()}
        return {"attributes": along, "trees": trees, **self._overlap()}

    @classmethod
    def read(cls, files: Mapping[str, Any]) -> RegionTree:
        """From the JSON files of a holder's folder, by name."""
        form = files[NAME]
        if "trees" not in form:
            raise TableError(
                NAME,
                "rows find their part by the trees that the holder keeps",
                given="the release alone",
                remedy="keep the holder's folder beside the release",
            )
        attributes = {name: _along(name, part, files) for name, part in form["attributes"].items()}
        trees = tuple(
            Tree(tuple(tree["on"]), tuple(_node(node, attributes) for node in tree["nodes"])) for tree in form["trees"]
        )
        clustered = any(isinstance(tree.nodes[0], Clustered) for tree in trees)
        return (ClusteredTree if clustered else cls)(attributes, trees, not clustered and "apart" not in form)

    def apply(self, table: Table, *, unseen: str = "refuse", lifted: NDArray[np.bool_] | None = None) -> Masked:
        """What each row shows. Rows that no part takes, or outside its extent, are refused or suppressed."""
        refuse_lifted(lifted)
        columns: dict[str, Column] = {}
        for tree in self.trees:
            at = covered(tree, table, self.attributes)
            if unseen == "refuse" and (at == OUTSIDE).any():
                raise no_part(tree, table, at, self.attributes)
            columns |= self.columns(tree, at)
        return Masked.made({name: columns[name] for name in self.attributes}, word="extent", rows=table.rows)

    def columns(self, tree: Tree, at: Ints) -> dict[str, Column]:
        """What rows show whose leaves are numbered `at`, in the order of the tree's leaves; -1 for none."""
        used = np.flatnonzero(np.bincount(at + 1)) - 1
        found = {}
        for name in tree.on:
            texts = each(self.attributes[name].text, (leaf.shown[name] for leaf in tree.leaves))
            found[name] = _column([*texts, SUPPRESSED], at, used)
        return found

    def _texts(self) -> Iterator[tuple[str, str | None, Extent]]:
        for tree in self.trees:
            for name in tree.on:
                checkpoint()
                shown = {id(extent): extent for extent in (leaf.shown[name] for leaf in tree.leaves)}  # hashing is dear
                for extent in dict.fromkeys(shown.values()):
                    yield name, self.attributes[name].text(extent), extent

    def _told(self, name: str) -> dict[str, Any]:
        """What the shown texts of a column stand for, in the order of their letters."""
        checkpoint()
        along = self.attributes[name]
        extents = {leaf.shown[name] for tree in self.trees if name in tree.on for leaf in tree.leaves}
        told = {along.text(extent): entry for extent in extents if (entry := along.entry(extent)) is not None}
        return {**along.to_json(), "shown": [told[text] for text in sorted(told, key=str)]}

    def _forms(self, tree: Tree) -> list[dict[str, Any]]:
        """The nodes of a tree; leaves that show the same share the form of it."""
        entries = {
            name: each(partial(self._shown, name), (leaf.shown[name] for leaf in tree.leaves)) for name in tree.on
        }
        checkpoint()
        leaves = iter([dict(zip(entries, shown, strict=True)) for shown in zip(*entries.values(), strict=True)])
        return [self._cut(node) or {"shown": next(leaves)} for node in many(tree.nodes)]

    def _cut(self, node: Node) -> dict[str, Any]:
        """A node that is no leaf; of a leaf nothing."""
        if isinstance(node, Leaf):
            return {}
        if isinstance(node, Clustered):
            return {"clusters": list(node.below)}
        form: dict[str, Any] = {"attribute": node.attribute, "below": list(node.below)}
        if isinstance(node, Below):
            unit = self.attributes[node.attribute].calendar
            at = calendar.show(node.at, unit) if unit else plain_number(node.at)
            return {**form, "at": at, "missing": node.missing}
        return {**form, "labels": [list(part) for part in node.labels]} if isinstance(node, Among) else form

    def _shown(self, name: str, extent: Extent) -> Any:
        """An extent in the holder's file: null for missing, "*" for anything."""
        return None if extent is None else self.attributes[name].entry(extent) or "*"


@dataclass(frozen=True)
class ClusteredTree(RegionTree):
    """Trees of parts that have records of one cluster each. Their extents overlap, and no attribute tells which cluster
    a row is in: it is shown by some part that covers it, not always by the one that it was released in."""

    repeats: ClassVar[bool] = False


def _along(name: str, form: Mapping[str, Any], files: Mapping[str, Any]) -> Along:
    tree = from_form(files[tree_file(name)]) if form["kind"] == "tree" else None
    return Along.from_json(form, missing=form["missing"], tree=tree)


def _node(form: Mapping[str, Any], attributes: Mapping[str, Along]) -> Node:
    if "shown" in form:
        return Leaf({name: _extent(entry, attributes[name]) for name, entry in form["shown"].items()})
    if "clusters" in form:
        return Clustered(tuple(form["clusters"]))
    name, below = form["attribute"], (form["below"][0], form["below"][1])
    if "at" in form:
        at = calendar.parse(form["at"]) if isinstance(form["at"], str) else form["at"]
        return Below(name, at, form["missing"], below)
    if "labels" in form:
        return Among(name, (tuple(form["labels"][0]), tuple(form["labels"][1])), below)
    return Apart(name, below)


def _extent(entry: Any, along: Along) -> Extent:
    if entry is None:
        return None
    if entry == "*":
        return Interval(None, None, along.missing) if along.kind == "number" else Labels((), along.missing, every=True)
    return along.extent(entry)


def each(of: Callable[[Extent], T], extents: Iterable[Extent]) -> list[T]:
    """What is told of each extent, made once of those that are the same thing: parts share what they show."""
    made: dict[int, T] = {}
    every = list(extents)
    for extent in every:
        if id(extent) not in made:
            made[id(extent)] = of(extent)
    return [made[id(extent)] for extent in every]


def _column(texts: Sequence[str | None], at: Ints, used: Ints) -> Column:
    """What each row shows; the last text is for rows without a part. Only what occurs is among the values.

    `used`: the numbers that are among those of the rows.
    """
    shown = sorted({text for text in (texts[n] for n in used.tolist()) if text is not None})
    place = {text: number for number, text in enumerate(shown)}
    missing = len(shown)
    codes = np.array([missing if text is None else place.get(text, missing) for text in texts], dtype=np.int64)
    return Column(narrow(codes, missing)[at], pa.array(shown, type=pa.string()))
