"""Which raw values a shown value stands for: a label the leaves below it, an interval its numbers, `*` all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data import calendar
from sfumato.data.cut import labels_of, numbers_of
from sfumato.data.schema import Attribute, Category, Number
from sfumato.data.table import Column
from sfumato.structure.intervals import interval_ends

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Gaps = NDArray[np.float32]
ANYTHING = "*"
CELLS = 20_000_000
"""Distances are computed for this many pairs at a time."""
LEAST = 1e-4
"""How far at least a number is from an interval that it is not in."""


def gaps(told: Sequence[str | None], column: Column, values: Ints, attribute: Attribute) -> Gaps:
    """(told, values): 0 where a shown value covers a raw one, else how far it is, at most 1.

    Numbers are apart by a part of their range; categories are the same or not. `told`: shown values, None for
    missing. `values`: codes of raw ones.

    >>> import pyarrow as pa
    >>> ages = Column(np.array([0, 1, 2], dtype=np.uint8), pa.array([20, 30, 40]))
    >>> gaps(["[20-25)", "40", "*"], ages, np.arange(3), Number()).tolist()
    [[0.0, 0.25, 0.75], [1.0, 0.5, 0.0], [0.0, 0.0, 0.0]]
    """
    if isinstance(attribute, Number):
        found = _of_numbers(told, column, values, attribute)
    else:
        found = _of_labels(told, column, values, attribute)
    gone = values == column.missing_code
    found[:, gone] = 1.0
    for at, label in enumerate(told):
        if label == ANYTHING:
            found[at] = 0.0
        elif label is None or (isinstance(attribute, Category) and attribute.taxonomy and label == _root(attribute)):
            found[at, gone] = 0.0
    return found


def _root(attribute: Category) -> str | None:
    return attribute.taxonomy.root if attribute.taxonomy is not None else None


def nearest(told: Sequence[str | None], column: Column, attribute: Attribute) -> Gaps:
    """(values + 1,): how far each raw value is from the shown value nearest to it; missing is the last.

    The least of `gaps` over all that is told. Numbers that are shown one by one, and labels that are shown as they
    are, may be many; they are looked up, the others compared.
    """
    others: list[str | None]
    if isinstance(attribute, Number):
        ends = _ends(told, attribute)
        point = ends.low == ends.high
        found = _to_points(np.unique(ends.low[point]), column, attribute)
        others = [label for label, one in zip(told, point.tolist(), strict=True) if not one]
    else:
        every, shown = labels_of(column.values), {*told}
        found = np.array([*(label not in shown for label in every), True], dtype=np.float32)
        others = list(shown.difference(every))
    step = max(1, CELLS // len(found))
    for start in range(0, len(others), step):
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
class _Ends:
    """(labels,): the lowest and the highest number that each label covers; nan where a label is no number."""

    low: Floats
    high: Floats


def _of_numbers(told: Sequence[str | None], column: Column, values: Ints, attribute: Number) -> Gaps:
    """Points are compared with the very numbers, intervals of dates with calendar units."""
    exact = _exact(column, attribute)
    units = np.append(numbers_of(column.values, attribute).astype(np.float64), np.nan)
    ends, wide = _ends(told, attribute), _width(exact) or 1.0
    point = ends.low == ends.high
    found = np.ones((len(told), len(values)), dtype=np.float32)
    for part, numbers in ((point, exact[values]), (~point & ~np.isnan(ends.low), units[values])):
        over = np.maximum(ends.low[part, None] - numbers, numbers - ends.high[part, None])
        apart = np.clip(np.nan_to_num(over, nan=np.inf) / wide, LEAST, 1.0)
        found[part] = np.where(over <= 0, 0.0, apart)
    return found


def _ends(told: Sequence[str | None], attribute: Number) -> _Ends:
    low, high = np.full(len(told), np.nan), np.full(len(told), np.nan)
    for at, label in enumerate(told):
        ends = None if label is None else interval_ends(label, attribute.calendar)
        if label is None or ends is None:
            continue
        low[at] = -np.inf if ends.low is None else ends.low
        high[at] = np.inf if ends.high is None else ends.high
        if label.endswith(")"):
            high[at] = np.nextafter(high[at], -np.inf)
    return _Ends(low, high)


def _of_labels(told: Sequence[str | None], column: Column, values: Ints, attribute: Attribute) -> Gaps:
    """A label covers itself, the leaves below it, or the labels that it lists in braces."""
    every = labels_of(column.values)
    place: dict[str, list[int]] = {}
    for at, code in enumerate(values.tolist()):
        if code < len(every):
            place.setdefault(every[code], []).append(at)
    tree = attribute.taxonomy if isinstance(attribute, Category) else None
    found = np.ones((len(told), len(values)), dtype=np.float32)
    for at, label in enumerate(told):
        if label is None:
            continue
        covered = {label, *(tree.leaves_of(label) if tree is not None and label in tree else ())}
        if label.startswith("{") and label.endswith("}"):
            covered |= {value for value in place if f", {value}, " in f", {label[1:-1]}, "}
        found[at, [one for value in covered for one in place.get(value, ())]] = 0.0
    return found
