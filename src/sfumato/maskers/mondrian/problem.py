"""What the compiled loops of Mondrian are given, and where they write: a table in positions, trees, scratch.

A region is a stretch of `order`, the row numbers. On each attribute a row has a position; those of attribute a stand at
`first[a]..first[a + 1]` in the flat arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats, Ints
from sfumato.data.axis import Axis, NumberAxis, TreeAxis
from sfumato.maskers.topdown.scores import bits

NUMBER, TREE, LABELS = 0, 1, 2
"""What an attribute is cut along."""
Rows = NDArray[np.int32]
"""(rows,): row numbers in the order of their regions, or codes."""


class Cells(NamedTuple):
    """A table in positions: `places` (rows, attributes).

    `numbers`: of an attribute of numbers, how many positions are numbers; the one past them is missing. `up_to`
    (positions,): up to each, how many there are that an interval may begin with.
    """

    places: NDArray[np.int32]
    first: Ints
    kind: Ints
    numbers: Ints
    up_to: Ints


class Trees(NamedTuple):
    """The nodes of all taxonomies. Node n has the positions `lo[n]..hi[n]` of its attribute, and the children
    `child[first[n] : first[n + 1]]` in the order of their positions; missing values are a child of the root.

    `root` of each attribute, -1 if it has no taxonomy.
    """

    first: Ints
    child: Ints
    lo: Ints
    hi: Ints
    root: Ints


class Aim(NamedTuple):
    """What must survive: `codes` (rows,) of `n` classes. `gain`: a cut is worth the information gained about them, or
    else as much as its halves are even. `bits`: n log2 n of whole numbers."""

    codes: Rows
    n: int
    gain: bool
    bits: Floats


class Problem(NamedTuple):
    """A table, its taxonomies, what must survive, and how many records a region has at least."""

    cells: Cells
    trees: Trees
    aim: Aim
    least: int


class Level(NamedTuple):
    """Regions that are cut next: region r is `order[lo[r] : hi[r]]`, and has the number `node[r]`.

    `extents` (regions, attributes, 2) is what each has: of numbers the first position and one past the last, of a
    taxonomy the node, of labels how many, in second place.
    """

    node: Ints
    lo: Ints
    hi: Ints
    extents: Ints


class Cuts(NamedTuple):
    """The best cut of each region: along which `attribute`, -1 for none.

    Where it is cut stands at `where[first[r] : first[r + 1]]`: of numbers the position with which the second half
    begins, and the last before it that somebody has; of labels those of the second part; of a taxonomy nothing.
    `ends` (regions, parts): where each part ends among the rows.
    """

    attribute: Ints
    first: Ints
    where: Ints
    ends: Ints


class Ways(NamedTuple):
    """All ways to cut some regions whose parts have enough records, counted by a sensitive column: `counts` (parts,
    values), and the way that each part belongs to. They stand in the order of regions and attributes."""

    counts: Ints
    way: Ints


class Work(NamedTuple):
    """Scratch of one region. `total` (positions,) and `counts` (positions, classes) are 0 between two of them.

    `held`: the positions that somebody has, `holds` of each attribute. `line`: those of one attribute in the order in
    which it is cut, by `key`; `bounds`: where it may be, `part`: of a tree, the child that each goes to; `goes`
    (positions,): the same for the best cut of each attribute. `every` (classes,): the region's records; `run` (parts,
    classes): those of each part, and `mixed` how mixed they are. `place`, `spare`: of rows that change their places.
    """

    total: Ints
    counts: Ints
    held: Ints
    holds: Ints
    line: Ints
    bounds: Ints
    part: Ints
    goes: Ints
    key: Floats
    every: Ints
    run: Ints
    mixed: Floats
    place: Ints
    spare: Rows


def work_for(problem: Problem) -> Work:
    """Scratch for the regions of a table."""
    cells, classes, parts = problem.cells, problem.aim.n, most_parts(problem.trees)
    positions, widest = int(cells.first[-1]), int(np.diff(cells.first).max())
    return Work(
        total=_none(positions),
        counts=_none((positions, classes)),
        held=_none(positions),
        holds=_none(len(cells.kind)),
        line=_none(widest),
        bounds=_none(widest),
        part=_none(widest),
        goes=_none(positions),
        key=np.zeros(widest),
        every=_none(classes),
        run=_none((parts, classes)),
        mixed=np.zeros(parts + classes),
        place=_none(parts),
        spare=np.zeros(len(cells.places), dtype=np.int32),
    )


def cuts_for(problem: Problem, level: Level) -> Cuts:
    """Where the cuts of a level are written."""
    regions, rows = len(level.lo), int((level.hi - level.lo).sum())
    parts = most_parts(problem.trees)
    return Cuts(_none(regions), _none(regions + 1), _none(rows + 2 * regions), _none((regions, parts)))


def _none(shape: Any) -> Ints:
    return np.zeros(shape, dtype=np.int64)


def most_parts(trees: Trees) -> int:
    """Into how many parts a cut may go."""
    return max(2, int(np.diff(trees.first).max(initial=0)))


def cells_of(axes: Sequence[Axis], places: Sequence[NDArray[Any]]) -> Cells:
    """A table, by where each attribute's values stand on its axis."""
    first = np.cumsum([0, *(axis.size for axis in axes)])
    up_to = _none(int(first[-1]))
    for at, axis in enumerate(axes):
        if isinstance(axis, NumberAxis):
            up_to[first[at] : first[at] + len(axis.numbers)] = np.cumsum(axis.separable)
    return Cells(
        places=np.stack([column.astype(np.int32) for column in places], axis=1),
        first=first,
        kind=np.array([_kind(axis) for axis in axes], dtype=np.int64),
        numbers=np.array([len(axis.numbers) if isinstance(axis, NumberAxis) else 0 for axis in axes], dtype=np.int64),
        up_to=up_to,
    )


