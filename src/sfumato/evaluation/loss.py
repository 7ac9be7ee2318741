"""Information loss that does not ask for a structure: certainty penalty, discernibility, class size; benefit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats
from sfumato.data.axis import labels_of, numbers_of
from sfumato.data.grouping import pairs
from sfumato.data.masked import Masked
from sfumato.data.schema import Attribute, Number
from sfumato.data.shown import OR_MISSING, set_members, set_pieces
from sfumato.data.table import AnyColumn, Column, Table
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import TableError
from sfumato.evaluation.scores import Score
from sfumato.structure.layouts import NumberLayout
from sfumato.structure.masked_positions import interval_ends

Sizes = NDArray[np.int64]


def certainty_penalty(table: Table, masked: Masked) -> Score:
    """NCP: how much of its domain each shown value covers, averaged over rows and masked attributes; 0 to 1.

    Only columns that show labels or intervals count: see `column_penalty`.
    """
    penalties = [cost for name, column in masked.items() if (cost := column_penalty(table, name, column)) is not None]
    if not penalties:
        raise TableError(
            "certainty penalty",
            "it is taken over masked columns of labels or intervals",
            given="none",
            remedy="give the masked columns",
        )
    open_ranges = any(
        isinstance(attribute := table.schema[name], Number) and attribute.range is None for name in masked
    )
    return Score(
        "certainty_penalty",
        float(np.mean(penalties)),
        publishable=not open_ranges,
        meaning="share of its domain that a shown value covers, on average; 0 is unmasked, 1 is all hidden",
    )


def column_penalty(table: Table, name: str, shown: AnyColumn) -> float | None:
    """NCP of one masked column, averaged over its rows; None where it shows neither labels nor intervals.

    A number's interval costs its width over the range. A node of a taxonomy, or labels in braces, cost their share of
    the labels; a label alone costs nothing. A suppressed value costs 1, a missing one nothing, and a label that is not
    the record's own 1: it tells nothing of it.
    """
    if not shown.shows_labels:
        return None
    attribute, column = table.schema[name], table.columns[name]
    if not isinstance(column, Column):
        raise TypeError(f"{name} is set-valued")
    if isinstance(attribute, Number):
        layout = NumberLayout.of(attribute, column)
        widths = [_interval_cost(layout, label) for label in shown.labels]
        return float(np.average([*widths, 0.0], weights=shown.counts))
    costs = _label_costs(attribute, column, shown.labels)
    met = pairs(shown.codes, column.codes)
    cells = np.append(costs, 0.0)[met.first]
    own = _own_labels(column, shown, costs)[met.first]
    return float(np.average(np.where((own >= 0) & (own != met.second), 1.0, cells), weights=met.counts))


def distance_lost(table: Table, name: str, shown: AnyColumn) -> float | None:
    """SSE / SST of a number that is shown as a number of others, such as a centre; None where it is not.

    The squared distances of the shown numbers from the raw ones, over those of the raw ones from their mean: 0 where
    each is its own, 1 where all show the mean. Such a number covers nothing of its range: its NCP would be 0 whatever
    was lost. Rows that miss it on either side do not count.
    """
    attribute, column = table.schema[name], table.columns[name]
    if not isinstance(attribute, Number) or not isinstance(column, Column) or not isinstance(shown, Column):
        return None
    if shown.shows_labels:
        return None
    met = pairs(shown.codes, column.codes)
    now, was = (
        np.append(numbers_of(one.values, attribute).astype(np.float64), np.nan)[codes]
        for one, codes in ((shown, met.first), (column, met.second))
    )
    there = np.isfinite(now) & np.isfinite(was)
    weights = met.counts[there]
    if not weights.sum():
        return 0.0
    spread = np.dot(weights, (was[there] - np.average(was[there], weights=weights)) ** 2)
    return float(np.dot(weights, (now[there] - was[there]) ** 2) / spread) if spread else 0.0


def information_loss(table: Table, masked: Masked) -> Score | None:
    """The same on average over the numbers that are shown as numbers of others; None where there are none."""
    found = [lost for name, shown in masked.items() if (lost := distance_lost(table, name, shown)) is not None]
    if not found:
        return None
    return Score(
        "information_loss",
        float(np.mean(found)),
        publishable=False,
        meaning="squared distance of shown numbers from the raw ones, over that from their mean (SSE / SST), averaged; "
        "in place of NCP, which is 0 of a number that is shown as one number, whatever was lost",
    )


def one_value(table: Table, name: str, shown: AnyColumn) -> float | None:
    """The share of the rows whose cell shows one value; None where the column shows neither labels nor intervals.

    What is lost on average says little of it: sets of two or three of a hundred labels lose next to nothing, and no row
    shows which it is.
    """
    alone = stand_alone(table, name, shown)
    if alone is None:
        return None
    return float(np.average(alone, weights=shown.counts)) if shown.counts.sum() else 0.0


def stand_alone(table: Table, name: str, shown: AnyColumn) -> NDArray[np.bool_] | None:
    """(shown values + 1,): which of them show one value: a label alone, an interval in which the table has one number,
    and, the last, a missing value. None where the column shows neither labels nor intervals."""
    attribute, column = table.schema[name], table.columns[name]
    if not shown.shows_labels or not isinstance(column, Column):
        return None
    if isinstance(attribute, Number):
        numbers = np.unique(numbers_of(column.values, attribute).astype(np.float64))
        finite = numbers[np.isfinite(numbers)]
        alone = [_holds_one(finite, label, attribute) for label in shown.labels]
    else:
        alone = (_label_costs(attribute, column, shown.labels) == 0.0).tolist()
    return np.array([*alone, True], dtype=np.bool_)


def set_size(table: Table, name: str, shown: AnyColumn) -> int | None:
    """Half of the rows show sets of so many labels or more; None of numbers and of item sets.

    Whatever is no set counts as one label. It stands beside the detail kept, which is a share of all labels: 59 of
    3,737 codes lose next to nothing, and tell nobody where somebody lives.
    """
    attribute, column = table.schema[name], table.columns[name]
    if isinstance(attribute, Number) or not shown.shows_labels or not isinstance(column, Column):
        return None
    every = _all_labels(attribute, column)
    sizes = np.array([*(len(set_members(label, every)) or 1 for label in shown.labels), 1])
    order = np.argsort(sizes)[::-1]
    reached = np.cumsum(np.asarray(shown.counts)[order])
    return int(sizes[order][np.searchsorted(reached, reached[-1] / 2)]) if reached[-1] else None


def _holds_one(numbers: Floats, label: str, attribute: Number) -> bool:
    """Whether at most one of some numbers, in ascending order, lies in a shown interval.

    >>> numbers = np.array([1.0, 2.0, 3.0])
    >>> [_holds_one(numbers, shown, Number()) for shown in ("[1-2)", "[1-2]", "[*..2)", "[2..*]", "[1-2) or missing")]
    [True, False, True, False, False]
    """
    ends = interval_ends(label, attribute.calendar)
    if ends is None or label.endswith(OR_MISSING):
        return False
    first = 0 if ends.low is None else int(np.searchsorted(numbers, ends.low))
    included: Literal["left", "right"] = "right" if label.endswith("]") else "left"
    last = len(numbers) if ends.high is None else int(np.searchsorted(numbers, ends.high, side=included))
    return last - first <= 1


def nothing_shown(table: Table, masked: Masked) -> float:
    """The share of the rows in which every masked column shows all that it could be; 0 where some show numbers."""
    silent = np.ones(masked.rows, dtype=bool)
    for name, shown in masked.items():
        column = table.columns[name]
        if not shown.shows_labels or not isinstance(column, Column):
            return 0.0
        attribute = table.schema[name]
        if isinstance(attribute, Number):
            layout = NumberLayout.of(attribute, column)
            costs = np.array([_interval_cost(layout, label) for label in shown.labels], dtype=np.float64)
        else:
            costs = _label_costs(attribute, column, shown.labels)
        if not (costs >= 1.0).any():
            return 0.0
        silent &= np.append(costs >= 1.0, False)[shown.codes]
    return float(silent.mean()) if len(masked) else 0.0


def _interval_cost(layout: NumberLayout, label: str) -> float:
    ends, width = interval_ends(label, layout.attribute.calendar), layout.high - layout.low
    if ends is None:
        return 1.0
    low = layout.low if ends.low is None else ends.low
    high = layout.high if ends.high is None else ends.high
    return min(1.0, (high - low) / width) if width > 0 else 0.0


def _label_costs(attribute: Attribute, column: Column, shown: Sequence[str]) -> Floats:
    """(labels,): the share of all labels that each shown one covers; 0 for one alone."""
    tree: Taxonomy | None = getattr(attribute, "taxonomy", None)
    every = _all_labels(attribute, column)

    def cost(label: str) -> float:
        if tree is not None and label in tree:
            covered = len(tree.leaves_of(label))
            return 0.0 if covered == 1 else covered / len(every)
        if label in every:
            return 0.0
        pieces = set_members(label, every) or set_pieces(label)
        named = sum(not one or one in every for one in pieces)  # a missing one has no name
        return min(1.0, named / (len(every) + (column.missing > 0))) if named else 1.0

    return np.array([cost(label) for label in shown], dtype=np.float64)


def _all_labels(attribute: Attribute, column: Column) -> dict[str, None]:
    """Those of its tree; without one those that are declared or occur."""
    tree: Taxonomy | None = getattr(attribute, "taxonomy", None)
    if tree is not None:
        return dict.fromkeys(tree.leaves)
    return dict.fromkeys((*(getattr(attribute, "values", None) or ()), *labels_of(column.values)))


def _own_labels(column: Column, shown: AnyColumn, costs: Floats) -> NDArray[np.int64]:
    """(shown + 1,): the raw value that a shown label is, if it is one alone; else -1."""
    at = {label: code for code, label in enumerate(labels_of(column.values))}
    stands = [at.get(label, -1) if cost == 0 else -1 for label, cost in zip(shown.labels, costs, strict=True)]
    return np.array([*stands, -1], dtype=np.int64)


def discernibility(sizes: NDArray[Any]) -> Score:
    """The sum of squared group sizes: how many ordered pairs of records cannot be told apart.

    >>> discernibility(np.array([2, 3])).value
    13.0
    """
    return Score(
        "discernibility",
        float(np.dot(sizes.astype(np.float64), sizes)),
        publishable=True,
        meaning="ordered pairs of records that cannot be told apart; less is better",
    )


def average_class_size(sizes: NDArray[Any], k: int) -> Score:
    """C_avg: the mean group size over k; 1 is as small as k-anonymity allows.

    >>> average_class_size(np.array([2, 4]), k=2).value
    1.5
    """
    return Score(
        "average_class_size",
        float(sizes.mean() / k),
        publishable=True,
        meaning="mean group size in multiples of k; 1 is as small as k allows",
    )


def benefit(guided: float, blind: float) -> float:
    """What guidance by the structure gains over masking that is blind to it, relative to the latter (000 section 5).

    >>> benefit(0.9, 0.6)
    0.5
    """
    if blind <= 0:
        raise TableError(
            "benefit",
            "the score to compare with is positive",
            given="0 or less",
            remedy="compare scores such as the F-measure",
        )
    return round((guided - blind) / blind, 12)
