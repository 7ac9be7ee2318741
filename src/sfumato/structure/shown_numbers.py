"""Numbers for shown rows: what each of them stands for among the records that a mask was learned from.

A shown number stands at the mean of the records that look alike, a shown label at the share of each label among them.
Rows that look as no learned record did stand where their values do one by one, and what shows nothing where everybody
does on average. What is told are means and shares of at least `minimum` records, as in the codebook of a release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.axis import MISSING, labels_of, numbers_of
from sfumato.data.calendar import DAY
from sfumato.data.masked import Masked
from sfumato.data.schema import Category, Number
from sfumato.data.shown import set_members
from sfumato.data.table import AnyColumn, Column, ItemColumn, Table
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import SchemaError
from sfumato.structure.layouts import MOST_NODES, NumberLayout
from sfumato.structure.masked_positions import interval_ends, shown_number
from sfumato.structure.released import MEAN, ReleasedValues, Spread, labelled, texts_in
from sfumato.structure.released_groups import Numbered, ReleasedGroups, Shown

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """A number is one column, in its own unit; a date or a time in days since the beginning of 1970."""

    layout: NumberLayout

    def names(self, attribute: str) -> list[str]:
        """The names of its columns."""
        return [attribute]

    def raw(self, column: Column) -> Matrix:
        """(values + 1, 1): values as they are; missing last."""
        numbers = numbers_of(column.values, self.layout.attribute).astype(np.float64) / self._unit
        return np.append(numbers, np.nan)[:, None]

    def shown(self, label: str | None, spread: Spread) -> list[float]:
        """What a shown value stands for."""
        if label is None:
            return [np.nan]
        if MEAN in spread or interval_ends(label, self.layout.attribute.calendar) is not None:
            return [shown_number(self.layout, label, spread) / self._unit]
        return [self.layout.mean / self._unit]

    @property
    def _unit(self) -> int:
        return 1 if self.layout.attribute.calendar is None else DAY


@dataclass(frozen=True, eq=False)
class LabelColumns:
    """A category has a column for each of its labels: the share of those who have it, in all 1."""

    labels: tuple[str, ...]
    average: Matrix
    taxonomy: Taxonomy | None

    @classmethod
    def of(cls, name: str, attribute: Category, column: Column) -> LabelColumns:
        """The labels that occur, missing among them if somebody misses one."""
        labels = (*labels_of(column.values), *([MISSING] if column.missing else []))
        if len(labels) > MOST_NODES:
            raise SchemaError(
                name,
                f"as numbers a category has a column for each label, and at most {MOST_NODES} of them",
                given=f"{len(labels):,} labels",
                remedy="ask for output='labels', or leave the column out",
            )
        counts = column.counts[: len(labels)]
        return cls(labels, counts / counts.sum(), attribute.taxonomy)

    def names(self, attribute: str) -> list[str]:
        """The names of its columns."""
        return [f"{attribute}_{label}" for label in self.labels]

    def raw(self, column: Column) -> Matrix:
        """(values + 1, labels): values as they are; missing last."""
        return np.array([self.shown(label, {}) for label in (*labels_of(column.values), None)], dtype=np.float64)

    def shown(self, label: str | None, spread: Spread) -> Matrix:
        """(labels,): the share of each."""
        found = np.zeros(len(self.labels))
        for key, share in (spread or {MISSING if label is None else label: 1.0}).items():
            found += float(share) * self._alone(key)
        return found

    def _alone(self, label: str) -> Matrix:
        """One of several labels alike; of what is no label everybody's average."""
        under = self._under(label)
        if not under:
            return self.average
        found = np.zeros(len(self.labels))
        found[[self.labels.index(one) for one in under]] = 1 / len(under)
        return found

    def _under(self, label: str) -> list[str]:
        if label in self.labels:
            return [label]
        told = set_members(label, self.labels)
        if not told and self.taxonomy is not None and label in self.taxonomy.labels:
            told = tuple(self.taxonomy.leaves_of(label))
        return [one for one in (member or MISSING for member in told) if one in self.labels]


