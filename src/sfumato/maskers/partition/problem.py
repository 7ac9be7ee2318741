"""What the compiled loops of Partition are given, and where they write: tables in bins, terms, scratch.

A part is a stretch of `order`, the row numbers. Each row has on every attribute a bin; bins of an attribute stand at
`first[a]..first[a + 1]` in the flat arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats, Ints

NOTHING = -1e300
"""The worth of an attribute that cannot be cut."""
TIE = 1e-9
"""A later cut is preferred only if it is worth more by this share: equal cuts are settled by order, not by rounding."""
WASTE, LEAST_WASTE = 0.3, 0.05
MIXED = 0.1
"""What it costs, as a share of a column, if missing values stand among numbers."""
SMALL = 700
"""Up to so many records the chance to see a value in m draws is looked up."""
MOST_BOUNDARIES = 48
"""So many boundaries of an attribute are tried in a large part."""
SURE = 35
"""A value is seen for sure where draws times its share are more: the chance is one, to all digits."""
BREADTH = 3
"""Attributes whose cuts are followed when looking ahead."""
MOST_PAIRS = 1 << 22
"""Pairs of values that are counted at once, at most."""
BLOCK = 512
"""Rows that are gone through for one attribute after the other."""
ZERO: Any = np.int64(0)
ONE: Any = np.int64(1)
"""Of this type, so that a loop is compiled once, and not again for a number that is written out."""
LARGE = 5_000
"""A part of so many records is large."""


class Cells(NamedTuple):
    """A table in bins. `kind` is 1 for numbers; `missing` the bin of missing numbers, or -1. `place`: where the bin of
    a number lies, over the width of its range; of labels it is not used. `labels`: how many labels there are."""

    bins: NDArray[Any]
    first: Ints
    kind: Ints
    missing: Ints
    place: Floats
    labels: Floats


class Guide(NamedTuple):
    """What must survive: `soft` (rows, dims) if it has any, else `classes` (rows,) of `n`. `scale` makes the whole
    table's variance 1."""

    classes: NDArray[Any]
    n: int
    soft: NDArray[np.float32]
    scale: float


class Terms(NamedTuple):
    """`k`: records of a part, at least; `m`: draws in which a value is seen or not; `weight`: of what is shown, for
    each attribute. Of few records, `seen[n, c]`: the chance that m draws of n see one of c; `gap[n, c]`: that they see
    some of c and some of the others, which covers the gap between both; `label[n, c]`: what a label of c records adds
    to those that are shown, nothing if all draws see it alone."""

    k: int
    m: int
    weight: float
    seen: Floats
    gap: Floats
    label: Floats


class Problem(NamedTuple):
    """A table, what must survive of it, and on what terms."""

    cells: Cells
    guide: Guide
    terms: Terms


class Work(NamedTuple):
    """Scratch of evaluations, and what they found at each depth of the look ahead.

    An attribute that is the same for all records of a part cannot be cut, nor shown more finely, there and below. What
    is counted is kept for the bins that a part holds of all others, one behind the other: such a place is a *slot*.

    By bin: `total` records of the part, `sums` (bins, dims) of the guide, `slot` where it stands among those held. By
    slot: `held` the bin, `records` how many, `left` those that went left, `wide` how far the next one lies off; those
    of attribute a are `begin[a]..begin[a + 1]`. `pairs`: records by pairs of slots, line after line, if `paired`;
    `codes` (attributes, rows of a block): slots of some rows. `live`: the coordinates of the guide that are not nothing
    everywhere, `lives` how many; `run` (2, dims): of those that went left, and of all. `ways`: slots in the order of
    one way, `key` what they are ordered by; `start`: where the rows of each begin, `rows`: the part's rows in that
    order. `off`, `spread`: where slots lie by their classes. `shown`: what all records would show.

    `done`: parts that were gone through, for whoever waits.

    By depth: `varied`, the attributes to be counted, the first `many[depth]`; those that varied are left for the next
    depth. `gain`: of each attribute the best cut's worth; `side`: which bins go right.
    """

    total: Ints
    sums: Floats
    slot: Ints
    held: Ints
    records: NDArray[np.int32]
    left: NDArray[np.int32]
    wide: Floats
    begin: Ints
    pairs: NDArray[np.int32]
    paired: NDArray[np.bool_]
    codes: Ints
    live: Ints
    lives: Ints
    run: Floats
    ways: Ints
    key: Floats
    start: Ints
    rows: NDArray[np.int32]
    off: Floats
    spread: Floats
    shown: Floats
    varied: Ints
    many: Ints
    gain: Floats
    side: NDArray[np.uint8]
    done: Ints


def work_for(cells: Cells, guide: Guide, rows: int, depths: int = 1) -> Work:
    """Scratch for parts of at most so many rows."""
    bins, attributes = int(cells.first[-1]), len(cells.kind)
    widest = int(np.diff(cells.first).max())
    return Work(
        total=np.zeros(bins, dtype=np.int64),
        sums=np.zeros((bins, guide.n)),
        slot=np.zeros(bins, dtype=np.int64),
        held=np.zeros(bins, dtype=np.int64),
        records=np.zeros(bins, dtype=np.int32),
        left=np.zeros(bins, dtype=np.int32),
        wide=np.zeros(bins),
        begin=np.zeros(attributes + 1, dtype=np.int64),
        pairs=np.zeros(min(bins * bins, MOST_PAIRS), dtype=np.int32),
        paired=np.zeros(1, dtype=np.bool_),
        codes=np.zeros((attributes, BLOCK), dtype=np.int64),
        live=np.zeros(guide.n, dtype=np.int64),
        lives=np.zeros(1, dtype=np.int64),
        run=np.zeros((2, guide.n)),
        ways=np.zeros(widest, dtype=np.int64),
        key=np.zeros(widest),
        start=np.zeros(widest + 1, dtype=np.int64),
        rows=np.zeros(rows, dtype=np.int32),
        off=np.zeros((widest, guide.n)),
        spread=np.zeros((guide.n, guide.n)),
        shown=np.zeros(1),
        varied=np.tile(np.arange(attributes), (depths + 1, 1)),
        many=np.full(depths + 1, attributes),
        gain=np.full((depths, attributes), NOTHING),
        side=np.zeros((depths, bins), dtype=np.uint8),
        done=np.zeros(1, dtype=np.int64),
    )


def terms_for(k: int, m: int, weight: float, rows: int) -> Terms:
    """Tables of what the loops look up."""
    size = min(rows, SMALL)
    n, c = np.arange(size + 1)[:, None], np.arange(size + 1)[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        seen = np.where(c >= n, 1.0, 1.0 - np.exp(m * (np.log(np.maximum(n - c, 1)) - np.log(np.maximum(n, 1)))))
    seen[:, 0] = 0.0
    gap = seen + np.where(c <= n, np.take_along_axis(seen, np.maximum(n - c, 0), axis=1), 0.0) - 1.0
    gap[0] = 0.0  # of nobody nothing is seen
    return Terms(k, m, weight, seen, gap, np.where(2 * c > n, gap, seen))
