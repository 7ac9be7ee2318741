"""Numbers in and out: a table's column as floating-point numbers, and back with or without rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.data.schema import Number
from sfumato.data.table import Table
from sfumato.errors import TableError
from sfumato.maskers.geometric.operations import Floats

EXACT = 2.0**53
"""Whole numbers below this are exact in floating point."""


def numbers_in(table: Table, name: str) -> Floats:
    """(rows,): an attribute's numbers, NaN where missing."""
    column = table.column(name)
    values = column.values.to_numpy(zero_copy_only=False).astype(np.float64)
    if not np.isfinite(values).all():
        raise TableError(name, "a transformed attribute holds finite numbers, or is missing",
                         given="values that are infinite or no number",
                         remedy="declare them as missing, or leave those rows out")  # fmt: skip
    return np.asarray(np.append(values, np.nan)[column.codes], dtype=np.float64)


def is_whole(table: Table, name: str) -> bool:
    """Whether an attribute's numbers are whole, by declaration or as the table says."""
    attribute, values = table.schema[name], table.column(name).values
    if isinstance(attribute, Number) and attribute.integer is not None:
        return attribute.integer
    return pa.types.is_integer(values.type)


def of_arrow(column: pa.Array[Any]) -> Floats:
    """(rows,): floating-point numbers, NaN where null."""
    return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


def to_arrow(values: Floats, rounding: str | None) -> pa.Array[Any]:
    """Numbers as they are, or whole ones: to the nearest, or towards zero; null where NaN."""
    missing = np.isnan(values)
    if rounding is not None:
        values = np.trunc(values) if rounding == "truncate" else np.rint(values)
        if not missing.all() and np.nanmax(np.abs(values)) < EXACT:
            return pa.array(np.where(missing, 0, values).astype(np.int64), mask=missing if missing.any() else None)
    return pa.array(values, mask=missing if missing.any() else None)