@dataclass(frozen=True, eq=False)
class ItemColumns:
    """A set has a column for each item that is shown: 1 in the rows that hold it; a missing set holds none."""

    items: tuple[str, ...]

    def names(self, attribute: str) -> list[str]:
        """The names of its columns."""
        return [f"{attribute}_{item}" for item in self.items]

    def matrix(self, column: ItemColumn) -> Matrix:
        """(rows, items); an item that was never shown has no column."""
        place = np.array([self.items.index(one) if one in self.items else -1 for one in column.items], dtype=np.int64)
        rows = np.repeat(np.arange(len(column)), np.diff(column.offsets))
        at = place[column.codes] if len(place) else np.zeros(0, dtype=np.int64)
        found = np.zeros((len(column), len(self.items)))
        found[rows[at >= 0], at[at >= 0]] = 1.0
        return found


AnyColumns = NumberColumn | LabelColumns


@dataclass(frozen=True, eq=False)
class ShownNumbers:
    """What was learned of a table and of what it shows: the columns of each attribute, and what groups stand for.

    `groups`: of each group of records that look alike what it shows, and its number; `spreads`: by attribute what each
    group stands for; `values`: the same of single values, for rows that look as nobody did.
    """

    columns: Mapping[str, AnyColumns | ItemColumns]
    on: tuple[str, ...]
    groups: Mapping[Shown, int]
    spreads: Mapping[str, Sequence[Spread]]
    values: ReleasedValues

    @classmethod
    def learn(cls, table: Table, masked: Masked, *, minimum: int) -> ShownNumbers:
        """From a table and what it shows, set over it."""
        on = tuple(name for name in table.schema if name in labelled(table, masked))
        values = ReleasedValues.learn(table, masked.columns, minimum=minimum).without(texts_in(table, masked))
        spreads = ReleasedGroups.learn(table, masked, minimum=minimum).columns
        shown = Numbered.of(masked, on).shown if on else []
        columns = {name: _columns(name, table, masked.shown(name)) for name in masked.names}
        return cls(columns, on, {one: at for at, one in enumerate(shown)}, spreads, values)

    @property
    def names(self) -> list[str]:
        """The names of all columns of the matrix."""
        return [one for name, columns in self.columns.items() for one in columns.names(name)]

    def matrix(self, masked: Masked) -> Matrix:
        """(rows, columns): what shown rows stand for; not a number where a number is missing."""
        return np.hstack([*self._blocks(masked)])

    def _blocks(self, masked: Masked) -> Iterator[Matrix]:
        numbered = Numbered.of(masked, self.on) if self.on else None
        for name, columns in self.columns.items():
            column = masked.shown(name)
            if isinstance(columns, ItemColumns) or isinstance(column, ItemColumn):
                yield self._held(name, columns, column)
            elif numbered is not None and name in self.on:
                yield self._grouped(name, columns, numbered.shown)[numbered.of_row]
            else:
                yield columns.raw(column)[column.codes]

    def _held(self, name: str, columns: AnyColumns | ItemColumns, column: AnyColumn) -> Matrix:
        if isinstance(columns, ItemColumns) and isinstance(column, ItemColumn):
            return columns.matrix(column)
        raise SchemaError(name, "it holds sets, or one value in each row", given="the other", remedy="fit these rows")

    def _grouped(self, name: str, columns: AnyColumns, shown: Sequence[Shown]) -> Matrix:
        """(groups, columns): what each group of the rows at hand stands for."""
        at, told = self.on.index(name), self.spreads.get(name) or ()
        rows = []
        for one in shown:
            label, number = one[at], self.groups.get(one)
            known = bool(told) and number is not None
            spread = told[number] if known and number is not None else self.values.spread(name, label or "")
            rows.append(columns.shown(label, spread))
        return np.array(rows, dtype=np.float64).reshape(len(shown), -1)


def _columns(name: str, table: Table, shown: AnyColumn) -> AnyColumns | ItemColumns:
    attribute = table.schema[name]
    if isinstance(shown, ItemColumn):
        return ItemColumns(tuple(shown.items))
    if isinstance(attribute, Number):
        return NumberColumn(NumberLayout.of(attribute, table.column(name)))
    if isinstance(attribute, Category):
        return LabelColumns.of(name, attribute, table.column(name))
    raise SchemaError(
        name,
        "numbers stand for numbers and categories",
        given="an item set that is not shown as one",
        remedy="ask for output='labels', or leave the column out",
    )
