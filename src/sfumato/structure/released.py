"""Codebook of released values: what a shown value stands for, on average, among the records that show it.

With it a recipient can place masked records where the raw ones stood on average. It holds aggregates over all
records that show a value, never over fewer than `minimum` of them. `released_groups` tells the same group by group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data import calendar
from sfumato.data.axis import MISSING, labels_of, numbers_of
from sfumato.data.grouping import pairs
from sfumato.data.masked import Masked
from sfumato.data.round_numbers import Grid, Holders
from sfumato.data.schema import Calendar, Number
from sfumato.data.table import AnyColumn, Codes, Column, Table, narrow
from sfumato.structure.layouts import MOST_NODES, NumberLayout

Spread = Mapping[str, float | str]
"""What is told of one shown value: {"mean": 26.3}, or the share of each label; empty where nothing is."""

MEAN = "mean"
DIGITS = 4
"""Of a share."""
MIDDLE = 15
"""Days after the first of a month."""
LONGEST = 1000
"""Characters of a label that is told; a longer one is among the others."""
TEXT = 60
"""Characters: labels that are longer on average are texts, of which no codebook tells."""


@dataclass(frozen=True, eq=False)
class Told:
    """A masked column by what is told of it: which entry each row has, what each entry shows (None: missing), and what
    that stands for."""

    codes: Codes
    shown: Sequence[str | None]
    spreads: Sequence[Spread]

    @property
    def used(self) -> Told:
        """The same without entries that no row has: a column may know labels that it does not show."""
        there = np.bincount(self.codes, minlength=len(self.shown)) > 0
        kept = np.flatnonzero(there).tolist()
        number = narrow(np.cumsum(there) - 1, len(kept))
        return Told(number[self.codes], [self.shown[at] for at in kept], [self.spreads[at] for at in kept])


@dataclass(frozen=True)
class ReleasedValues:
    """For each masked attribute and shown value: the mean of its numbers, or the share of each of its labels.

    Labels of fewer than `minimum` records are told as the shown value itself: {"Secondary": {"10th": 0.8,
    "Secondary": 0.2}} says that a fifth has some other value of Secondary. A shown value that stands for
    itself has no entry.

    >>> book = ReleasedValues({"age": {"[17-37)": {"mean": 26.3}}})
    >>> ReleasedValues.from_json(book.to_json()) == book
    True
    """

    values: Mapping[str, Mapping[str, Spread]] = field(default_factory=dict)

    @classmethod
    def learn(
        cls, table: Table, masked: Mapping[str, AnyColumn], *, minimum: int | Mapping[str, int] = 1
    ) -> ReleasedValues:
        """What each shown value stands for in this table; nothing of an attribute where fewer than `minimum` records
        show some value, which could be computed from what is told of the others.

        What is released needs minimum = k, of each attribute the largest that is asked of it; an evaluation for
        the holder's eyes can do with 1.
        """
        found = {}
        for name, shown in labelled(table, masked).items():
            least = minimum if isinstance(minimum, int) else minimum.get(name, 1)
            entries = spreads_of(table, name, shown.marks, (*shown.labels, None), minimum=least)
            small = _has_small(shown, least)
            found[name] = {} if small else {label: s for label, s in zip(shown.labels, entries, strict=False) if s}
        return cls(found)

    @property
    def tells(self) -> bool:
        """Whether there is any attribute to tell of."""
        return bool(self.values)

    def told(self, name: str, masked: Masked) -> Told:
        """A masked column, every shown value an entry of its own; missing last."""
        column = masked[name]
        return Told(column.codes, (*column.labels, None), [*(self.spread(name, label) for label in column.labels), {}])

    def spread(self, attribute: str, label: str) -> Spread:
        """What a shown value stands for; empty where there is no entry."""
        return self.values.get(attribute, {}).get(label, {})

    def without(self, names: Collection[str]) -> ReleasedValues:
        """The same with nothing told of some attributes."""
        return ReleasedValues({name: {} if name in names else told for name, told in self.values.items()})

    def to_json(self) -> dict[str, dict[str, dict[str, float | str]]]:
        """Plain mappings, labels in the order of their letters, the shown value itself last."""
        return {
            name: {label: ordered(label, labels[label]) for label in sorted(labels)}
            for name, labels in self.values.items()
        }

    @classmethod
    def from_json(cls, form: Mapping[str, Mapping[str, Mapping[str, float | str]]]) -> ReleasedValues:
        """What `to_json` wrote."""
        return cls({name: {label: dict(s) for label, s in labels.items()} for name, labels in form.items()})


def labelled(table: Table, masked: Mapping[str, AnyColumn]) -> dict[str, Column]:
    """The masked columns that a codebook can tell of: those that show labels or intervals."""
    return {
        name: shown
        for name, shown in masked.items()
        if isinstance(shown, Column) and shown.shows_labels and isinstance(table.columns[name], Column)
    }


def texts_in(table: Table, masked: Mapping[str, AnyColumn]) -> frozenset[str]:
    """Masked columns of texts, of which no released codebook tells: they have more labels than any attribute has
    coordinates, or labels that are long on average."""
    return frozenset(name for name in labelled(table, masked) if _is_text(table, name))


def _is_text(table: Table, name: str) -> bool:
    if isinstance(table.schema[name], Number):
        return False
    labels = labels_of(table.column(name).values)
    return len(labels) > MOST_NODES or sum(map(len, labels)) > TEXT * max(len(labels), 1)


def ordered(label: str | None, spread: Spread) -> dict[str, float | str]:
    """Labels in the order of their letters, the shown value itself last."""
    if len(spread) < 2:
        return dict(spread)
    return {key: spread[key] for key in sorted(spread, key=lambda key: (key == label, key))}


def _has_small(shown: Column, minimum: int) -> bool:
    counts = shown.counts[:-1]
    return bool(((counts > 0) & (counts < minimum)).any())


def spreads_of(
    table: Table, name: str, codes: NDArray[np.integer[Any]], shown: Sequence[str | None], *, minimum: int
) -> list[dict[str, float | str]]:
    """(entries,): what each entry stands for, where `codes` says which of them each record has and `shown` what it
    shows. Empty where nothing may be told, or the shown value stands for itself; of missing values nothing is."""
    attribute, column = table.schema[name], table.column(name)
    if isinstance(attribute, Number):
        return _means(attribute, column, codes, shown, minimum)
    keys = (*labels_of(column.values), MISSING)
    cells = pairs(codes, column.codes)
    alone = np.bincount(cells.first, minlength=len(shown))[cells.first] == 1
    held: defaultdict[int, dict[str, int]] = defaultdict(dict)
    of_each = (cells.first.tolist(), cells.second.tolist(), cells.counts.tolist(), alone.tolist())
    for at, key, count, one in zip(*of_each, strict=True):
        if not (one and keys[key] == shown[at]):  # most entries stand for the one label that they show
            held[at][keys[key]] = count
    found: list[dict[str, float | str]] = [{} for _ in shown]
    for at, counts in held.items():
        label = shown[at]
        spread = {} if label is None else _shares(label, counts, minimum)
        found[at] = {} if spread == {label: 1.0} else spread
    return found


def _shares(label: str, counts: Mapping[str, int], minimum: int) -> dict[str, float | str]:
    """Shares of the labels with at least `minimum` records; the others together as the shown label.

    A share that four digits would round to nothing is among the others.
    """
    total = sum(counts.values())
    kept = sorted(
        (
            (n, key)
            for key, n in counts.items()
            if n >= max(minimum, 1) and key != label and round(n / total, DIGITS) and len(key) <= LONGEST
        ),
        reverse=True,
    )
    rest = total - sum(n for n, _ in kept)
    while 0 < rest < minimum and kept:
        rest += kept.pop()[0]
    found: dict[str, float | str] = {key: round(n / total, DIGITS) for n, key in sorted(kept, key=lambda e: e[1])}
    return {**found, label: round(rest / total, DIGITS)} if rest else found


def _means(
    attribute: Number, column: Column, codes: NDArray[np.integer[Any]], shown: Sequence[str | None], minimum: int
) -> list[dict[str, float | str]]:
    """The mean number of each entry; none where fewer than `minimum` of its records have a number at all."""
    exact = calendar.to_number(column.values) if attribute.calendar else numbers_of(column.values, attribute)
    cells = pairs(codes, column.codes)
    numbers = np.append(exact.astype(np.float64), np.nan)[cells.second]
    known = np.isfinite(numbers)
    numbers, entry, rows = numbers[known], cells.first[known], cells.counts[known]
    counts = np.bincount(entry, weights=rows, minlength=len(shown)).astype(np.int64)
    sums = np.bincount(entry, weights=rows * numbers, minlength=len(shown))
    told = [at for at, label in enumerate(shown) if label is not None and counts[at] >= max(minimum, 1)]
    found: list[dict[str, float | str]] = [{} for _ in shown]
    if attribute.calendar is not None:
        layout = NumberLayout.of(attribute, column)
        for at in told:
            found[at] = {MEAN: _date(sums[at] / counts[at], attribute.calendar, layout)}
        return found
    grid = _grid(attribute, exact.astype(np.float64), column, minimum)
    low, high = np.full(len(counts), np.inf), np.full(len(counts), -np.inf)
    np.minimum.at(low, entry, numbers)
    np.maximum.at(high, entry, numbers)
    for at, mean in zip(told, grid.show_all(sums[told] / counts[told], low[told], high[told]), strict=True):
        found[at] = {MEAN: mean}
    return found


def _date(mean: float, unit: Calendar, layout: NumberLayout) -> str:
    """To the day, or to the second where the range is short; of years and quarters the middle of the month."""
    if unit in ("year", "quarter"):
        middle = int(calendar.floor(np.array([round(mean)]), "month")[0]) + MIDDLE * calendar.DAY
        return calendar.show(min(max(middle, layout.low), layout.high), "day")
    return calendar.show(mean, "day" if layout.high - layout.low > 1000 * calendar.DAY else "second")


def _grid(attribute: Number, numbers: NDArray[np.float64], column: Column, minimum: int) -> Grid:
    """To a thousandth of the range, or to six digits; on no number that fewer than `minimum` records hold."""
    counts = column.counts[:-1]
    known = np.isfinite(numbers)
    ends = None if attribute.range is None else (float(attribute.range[0]), float(attribute.range[1]))
    return Grid.of(ends, Holders.of(numbers[known], counts[known], minimum))
