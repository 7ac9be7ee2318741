"""What a classifier learns from: which rows train and which test, and what it may see of them.

Of every attribute it sees the value that is shown, as a code. A raw number is a point, a masked one an interval: both
have a lower and an upper end, and nothing else of the number is known. So a masked number enters as its interval, and
the raw value behind it cannot leak.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats
from sfumato.data.axis import numbers_of
from sfumato.data.grouping import different
from sfumato.data.masked import Masked
from sfumato.data.schema import Attribute, Category, Number
from sfumato.data.table import AnyColumn, ItemColumn, Table
from sfumato.errors import RecipeError, TableError
from sfumato.randomness import Seeded
from sfumato.structure.masked_positions import interval_ends

Codes = NDArray[np.int64]


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
    if masked.rows != table.rows:
        raise TableError(
            "masked table",
            "it stands beside the table it was made of, in the same order",
            given=f"{masked.rows} rows for a table of {table.rows}",
            remedy="evaluate before the rows are shuffled, or keep their order",
        )
    return [
        masked_feature(name, table.schema[name], masked[name]) if name in masked else _raw(table, name)
        for name in names
    ]


def masked_feature(name: str, attribute: Attribute, shown: AnyColumn) -> Feature:
    """A masked column: its labels, and of a number its intervals' ends."""
    if not isinstance(attribute, Number):
        return Feature(name, shown.keys, len(shown.labels) + 1)
    found = [interval_ends(label, attribute.calendar) for label in shown.labels]
    ends = np.full((len(shown.labels) + 1, 2), np.nan)
    for at, end in enumerate(found):
        ends[at] = (
            -np.inf if end is None or end.low is None else end.low,
            np.inf if end is None or end.high is None else end.high,
        )
    return Feature(name, shown.keys, len(ends), _bounded(ends))


def _bounded(ends: Floats) -> Floats:
    """Open ends are put at the lowest and the highest end that occurs."""
    finite = ends[np.isfinite(ends)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    return np.where(np.isnan(ends), np.nan, np.clip(ends, low, high))


def _raw(table: Table, name: str) -> Feature:
    column = table.column(name)
    codes, attribute = column.keys, table.schema[name]
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
    shown = (masked if feature.name in masked else table.columns)[feature.name].keys
    return len(different(shown * feature.size + feature.codes)) == len(different(shown))


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


Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Part:
    """Rows to learn from and rows to be judged on; none is in both."""

    train: Rows
    test: Rows

    def __post_init__(self) -> None:
        if not len(self.train) or not len(self.test):
            raise RecipeError(
                "evaluation",
                "there are rows to train on and rows to test on",
                given="none of one kind",
                remedy="split the table otherwise",
            )
        if len(np.intersect1d(self.train, self.test)):
            raise RecipeError(
                "evaluation",
                "a row that is trained on is not tested on",
                given="rows in both",
                remedy="split the table into disjoint rows",
            )


def given(train: NDArray[np.bool_]) -> list[Part]:
    """A split that came with the table: (rows,) true where a row is for training."""
    return [Part(np.flatnonzero(train), np.flatnonzero(~train))]


def split(classes: NDArray[np.int64], *, test: float = 1 / 3, seed: int = 0) -> list[Part]:
    """One random split, with every class's share in both parts.

    >>> part = split(np.array([0] * 30 + [1] * 60))[0]
    >>> len(part.test), (part.test < 30).sum().item()
    (30, 10)
    """
    if not 0 < test < 1:
        raise RecipeError(
            "test", "it is a share of the rows between 0 and 1", given=repr(test), remedy="give for example test=0.33"
        )
    place = _places(classes, seed)
    return given(np.floor((place + 1) * test) <= np.floor(place * test))


def folds(classes: NDArray[np.int64], n: int = 10, *, seed: int = 0) -> list[Part]:
    """Each row is tested on once, by what was learned from the other folds; every class in all folds alike.

    >>> [len(part.test) for part in folds(np.zeros(25, dtype=int), 10)]
    [3, 3, 3, 3, 3, 2, 2, 2, 2, 2]
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 2:
        raise RecipeError("folds", "there are at least two folds", given=repr(n), remedy="give folds=10")
    if len(classes) < n:
        raise RecipeError(
            "folds",
            "every fold has a row",
            given=f"{n} folds for {len(classes)} rows",
            remedy=f"ask for at most {len(classes)} folds",
        )
    fold = _places(classes, seed) % n
    return [Part(np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in range(n)]


def _places(classes: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """(rows,): where each row stands when rows are put in a random order, class after class."""
    order = Seeded(seed).permutation(len(classes))
    order = order[np.argsort(classes[order], kind="stable")]
    places = np.empty(len(classes), dtype=np.int64)
    places[order] = np.arange(len(classes))
    return places
