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
PAIRED = 400
"""From so many records on, pairs of bins are counted once, and not the rows of each bin again for every attribute."""
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
    """Scratch of evaluations, one line for each depth of the look ahead, and what they found: for each attribute the
    best cut's worth, and which bins go right.

    `total`, `left` (depths, bins): records of the part, and those that went left. `held`: the bins that hold any,
    `holds` of each attribute. `sums` (depths, bins, dims): of the guide; `run` (depths, 2, dims): of those that went
    left, and of all. `ways`: bins in the order of one way, `key` what they are ordered by; `rows`: the part's rows in
    that order, `start` the first of each bin. `pairs` (bins, bins): records of a large part by pairs of bins. `shown`:
    what all of them would show.
    """

    total: Ints
    left: NDArray[np.int32]
    held: Ints
    holds: Ints
    sums: Floats
    run: Floats
    ways: Ints
    key: Floats
    rows: NDArray[np.int32]
    start: Ints
    pairs: NDArray[np.int32]
    shown: Floats
    gain: Floats
    side: NDArray[np.uint8]


def work_for(cells: Cells, guide: Guide, rows: int, depths: int = 1) -> Work:
    """Scratch for parts of at most so many rows."""
    bins, attributes = int(cells.first[-1]), len(cells.kind)
    widest = int(np.diff(cells.first).max())
    return Work(
        total=np.zeros((depths, bins), dtype=np.int64),
        left=np.zeros((depths, bins), dtype=np.int32),
        held=np.zeros((depths, bins), dtype=np.int64),
        holds=np.zeros((depths, attributes), dtype=np.int64),
        sums=np.zeros((depths, bins, guide.n)),
        run=np.zeros((depths, 2, guide.n)),
        ways=np.zeros((depths, widest), dtype=np.int64),
        key=np.zeros((depths, widest)),
        rows=np.zeros((depths, rows), dtype=np.int32),
        start=np.zeros((depths, widest + 1), dtype=np.int64),
        pairs=np.zeros((bins, bins) if rows >= PAIRED else (0, 0), dtype=np.int32),
        shown=np.zeros(depths),
        gain=np.full((depths, attributes), NOTHING),
        side=np.zeros((depths, bins), dtype=np.uint8),
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
