"""What records are compared by to find clusters: each thing once, no long lists of places, numbers with a say.

Two records differ in a label or they do not, and are then as far apart as they can be; in a number most of them are
near each other. Without weights clusters follow labels alone, and those that several columns tell above all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.calendar import floor
from sfumato.data.drafting.dependence import codes, settles, told_share
from sfumato.data.drafting.roles import Given, Looked
from sfumato.data.drafting.words import PLACE
from sfumato.data.encoding import encode_column
from sfumato.data.schema import Category, ItemSet, Number
from sfumato.errors import SfumatoError

MOST_PLACES, MOST_LABELS = 10, 30
"""A column of places with more labels than this makes no clusters of people, nor one of other labels."""
NEARLY_TOLD = 0.8
"""Where one column of labels sets right so many of the guesses at another, both tell nearly the same."""
FEWEST = 2
"""With fewer columns nothing is compared: then all are."""
STEPS = (1, 2, 5, 10, 20, 50, 100)
"""What a number may count, in steps so wide that they tell nobody's value."""
_MOST_ROWS, _MOST_COLUMNS = 20_000, 60  # that are looked at in pairs


@dataclass(frozen=True)
class Compared:
    """The columns that rows are compared by, and what each number counts beside labels, which count 1.

    `many`: left out for their many labels. `told`: left out, with the column that tells them. `as_is`: of those that
    are compared by, what goes out as it is. `masked_alone`: whether so much goes out as it is that the rest must do.
    """

    attributes: tuple[str, ...] = ()
    weights: Mapping[str, int] = field(default_factory=dict)
    many: tuple[str, ...] = ()
    told: Mapping[str, str] = field(default_factory=dict)
    as_is: tuple[str, ...] = ()
    masked_alone: bool = False

    @property
    def chosen(self) -> bool:
        """Whether they are fewer than all that are masked or plain."""
        return bool(self.many or self.told or self.masked_alone)


def compared(table: pa.Table, columns: Sequence[Looked], given: Mapping[str, Given]) -> Compared:
    """What rows of a table are compared by, of the columns that are masked or go out as they are."""
    quasi, plain = (
        [c for c in columns if given[c.name].role == role and not c.constant] for role in ("quasi", "plain")
    )
    alone = FEWEST <= len(quasi) <= len(plain)
    able = [column for column in columns if column in quasi or (column in plain and not alone)]
    many = [column for column in able if _has_many(column)]
    many = many if len(able) - len(many) >= FEWEST else []
    told = _told(table, [column for column in able if column not in many])
    kept = [column for column in able if column not in many and column.name not in told]
    return Compared(
        attributes=tuple(column.name for column in kept),
        weights=weights(kept),
        many=tuple(column.name for column in many),
        told=told,
        as_is=tuple(column.name for column in kept if column in plain),
        masked_alone=alone,
    )


def _has_many(column: Looked) -> bool:
    most = MOST_PLACES if column.concept is PLACE else MOST_LABELS
    return isinstance(column.made.attribute, Category) and column.profile.distinct > most


def _told(table: pa.Table, columns: Sequence[Looked]) -> dict[str, str]:
    """Columns that another one tells, exactly or nearly, and by which: of each family the finest stays."""
    able = [column for column in columns if not isinstance(column.made.attribute, ItemSet)]
    if len(able) > _MOST_COLUMNS:
        return {}
    rows = np.linspace(0, table.num_rows - 1, min(table.num_rows, _MOST_ROWS)).astype(np.int64)
    kept: dict[str, tuple[Looked, NDArray[np.int64]]] = {}
    found: dict[str, str] = {}
    for column in sorted(able, key=lambda one: -one.profile.spread):
        own = _codes(table, column, rows)
        teller = next((name for name, (one, finer) in kept.items() if _same(one, finer, column, own)), None)
        if teller is None or len(able) - len(found) <= FEWEST:
            kept[column.name] = (column, own)
        else:
            found[column.name] = teller
    return found


def _codes(table: pa.Table, column: Looked, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """(rows,): places of a column's values; dates by the drafted calendar unit: a year of birth tells one by years."""
    attribute, cells = column.made.attribute, table.column(column.name)
    if not isinstance(attribute, Number) or attribute.calendar is None:
        return codes(cells)[rows]
    try:
        found = encode_column(column.name, cells.take(rows), attribute)
    except SfumatoError:
        return codes(cells)[rows]
    _, units = np.unique(floor(found.values, attribute.calendar), return_inverse=True)
    return np.append(units, len(found.values)).astype(np.int64)[found.codes]


def _same(one: Looked, finer: NDArray[np.int64], other: Looked, coarser: NDArray[np.int64]) -> bool:
    """Whether one settles the other; labels may also nearly tell each other, in either direction."""
    if settles(finer, coarser):
        return True
    if not (isinstance(one.made.attribute, Category) and isinstance(other.made.attribute, Category)):
        return False
    return max(told_share(finer, coarser), told_share(coarser, finer)) >= NEARLY_TOLD


def weights(columns: Sequence[Looked]) -> dict[str, int]:
    """What numbers count so that two people differ in each about as much as in the most varied column."""
    spreads = {column.name: _spread(column) for column in columns}
    largest = max(spreads.values(), default=0.0)
    numbers = [column.name for column in columns if isinstance(column.made.attribute, Number)]
    found = {name: step(largest / spreads[name]) for name in numbers if spreads[name] > 0}
    return {name: weight for name, weight in found.items() if weight > 1}


def step(weight: float) -> int:
    """The step that is nearest to what a number should count."""
    return min(STEPS, key=lambda step: abs(math.log(step / weight)))


def _spread(column: Looked) -> float:
    """The mean of how far two people are apart in a column, as clusterers see it: at most 1."""
    attribute, seen = column.made.attribute, column.profile
    if not isinstance(attribute, Number):
        return 0.0 if isinstance(attribute, ItemSet) else seen.spread
    if attribute.range is None:
        return 0.0
    low, high = (_place(end) for end in attribute.range)
    numbers = np.array([_place(value) for value in seen.values.to_pylist()])
    counts = np.asarray(seen.counts)
    mean = np.average(numbers, weights=counts)
    return float(2 * np.average((numbers - mean) ** 2, weights=counts) / (high - low) ** 2)


def _place(value: Any) -> float:
    """A number, or a date or time as seconds."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if hasattr(value, "year"):
        return (datetime(value.year, value.month, value.day) - datetime(1970, 1, 1)).total_seconds() + 3600 * getattr(
            value, "hour", 0
        )
    return float(value)
