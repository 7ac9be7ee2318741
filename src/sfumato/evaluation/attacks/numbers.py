"""The numbers an attacker looks at: raw and masked vectors of the same records, and what counts as recovered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.table import Table
from sfumato.maskers.geometric.numbers import is_whole, numbers_in, of_arrow

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Both:
    """(rows, attributes) of the same records, raw and masked.

    `wholes` (attributes,): which of them are whole numbers. `spread` (attributes,): the standard deviation of the
    raw numbers of all records, 1 where there is none.
    """

    names: tuple[str, ...]
    raw: Floats
    masked: Floats
    wholes: NDArray[np.bool_]
    spread: Floats

    @classmethod
    def of(cls, table: Table, columns: Mapping[str, pa.Array[Any]], names: Sequence[str]) -> Both:
        """The named attributes of a table and of its masked columns; records that miss one are left out."""
        raw = np.column_stack([numbers_in(table, name) for name in names])
        masked = np.column_stack([of_arrow(columns[name]) for name in names])
        known = np.isfinite(raw).all(axis=1) & np.isfinite(masked).all(axis=1)
        wholes = np.array([is_whole(table, name) for name in names])
        return cls(tuple(names), raw[known], masked[known], wholes, _spread(raw[known]))

    @property
    def rows(self) -> int:
        """How many records."""
        return len(self.raw)

    @property
    def dims(self) -> int:
        """How many attributes."""
        return len(self.names)

    def some(self, rows: NDArray[Any]) -> Both:
        """Only these records."""
        return Both(self.names, self.raw[rows], self.masked[rows], self.wholes, self.spread)


def _spread(raw: Floats) -> Floats:
    found = raw.std(axis=0) if len(raw) else np.ones(raw.shape[1])
    return np.where(found > 0, found, 1.0)


def cells_recovered(
    both: Both, guess: Floats, *, within: float = 0.01, blur: Floats | float = 0.0
) -> NDArray[np.bool_]:
    """(rows, attributes): guesses within this share of the spread, or that round to the right whole number.

    `blur` (attributes,): how far even the key misses, because the release is rounded; twice that is allowed too.
    """
    tolerance = np.maximum(np.maximum(within * both.spread, np.where(both.wholes, 0.5, 0.0)), 2 * np.asarray(blur))
    return np.asarray(np.abs(guess - both.raw) <= tolerance, dtype=np.bool_)
