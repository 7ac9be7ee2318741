"""What clusters follow: one or two columns of labels that decide nearly alone to which cluster a record belongs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from sfumato.arrays import Ints
from sfumato.data.drafting.compared import step
from sfumato.data.schema import Category, Number
from sfumato.data.table import Column, Table
from sfumato.errors import quoted
from sfumato.events import checkpoint
from sfumato.structure.embedding import Embedding
from sfumato.structure.layouts import ItemLayout
from sfumato.structure.structures import Found

MOST_ROWS = 20_000
"""Rows that are looked at."""
MOST_VALUES, MOST_COLUMNS = 50, 20
"""A column of more labels is not looked at; of more columns, pairs are made of those that tell most by themselves."""
ENOUGH = 5
"""Rows for each combination of labels, without which they tell a cluster by accident."""
DECIDED = 0.95
"""The share of the records whose cluster must follow."""
MOSTLY, GAINED, EACH = 0.8, 0.7, 3
"""Where numbers are compared, too: the share of the records whose cluster follows, of what the commonest cluster leaves
to be guessed, and the combinations of labels for each cluster, above which many labels tell much by themselves."""
MOST_NAMED = 8
"""Columns that a line to be copied names."""


@dataclass(frozen=True)
class Followed:
    """The columns that decide, and of which share of the records.

    `weights`: what the numbers that are compared, too, would count so that two records differ in each as much as in the
    most varied column.
    """

    names: tuple[str, ...]
    share: float
    weights: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        decide = "it decides" if len(self.names) == 1 else "together they decide"
        hardly = "hardly count" if self.share >= DECIDED else "count for the rest alone"
        return (
            f"the clusters follow {' and '.join(map(quoted, self.names))}: {decide} the cluster of {self.share:.0%} of "
            f"the records, and other columns {hardly}. Where other groups matter, say what records are compared by "
            f"(structure: attributes: [{_some(self.weights) or '...'}]), or what counts more (weights: "
            f"{{{_some(f'{name}: {weight}' for name, weight in self.weights.items() if weight > 1) or 'NAME: 3'}}})"
        )


def _some(texts: Iterable[str]) -> str:
    every = list(texts)
    return ", ".join(every[:MOST_NAMED]) + (", ..." if len(every) > MOST_NAMED else "")


def followed(found: Found, table: Table) -> Followed | None:
    """What the clusters follow; None for classes, and where more than two columns or a number has a say.

    Where records are compared by nothing else, nobody need be told.
    """
    if found.embedding is None:
        return None
    layouts = found.embedding.layouts
    rows = np.linspace(0, table.rows - 1, min(table.rows, MOST_ROWS)).astype(np.int64)
    columns = {name: column for name in layouts if (column := _labels(table, name, rows)) is not None}
    numbers = [name for name in layouts if isinstance(table.schema[name], Number)]
    told = deciding(columns, found.labels[rows].astype(np.int64), beside_numbers=bool(numbers))
    if told is None or {*told.names} == {*layouts}:
        return None
    return replace(told, weights=_weights(found.embedding, table, numbers))


def _weights(embedding: Embedding, table: Table, numbers: Sequence[str]) -> dict[str, int]:
    """What numbers count so that two records differ in each as much as in the most varied column of all."""
    spreads = {name: _spread(embedding, table, name) for name in embedding.layouts}
    largest = max(spreads.values(), default=0.0)
    return {name: step(largest / spreads[name]) for name in numbers if spreads[name] > 0}


def _spread(embedding: Embedding, table: Table, name: str) -> float:
    """The mean squared distance of two records in a column, whatever it counts now; 0 of sets."""
    part, column = embedding.layouts[name], table.columns[name]
    if isinstance(part, ItemLayout) or not isinstance(column, Column):
        return 0.0
    places = np.asarray(part.positions(column.values), dtype=np.float64)
    held = np.asarray(column.counts[: len(places)], dtype=np.float64)
    mean = np.average(places, axis=0, weights=held)
    return float(2 * np.average(((places - mean) ** 2).sum(axis=1), weights=held))


def deciding(columns: Mapping[str, Ints], labels: Ints, *, beside_numbers: bool = False) -> Followed | None:
    """The one column, or else the two, from which labels follow best, if nearly all do; codes (rows,) of each.

    `beside_numbers`: where numbers are compared, too, fewer are enough, of few combinations.

    >>> sex, town = np.arange(400) % 2, np.arange(400) // 2 % 3
    >>> deciding({"sex": sex, "town": town}, sex * 3 + town).names
    ('sex', 'town')
    >>> deciding({"sex": sex, "town": town}, 1 - sex).names, deciding({"town": town}, sex)
    (('sex',), None)
    >>> mostly = np.where(np.arange(400) % 8 == 7, 0, sex * 3 + town)
    >>> deciding({"sex": sex, "town": town}, mostly)
    >>> deciding({"sex": sex, "town": town}, mostly, beside_numbers=True).share
    0.875
    """
    usual = np.bincount(labels).max() / len(labels) if len(labels) else 1.0
    if usual >= DECIDED:
        return None
    single: dict[tuple[str, ...], float] = {(name,): _told([codes], labels) for name, codes in columns.items()}
    best = _best(single)
    if best is not None:
        return best
    likely = sorted(single, key=lambda names: -single[names])[:MOST_COLUMNS]
    pairs = [*combinations([name for name in columns if (name,) in likely], 2)]
    best = _best({pair: _told([columns[name] for name in pair], labels) for pair in pairs})
    if best is not None or not beside_numbers:
        return best
    few = {one: _told([columns[name] for name in one], labels, each=EACH) for one in (*single, *pairs)}
    return _best(few, least=max(MOSTLY, usual + GAINED * (1 - usual)))


def _best(told: Mapping[tuple[str, ...], float], *, least: float = DECIDED) -> Followed | None:
    names = max(told, key=lambda one: told[one], default=None)
    return None if names is None or told[names] < least else Followed(names, told[names])


def _told(columns: Sequence[Ints], labels: Ints, *, each: int | None = None) -> float:
    """The share of the rows that have the commonest label of their combination; 0 where there are too few of each.

    With `each` also where there are more combinations than so many for each label.
    """
    checkpoint()
    cells = np.zeros(len(labels), dtype=np.int64)
    for codes in columns:
        cells = cells * (int(codes.max(initial=0)) + 1) + codes
    most = int(labels.max(initial=0)) + 1
    counts = np.bincount(cells * most + labels)
    counts = np.pad(counts, (0, -len(counts) % most)).reshape(-1, most)
    there = np.count_nonzero(counts.any(axis=1))
    if len(labels) < ENOUGH * there or (each is not None and there > each * most):
        return 0.0
    return float(counts.max(axis=1).sum() / len(labels))


def _labels(table: Table, name: str, rows: Ints) -> Ints | None:
    """(rows,): the codes of a column of few labels."""
    column = table.columns[name]
    if not isinstance(table.schema[name], Category) or not isinstance(column, Column):
        return None
    return column.codes[rows].astype(np.int64) if len(column.values) <= MOST_VALUES else None