def _kind(axis: Axis) -> int:
    return NUMBER if isinstance(axis, NumberAxis) else TREE if isinstance(axis, TreeAxis) else LABELS


def trees_of(axes: Sequence[Axis]) -> Trees:
    """All taxonomies in one."""
    spans: list[tuple[int, int]] = []
    below: list[list[int]] = []
    root: list[int] = []
    for axis in axes:
        root.append(len(spans) if isinstance(axis, TreeAxis) else -1)
        if isinstance(axis, TreeAxis):
            tree, base = axis.taxonomy, len(spans)
            number = {label: base + at for at, label in enumerate(tree)}
            spans += [tree.leaf_range(label) for label in tree]
            below += [[number[child] for child in tree.children(label)] for label in tree]
            if axis.missing:
                spans[base] = (0, axis.size)
                below[base].append(len(spans))
                spans.append((axis.size - 1, axis.size))
                below.append([])
    return Trees(
        first=np.cumsum([0, *map(len, below)]),
        child=np.array([child for children in below for child in children], dtype=np.int64),
        lo=np.array([span[0] for span in spans], dtype=np.int64),
        hi=np.array([span[1] for span in spans], dtype=np.int64),
        root=np.array(root, dtype=np.int64),
    )


def aim_of(codes: NDArray[Any], n: int, *, gain: bool) -> Aim:
    """Classes, and what is looked for."""
    return Aim(codes.astype(np.int32), n, gain, bits(np.arange(len(codes) + 1)))


def top_level(problem: Problem) -> Level:
    """One region: the whole table."""
    cells = problem.cells
    extents = _none((1, len(cells.kind), 2))
    extents[0, :, 0] = np.where(cells.kind == TREE, problem.trees.root, 0)
    extents[0, :, 1] = np.diff(cells.first)
    return Level(_none(1), _none(1), np.array([len(cells.places)]), extents)


def level_for(problem: Problem, first: int, regions: int) -> Level:
    """Where so many regions are written, which are numbered from the first on."""
    extents = _none((regions, len(problem.cells.kind), 2))
    return Level(np.arange(first, first + regions), _none(regions), _none(regions), extents)
