"""Set-valued columns in codes: lists of labels, or texts with a separator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

from sfumato.data._places import Place
from sfumato.data._ranking import Entries, entries, is_text, is_view, pruned, rank
from sfumato.data.schema import ItemSet
from sfumato.data.table import Codes, ItemColumn, narrow
from sfumato.errors import SchemaError, TableError


def is_list(kind: pa.DataType) -> bool:
    """Whether an Arrow type holds a list in each row."""
    tests = (pt.is_list, pt.is_large_list, pt.is_fixed_size_list, pt.is_list_view, pt.is_large_list_view)
    return any(test(kind) for test in tests)


def encode_items(name: str, array: pa.Array[Any], attribute: ItemSet, *, place: Place) -> ItemColumn:
    """Sets in codes: repeated items count once, an empty set is not a missing one."""
    if pt.is_null(array.type):
        array = array.cast(pa.list_(pa.string()))
    if is_list(array.type):
        return _without_missing(_from_lists(name, array, place=place), attribute.missing)
    if isinstance(array, pa.DictionaryArray) and is_text(array.type.value_type):
        found = entries(array)
        sets = _from_lists(name, _split(found.distinct, attribute.separator), place=place)
        return _spread(found, _without_missing(sets, attribute.missing))
    raise SchemaError(
        name,
        "an item set is a list column, or text with a separator",
        given=f"type {array.type}",
        remedy="declare it a category or a number",
    )


def _split(texts: pa.Array[Any], separator: str) -> pa.Array[Any]:
    """Lists of the items in each text; nothing between two separators is no item."""
    lists = pc.split_pattern(texts, separator)
    items = lists.flatten()
    real = pc.not_equal(items, pa.scalar("", items.type)).to_numpy(zero_copy_only=False)
    if real.all():
        return lists
    owners = pc.list_parent_indices(lists).to_numpy()[real]
    counts = np.bincount(owners, minlength=len(lists))
    offsets = pa.array(np.append(0, np.cumsum(counts)), type=pa.int64())
    kept = pa.LargeListArray.from_arrays(offsets, items.filter(pa.array(real)).cast(pa.large_string()))
    return kept if not lists.null_count else pc.if_else(lists.is_valid(), kept, None)


def _from_lists(name: str, lists: pa.Array[Any], *, place: Place) -> ItemColumn:
    missing = lists.is_null().to_numpy(zero_copy_only=False)
    items = _items(name, lists)
    owners = np.repeat(np.arange(len(lists)), pc.list_value_length(lists).fill_null(0).to_numpy())
    if items.null_count:
        bad = np.zeros(len(lists), dtype=np.bool_)
        bad[owners[items.is_null().to_numpy(zero_copy_only=False)]] = True
        raise TableError(
            name,
            f"no item of a set is missing, but one in {place(bad)} is",
            given="a null inside a list",
            remedy="drop the nulls from the lists",
        )
    column = rank(items)
    return as_sets(owners, column.codes, column.values, missing=missing)


def _items(name: str, lists: pa.Array[Any]) -> pa.Array[Any]:
    items: pa.Array[Any] = pc.list_flatten(lists)
    if pt.is_nested(items.type) or pt.is_binary(items.type) or pt.is_large_binary(items.type):
        raise SchemaError(
            name,
            "the items of a set are labels",
            given=f"type {items.type}",
            remedy="flatten the lists, or leave the column out",
        )
    if pt.is_null(items.type):
        return items.cast(pa.string())
    return items.cast(pa.large_string()) if is_view(items.type) else items


def as_sets(
    owners: NDArray[np.int64], codes: Codes, values: pa.Array[Any], *, missing: NDArray[np.bool_]
) -> ItemColumn:
    """Each row's items once, ascending."""
    width = max(len(values), 1)
    pairs = owners * width + codes
    if not (np.diff(pairs) > 0).all():
        pairs = np.unique(pairs)
    rows, items = np.divmod(pairs, width)
    offsets = np.append(0, np.cumsum(np.bincount(rows, minlength=len(missing)))).astype(np.int64)
    return ItemColumn(offsets, narrow(items, len(values)), values, missing)


def _without_missing(column: ItemColumn, texts: tuple[str, ...]) -> ItemColumn:
    """A set of nothing but one text that means missing is a missing set."""
    if not texts:
        return column
    marked = pc.is_in(column.values.cast(pa.string()), value_set=pa.array(texts))
    marks = marked.to_numpy(zero_copy_only=False)
    lengths = np.diff(column.offsets)
    alone = np.flatnonzero(lengths == 1)
    gone = alone[marks[column.codes[column.offsets[alone]]]]
    if not len(gone):
        return column
    stays = np.ones(len(column.codes), dtype=np.bool_)
    stays[column.offsets[gone]] = False
    owners = np.repeat(np.arange(len(lengths)), lengths)[stays]
    missing = column.missing_rows.copy()
    missing[gone] = True
    kept = pruned(column.codes[stays], column.values)
    return as_sets(owners, kept.codes, kept.values, missing=missing)


def _spread(found: Entries, sets: ItemColumn) -> ItemColumn:
    """The sets of distinct texts become the sets of the rows that hold these texts."""
    lengths = np.append(np.diff(sets.offsets), 0)[found.at]
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
    first = sets.offsets[found.at]  # -1 takes the last offset; its length is 0
    at = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - first, lengths)
    missing = np.append(sets.missing_rows, True)[found.at]
    return ItemColumn(offsets, sets.codes[at], sets.values, missing)
