"""Codebook of released values: what a shown value stands for, on average, among the records that show it.

With it a recipient can place masked records where the raw ones stood on average. It holds aggregates over all
records that show a value, never over fewer than `minimum` of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Union

import numpy as np
import pyarrow as pa
import pyarrow.types as pt
from numpy.typing import NDArray

from sfumato.data import calendar
from sfumato.data.cut import MISSING, labels_of, numbers_of
from sfumato.data.round_numbers import Grid, Holders
from sfumato.data.schema import Number
from sfumato.data.table import Column, Table
from sfumato.structure.layouts import NumberLayout
from sfumato.structure.placed import Sets, spell

Ints = NDArray[np.int64]
Array = Union["pa.Array[Any]", "pa.ChunkedArray[Any]"]
Masked = Mapping[str, Array]
"""Masked columns by attribute: labels, dictionary-encoded or not; null where missing."""
MEAN = "mean"
DIGITS = 4
"""Of a share."""


@dataclass(frozen=True, eq=False)
class Shown:
    """A masked column in codes: `codes` says which label each row shows; `len(labels)` means missing."""

    codes: Ints
    labels: tuple[str, ...]

    @classmethod
    def of(cls, column: Array) -> Shown:
        """Any array of labels, dictionary-encoded or not; a set of labels is shown as one label."""
        if pt.is_nested(column.type):
            sets, labels = spelled(column)
            held = [sets.items[first:end] for first, end in pairwise(sets.offsets)]
            texts = ["{" + ", ".join(labels[item] for item in some) + "}" for some in held]
            return cls(np.where(sets.missing[sets.codes], len(texts), sets.codes), tuple(texts))
        entries = encoded(column)
        codes = entries.indices.fill_null(len(entries.dictionary)).to_numpy(zero_copy_only=False)
        return cls(codes.astype(np.int64), tuple(str(label) for label in entries.dictionary.to_pylist()))


def spelled(column: Array) -> tuple[Sets, tuple[str, ...]]:
    """The different sets of a column of lists, and the labels that their items stand for."""
    whole: Any = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    items = Shown.of(whole.flatten())
    lengths = whole.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
    return spell(offsets, items.codes, whole.is_null().to_numpy(zero_copy_only=False)), items.labels


def encoded(column: Array) -> pa.DictionaryArray[Any, Any]:
    """One dictionary array over all rows."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    found = whole if isinstance(whole, pa.DictionaryArray) else whole.dictionary_encode()
    if not isinstance(found, pa.DictionaryArray):
        raise TypeError("a masked column has rows")
    return found


def shows_labels(column: Array) -> bool:
    """Whether a masked column holds text: labels or intervals, not numbers or lists."""
    kind = column.type.value_type if pt.is_dictionary(column.type) else column.type
    return pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind)


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

    values: Mapping[str, Mapping[str, Mapping[str, float | str]]] = field(default_factory=dict)

    @classmethod
    def learn(cls, table: Table, masked: Masked, *, minimum: int | Mapping[str, int] = 1) -> ReleasedValues:
        """What each shown value stands for in this table; nothing of an attribute where fewer than `minimum` records
        show some value, which could be computed from what is told of the others.

        What is released needs minimum = k, of each attribute the largest that is asked of it; an evaluation for
        the holder's eyes can do with 1.
        """
        found = {}
        for name, array in masked.items():
            column = table.columns[name]
            if isinstance(column, Column) and shows_labels(array):
                shown = Shown.of(array)
                least = minimum if isinstance(minimum, int) else minimum.get(name, 1)
                found[name] = {} if _has_small(shown, least) else _entries(table, name, shown, least)
        return cls(found)

    def spread(self, attribute: str, label: str) -> Mapping[str, float | str]:
        """What a shown value stands for; empty where there is no entry."""
        return self.values.get(attribute, {}).get(label, {})

    def to_json(self) -> dict[str, dict[str, dict[str, float | str]]]:
        """Plain mappings, labels in the order of their letters, the shown value itself last."""
        return {
            name: {label: _ordered(label, labels[label]) for label in sorted(labels)}
            for name, labels in self.values.items()
        }

    @classmethod
    def from_json(cls, form: Mapping[str, Mapping[str, Mapping[str, float | str]]]) -> ReleasedValues:
        """What `to_json` wrote."""
        return cls({name: {label: dict(s) for label, s in labels.items()} for name, labels in form.items()})


