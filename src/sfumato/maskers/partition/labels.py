"""Labels in place of sets: of a category a part shows the lowest label of its taxonomy above all that occur in it.

A set tells exactly what occurs, and there are very many of them; labels are few, as a tree has them. Without a tree,
and at its root, several labels are `*`. Parts that show labels overlap: a value may lie in several of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sfumato.data.masked import Masked
from sfumato.data.schema import Category, Schema
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.maskers.masker import Task
from sfumato.maskers.partition.extents import Along, Extent, Labels, under
from sfumato.maskers.partition.mask import RegionTree
from sfumato.maskers.partition.tree import Leaf, Node

CLEARLY = 1.0
"""Labels are taken if they tell more held-out records right by this, over the root of all: about two standard errors,
where one in twenty of them is told otherwise."""


def chosen(show: str, ways: Mapping[str, Masked], task: Task) -> dict[str, Any]:
    """Which way to show is taken, "sets" or "labels", and what was compared.

    Only classes are compared by: clusters follow from the attributes themselves, and sets show more of these.
    """
    if show != "auto" or task.objective is None or not task.labels.told_in_part:
        return {"chosen": "sets" if show == "auto" else show}
    told = {name: task.objective(masked) for name, masked in ways.items()}
    clear = told["labels"] - told["sets"] > CLEARLY / math.sqrt(task.table.rows)
    return {"chosen": "labels" if clear else "sets", "told_right": told}


def by_labels(mask: RegionTree, schema: Schema) -> RegionTree:
    """The same parts, each category shown by a label of its taxonomy."""
    climbs = {name: _climbs(mask, name, schema) for name, along in mask.attributes.items() if along.kind != "number"}
    attributes = {
        name: _along(along, climbs[name], _tree(schema, name)) if name in climbs else along
        for name, along in mask.attributes.items()
    }
    trees = tuple(replace(tree, nodes=tuple(_shown(node, climbs) for node in tree.nodes)) for tree in mask.trees)
    as_before = all(extent == climbed for climb in climbs.values() for extent, climbed in climb.items())
    return replace(mask, attributes=attributes, trees=trees, apart=mask.apart and as_before)


Climbs = dict[Extent, Extent]
"""What is shown in the place of each extent of an attribute."""


def _climbs(mask: RegionTree, name: str, schema: Schema) -> Climbs:
    extents = {leaf.shown[name] for tree in mask.trees if name in tree.on for leaf in tree.leaves}
    return {extent: _climbed(extent, _tree(schema, name), mask.attributes[name]) for extent in extents}


def _tree(schema: Schema, name: str) -> Taxonomy | None:
    attribute = schema[name]
    return attribute.taxonomy if isinstance(attribute, Category) else None


def _climbed(extent: Extent, tree: Taxonomy | None, along: Along) -> Extent:
    """The lowest label above those of an extent. A missing value hangs at the root, beside all labels."""
    if not isinstance(extent, Labels) or (not extent.every and len(extent.labels) + extent.missing == 1):
        return extent
    if tree is not None and not extent.every and not extent.missing:
        label = tree.common(extent.labels)
        if label != tree.root:
            return under(tree, label)
    return Labels((), along.missing, every=True)


def _along(along: Along, climbs: Climbs, schema_tree: Taxonomy | None) -> Along:
    """With its tree, if a label above the leaves is shown: nothing else needs one."""
    needed = any(isinstance(extent, Labels) and extent.above is not None for extent in climbs.values())
    return replace(along, kind="tree", tree=schema_tree) if needed else along


def _shown(node: Node, climbs: dict[str, Climbs]) -> Node:
    if not isinstance(node, Leaf):
        return node
    return Leaf({name: climbs[name][extent] if name in climbs else extent for name, extent in node.shown.items()})
