"""A table in bins, as the loops of Partition count it: positions of every attribute, joined where they are many."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data.axis import Axis, NumberAxis, positions
from sfumato.data.detail import Detail, Few, Wish
from sfumato.data.table import Codes, Table
from sfumato.maskers.partition.extents import Marks
from sfumato.maskers.partition.problem import Cells, Guide

MOST_NUMBERS, MOST_LABELS = 128, 256
HALF = 2.5
"""Steps of a wish that a bin is wide, at most: half of what it may be."""


@dataclass(frozen=True, eq=False)
class Binned:
    """Axes, where each row stands on them, and the bins that cuts are looked for among.

    `places`: for each axis (rows,) the position of each row. `bin_of`: for each axis (positions,) the bin of each.
    `marks`: of each axis of numbers, where intervals may end.
    """

    axes: Sequence[Axis]
    places: Sequence[Codes]
    bin_of: Sequence[Ints]
    marks: Sequence[Marks | None]
    cells: Cells

    @classmethod
    def of(
        cls,
        table: Table,
        axes: Sequence[Axis],
        *,
        least: int,
        detail: Detail | None = None,
        bands: Mapping[str, Sequence[int]] | None = None,
    ) -> Binned:
        """Put every row into a bin on each axis; intervals end between marks of at least so many records.

        `detail`: attributes that are shown finely need finer bins. `bands`: with which positions their bands begin.
        """
        wishes, begin = detail or {}, bands or {}
        places = [positions(axis, table.column(axis.name)) for axis in axes]
        held = [np.bincount(place, minlength=axis.size) for axis, place in zip(axes, places, strict=True)]
        marks = [
            Marks.of(axis, count, least=least, bands=begin.get(axis.name, ())) if isinstance(axis, NumberAxis) else None
            for axis, count in zip(axes, held, strict=True)
        ]
        bin_of = [
            _label_bins(count, wishes.get(axis.name))
            if one is None
            else _number_bins(one, count, wishes.get(axis.name))
            for axis, one, count in zip(axes, marks, held, strict=True)
        ]
        sizes = [int(bins.max()) + 1 for bins in bin_of]
        columns = [bins.astype(np.uint16)[place] for bins, place in zip(bin_of, places, strict=True)]
        return cls(axes, places, bin_of, marks, _cells(axes, columns, bin_of, held, sizes))


def guide_of(labels: NDArray[np.integer], n: int) -> Guide:
    """One coordinate a label; nothing to be guided by where all records have the same."""
    shares = np.bincount(labels, minlength=n) / len(labels)
    spread = 1.0 - float((shares**2).sum())
    scale = 1.0 / spread if spread > 1e-12 else 0.0
    return Guide(labels.astype(np.uint16), n, np.zeros((0, n), dtype=np.float32), scale)


def soft_guide(likely: NDArray[np.floating]) -> Guide:
    """(rows, dims) of how likely each record is to be of each class."""
    spread = float(np.sort(likely, axis=0).var(axis=0, dtype=np.float64).sum())  # the same for rows in any order
    scale = 1.0 / spread if spread > 1e-12 else 0.0
    nobody = np.zeros(0, dtype=np.uint16)
    return Guide(nobody, likely.shape[1], np.ascontiguousarray(likely, dtype=np.float32), scale)


def _number_bins(marks: Marks, held: Ints, wish: Wish | None) -> Ints:
    """Pieces between marks, joined until each bin has its share of the records, or is wide for a wish; missing numbers
    are the last bin."""
    count = len(marks.piece_of)
    pieces = np.bincount(marks.piece_of, weights=held[:count]).astype(np.int64)
    share = held[:count].sum() / MOST_NUMBERS if len(pieces) > MOST_NUMBERS else 0.0
    of_piece = np.zeros(len(pieces), dtype=np.int64)
    widest = math.inf if wish is None or isinstance(wish, Few) else HALF * wish.step
    lows = marks.axis.numbers[marks.starts].astype(np.float64)
    highs = marks.axis.numbers[np.append(marks.starts[1:], count) - 1].astype(np.float64)
    bin_, records, low = 0, 0, lows[0]
    for piece in range(len(pieces)):
        if piece and (records >= share or piece in marks.banded or highs[piece] - low > widest):
            bin_, records, low = bin_ + 1, 0, lows[piece]
        of_piece[piece] = bin_
        records += int(pieces[piece])
    found = of_piece[marks.piece_of]
    return np.append(found, bin_ + 1) if marks.axis.missing else found


def _label_bins(held: Ints, wish: Wish | None) -> Ints:
    """The most frequent labels stand alone; of very many the others are joined with their neighbours, unless there is a
    wish for how many stand together."""
    size = len(held)
    if size <= MOST_LABELS or wish is not None:
        return np.arange(size)
    alone = np.zeros(size, dtype=bool)
    alone[np.argsort(-held, kind="stable")[: MOST_LABELS // 2]] = True
    share = held[~alone].sum() / (MOST_LABELS // 2 - 2)
    found = np.full(size, -1, dtype=np.int64)
    bin_, records = -1, share
    for at in np.flatnonzero(~alone):
        if records >= share:
            bin_, records = bin_ + 1, 0
        found[at] = bin_
        records += int(held[at])
    found[alone] = bin_ + 1 + np.arange(int(alone.sum()))
    return found


def _cells(
    axes: Sequence[Axis],
    columns: Sequence[NDArray[np.integer]],
    bin_of: Sequence[Ints],
    held: Sequence[Ints],
    sizes: Sequence[int],
) -> Cells:
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    kind = np.array([isinstance(axis, NumberAxis) for axis in axes], dtype=np.int64)
    missing, place = np.full(len(axes), -1, dtype=np.int64), np.zeros(first[-1])
    labels = np.ones(len(axes))
    for a, axis in enumerate(axes):
        if isinstance(axis, NumberAxis):
            place[first[a] : first[a + 1]] = _places(axis, bin_of[a], held[a], sizes[a])
            missing[a] = first[a + 1] - 1 if axis.missing else -1
        else:
            labels[a] = max(1, int((held[a] > 0).sum()))
    bins = np.ascontiguousarray(np.stack(columns, axis=1)) if columns else np.zeros((0, 0), dtype=np.uint8)
    return Cells(bins, first, kind, missing, place, labels)


def _places(axis: NumberAxis, bins: Ints, held: Ints, size: int) -> NDArray[np.float64]:
    """(bins,): the mean of each bin's numbers over the width of the range."""
    count = len(axis.numbers)
    numbers = axis.numbers.astype(np.float64)
    low, width = numbers.min(), float(numbers.max() - numbers.min()) or 1.0
    scaled = (numbers - low) / width
    weight = np.maximum(held[:count], 1e-9)
    sums = np.bincount(bins[:count], weights=scaled * weight, minlength=size)
    return np.asarray(sums / np.maximum(np.bincount(bins[:count], weights=weight, minlength=size), 1e-12))
