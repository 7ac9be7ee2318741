"""How far a generated column lies from the raw one: its shares, or of numbers its cumulative shares.

For the holder's eyes: it follows from the records.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.axis import numbers_of
from sfumato.data.schema import Attribute, Number
from sfumato.data.table import AnyColumn, Column

OTHERS = 0.5
"""Where so many rows show labels that the raw column does not have, they are groups of them, and are not compared."""


def distribution_off(attribute: Attribute, raw: AnyColumn, shown: AnyColumn) -> float | None:
    """From 0 (alike) to 1; None where what is shown cannot be compared: sets, intervals and groups of labels.

    Of numbers the largest difference of cumulative shares (Kolmogorov and Smirnov), of labels the share of the rows
    that would have to show another one.
    """
    if not isinstance(raw, Column) or not isinstance(shown, Column):
        return None
    if not isinstance(attribute, Number):
        return _labels_off(raw, shown)
    if shown.shows_labels or not len(shown.values) or not len(raw.values):
        return None
    return _numbers_off(*(_counted(column, attribute) for column in (raw, shown)))


def _counted(column: Column, attribute: Number) -> NDArray[np.float64]:
    """(values, 2): each number, and how many rows have it."""
    numbers = np.asarray(numbers_of(column.values, attribute), dtype=np.float64)
    return np.column_stack([numbers, column.counts[:-1]])


def _numbers_off(raw: NDArray[np.float64], shown: NDArray[np.float64]) -> float:
    at = np.unique(np.concatenate([raw[:, 0], shown[:, 0]]))
    upto = [_upto(numbers, at) for numbers in (raw, shown)]
    return float(np.abs(upto[0] - upto[1]).max())


def _upto(numbers: NDArray[np.float64], at: NDArray[Any]) -> NDArray[np.float64]:
    """(numbers asked of,): the share of the rows up to each."""
    counts = np.zeros(len(at))
    np.add.at(counts, np.searchsorted(at, numbers[:, 0]), numbers[:, 1])
    found: NDArray[np.float64] = np.cumsum(counts) / max(counts.sum(), 1)
    return found


def _labels_off(raw: Column, shown: Column) -> float | None:
    before, after = (dict(zip((*one.labels, None), one.counts / max(len(one), 1), strict=True)) for one in (raw, shown))
    if sum(share for label, share in after.items() if label not in before) > OTHERS:
        return None
    return float(sum(abs(before.get(label, 0) - after.get(label, 0)) for label in {*before, *after}) / 2)
