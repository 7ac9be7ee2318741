"""Relations between columns of a generated table: which of those that the raw table clearly shows are still there.

Each column may come out as it was, and yet no longer go along with the others. For the holder's eyes: it follows from
the records, and no epsilon covers it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.data.axis import numbers_of
from sfumato.data.masked import Masked
from sfumato.data.schema import Attribute, Number
from sfumato.data.table import AnyColumn, Column, Table
from sfumato.errors import quoted
from sfumato.evaluation.distributions import OTHERS
from sfumato.events import watched
from sfumato.structure.methods import sample

CLEAR = 0.2
"""Columns of the raw table hang together clearly from so much on: Cramer's V, from 0 to 1, its bias taken off."""
KEPT = 0.5
"""A relation that keeps less than this part of it is lost."""
CHANCE = 4.0
"""By so many standard deviations chi-squared is above what columns without a relation have."""
ROWS = 50_000
"""So many rows of either table are compared at the most, drawn at random."""
COLUMNS = 60
"""So many columns are compared at the most, the first ones: 1,770 pairs."""
BINS = 6
"""Numbers are compared in so many bins, about as many raw records in each."""
LABELS, RARE = 12, 0.01
"""So many labels of a column are told apart, none of which fewer raw records have than this share."""
TOLD = 10
"""So many relations that are lost are told, the strongest first."""
NAMED = 3
"""So many of them a sentence names."""


@dataclass(frozen=True)
class Relation:
    """Two columns, and how strongly they hang together in the raw and in the generated table, from 0 to 1."""

    columns: tuple[str, str]
    raw: float
    generated: float

    @property
    def lost(self) -> bool:
        """Whether less than half of it is left."""
        return self.generated < KEPT * self.raw

    def __str__(self) -> str:
        first, second = map(quoted, self.columns)
        return f"{first} with {second}, {self.raw:.2f} -> {self.generated:.2f}"

    def to_json(self) -> dict[str, Any]:
        """By plain names."""
        return {"columns": list(self.columns), "strength_before": self.raw, "strength_after": self.generated}


@dataclass(frozen=True)
class Relations:
    """How many relations the raw table clearly shows, how many of them are lost, and the strongest of these.

    `remedy`: settings of the masker that would keep more, as a recipe has them; empty where there are none.
    """

    clear: int
    gone: int
    lost: tuple[Relation, ...] = ()
    remedy: str = ""

    @classmethod
    def of(cls, table: Table, masked: Masked) -> Relations | None:
        """Of a generated table beside the raw one; None where the raw one shows no relation clearly."""
        found = _compared(table, masked)
        lost = sorted((one for one in found if one.lost), key=lambda one: one.generated - one.raw)
        return cls(len(found), len(lost), tuple(lost[:TOLD])) if found else None

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Relations:
        """As `to_json` wrote it."""
        lost = ((one["columns"], one["strength_before"], one["strength_after"]) for one in form["lost"])
        told = tuple(Relation((str(names[0]), str(names[1])), raw, made) for names, raw, made in lost)
        return cls(form["clear"], form["clear"] - form["kept"], told, form["remedy"])

    def to_json(self) -> dict[str, Any]:
        """By plain names."""
        lost = [one.to_json() for one in self.lost]
        return {"clear": self.clear, "kept": self.kept, "lost": lost, "remedy": self.remedy}

    @property
    def kept(self) -> int:
        """How many keep at least half of what they were."""
        return self.clear - self.gone

    @property
    def mostly_lost(self) -> bool:
        """Whether more are lost than kept."""
        return self.gone > self.kept

    def __str__(self) -> str:
        """
        >>> print(Relations(3, 2, (Relation(("sex", "pay"), 0.61, 0.04),)))
        2 of 3 clear relations between columns are lost ("sex" with "pay", 0.61 -> 0.04, and 1 more)
        """
        if not self.gone:
            return f"all {self.clear} clear relations between columns are kept" if self.clear > 1 else ONE_KEPT
        are = "is" if self.gone == 1 else "are"
        named = [str(one) for one in self.lost[:NAMED]]
        more = [f"and {self.gone - len(named)} more"] if self.gone > len(named) else []
        many = "clear relations" if self.clear > 1 else "clear relation"
        return f"{self.gone} of {self.clear} {many} between columns {are} lost ({', '.join([*named, *more])})"

    @property
    def advice(self) -> str:
        """What would keep more, and what it costs to try; nothing where nothing is lost."""
        if not self.gone or not self.remedy:
            return ""
        return (
            f"{self.remedy} usually keeps more of them; a second release spends epsilon again, so try it on a public "
            "or made-up table of the same columns (sfumato advise --public FILE)"
        )


