"""Placing masked values: where the labels and intervals of one masked column stand."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data import calendar
from sfumato.data.axis import MISSING
from sfumato.data.masked import Masked
from sfumato.data.schema import Calendar
from sfumato.data.shown import OR_MISSING, SUPPRESSED, interval_splits, set_members
from sfumato.data.table import AnyColumn, Column
from sfumato.errors import SchemaError
from sfumato.events import checkpoint, many
from sfumato.structure.coded_points import AnyBlock, Block
from sfumato.structure.layouts import ItemLayout, Layout, NumberLayout, TreeLayout
from sfumato.structure.released import MEAN, ReleasedValues, Spread, Told
from sfumato.structure.released_groups import Codebook

Vectors = NDArray[np.float32]


def masked_block(name: str, part: Layout, masked: Masked, released: Codebook | None) -> AnyBlock:
    """Where a masked column's rows stand: as expected by `released`, or each label on its own without it."""
    column = masked[name]
    if isinstance(part, ItemLayout):
        return _item_block(part, column)
    if not isinstance(column, Column):
        raise TypeError(f"{name} is set-valued")
    if isinstance(part, NumberLayout):
        if not column.shows_labels:
            return Block(column.codes, part.positions(column.values))
        return _number_block(part, (released or ReleasedValues()).told(name, masked))
    return _own_block(part, column) if released is None else _label_block(part, released.told(name, masked))


def _number_block(part: NumberLayout, told: Told) -> Block:
    numbers = [
        part.mean if label is None else shown_number(part, label, spread)
        for label, spread in many(zip(told.shown, told.spreads, strict=True))
    ]
    return Block(told.codes, np.array([part.at(number) for number in numbers], dtype=np.float32)[:, None])


def shown_number(part: NumberLayout, label: str, spread: Spread) -> float:
    """The number that a shown interval stands for: its mean if that is told, else its middle."""
    if MEAN in spread:
        mean = spread[MEAN]
        return float(calendar.parse(mean)) if isinstance(mean, str) else mean
    ends = interval_ends(label, part.attribute.calendar)
    low = part.low if ends is None or ends.low is None else ends.low
    high = part.high if ends is None or ends.high is None else ends.high
    return (low + high) / 2


def _label_block(part: TreeLayout, told: Told) -> Block:
    gone = part.nodes[-1]
    places = [
        gone if label is None else _expected(part, label, spread)
        for label, spread in many(zip(told.shown, told.spreads, strict=True))
    ]
    checkpoint()
    return Block(told.codes, np.array(places, dtype=np.float32))


def _expected(part: TreeLayout, label: str, spread: Spread) -> Vectors:
    """Each label at its share; what is left over where the shown value stands by itself."""
    missing = MISSING if MISSING not in part.node_at else None
    told = {key: float(share) for key, share in spread.items() if key != label}
    rest = float(spread.get(label, 0 if spread else 1))
    found = np.zeros(part.dims, dtype=np.float64)
    for key, share in told.items():
        found += share * (part.nodes[-1] if key == missing else part.node(key))
    if rest:
        found += rest * _alone(part, label, [("" if key == missing else key) for key in told])
    return found.astype(np.float32)


def _alone(part: TreeLayout, label: str, told: Collection[str]) -> Vectors:
    """Where a shown value stands of which nothing is told: at its label, or of a set in the middle of its labels, those
    left out of which more is told."""
    members = set_members(label, part.node_at) if label not in part.node_at else ()
    others = [member for member in members if member not in told] or members
    if not others:
        return part.node(label)
    places = [part.node(member) if member else part.nodes[-1] for member in others]
    return np.asarray(np.mean(places, axis=0), dtype=np.float32)


def _own_block(part: TreeLayout, shown: Column) -> Block:
    """Leaves where they stand in the raw space; every other label in a coordinate of its own."""
    leaves = set(part.taxonomy.leaves)
    inner = [at for at, label in enumerate(shown.labels) if label not in leaves]
    positions = np.array([*(part.node(label) for label in shown.labels), part.nodes[-1]], dtype=np.float32)
    positions[inner] = 0
    own = np.zeros((len(positions), len(inner)), dtype=np.float32)
    own[inner, np.arange(len(inner))] = np.sqrt(0.5)
    return Block(shown.codes, positions, own)


def _item_block(part: ItemLayout, column: AnyColumn) -> AnyBlock:
    """A masked set of labels, inner ones too; a column that shows no sets stands at the origin."""
    if isinstance(column, Column):
        return Block(np.zeros(len(column), dtype=np.uint8), np.zeros((1, part.dims), dtype=np.float32))
    return part.block(column.sets, column.items)


@dataclass(frozen=True)
class Ends:
    """The lower and the upper end of an interval; None where it is open."""

    low: float | None
    high: float | None


def interval_ends(label: str, unit: Calendar | None = None) -> Ends | None:
    """The ends of a shown interval or number; None if the label is neither.

    >>> interval_ends("[-5..-1)"), interval_ends("[-5--1)")
    (Ends(low=-5.0, high=-1.0), Ends(low=-5.0, high=-1.0))
    >>> interval_ends("[*..0.5)"), interval_ends("37"), interval_ends("*")
    (Ends(low=None, high=0.5), Ends(low=37.0, high=37.0), None)
    """
    if not label.startswith("["):
        point = _bound(label.removesuffix(OR_MISSING), unit)
        return None if point is None else Ends(point, point)
    for low, high in interval_splits(label):
        if _reads(low, unit) and _reads(high, unit):
            return Ends(_bound(low, unit), _bound(high, unit))
    return None


def _reads(text: str, unit: Calendar | None) -> bool:
    return text == SUPPRESSED or _bound(text, unit) is not None


def _bound(text: str, unit: Calendar | None) -> float | None:
    try:
        return float(calendar.parse(text) if unit else text)
    except (ValueError, SchemaError):
        return None