def _ordered(label: str, spread: Mapping[str, float | str]) -> dict[str, float | str]:
    return {key: spread[key] for key in sorted(spread, key=lambda key: (key == label, key))}


def _has_small(shown: Shown, minimum: int) -> bool:
    counts = np.bincount(shown.codes, minlength=len(shown.labels) + 1)[: len(shown.labels)]
    return bool(((counts > 0) & (counts < minimum)).any())


def _entries(table: Table, name: str, shown: Shown, minimum: int) -> dict[str, dict[str, float | str]]:
    attribute, column = table.schema[name], table.column(name)
    if isinstance(attribute, Number):
        return _means(attribute, column, shown, minimum)
    keys = (*labels_of(column.values), MISSING)
    sizes = (len(shown.labels) + 1, len(keys))
    cells = np.bincount(shown.codes * len(keys) + column.codes, minlength=sizes[0] * sizes[1]).reshape(sizes)
    found = {}
    for label, counts in zip(shown.labels, cells, strict=False):
        spread = _shares(label, dict(zip(keys, counts.tolist(), strict=True)), minimum)
        if spread and spread != {label: 1.0}:
            found[label] = spread
    return found


def _shares(label: str, counts: dict[str, int], minimum: int) -> dict[str, float | str]:
    """Shares of the labels with at least `minimum` records; the others together as the shown label.

    A share that four digits would round to nothing is among the others.
    """
    total = sum(counts.values())
    kept = sorted(
        ((n, key) for key, n in counts.items() if n >= max(minimum, 1) and key != label and round(n / total, DIGITS)),
        reverse=True,
    )
    rest = total - sum(n for n, _ in kept)
    while 0 < rest < minimum and kept:
        rest += kept.pop()[0]
    found: dict[str, float | str] = {key: round(n / total, DIGITS) for n, key in sorted(kept, key=lambda e: e[1])}
    return {**found, label: round(rest / total, DIGITS)} if rest else found


def _means(attribute: Number, column: Column, shown: Shown, minimum: int) -> dict[str, dict[str, float | str]]:
    """The mean number under each label; none where fewer than `minimum` of its records have a number at all."""
    exact = calendar.to_number(column.values) if attribute.calendar else numbers_of(column.values, attribute)
    numbers = np.append(exact.astype(np.float64), np.nan)[column.codes]
    known = np.isfinite(numbers)
    codes, numbers = shown.codes[known], numbers[known]
    counts = np.bincount(codes, minlength=len(shown.labels) + 1)
    sums = np.bincount(codes, weights=numbers, minlength=len(shown.labels) + 1)
    told = [at for at in range(len(shown.labels)) if counts[at] >= minimum]
    if attribute.calendar is not None:
        layout = NumberLayout.of(attribute, column)
        return {shown.labels[at]: {MEAN: _date(sums[at] / counts[at], layout)} for at in told}
    grid = _grid(attribute, exact.astype(np.float64), column, minimum)
    low, high = np.full(len(counts), np.inf), np.full(len(counts), -np.inf)
    np.minimum.at(low, codes, numbers)
    np.maximum.at(high, codes, numbers)
    return {
        shown.labels[at]: {MEAN: grid.show(float(sums[at] / counts[at]), float(low[at]), float(high[at]))}
        for at in told
    }


def _date(mean: float, layout: NumberLayout) -> str:
    """To the day, or to the second where the range is short."""
    return calendar.show(mean, "day" if layout.high - layout.low > 1000 * calendar.DAY else "second")


def _grid(attribute: Number, numbers: NDArray[np.float64], column: Column, minimum: int) -> Grid:
    """To a thousandth of the range, or to six digits; on no number that fewer than `minimum` records hold."""
    counts = np.bincount(column.codes, minlength=len(numbers) + 1)[: len(numbers)]
    known = np.isfinite(numbers)
    ends = None if attribute.range is None else (float(attribute.range[0]), float(attribute.range[1]))
    return Grid.of(ends, Holders.of(numbers[known], counts[known], minimum))
