"""Showing: what the parts of a table show of every attribute, in labels, and the tree of cuts that leads to them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data.axis import Axis, NumberAxis
from sfumato.data.schema import Number
from sfumato.data.table import Table
from sfumato.events import checkpoint
from sfumato.maskers.partition.cells import Binned
from sfumato.maskers.partition.cutting import CLUSTERS, LEAF, Begun, Part, leaf_starts
from sfumato.maskers.partition.extents import Along, Extent, Interval, Labels, Marks, label_names
from sfumato.maskers.partition.tree import Among, Apart, Below, Clustered, Leaf, Node, Tree


@dataclass(frozen=True, eq=False)
class Fitted:
    """A tree, what its attributes' extents are made of, and (rows,) the leaf of each row.

    `settled`: some parts could be cut further, and somebody asked to leave them as they are.
    """

    tree: Tree
    along: Mapping[str, Along]
    leaf_of: Ints
    settled: bool = False


class Showing:
    """Owns the parts of a table while they are put into words.

    `cuts`: nothing is told but the cuts. `listed`: attributes of which all labels are listed, be they all there are.
    """

    def __init__(self, table: Table, binned: Binned, begun: Begun, *, cuts: bool, listed: Collection[str]) -> None:
        self.table, self.binned, self.listed = table, binned, listed
        self.parts, self.order = begun.parts, begun.order
        self.leaves, self.starts = leaf_starts(self.parts)
        self.names = [label_names(axis) if not isinstance(axis, NumberAxis) else () for axis in binned.axes]
        self.cuts = cuts
        self._limits: dict[tuple[str, int], float | None] = {}

    def fitted(self, names: Sequence[str]) -> Fitted:
        """The tree in labels."""
        along = {axis.name: Along.of(axis) for axis in self.binned.axes}
        if self.cuts:
            shown = self._by_cuts()
        else:
            shown = {axis.name: self._extents(a) for a, axis in enumerate(self.binned.axes)}
        for name in names:
            if name not in along:  # one value in the whole table: there is nothing to cut
                along[name], shown[name] = self._single(name)
        leaf_at = {number: at for at, number in enumerate(self.leaves)}
        nodes: list[Node] = []
        for number, part in enumerate(self.parts):
            if number % 1000 == 0:
                checkpoint()
            if part.cut == CLUSTERS:
                nodes.append(Clustered(part.below))
            elif part.cut == LEAF:
                nodes.append(Leaf({name: shown[name][leaf_at[number]] for name in names}))
            else:
                nodes.append(self._cut(part))
        return Fitted(Tree(tuple(names), tuple(nodes)), {name: along[name] for name in names}, self._leaf_of())

    def _leaf_of(self) -> Ints:
        """(rows,): leaves are numbered in the order of the nodes."""
        number = {one: at for at, one in enumerate(sorted(self.leaves))}
        sizes = np.diff(np.append(self.starts, len(self.order)))
        found = np.empty(len(self.order), dtype=np.int64)
        found[self.order] = np.repeat([number[one] for one in self.leaves], sizes)
        return found

    def _single(self, name: str) -> tuple[Along, list[Extent]]:
        column, attribute = self.table.column(name), self.table.schema[name]
        missing = column.missing > 0
        if isinstance(attribute, Number):
            known = len(column.values) > 0
            ends = attribute.range if known and not missing else None  # no interval reaches to them
            along = Along("number", ends, attribute.calendar, missing)
            one: Extent = Interval(None, None, missing) if known else None
        else:
            along = Along("labels", missing=missing)
            one = None if missing else Labels(tuple(str(value) for value in column.values.to_pylist()))
        return along, [one] * len(self.leaves)

    def _extents(self, a: int) -> list[Extent]:
        """For each leaf, in the order of its rows, what it shows of an attribute."""
        checkpoint()
        marks = self.binned.marks[a]
        places = self.binned.places[a][self.order].astype(np.int64)
        return self._labels(a, places) if marks is None else self._intervals(marks, places)

    def _intervals(self, marks: Marks, places: Ints) -> list[Extent]:
        count = len(marks.axis.numbers)
        gone = places >= count
        lows = np.minimum.reduceat(np.where(gone, count, places), self.starts)
        highs = np.maximum.reduceat(np.where(gone, -1, places), self.starts)
        missing = np.logical_or.reduceat(gone, self.starts)
        made: dict[tuple[int, int, bool], Extent] = {}
        for low, high, lost in set(zip(lows.tolist(), highs.tolist(), missing.tolist(), strict=True)):
            first, last = int(marks.piece_of[low]) if high >= 0 else 0, int(marks.piece_of[high])
            made[low, high, lost] = None if high < 0 else Interval(marks.begin(first), marks.end(last), lost)
        return [made[ends] for ends in zip(lows.tolist(), highs.tolist(), missing.tolist(), strict=True)]

    def _labels(self, a: int, places: Ints) -> list[Extent]:
        axis, names = self.binned.axes[a], self.names[a]
        leaf, position = self._held(places, axis.size)
        ends = np.append(np.flatnonzero(np.diff(leaf, prepend=-1)), len(leaf))
        every = -1 if axis.name in self.listed else np.count_nonzero(np.bincount(places))
        made: dict[bytes | int, Extent] = {}
        found = []
        firsts = position[ends[:-1]].tolist()
        for first, last, only in zip(ends[:-1].tolist(), ends[1:].tolist(), firsts, strict=True):
            key = only if last - first == 1 else position[first:last].tobytes()
            if key not in made:
                made[key] = _label_extent(position[first:last], names, every=last - first == every)
            found.append(made[key])
        return found

    def _held(self, places: Ints, size: int) -> tuple[Ints, Ints]:
        """Which of `size` places each leaf holds: pairs of a leaf and a place, in their order.

        Marked in a table of all pairs where that is no larger than the rows, sorted elsewhere.
        """
        sizes = np.diff(np.append(self.starts, len(places)))
        pairs = np.repeat(np.arange(len(sizes)) * size, sizes) + places
        if len(sizes) * size > max(len(places), 1):
            leaf, place = np.divmod(np.unique(pairs), size)
        else:
            marked = np.zeros((len(sizes), size), dtype=np.bool_)
            marked.ravel()[pairs] = True
            leaf, place = np.nonzero(marked)
        return leaf, place

    def _by_cuts(self) -> dict[str, list[Extent]]:
        """For each attribute what every leaf shows if nothing is told but the cuts above it."""
        top = {axis.name: _whole(axis) for axis in self.binned.axes}
        of_part: dict[int, dict[str, Extent]] = {0: top}
        for number, part in enumerate(self.parts):  # parts stand before those below them
            mine = of_part[number]
            if part.cut == CLUSTERS:
                of_part |= dict.fromkeys(part.below, mine)
            elif part.cut != LEAF:
                name = self.binned.axes[part.cut].name
                for child, extent in zip(part.below, _sides(mine[name], self._cut(part), part.below), strict=True):
                    of_part[child] = {**mine, name: extent}
        return {axis.name: [_told(of_part[leaf][axis.name]) for leaf in self.leaves] for axis in self.binned.axes}

    def _cut(self, part: Part) -> Node:
        """A cut in labels: of numbers where the right side begins, of labels which go where."""
        a, axis = part.cut, self.binned.axes[part.cut]
        sides, marks = part.sides, self.binned.marks[a]
        if sides is None:
            raise TypeError("a cut has sides")
        if marks is None:
            of_position = sides[self.binned.bin_of[a]]
            names = (*self.names[a], None)
            left, right = (tuple(names[at] for at in np.flatnonzero(of_position == side)) for side in (0, 1))
            return Among(axis.name, (_sorted(left), _sorted(right)), part.below)
        return self._number_cut(part, marks, sides)

    def _number_cut(self, part: Part, marks: Marks, sides: NDArray[np.uint8]) -> Node:
        name, bins = marks.axis.name, self.binned.bin_of[part.cut]
        missing = None
        if marks.axis.missing:
            missing = None if sides[-1] == 2 else int(sides[-1])
            sides = sides[:-1]
        right = int((sides == 1).argmax())  # the first bin there, or none
        if sides[right] != 1 or not (sides == 0).any():  # one side holds no number: missing ones are set apart
            return Apart(name, part.below if missing == 1 else (part.below[1], part.below[0]))
        if (name, right) not in self._limits:
            first = int((bins[: len(marks.piece_of)] == right).argmax())
            self._limits[name, right] = marks.begin(int(marks.piece_of[first]))
        at = self._limits[name, right]
        if at is None:
            raise TypeError("a cut lies between two pieces")
        return Below(name, at, missing, part.below)


def _whole(axis: Axis) -> Extent:
    if isinstance(axis, NumberAxis):
        return Interval(None, None, axis.missing)
    return Labels(tuple(sorted(label_names(axis))), axis.missing, every=True)


def _sides(extent: Extent, cut: Node, below: tuple[int, ...]) -> tuple[Extent, Extent]:
    """What is left of an extent on either side of a cut; a label that the part does not hold stays on the left."""
    if isinstance(cut, Among) and isinstance(extent, Labels):
        right = tuple(label for label in cut.labels[1] if label is not None)
        left = tuple(label for label in extent.labels if label not in right)
        lost = None in cut.labels[1]
        return _some(left, extent.missing and not lost), _some(right, extent.missing and lost)
    if not isinstance(extent, Interval):
        raise TypeError("a cut is along numbers or labels")
    if isinstance(cut, Apart):
        apart: tuple[Extent, Extent] = (Interval(extent.low, extent.high), None)
        return apart if cut.below == below else (apart[1], apart[0])
    if not isinstance(cut, Below):
        raise TypeError("a leaf cuts nothing")
    gone = 0 if cut.missing is None else cut.missing  # where none is missing here, it is not told
    left_gone, right_gone = extent.missing and gone == 0, extent.missing and gone == 1
    return Interval(extent.low, cut.at, left_gone), Interval(cut.at, extent.high, right_gone)


def _told(extent: Extent) -> Extent:
    """All labels that there are need not be listed."""
    return Labels((), extent.missing, every=True) if isinstance(extent, Labels) and extent.every else extent


def _some(labels: tuple[str, ...], missing: bool) -> Extent:
    return Labels(labels, missing) if labels else None


def _label_extent(places: Ints, names: Sequence[str], *, every: bool) -> Extent:
    known = tuple(sorted(names[at] for at in places.tolist() if at < len(names)))
    missing = bool(places[-1] >= len(names))
    if not known:
        return None
    return Labels((), missing, every=True) if every and len(known) + missing > 1 else Labels(known, missing)


def _sorted(labels: tuple[str | None, ...]) -> tuple[str | None, ...]:
    return tuple(sorted(labels, key=lambda label: (label is None, label or "")))
