"""What lies outside a declared domain: moved to where the declaration says, never in silence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from sfumato.data._itemsets import as_sets
from sfumato.data._ranking import pruned, rank, spread
from sfumato.data.schema import Category, ItemSet, Number
from sfumato.data.table import Column, ItemColumn
from sfumato.errors import TableError


def clipped(column: Column, attribute: Number) -> Column:
    """Numbers beyond a declared range at its nearer end, where `outside` says so."""
    if attribute.outside is None or attribute.range is None or not len(column.values):
        return column
    low, high = (float(end) for end in attribute.range)
    numbers = column.values.to_numpy()
    inside = np.clip(numbers, low, high)  # a number that is none stays none, and is refused later
    if (inside == numbers).all():
        return column
    return _renamed(column, pa.array(inside.astype(numbers.dtype) if (inside % 1 == 0).all() else inside))


def bucketed(column: Column, attribute: Category) -> Column:
    """Labels outside the domain under the declared one, where `outside` names it."""
    if attribute.outside is None:
        return column
    mapped = _mapped(column.values, attribute, attribute.outside)
    return column if mapped is None else _renamed(column, mapped)


def bucketed_items(column: ItemColumn, attribute: ItemSet) -> ItemColumn:
    """Items outside the domain under the declared one, where `outside` names it."""
    mapped = None if attribute.outside is None else _mapped(column.values, attribute, attribute.outside)
    if mapped is None:
        return column
    distinct = rank(mapped)
    owners = np.repeat(np.arange(len(column.offsets) - 1), np.diff(column.offsets))
    return as_sets(owners, distinct.codes[column.codes], distinct.values, missing=column.missing_rows)


def bounded(name: str, column: ItemColumn, attribute: ItemSet) -> ItemColumn:
    """Sets of at most as many items as declared; larger ones are refused, or keep their first items."""
    lengths = np.diff(column.offsets)
    if attribute.most is None or not (lengths > attribute.most).any():
        return column
    if attribute.too_many == "refuse":
        raise TableError(
            name,
            f"no set holds more than the declared {attribute.most} items",
            given="larger ones too",
            remedy="raise most, or say too_many: first to keep the first items in the order of their labels",
        )
    place = np.arange(len(column.codes)) - np.repeat(column.offsets[:-1], lengths)
    kept = place < attribute.most
    owners = np.repeat(np.arange(len(lengths)), lengths)[kept]
    used = pruned(column.codes[kept], column.values)
    return as_sets(owners, used.codes, used.values, missing=column.missing_rows)


def _mapped(values: pa.Array[Any], attribute: Category | ItemSet, bucket: str) -> pa.Array[Any] | None:
    """Texts with strangers replaced; None where there is no stranger."""
    known = set(attribute.taxonomy.leaves if attribute.taxonomy is not None else attribute.values or ())
    texts = [str(text) for text in (values if pt.is_string(values.type) else values.cast(pa.string())).to_pylist()]
    if all(text in known for text in texts):
        return None
    return pa.array([text if text in known else bucket for text in texts], type=pa.string())


def _renamed(column: Column, values: pa.Array[Any]) -> Column:
    """The same rows with each distinct value replaced; several may become one."""
    at = column.codes.astype(np.int32)
    at[column.codes == column.missing_code] = -1
    return spread(at, rank(values))
