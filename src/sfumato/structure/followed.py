"""What clusters follow: one or two columns of labels that decide nearly alone to which cluster a record belongs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sfumato.arrays import Ints
from sfumato.data.schema import Category
from sfumato.data.table import Column, Table
from sfumato.errors import quoted
from sfumato.events import checkpoint
from sfumato.structure.structures import Found

MOST_ROWS = 20_000
"""Rows that are looked at."""
MOST_VALUES, MOST_COLUMNS = 50, 20
"""A column of more labels is not looked at; of more columns, pairs are made of those that tell most by themselves."""
ENOUGH = 5
"""Rows for each combination of labels, without which they tell a cluster by accident."""
DECIDED = 0.95
"""The share of the records whose cluster must follow."""


@dataclass(frozen=True)
class Followed:
    """The columns that decide, and of which share of the records."""

    names: tuple[str, ...]
    share: float

    def __str__(self) -> str:
        decide = "it decides" if len(self.names) == 1 else "together they decide"
        return (
            f"the clusters follow {' and '.join(map(quoted, self.names))}: {decide} the cluster of {self.share:.0%} of "
            "the records, and other columns hardly count. Where other groups matter, say what records are compared by "
            "(structure: attributes: [...]), or what counts more (weights: {NAME: 3})"
        )


def followed(found: Found, table: Table) -> Followed | None:
    """What the clusters follow; None for classes, and where more than two columns or a number has a say.

    Where records are compared by nothing else, nobody need be told.
    """
    if found.embedding is None:
        return None
    layouts = found.embedding.layouts
    rows = np.linspace(0, table.rows - 1, min(table.rows, MOST_ROWS)).astype(np.int64)
    columns = {name: column for name in layouts if (column := _labels(table, name, rows)) is not None}
    names = deciding(columns, found.labels[rows].astype(np.int64))
    return None if names is None or {*names.names} == {*layouts} else names


def deciding(columns: Mapping[str, Ints], labels: Ints) -> Followed | None:
    """The one column, or else the two, from which labels follow best, if nearly all do; codes (rows,) of each.

    >>> sex, town = np.arange(400) % 2, np.arange(400) // 2 % 3
    >>> deciding({"sex": sex, "town": town}, sex * 3 + town)
    Followed(names=('sex', 'town'), share=1.0)
    >>> deciding({"sex": sex, "town": town}, 1 - sex).names, deciding({"town": town}, sex)
    (('sex',), None)
    """
    if not len(labels) or np.bincount(labels).max() >= DECIDED * len(labels):
        return None
    single: dict[tuple[str, ...], float] = {(name,): _told([codes], labels) for name, codes in columns.items()}
    best = _best(single)
    if best is None:
        likely = sorted(single, key=lambda names: -single[names])[:MOST_COLUMNS]
        pairs = combinations([name for name in columns if (name,) in likely], 2)
        best = _best({pair: _told([columns[name] for name in pair], labels) for pair in pairs})
    return best


def _best(told: Mapping[tuple[str, ...], float]) -> Followed | None:
    names = max(told, key=lambda one: told[one], default=None)
    return None if names is None or told[names] < DECIDED else Followed(names, told[names])


def _told(columns: Sequence[Ints], labels: Ints) -> float:
    """The share of the rows that have the commonest label of their combination; 0 where there are too few of each."""
    checkpoint()
    cells = np.zeros(len(labels), dtype=np.int64)
    for codes in columns:
        cells = cells * (int(codes.max(initial=0)) + 1) + codes
    most = int(labels.max(initial=0)) + 1
    counts = np.bincount(cells * most + labels)
    counts = np.pad(counts, (0, -len(counts) % most)).reshape(-1, most)
    if len(labels) < ENOUGH * np.count_nonzero(counts.any(axis=1)):
        return 0.0
    return float(counts.max(axis=1).sum() / len(labels))


def _labels(table: Table, name: str, rows: Ints) -> Ints | None:
    """(rows,): the codes of a column of few labels."""
    column = table.columns[name]
    if not isinstance(table.schema[name], Category) or not isinstance(column, Column):
        return None
    return column.codes[rows].astype(np.int64) if len(column.values) <= MOST_VALUES else None
