"""What an attacker sees and knows: the released table, people's raw values, and how far one is from the other.

The attacker looks for the shown values that cover what he knows or, where none does, for the nearest ones
(`sfumato.evaluation.attacks.covering`). So one notion of likeness serves recodings and regions, whose values cover,
and centres and generated rows, whose values do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.groups import group_numbers
from sfumato.data.table import Column, Table
from sfumato.evaluation.attacks.covering import CELLS, Gaps, gaps, nearest
from sfumato.randomness import Seeded
from sfumato.structure.released import Shown

Ints = NDArray[np.int64]
NEAR = 1e-6
PAIRS = 60_000_000
"""Of a release with very many groups fewer people are attacked, so that no more pairs have to be compared."""
FEWEST = 50


@dataclass(frozen=True, eq=False)
class Groups:
    """Each combination of shown values once: `codes` (groups, attributes), how many rows show it, and which do."""

    names: tuple[str, ...]
    codes: Ints
    sizes: Ints
    of_row: Ints


@dataclass(frozen=True, eq=False)
class Seen:
    """A released table: its columns in codes, without the set-valued ones.

    `exact`: columns in which every raw value has one shown value only, and the attacker knows which, as in a recoding
    that goes along with its table: the narrowest that covers it. Elsewhere every shown value that covers a raw one
    may stand for it.
    """

    columns: Mapping[str, Shown]
    rows: int
    exact: frozenset[str] = frozenset()

    @classmethod
    def of(cls, released: pa.Table, table: Table, *, exact: Iterable[str] = ()) -> Seen:
        """The columns of a released table that the raw table has as numbers or categories."""
        names = [name for name in released.column_names if isinstance(table.columns.get(name), Column)]
        return cls({name: Shown.of(released.column(name)) for name in names}, released.num_rows, frozenset(exact))

    def groups(self, names: Sequence[str]) -> Groups:
        """Which rows are alike on some columns."""
        codes = np.stack([self.columns[name].codes for name in names], axis=1)
        of_row = group_numbers(codes.T, self.rows)
        first = np.zeros(int(of_row.max(initial=-1)) + 1, dtype=np.int64)
        first[of_row[::-1]] = np.arange(self.rows)[::-1]
        return Groups(tuple(names), codes[first], np.bincount(of_row), of_row)


class Sight:
    """Owns the comparison of one released table with the raw values of some people, and what was compared already."""

    def __init__(self, seen: Seen, table: Table) -> None:
        self.seen, self.table = seen, table
        self._least: dict[str, Gaps] = {}
        self._matches: dict[tuple[str, int], NDArray[np.bool_]] = {}
        self._narrow: dict[str, NDArray[np.bool_]] = {}

    def gaps(self, name: str, *, labels: Ints | None = None, values: Ints | None = None) -> Gaps:
        """(labels, values): 0 where a shown value covers a raw one, else how far it is, at most 1.

        `labels`, `values`: the codes to compare (None: all); the code past the last one is missing.
        """
        shown, column = self.seen.columns[name], self.table.column(name)
        left = np.arange(len(shown.labels) + 1) if labels is None else labels
        right = np.arange(column.missing_code + 1) if values is None else values
        found = gaps(_told(shown, left), column, right, self.table.schema[name])
        if name in self.seen.exact:
            found[(found == 0) & ~self._narrowest(name)[np.ix_(left, right)]] = 1.0
        return found

    def near(self, groups: Groups, rows: Ints) -> list[Ints]:
        """For each of some people the groups that cover what is known of him, or are nearest to it."""
        found: list[Ints] = []
        step = max(1, CELLS // max(1, len(groups.sizes)))
        for start in range(0, len(rows), step):
            apart = self._far(groups, rows[start : start + step])
            found += [np.flatnonzero(line) for line in apart <= apart.min(axis=1, keepdims=True) + NEAR]
        return found

    def matches(self, name: str, label: int) -> NDArray[np.bool_]:
        """(values + 1,): the raw values that a shown value stands for: no other shown value is nearer to them."""
        if (name, label) not in self._matches:
            own = self.gaps(name, labels=np.array([label]))[0]
            self._matches[name, label] = np.asarray(own <= self._nearest(name) + NEAR)
        return self._matches[name, label]

    def _far(self, groups: Groups, rows: Ints) -> Gaps:
        """(people, groups): how far raw values are from each group, summed over its attributes."""
        found = np.zeros((len(rows), len(groups.sizes)), dtype=np.float32)
        for at, name in enumerate(groups.names):
            codes = self.table.column(name).codes[rows].astype(np.int64)
            values, of_person = np.unique(codes, return_inverse=True)
            found += self.gaps(name, values=values).T[of_person][:, groups.codes[:, at]]
        return found

    def _nearest(self, name: str) -> Gaps:
        """(values + 1,): how far each raw value is from the shown value nearest to it."""
        if name not in self._least:
            shown = self.seen.columns[name]
            told = _told(shown, np.unique(shown.codes))
            self._least[name] = nearest(told, self.table.column(name), self.table.schema[name])
        return self._least[name]

    def _narrowest(self, name: str) -> NDArray[np.bool_]:
        """(labels, values): whether a label covers the fewest values of all shown labels that cover a value."""
        if name not in self._narrow:
            column, shown = self.table.column(name), self.seen.columns[name]
            told = [*shown.labels, None]
            covers = gaps(told, column, np.arange(column.missing_code + 1), self.table.schema[name]) == 0
            covers &= np.bincount(shown.codes, minlength=len(told))[:, None] > 0
            width = np.where(covers, covers.sum(axis=1, keepdims=True), covers.size + 1)
            self._narrow[name] = np.asarray(width == width.min(axis=0))
        return self._narrow[name]


def _told(shown: Shown, codes: Ints) -> list[str | None]:
    """Shown values at codes; None for missing."""
    last = len(shown.labels)
    return [shown.labels[code] if code < last else None for code in codes.tolist()]


@dataclass(frozen=True, eq=False)
class Case:
    """One release under attack: the raw table, what is seen of it, and what attackers know of people.

    `known`: the quasi-identifying attributes. `people`: how many are attacked, at most, drawn with `seed`.
    `control`: people of the same kind who are not in the table; what is guessed of them is no fault of the release.
    """

    table: Table
    seen: Seen
    known: tuple[str, ...]
    people: int = 1_000
    seed: int = 0
    control: Table | None = None

    def drawn(self, rows: Ints, groups: Groups) -> Ints:
        """Some of these rows, in order: people who are to be compared with groups."""
        most = min(self.people, max(FEWEST, PAIRS // max(1, len(groups.sizes))))
        return np.sort(rows[Seeded(self.seed).permutation(len(rows))[:most]])
