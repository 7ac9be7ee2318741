"""Routes: the part that each row falls to, and whether its extent covers the row."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data.axis import labels_of, numbers_of
from sfumato.data.schema import Number
from sfumato.data.table import Table
from sfumato.errors import TableError
from sfumato.events import checkpoint
from sfumato.maskers.partition.extents import Along, Extent, Labels
from sfumato.maskers.partition.tree import Among, Apart, Below, Clustered, Leaf, Tree
from sfumato.maskers.recoding.intervals import outside

OUTSIDE = -1
"""A row that no part takes."""


def route(tree: Tree, table: Table) -> Ints:
    """(rows,): which leaf each row falls to, numbered in the order of the leaves; -1 for none.

    Where clusters have trees of their own, the first one whose leaf shows the row; one that has all of its labels comes
    before one that only its cuts leave room in.
    """
    top = tree.nodes[0]
    if not isinstance(top, Clustered):
        return _below(tree, table, 0)
    found = np.full(table.rows, OUTSIDE, dtype=np.int64)
    for stray in (OUTSIDE, 0):
        for child in top.below:
            at = _below(tree, table, child, stray=stray)
            found = np.where((found == OUTSIDE) & _inside(tree, table, at), at, found)
    return found


def covered(tree: Tree, table: Table, attributes: Mapping[str, Along]) -> Ints:
    """(rows,): the leaf of each row whose extents cover it, within the declared ranges; -1 for none."""
    at = route(tree, table)
    at[~_inside(tree, table, at) | _undeclared(tree, table, attributes)] = OUTSIDE
    return at


def no_part(tree: Tree, table: Table, at: Ints, attributes: Mapping[str, Along]) -> TableError:
    """Rows that no part takes: how many, how many of them for a value alone, and what helps."""
    gone = at == OUTSIDE
    known = np.ones((len(tree.on), table.rows), dtype=bool)  # whether some part shows the value of a row
    for number, name in enumerate(tree.on):
        extents = dict.fromkeys(leaf.shown[name] for leaf in tree.leaves)
        shown = np.any([_covers(extent, table, name) for extent in extents], axis=0)
        known[number] = shown[table.column(name).codes]
    strange = gone & (~known.all(axis=0) | _undeclared(tree, table, attributes))
    apart = int(np.count_nonzero(gone & ~strange))
    names = [name for name, held in zip(tree.on, known, strict=True) if not held[gone].all()]
    new = f"a value that no part shows{' (in ' + ', '.join(names) + ')' if names else ''}"
    told = [f"{np.count_nonzero(strange):,} have {new}"] if strange.any() else []
    told += [f"{apart:,} have values that no part shows together"] if apart else []
    cuts = (
        "; or publish with mask: {partition: {extent: cuts}}, by which parts show less, and leave no gaps between "
        "values that the table has"
    )
    return TableError(
        "partition",
        "every row lies in a part",
        given=f"{np.count_nonzero(gone):,} of {table.rows:,} rows that lie in none: {', '.join(told)}",
        remedy="say unseen='suppress' to show these rows as *, and the others as their parts do"
        + (cuts if apart else ""),
    )


def _below(tree: Tree, table: Table, top: int, *, stray: int = 0) -> Ints:
    """(rows,): which leaf below a node each row falls to. `stray`: the side of what a cut does not name.

    What it does not name stays on the left, as in what parts show by their cuts: whether the leaf covers it is asked
    at the end.
    """
    found = np.full(table.rows, OUTSIDE, dtype=np.int64)
    number = {at: leaf for leaf, at in enumerate(at for at, node in enumerate(tree.nodes) if isinstance(node, Leaf))}
    waiting = [(top, np.arange(table.rows))]
    while waiting:
        checkpoint()
        at, rows = waiting.pop()
        node = tree.nodes[at]
        if isinstance(node, Leaf):
            found[rows] = number[at]
        elif len(rows) and not isinstance(node, Clustered):
            way = _ways(node, table, stray)[table.column(node.attribute).codes[rows]]
            waiting += [(child, rows[way == side]) for side, child in enumerate(node.below)]
    return found


def _ways(node: Below | Among | Apart, table: Table, stray: int) -> Ints:
    """(values + 1,): which side each value goes to, missing last; -1 for none."""
    values = table.column(node.attribute).values
    if isinstance(node, Among):
        side = {label: at for at, part in enumerate(node.labels) for label in part}
        return np.array([side.get(label, stray) for label in (*labels_of(values), None)], dtype=np.int64)
    numbers = np.append(_numbers(table, node.attribute), np.nan)
    gone = np.isnan(numbers)
    if isinstance(node, Apart):
        return np.asarray(gone, dtype=np.int64)
    missing = stray if node.missing is None else node.missing
    return np.asarray(np.where(gone, missing, numbers >= node.at), dtype=np.int64)


def _numbers(table: Table, name: str) -> NDArray[np.float64]:
    attribute = table.schema[name]
    found = numbers_of(table.column(name).values, attribute if isinstance(attribute, Number) else Number())
    return found.astype(np.float64)


def _undeclared(tree: Tree, table: Table, attributes: Mapping[str, Along]) -> NDArray[np.bool_]:
    """(rows,): whether a number of a row lies outside its declared range, to the end of which intervals reach."""
    found = np.zeros(table.rows, dtype=bool)
    for name in tree.on:
        along = attributes[name]
        if along.kind == "number" and along.range is not None:
            beyond = outside(_numbers(table, name), along.range, along.calendar)
            found |= np.append(beyond, False)[table.column(name).codes]
    return found


def _inside(tree: Tree, table: Table, at: Ints) -> NDArray[np.bool_]:
    """(rows,): whether each row lies in the extent of its leaf, on every attribute."""
    found = at >= 0
    for name in tree.on:
        checkpoint()
        extents = [leaf.shown[name] for leaf in tree.leaves]
        different = {extent: number for number, extent in enumerate(dict.fromkeys(extents))}
        of_leaf = np.array([*(different[extent] for extent in extents), 0], dtype=np.int64)
        covers = np.stack([_covers(extent, table, name) for extent in different])
        found &= covers[of_leaf[at], table.column(name).codes]
    return found


def _covers(extent: Extent, table: Table, name: str) -> NDArray[np.bool_]:
    """(values + 1,): which values an extent covers, missing last."""
    values = table.column(name).values
    if extent is None:
        return np.append(np.zeros(len(values), dtype=bool), True)
    if isinstance(extent, Labels):
        held: Collection[str] = set(extent.labels)
        known = [extent.every or label in held for label in labels_of(values)]
        return np.array([*known, extent.missing], dtype=bool)
    numbers = _numbers(table, name)
    low, high = -np.inf if extent.low is None else extent.low, np.inf if extent.high is None else extent.high
    gone = np.isnan(numbers)
    inside = np.where(gone, extent.missing, (numbers >= low) & (numbers < high))
    return np.append(inside.astype(bool), extent.missing)
