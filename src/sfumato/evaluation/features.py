"""What a classifier may see of a table: of every attribute, the value that is shown, as a code.

A raw number is a point, a masked one an interval: both have a lower and an upper end, and nothing else of the
number is known. So a masked number enters as its interval, and the raw value behind it cannot leak.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.cut import numbers_of
from sfumato.data.schema import Attribute, Category, Number
from sfumato.data.table import ItemColumn, Table
from sfumato.errors import TableError
from sfumato.structure.intervals import interval_ends
from sfumato.structure.released import Array, Masked, Shown

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Feature:
    """One attribute as it is shown: `codes` (rows,) say which of `size` values each row has.

    `ends` (size, 2) are a number's lower and upper end, NaN where the value is missing; None for a category.
    `*` reaches from the lowest to the highest end that occurs.
    """

    name: str
    codes: Codes
    size: int
    ends: Floats | None = None

    @property
    def exact(self) -> bool:
        """Whether it is a number whose values are points."""
        return self.ends is not None and bool(np.array_equal(self.ends[:, 0], self.ends[:, 1], equal_nan=True))


def raw_features(table: Table, names: Sequence[str]) -> list[Feature]:
    """Attributes as they came in."""
    return [_raw(table, name) for name in names]


def shown_features(table: Table, masked: Masked, names: Sequence[str]) -> list[Feature]:
    """Attributes as they are released: masked where `masked` has them, else as they came in."""
    _check_rows(table.rows, masked)
    return [
        masked_feature(name, table.schema[name], masked[name]) if name in masked else _raw(table, name)
        for name in names
    ]


def masked_feature(name: str, attribute: Attribute, column: Array) -> Feature:
    """A masked column: its labels, and of a number its intervals' ends."""
    shown = Shown.of(column)
    if not isinstance(attribute, Number):
        return Feature(name, shown.codes, len(shown.labels) + 1)
    found = [interval_ends(label, attribute.calendar) for label in shown.labels]
    ends = np.full((len(shown.labels) + 1, 2), np.nan)
    for at, end in enumerate(found):
        ends[at] = (
            -np.inf if end is None or end.low is None else end.low,
            np.inf if end is None or end.high is None else end.high,
        )
    return Feature(name, shown.codes, len(ends), _bounded(ends))


def _bounded(ends: Floats) -> Floats:
    """Open ends are put at the lowest and the highest end that occurs."""
    finite = ends[np.isfinite(ends)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    return np.where(np.isnan(ends), np.nan, np.clip(ends, low, high))


def _raw(table: Table, name: str) -> Feature:
    column = table.column(name)
    codes, attribute = column.codes.astype(np.int64), table.schema[name]
    if not isinstance(attribute, Number):
        return Feature(name, codes, len(column.values) + 1)
    points = np.append(numbers_of(column.values, attribute).astype(np.float64), np.nan)
    return Feature(name, codes, len(points), np.stack([points, points], axis=1))


def leaking(features: Sequence[Feature], table: Table, masked: Masked) -> list[str]:
    """Names of features that tell more than what is released under their name.

    A feature may depend on the released cell alone: rows that show the same value must look the same to a
    classifier. A feature of an attribute that is not in the table was never released.
    """
    return [feature.name for feature in features if not _follows(feature, table, masked)]


def _follows(feature: Feature, table: Table, masked: Masked) -> bool:
    if feature.name not in table.columns:
        return False
    shown = (
        Shown.of(masked[feature.name]).codes
        if feature.name in masked
        else table.column(feature.name).codes.astype(np.int64)
    )
    pairs = np.unique(shown * feature.size + feature.codes)
    return len(pairs) == len(np.unique(shown))


def usable(table: Table, column: str, attributes: Sequence[str] | None) -> list[str]:
    """The attributes that a classifier may use: those named, or every number and category but the class."""
    if attributes is None:
        return [n for n, c in table.columns.items() if n != column and not isinstance(c, ItemColumn)]
    table.schema.require(attributes, "attributes")
    bad = [n for n in attributes if n == column or not isinstance(table.schema[n], Number | Category)]
    if bad:
        raise TableError(
            bad[0],
            "a class is told from numbers and categories, not from itself",
            given="the class column or an item set",
            remedy="leave it out of the attributes",
        )
    return list(attributes)


def _check_rows(rows: int, masked: Mapping[str, Array]) -> None:
    for name, column in masked.items():
        if len(column) != rows:
            raise TableError(
                name,
                "a masked column stands beside the table it was made of, in the same order",
                given=f"{len(column)} rows for a table of {rows}",
                remedy="evaluate before the rows are shuffled, or keep their order",
            )
