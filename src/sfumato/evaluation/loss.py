"""Information loss that does not ask for a structure: certainty penalty, discernibility, class size; cost, benefit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.groups import group_sizes
from sfumato.data.schema import Attribute, Number
from sfumato.data.table import Column, Table
from sfumato.data.taxonomy import Taxonomy
from sfumato.errors import TableError
from sfumato.evaluation.scores import Score
from sfumato.structure.intervals import interval_ends
from sfumato.structure.layouts import NumberLayout
from sfumato.structure.released import Masked, Shown, shows_labels

Sizes = NDArray[np.int64]


def class_sizes(table: Table, masked: Masked, on: Iterable[str]) -> Sizes:
    """(groups,): how many records share each combination of shown values; missing is a value like others."""
    codes = (Shown.of(masked[name]).codes if name in masked else table.column(name).codes for name in on)
    return group_sizes(codes, table.rows)


def certainty_penalty(table: Table, masked: Masked) -> Score:
    """NCP: how much of its domain each shown value covers, averaged over rows and masked attributes; 0 to 1.

    A number's interval costs its width over the range. A label costs its share of the leaves, a leaf nothing. A
    suppressed value costs 1, a missing one nothing. Only columns that show labels or intervals count.
    """
    penalties = [_penalty(table, name, Shown.of(column)) for name, column in masked.items() if shows_labels(column)]
    if not penalties:
        raise TableError("certainty penalty", "it is taken over masked columns of labels or intervals",
                         given="none", remedy="give the masked columns")  # fmt: skip
    open_ranges = any(
        isinstance(attribute := table.schema[name], Number) and attribute.range is None for name in masked
    )
    return Score(
        "certainty_penalty",
        float(np.mean(penalties)),
        publishable=not open_ranges,
        meaning="share of its domain that a shown value covers, on average; 0 is unmasked, 1 is all hidden",
    )


def _penalty(table: Table, name: str, shown: Shown) -> float:
    attribute, column = table.schema[name], table.columns[name]
    if not isinstance(column, Column):
        raise TypeError(f"{name} is set-valued")
    if isinstance(attribute, Number):
        layout = NumberLayout.of(attribute, column)
        costs = [_interval_cost(layout, label) for label in shown.labels]
    else:
        costs = [_label_cost(attribute, column, label) for label in shown.labels]
    return float(np.array([*costs, 0.0])[shown.codes].mean())


def _interval_cost(layout: NumberLayout, label: str) -> float:
    ends, width = interval_ends(label, layout.attribute.calendar), layout.high - layout.low
    if ends is None:
        return 1.0
    low = layout.low if ends.low is None else ends.low
    high = layout.high if ends.high is None else ends.high
    return min(1.0, (high - low) / width) if width > 0 else 0.0


def _label_cost(attribute: Attribute, column: Column, label: str) -> float:
    tree: Taxonomy | None = getattr(attribute, "taxonomy", None)
    if tree is None:
        return 0.0 if label in {str(value) for value in column.values.to_pylist()} else 1.0
    if label not in tree:
        return 1.0
    covered = len(tree.leaves_of(label))
    return 0.0 if covered == 1 else covered / len(tree.leaves)


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
        raise TableError("benefit", "the score to compare with is positive", given="0 or less",
                         remedy="compare scores such as the F-measure")  # fmt: skip
    return round((guided - blind) / blind, 12)


def cost(score: float) -> float:
    """What masking costs: the score's distance from 1, which an unmasked table has (000 section 5).

    >>> cost(0.75)
    0.25
    """
    return 1.0 - score
