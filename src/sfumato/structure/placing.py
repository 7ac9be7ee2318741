"""Placing masked values: where the labels and intervals of one masked column stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt
from numpy.typing import NDArray

from sfumato.data import calendar
from sfumato.data.cut import MISSING
from sfumato.structure.intervals import interval_ends
from sfumato.structure.layouts import ItemLayout, Layout, NumberLayout, TreeLayout
from sfumato.structure.placed import Block
from sfumato.structure.released import MEAN, Array, ReleasedValues, Shown, encoded, shows_labels, spelled

Vectors = NDArray[np.float32]


def masked_block(name: str, part: Layout, column: Array, released: ReleasedValues | None) -> Block:
    """Where a masked column's rows stand: as expected by `released`, or each label on its own without it."""
    if isinstance(part, ItemLayout):
        return _item_block(part, column)
    if isinstance(part, NumberLayout):
        return _number_block(part, column, name, released)
    return _label_block(part, Shown.of(column), name, released)


def _number_block(part: NumberLayout, column: Array, name: str, released: ReleasedValues | None) -> Block:
    if not shows_labels(column):
        entries = encoded(column)
        codes = entries.indices.fill_null(len(entries.dictionary)).to_numpy(zero_copy_only=False)
        return Block(codes.astype(np.int64), part.positions(entries.dictionary))
    shown = Shown.of(column)
    numbers = [_shown_number(part, label, released.spread(name, label) if released else {}) for label in shown.labels]
    positions = np.array([*(part.at(number) for number in numbers), part.at(part.mean)], dtype=np.float32)
    return Block(shown.codes, positions[:, None])


def _shown_number(part: NumberLayout, label: str, spread: Mapping[str, float | str]) -> float:
    """The number that a shown interval stands for: its mean if that is told, else its middle."""
    if MEAN in spread:
        mean = spread[MEAN]
        return float(calendar.parse(mean)) if isinstance(mean, str) else mean
    ends = interval_ends(label, part.attribute.calendar)
    low = part.low if ends is None or ends.low is None else ends.low
    high = part.high if ends is None or ends.high is None else ends.high
    return (low + high) / 2


def _label_block(part: TreeLayout, shown: Shown, name: str, released: ReleasedValues | None) -> Block:
    if released is None:
        return _own_block(part, shown)
    positions = [_expected(part, label, released.spread(name, label)) for label in shown.labels]
    return Block(shown.codes, np.array([*positions, part.nodes[-1]], dtype=np.float32))


def _expected(part: TreeLayout, label: str, spread: Mapping[str, float | str]) -> Vectors:
    if not spread:
        return part.node(label)
    missing = MISSING if MISSING not in part.node_at else None
    found = np.zeros(part.dims, dtype=np.float64)
    for key, share in spread.items():
        found += float(share) * (part.nodes[-1] if key == missing else part.node(key))
    return found.astype(np.float32)


def _own_block(part: TreeLayout, shown: Shown) -> Block:
    """Leaves where they stand in the raw space; every other label in a coordinate of its own."""
    leaves = set(part.taxonomy.leaves)
    inner = [at for at, label in enumerate(shown.labels) if label not in leaves]
    positions = np.array([*(part.node(label) for label in shown.labels), part.nodes[-1]], dtype=np.float32)
    positions[inner] = 0
    own = np.zeros((len(positions), len(inner)), dtype=np.float32)
    own[inner, np.arange(len(inner))] = np.sqrt(0.5)
    return Block(shown.codes, positions, own)


def _item_block(part: ItemLayout, column: Array) -> Block:
    """A masked set of labels, inner ones too; a column that shows no sets stands at the origin."""
    whole: Any = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if not (pt.is_list(whole.type) or pt.is_large_list(whole.type)):
        return Block(np.zeros(len(whole), dtype=np.int64), np.zeros((1, part.dims), dtype=np.float32))
    sets, labels = spelled(whole)
    return Block(sets.codes, part.places(sets, labels))
