"""Codebook of released groups: what the values of each group of records that look alike stand for, on average.

Where a value is shown in several groups (local recoding), each of them has a mean and shares of its own, and much more
is kept than by one mean for all of them. A group is a combination of shown values of all columns that show labels; they
are numbered in the order of their letters, column by column in the order of the table, missing last. So the numbers
follow from the released table, and the codebook does not repeat what is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from sfumato.arrays import Ints
from sfumato.data.grouping import first_rows
from sfumato.data.masked import Masked
from sfumato.data.table import AnyColumn, Table, narrow
from sfumato.events import checkpoint
from sfumato.structure.released import (
    MEAN,
    ReleasedValues,
    Spread,
    Told,
    labelled,
    ordered,
    spreads_of,
    texts_in,
)

Kind = Literal["values", "groups"]
"""What a codebook tells of: each shown value, or each group."""
Shown = tuple[str | None, ...]


@dataclass(frozen=True, eq=False)
class Numbered:
    """The groups of a masked table in their order: which one each row is in, and what each shows."""

    of_row: Ints
    shown: Sequence[Shown]

    @classmethod
    def of(cls, masked: Masked, names: Sequence[str]) -> Numbered:
        """By what rows show on these columns; made once for a table.

        >>> import pyarrow as pa
        >>> Numbered.of(Masked.of({"a": pa.array([None, "y", "x", "y"])}), ["a"]).of_row.tolist()
        [2, 1, 0, 1]
        """
        return masked.once((cls, tuple(names)), lambda: cls._made(masked, names))

    @classmethod
    def _made(cls, masked: Masked, names: Sequence[str]) -> Numbered:
        found = masked.groups(names)
        first = first_rows(found)
        columns = [masked.shown(name) for name in names]
        order = np.lexsort([_by_letters(column)[column.marks[first]] for column in reversed(columns)])
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return cls(rank[found], list(zip(*(_texts(column, first[order]) for column in columns), strict=True)))


def _by_letters(column: AnyColumn) -> Ints:
    """(labels + 1,): the place of each label in the order of their letters, missing last."""
    found = np.empty(len(column.labels) + 1, dtype=np.int64)
    found[sorted(range(len(column.labels)), key=column.labels.__getitem__)] = np.arange(len(column.labels))
    found[-1] = len(column.labels)
    return found


def _texts(column: AnyColumn, rows: Ints) -> list[str | None]:
    """What some rows show."""
    labels = (*column.labels, None)
    return [labels[at] for at in column.marks[rows].tolist()]


@dataclass(frozen=True)
class ReleasedGroups:
    """By masked attribute, of each group in order: the mean of its numbers, or the share of each of its labels.

    `columns`: for each attribute that shows labels one entry a group, empty where nothing is told; no entries at all of
    an attribute of which nothing may be told. `groups`: how many there are.

    >>> book = ReleasedGroups(2, {"age": ({"mean": 26.3}, {})})
    >>> book.to_json()
    {'groups': 2, 'columns': {'age': [26.3, None]}}
    >>> ReleasedGroups.from_json(book.to_json()) == book
    True
    """

    groups: int = 0
    columns: Mapping[str, Sequence[Spread]] = field(default_factory=dict)

    @classmethod
    def learn(cls, table: Table, masked: Masked, *, minimum: int | Mapping[str, int] = 1) -> ReleasedGroups:
        """What each group stands for in this table; nothing of an attribute where some group has fewer than `minimum`
        records (one number for all attributes, or of each its own), which shows one value for everybody, or whose
        labels are texts."""
        names = [name for name in table.schema if name in labelled(table, masked)]
        if not names:
            return cls()
        numbered = Numbered.of(masked, names)
        smallest = int(np.bincount(numbered.of_row).min(initial=masked.rows))
        silent = texts_in(table, masked)
        found: dict[str, Sequence[Spread]] = {}
        for at, name in enumerate(names):
            least = minimum if isinstance(minimum, int) else minimum.get(name, 1)
            checkpoint()
            told: Sequence[Spread] = ()
            shown = [group[at] for group in numbered.shown]
            if name not in silent and smallest >= least and len(set(shown)) > 1:
                spreads = spreads_of(table, name, numbered.of_row, shown, minimum=least)
                told = tuple(ordered(label, spread) for label, spread in zip(shown, spreads, strict=True))
            found[name] = told if any(told) else ()
        return cls(len(numbered.shown), found)

    @property
    def tells(self) -> bool:
        """Whether there is anything to tell."""
        return any(self.columns.values())

    def told(self, name: str, masked: Masked) -> Told:
        """A masked column, every group an entry of its own; by its shown values where nothing is told of it."""
        entries = self.columns.get(name, ())
        if not entries:
            return ReleasedValues().told(name, masked)
        numbered = Numbered.of(masked, tuple(self.columns))
        at = list(self.columns).index(name)
        return Told(narrow(numbered.of_row, len(numbered.shown)), [shown[at] for shown in numbered.shown], entries)

    def labels(self, name: str) -> set[str]:
        """The labels that it tells of."""
        return {label for spread in self.columns.get(name, ()) for label in spread if MEAN not in spread}

    def to_json(self) -> dict[str, Any]:
        """The content of codebook.json: a number, or a mapping of shares, for each group in order."""
        return {
            "groups": self.groups,
            "columns": {name: [_form(spread) for spread in entries] for name, entries in self.columns.items()},
        }

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> ReleasedGroups:
        """What `to_json` wrote."""
        columns = {name: tuple(_spread(entry) for entry in entries) for name, entries in form["columns"].items()}
        return cls(form["groups"], columns)


Codebook = ReleasedValues | ReleasedGroups


def learn_codebook(table: Table, masked: Masked, *, kind: Kind, minimum: Mapping[str, int]) -> Codebook:
    """A codebook by groups, or by values: also where groups are asked for and nothing may be told of any.

    Of texts neither tells.
    """
    found = ReleasedGroups.learn(table, masked, minimum=minimum) if kind == "groups" else ReleasedGroups()
    if found.tells:
        return found
    return ReleasedValues.learn(table, masked, minimum=minimum).without(texts_in(table, masked))


def tells_groups(form: Mapping[str, Any]) -> bool:
    """Whether this is the content of a codebook by groups: of values, it holds nothing but mappings."""
    return isinstance(form.get("groups"), int)


def _form(spread: Spread) -> Any:
    return spread[MEAN] if MEAN in spread else dict(spread) or None


def _spread(entry: Any) -> Spread:
    if entry is None:
        return {}
    return dict(entry) if isinstance(entry, Mapping) else {MEAN: entry}