ONE_KEPT = "the one clear relation between columns is kept"
MEANING = (
    f"share of the pairs of columns that clearly hang together in the raw table (Cramer's V of {CLEAR} or more, "
    f"numbers in {BINS} bins; sets are not compared) and keep at least half of it"
)


def association(counts: Floats) -> float:
    """Cramer's V of a table of counts, without its bias (Bergsma 2013); 0 where chance alone explains it.

    >>> association(np.array([[50.0, 0.0], [0.0, 50.0]])), association(np.array([[25.0, 25.0], [25.0, 25.0]]))
    (1.0, 0.0)
    """
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    rows, columns, n = *counts.shape, float(counts.sum())
    if min(rows, columns) < 2:
        return 0.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    squared, free = float(((counts - expected) ** 2 / expected).sum()), (rows - 1) * (columns - 1)
    if squared <= free + CHANCE * math.sqrt(2 * free):
        return 0.0
    smaller = min(size - (size - 1) ** 2 / (n - 1) for size in (rows, columns)) - 1
    return min(1.0, math.sqrt(max(0.0, squared / n - free / (n - 1)) / smaller)) if smaller > 0 else 0.0


def _compared(table: Table, masked: Masked) -> list[Relation]:
    """The pairs of columns that clearly hang together in the raw table, of those that can be compared."""
    names = [name for name in masked.names if name in masked][:COLUMNS]
    raw, shown = sample(table.rows, ROWS, 0), sample(masked.rows, ROWS, 0)
    both = ((name, _cells(table.schema[name], table.columns[name], masked[name], raw, shown)) for name in names)
    cells = {name: found for name, found in both if found is not None}
    found = []
    for first, second in watched(list(combinations(cells, 2))):
        before = association(_counted(cells[first].raw, cells[second].raw))
        if before >= CLEAR:
            after = association(_counted(cells[first].shown, cells[second].shown))
            found.append(Relation((first, second), before, after))
    return found


@dataclass(frozen=True, eq=False)
class _Cells:
    """In which cell of a column each row stands, of the raw and of the generated rows: 0 to `MOST` - 1."""

    raw: Ints
    shown: Ints


MOST = LABELS + 2
"""Cells of a column: its labels, or bins; all others; missing."""


def _counted(first: Ints, second: Ints) -> Floats:
    return np.bincount(first * MOST + second, minlength=MOST * MOST).reshape(MOST, MOST).astype(np.float64)


def _cells(attribute: Attribute, raw: AnyColumn, shown: AnyColumn, records: Ints, rows: Ints) -> _Cells | None:
    """None where what is shown cannot be compared: sets, intervals and groups of labels."""
    if not isinstance(raw, Column) or not isinstance(shown, Column) or not len(raw.values):
        return None
    if isinstance(attribute, Number):
        if shown.shows_labels:
            return None
        edges = _edges(raw, attribute)
        of = [_binned(column, attribute, edges) for column in (raw, shown)]
    else:
        told = _common(raw)
        if _unknown(raw, shown) > OTHERS:
            return None
        of = [np.array([*(told.get(label, LABELS) for label in one.labels), MOST - 1]) for one in (raw, shown)]
    return _Cells(of[0][raw.codes[records]], of[1][shown.codes[rows]])


def _edges(raw: Column, attribute: Number) -> Floats:
    """Where bins end: about as many raw records in each; fewer bins where many have one number."""
    numbers = np.asarray(numbers_of(raw.values, attribute), dtype=np.float64)
    order = np.argsort(numbers, kind="stable")
    upto = np.cumsum(raw.counts[:-1][order])
    return np.unique(numbers[order][np.searchsorted(upto, upto[-1] * np.arange(1, BINS) / BINS)])


def _binned(column: Column, attribute: Number, edges: Floats) -> Ints:
    """(values + 1,): the bin of each number; the last is missing."""
    numbers = np.asarray(numbers_of(column.values, attribute), dtype=np.float64)
    return np.append(np.searchsorted(edges, numbers), MOST - 1)


def _common(raw: Column) -> dict[str, int]:
    """The cells of labels that are not rare."""
    counts = raw.counts[:-1]
    most: Sequence[int] = [int(at) for at in np.argsort(-counts, kind="stable")[:LABELS]]
    return {raw.labels[at]: cell for cell, at in enumerate(most) if counts[at] >= RARE * len(raw)}


def _unknown(raw: Column, shown: Column) -> float:
    """The share of generated rows whose label no record has."""
    known = set(raw.labels)
    rows = sum(int(count) for label, count in zip(shown.labels, shown.counts, strict=False) if label not in known)
    return rows / max(len(shown), 1)
