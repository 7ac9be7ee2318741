"""What an attacker sees and knows: the released table, people's raw values, and how far one is from the other.

A shown value stands for raw ones: a label for the leaves below it, an interval for its numbers, `*` for all of them.
The attacker looks for the shown values that cover what he knows or, where none does, for the nearest ones. So one
notion of likeness serves recodings and regions, whose values cover, and centres and generated rows, whose do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats, Ints
from sfumato.data import calendar
from sfumato.data.axis import labels_of, numbers_of
from sfumato.data.grouping import first_rows
from sfumato.data.masked import Masked
from sfumato.data.schema import Attribute, Category, Number
from sfumato.data.shown import OR_MISSING, holds_missing, set_members, set_pieces
from sfumato.data.table import Column, ItemColumn, Table
from sfumato.events import checkpoint, watched
from sfumato.randomness import Seeded
from sfumato.structure.masked_positions import interval_ends

Gaps = NDArray[np.float32]
ANYTHING = "*"
CELLS = 20_000_000
"""Distances are computed for this many pairs at a time."""
LEAST = 1e-4
"""How far at least a number is from an interval that it is not in."""
NEAR = 1e-6
AT_ONCE = 1 << 18
PEOPLE_AT_ONCE = 8
"""So many pairs, and people, as the processor keeps at hand."""
PAIRS = 60_000_000
"""Of a release with very many groups fewer people are attacked, so that no more pairs have to be compared."""
FEWEST = 50


def gaps(
    told: Sequence[str | None], column: Column, values: Ints, attribute: Attribute, ends: Ends | None = None
) -> Gaps:
    """(told, values): 0 where a shown value covers a raw one, else how far it is, at most 1.

    Numbers are apart by a part of their range; categories are the same or not. `told`: shown values, None for
    missing. `values`: codes of raw ones. `ends`: the numbers that are told, where they were read already.

    >>> import pyarrow as pa
    >>> ages = Column(np.array([0, 1, 2], dtype=np.uint8), pa.array([20, 30, 40]))
    >>> gaps(["[20-25)", "40", "*"], ages, np.arange(3), Number()).tolist()
    [[0.0, 0.25, 0.75], [1.0, 0.5, 0.0], [0.0, 0.0, 0.0]]
    """
    if isinstance(attribute, Number):
        found = _of_numbers(ends or Ends.of(told, attribute), column, values, attribute)
    else:
        found = _of_labels(told, column, values, attribute)
    gone = values == column.missing_code
    found[:, gone] = 1.0
    own = set() if isinstance(attribute, Number) else {*labels_of(column.values)}  # one may look like a set
    for at, label in enumerate(told):
        if label == ANYTHING:
            found[at] = 0.0
        elif label is None or (holds_missing(label) and label not in own) or label == _root(attribute):
            found[at, gone] = 0.0
    return found


def _root(attribute: Attribute) -> str | None:
    tree = attribute.taxonomy if isinstance(attribute, Category) else None
    return None if tree is None else tree.root


def nearest(told: Sequence[str | None], column: Column, attribute: Attribute, ends: Ends | None = None) -> Gaps:
    """(values + 1,): how far each raw value is from the shown value nearest to it; missing is the last.

    The least of `gaps` over all that is told. Numbers that are shown one by one, and labels that are shown as they
    are, may be many; they are looked up, the others compared.
    """
    others: list[str | None]
    if isinstance(attribute, Number):
        read = ends or Ends.of(told, attribute)
        point = read.low == read.high
        found = _to_points(np.unique(read.low[point]), column, attribute)
        others = [label for label, one in zip(told, point.tolist(), strict=True) if not one]
    else:
        every, shown = labels_of(column.values), {*told}
        found = np.array([*(label not in shown for label in every), True], dtype=np.float32)
        others = list(shown.difference(every))
    step = max(1, CELLS // len(found))
    for start in watched(range(0, len(others), step)):
        part = gaps(others[start : start + step], column, np.arange(len(found)), attribute)
        found = np.minimum(found, part.min(axis=0))
    return found


def _to_points(points: Floats, column: Column, attribute: Number) -> Gaps:
    """(values + 1,): how far each number is from the nearest of some points in ascending order."""
    numbers = _exact(column, attribute)
    fenced = np.concatenate([[-np.inf], points, [np.inf]])
    after = np.searchsorted(points, numbers)
    apart = np.minimum(numbers - fenced[after], fenced[after + 1] - numbers) / (_width(numbers) or 1.0)
    found = np.where(apart == 0, 0.0, np.clip(np.nan_to_num(apart, nan=1.0), LEAST, 1.0))
    return found.astype(np.float32)


def _exact(column: Column, attribute: Number) -> Floats:
    """(values + 1,): the very numbers, of dates too; missing is nan."""
    numbers = calendar.to_number(column.values) if attribute.calendar else numbers_of(column.values, attribute)
    return np.append(numbers.astype(np.float64), np.nan)


def _width(numbers: Floats) -> float:
    known = numbers[np.isfinite(numbers)]
    return float(known.max() - known.min()) if len(known) else 0.0


@dataclass(frozen=True, eq=False)
class Ends:
    """(labels,): the lowest and the highest number that each label covers; nan where a label is no number."""

    low: Floats
    high: Floats

    @classmethod
    def of(cls, told: Sequence[str | None], attribute: Number) -> Ends:
        """Of shown values; None for missing."""
        low, high = np.full(len(told), np.nan), np.full(len(told), np.nan)
        for at, label in enumerate(told):
            ends = None if label is None else interval_ends(label, attribute.calendar)
            if label is None or ends is None:
                continue
            low[at] = -np.inf if ends.low is None else ends.low
            high[at] = np.inf if ends.high is None else ends.high
            if label.removesuffix(OR_MISSING).endswith(")"):  # an open end is not covered: the last number below it is
                high[at] = np.nextafter(high[at], -np.inf)
        return cls(low, high)

    def take(self, codes: Ints) -> Ends:
        """Of these labels."""
        return Ends(self.low[codes], self.high[codes])


def _of_numbers(ends: Ends, column: Column, values: Ints, attribute: Number) -> Gaps:
    """Points are compared with the very numbers, intervals of dates with calendar units."""
    exact = _exact(column, attribute)
    units = np.append(numbers_of(column.values, attribute).astype(np.float64), np.nan)
    wide = _width(exact) or 1.0
    point = ends.low == ends.high
    found = np.ones((len(ends.low), len(values)), dtype=np.float32)
    for part, numbers in ((point, exact[values]), (~point & ~np.isnan(ends.low), units[values])):
        for some in np.array_split(np.flatnonzero(part), max(1, int(part.sum()) * len(values) // AT_ONCE)):
            found[some] = _over(ends.low[some, None], ends.high[some, None], numbers, wide)
    return found


def _over(low: Floats, high: Floats, numbers: Floats, wide: float) -> Floats:
    """(labels, numbers): how far numbers lie outside of what labels cover, as a part of the width. Missing is 1."""
    over = low - numbers
    np.maximum(over, numbers - high, out=over)
    covered = over <= 0
    over /= wide
    np.maximum(np.fmin(over, 1.0, out=over), LEAST, out=over)  # of nan and 1, fmin takes 1
    over[covered] = 0.0
    return over


def _of_labels(told: Sequence[str | None], column: Column, values: Ints, attribute: Attribute) -> Gaps:
    """A label covers itself, the leaves below it, or the labels that it lists in braces."""
    every = labels_of(column.values)
    place: dict[str, list[int]] = {}
    for at, code in enumerate(values.tolist()):
        if code < len(every):
            place.setdefault(every[code], []).append(at)
    tree, known = attribute.taxonomy if isinstance(attribute, Category) else None, frozenset(every)
    found = np.ones((len(told), len(values)), dtype=np.float32)
    for at, label in enumerate(told):
        if label is None:
            continue
        covered = {label, *(tree.leaves_of(label) if tree is not None and label in tree else ())}
        covered |= {*(set_members(label, known) or set_pieces(label))}
        found[at, [one for value in covered for one in place.get(value, ())]] = 0.0
    return found


@dataclass(frozen=True, eq=False)
class Groups:
    """Each combination of shown values once: `codes` (groups, attributes), how many rows show it, and which do.

    `first` (groups,): a row that shows it.
    """

    names: tuple[str, ...]
    codes: Ints
    sizes: Ints
    of_row: Ints
    first: Ints


@dataclass(frozen=True, eq=False)
class Seen:
    """A released table: its columns in codes, without the set-valued ones, which `sets` names.

    `exact`: columns in which every raw value has one shown value only, and the attacker knows which, as in a recoding
    that goes along with its table: the narrowest that covers it. Elsewhere every shown value that covers a raw one
    may stand for it.
    """

    columns: Mapping[str, Column]
    masked: Masked
    exact: frozenset[str] = frozenset()

    @classmethod
    def of(cls, masked: Masked, table: Table, *, exact: Iterable[str] = ()) -> Seen:
        """The released columns that the raw table has as numbers or categories."""
        names = [name for name in masked.names if isinstance(table.columns.get(name), Column)]
        shown = {name: masked.shown(name) for name in names}
        columns = {name: column for name, column in shown.items() if isinstance(column, Column)}
        return cls(columns, masked, frozenset(exact))

    @property
    def rows(self) -> int:
        """How many rows are released."""
        return self.masked.rows

    @property
    def sets(self) -> tuple[str, ...]:
        """The set-valued columns that are released: no predicate speaks of them, rows are told apart by them."""
        return tuple(name for name in self.masked.names if isinstance(self.masked.shown(name), ItemColumn))

    @property
    def alone(self) -> float:
        """The share of the rows that show what no other one does, all columns together, a set as a whole."""
        sizes = self.masked.sizes((*self.columns, *self.sets))
        return int((sizes == 1).sum()) / self.rows

    def groups(self, names: Sequence[str]) -> Groups:
        """Which rows are alike on some columns."""
        of_row = self.masked.groups(names)
        checkpoint()
        first = first_rows(of_row)
        codes = np.stack([self.columns[name].marks[first].astype(np.int64) for name in names], axis=1)
        return Groups(tuple(names), codes, np.bincount(of_row), of_row, first)


class Sight:
    """Owns the comparison of one released table with the raw values of some people, and what was compared already."""

    def __init__(self, seen: Seen, table: Table) -> None:
        self.seen, self.table = seen, table
        self._least: dict[str, Gaps] = {}
        self._narrow: dict[str, NDArray[np.bool_]] = {}
        self._read: dict[str, Ends] = {}

    def gaps(self, name: str, *, labels: Ints | None = None, values: Ints | None = None) -> Gaps:
        """(labels, values): 0 where a shown value covers a raw one, else how far it is, at most 1.

        `labels`, `values`: the codes to compare (None: all); the code past the last one is missing.
        """
        shown, column = self.seen.columns[name], self.table.column(name)
        left = np.arange(len(shown.labels) + 1) if labels is None else labels
        right = np.arange(column.missing_code + 1) if values is None else values
        ends = self._ends(name)
        told, read = _told(shown, left), None if ends is None else ends.take(left)
        found = gaps(told, column, right, self.table.schema[name], read)
        if name in self.seen.exact:
            found[(found == 0) & ~self._narrowest(name)[np.ix_(left, right)]] = 1.0
        return found

    def near(self, groups: Groups, rows: Ints) -> list[Ints]:
        """For each of some people the groups that cover what is known of him, or are nearest to it."""
        found: list[Ints] = []
        step = max(1, CELLS // max(1, len(groups.sizes)))
        for start in watched(range(0, len(rows), step)):
            apart = self._far(groups, rows[start : start + step])
            found += [np.flatnonzero(line) for line in apart <= apart.min(axis=1, keepdims=True) + NEAR]
        return found

    def matches(self, name: str, labels: Ints) -> NDArray[np.bool_]:
        """(labels, values + 1): the raw values that shown values stand for: no other shown value is nearer to them."""
        least = self._nearest(name) + NEAR
        found = np.zeros((len(labels), len(least)), dtype=np.bool_)
        step = max(1, CELLS // len(least))
        for start in watched(range(0, len(labels), step)):
            found[start : start + step] = self.gaps(name, labels=labels[start : start + step]) <= least
        return found

    def _far(self, groups: Groups, rows: Ints) -> Gaps:
        """(people, groups): how far raw values are from each group, summed over its attributes."""
        found = np.zeros((len(rows), len(groups.sizes)), dtype=np.float32)
        for at, name in enumerate(groups.names):
            checkpoint()
            codes = self.table.column(name).marks[rows]
            values, of_person = np.unique(codes, return_inverse=True)
            of_value = np.ascontiguousarray(self.gaps(name, values=values).T)
            for some in range(0, len(rows), PEOPLE_AT_ONCE):
                part = slice(some, some + PEOPLE_AT_ONCE)
                found[part] += np.take(of_value[of_person[part]], groups.codes[:, at], axis=1)
        return found

    def _ends(self, name: str) -> Ends | None:
        """What the shown values of a number are, missing last; read once."""
        attribute, shown = self.table.schema[name], self.seen.columns[name]
        if isinstance(attribute, Number) and name not in self._read:
            self._read[name] = Ends.of([*shown.labels, None], attribute)
        return self._read.get(name)

    def _nearest(self, name: str) -> Gaps:
        """(values + 1,): how far each raw value is from the shown value nearest to it."""
        if name not in self._least:
            shown = self.seen.columns[name]
            codes, ends = np.flatnonzero(shown.counts), self._ends(name)
            read = None if ends is None else ends.take(codes)
            self._least[name] = nearest(_told(shown, codes), self.table.column(name), self.table.schema[name], read)
        return self._least[name]

    def _narrowest(self, name: str) -> NDArray[np.bool_]:
        """(labels, values): whether a label covers the fewest values of all shown labels that cover a value."""
        if name not in self._narrow:
            column, shown = self.table.column(name), self.seen.columns[name]
            told = [*shown.labels, None]
            covers = gaps(told, column, np.arange(column.missing_code + 1), self.table.schema[name]) == 0
            covers &= shown.counts[:, None] > 0
            # A label that does not cover a value must not be its narrowest.
            width = np.where(covers, covers.sum(axis=1, keepdims=True), covers.size + 1)
            self._narrow[name] = np.asarray(width == width.min(axis=0))
        return self._narrow[name]


def _told(shown: Column, codes: Ints) -> list[str | None]:
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

    @cached_property
    def sight(self) -> Sight:
        """The release beside the people of the table: what one attack compares, another need not compare again."""
        return Sight(self.seen, self.table)

    def drawn(self, rows: Ints, groups: Groups) -> Ints:
        """Some of these rows, in order: people who are to be compared with groups."""
        most = min(self.people, max(FEWEST, PAIRS // max(1, len(groups.sizes))))
        return np.sort(rows[Seeded(self.seed).permutation(len(rows))[:most]])
