"""What is shown or stands in one column: distinct values once, and for each row or class which it has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.cut import labels_of, numbers_of
from sfumato.data.schema import Attribute, Number
from sfumato.data.table import ItemColumn, Table
from sfumato.errors import TableError

Value = float | str | tuple[str, ...]
"""A number (dates and times in microseconds), a label, or a set of labels in order."""


@dataclass(frozen=True, eq=False)
class Coded:
    """Values and where they stand; the code `len(values)` means missing."""

    codes: NDArray[np.int64]
    values: Sequence[Value]

    @classmethod
    def of(cls, entries: Iterable[Value | None]) -> Coded:
        """Code values one by one; distinct values in ascending order.

        >>> Coded.of(["b", None, "a", "b"]).codes.tolist()
        [1, 2, 0, 1]
        """
        rows = list(entries)
        known: list[Any] = [value for value in set(rows) if value is not None]
        known.sort()
        at = {value: code for code, value in enumerate(known)}
        return cls(np.array([at.get(row, len(known)) for row in rows], dtype=np.int64), known)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """(rows,): where there is no value."""
        return np.asarray(self.codes == len(self.values), dtype=np.bool_)

    @property
    def counts(self) -> NDArray[np.int64]:
        """(values + 1,): how often each value stands there, missing last."""
        return np.bincount(self.codes, minlength=len(self.values) + 1)

    def taken(self, at: NDArray[np.int64]) -> Coded:
        """Other rows of the same values."""
        return Coded(self.codes[at], self.values)

    def numbers(self) -> NDArray[np.float64]:
        """(rows,): the numbers; 0 where missing."""
        return np.append(np.asarray(self.values, dtype=np.float64), 0.0)[self.codes]

    def rows(self) -> list[Value | None]:
        """The value of each row."""
        known: list[Value | None] = [*self.values, None]
        return [known[code] for code in self.codes.tolist()]


def coded(table: Table, name: str) -> Coded:
    """A column of the table; dates and times as the beginning of their calendar unit."""
    column, attribute = table.columns[name], table.schema[name]
    if isinstance(column, ItemColumn):
        return Coded.of(
            None if items is None else tuple(sorted(map(str, items))) for items in column.decode().to_pylist()
        )
    codes = column.codes.astype(np.int64)
    if isinstance(attribute, Number):
        return _numbers(name, codes, numbers_of(column.values, attribute).astype(np.float64))
    return Coded(codes, labels_of(column.values))


def _numbers(name: str, codes: NDArray[np.int64], numbers: NDArray[np.float64]) -> Coded:
    if np.isinf(numbers).any():
        raise TableError(name, "a number that is averaged is finite", given="an infinite number",
                         remedy="declare what stands for it as missing, for example missing: ['inf']")  # fmt: skip
    known, places = np.unique(numbers[~np.isnan(numbers)], return_inverse=True)
    at = np.full(len(numbers) + 1, len(known), dtype=np.int64)
    at[:-1][~np.isnan(numbers)] = places
    return Coded(at[codes], known.tolist())


def is_whole(table: Table, name: str) -> bool:
    """Whether a number is declared to be whole, or if nothing is declared, comes as whole numbers."""
    import pyarrow.types as pt

    attribute: Attribute = table.schema[name]
    if not isinstance(attribute, Number) or attribute.calendar is not None:
        return False
    return pt.is_integer(table.column(name).values.type) if attribute.integer is None else attribute.integer
