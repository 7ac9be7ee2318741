"""Which attributes tell most about a structure: the TopN of 002 section 5.1.

The attribute at the root of an entropy tree comes first; it is taken away, and the tree is grown again. Only
roots matter, so no tree is grown: a root follows from each attribute's counts by class.

The root is chosen as C4.5 (release 8) chooses it, because the papers ranked with C4.5: a category has one
branch for each value, a number is split in two where that gains most, and pays log2(boundaries) / records for
having chosen. Among the attributes that gain at least the average, the one with the largest gain ratio is the
root. Missing is a value of its own, with a branch of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.schema import Number
from sfumato.data.table import ItemColumn, Table
from sfumato.errors import TableError

Histogram = NDArray[np.int64]
"""(values, classes): how many records have each value, by class; missing last."""

FEWEST, MOST = 2, 25
"""A branch of a number's split holds a tenth of an even share of the classes, but within these bounds."""


@dataclass(frozen=True)
class Root:
    """What an attribute would do at the root: bits gained, and bits gained per bit of branching."""

    gain: float
    ratio: float


def rank_attributes(table: Table, classes: NDArray[Any], *, names: Sequence[str] | None = None) -> list[str]:
    """Attributes from the most to the least telling about `classes` (rows,), whole numbers from 0.

    `names` are the quasi-identifiers unless given; item sets cannot be ranked. Attributes that tell nothing
    come last, in the table's order.

    >>> import pyarrow as pa
    >>> from sfumato.data.encoding import encode
    >>> from sfumato.data.schema import Category, Schema
    >>> table = encode(pa.table({"sex": ["F", "M", "F", "M"], "eye": ["b", "b", "g", "g"]}),
    ...                Schema(sex=Category(role="quasi"), eye=Category(role="quasi")))
    >>> rank_attributes(table, np.array([0, 0, 1, 1]))
    ['eye', 'sex']
    """
    _check_rows(table, classes)
    chosen = table.schema.quasi if names is None else tuple(names)
    roots = {name: root(*_counted(table, name, classes)) for name in chosen if _ranked(table, name)}
    ranking: list[str] = []
    while roots:
        best = _best(roots)
        ranking.append(best)
        del roots[best]
    return ranking


def root(histogram: Histogram, is_number: bool) -> Root:
    """What an attribute with these counts would do at the root.

    >>> root(np.array([[4, 0], [0, 4], [0, 0]]), False)
    Root(gain=1.0, ratio=1.0)
    """
    known, missing = histogram[:-1], histogram[-1:]
    if not is_number:
        return _branching(histogram, fewest=FEWEST, penalty=0.0)
    kept = known[known.any(axis=1)]
    if len(kept) < 2:
        return Root(0.0, 0.0)
    below = np.cumsum(kept, axis=0)[:-1]
    sides = np.stack([below, kept.sum(axis=0) - below], axis=1)
    fewest = _fewest(histogram)
    sides = sides[sides.sum(axis=2).min(axis=1) >= fewest]
    if not len(sides):
        return Root(0.0, 0.0)
    split = sides[np.argmin(_bits(sides).sum(axis=1))]
    penalty = float(np.log2(len(kept) - 1)) / int(histogram.sum())
    return _branching(np.concatenate([split, missing]), fewest=fewest, penalty=penalty)


def _best(roots: Mapping[str, Root]) -> str:
    average = sum(root.gain for root in roots.values()) / len(roots)
    able = [name for name, root in roots.items() if root.gain >= average - 1e-9]
    return max(able, key=lambda name: roots[name].ratio)


def _branching(branches: Histogram, *, fewest: float, penalty: float) -> Root:
    """One branch per row; at least two of them must hold the fewest records."""
    sizes = branches.sum(axis=1)
    total = int(sizes.sum())
    if np.count_nonzero(sizes >= fewest) < 2:
        return Root(0.0, 0.0)
    gain = float(_bits(branches.sum(axis=0)) - _bits(branches).sum()) / total - penalty
    return Root(max(gain, 0.0), max(gain, 0.0) * total / float(_bits(sizes)))


def _fewest(histogram: Histogram) -> float:
    even = int(histogram.sum()) / int(histogram.shape[1])
    return min(max(0.1 * even, FEWEST), MOST)


def _bits(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """(...,): the entropy of each row of counts (..., n), times the records in it."""
    exact = counts.astype(np.float64)
    whole = exact.sum(axis=-1)
    found: NDArray[np.float64] = whole * np.log2(np.maximum(whole, 1.0)) - (
        exact * np.log2(np.maximum(exact, 1.0))
    ).sum(axis=-1)
    return found


def _counted(table: Table, name: str, classes: NDArray[Any]) -> tuple[Histogram, bool]:
    column = table.column(name)
    n, values = int(classes.max()) + 1, len(column.values) + 1
    cells = np.bincount(column.codes.astype(np.int64) * n + classes, minlength=values * n)
    return cells.reshape(values, n), isinstance(table.schema[name], Number)


def _ranked(table: Table, name: str) -> bool:
    return not isinstance(table.columns[name], ItemColumn)


def _check_rows(table: Table, classes: NDArray[Any]) -> None:
    if len(classes) != table.rows:
        raise TableError(
            "classes",
            "every row has one class",
            given=f"{len(classes)} for {table.rows} rows",
            remedy="give one class per row, in the table's order",
        )
