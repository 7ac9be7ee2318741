"""Tables in codes: every column becomes whole numbers, and the labels they stand for are kept once.

A set-valued column holds lists of labels, or texts with a separator.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.data.codes import (
    Entries,
    as_sets,
    entries,
    is_list,
    is_text,
    is_view,
    key_type,
    only,
    pruned,
    rank,
    side_by_side,
    single,
    spread,
)
from sfumato.data.domain import bounded, bucketed, bucketed_items, check_labels, check_names, clipped
from sfumato.data.number_columns import check_number, to_numbers
from sfumato.data.schema import Attribute, Category, ItemSet, Number, Schema
from sfumato.data.sources.source import RawColumn, RawTable
from sfumato.data.table import Column, ItemColumn, Origin, Place, RowPlace, Table, narrow, row_place
from sfumato.data.written_forms import like_lists, separator_of
from sfumato.errors import SchemaError, TableError

LOOKED_AT = 2_000
"""Different texts of a set-valued column that are looked at to see what stands between items."""
ENOUGH = 5
"""So many of them have another mark before anybody is told."""


def encode(arrow: pa.Table, schema: Schema, *, origin: Origin = "pyarrow", place: RowPlace = row_place) -> Table:
    """A table in codes, checked against its schema; identifiers are left out.

    `place` tells where a row stands in its source, for messages.

    >>> table = encode(pa.table({"age": [40, None, 20]}), Schema(age=Number()))
    >>> table.column("age").codes.tolist(), table.column("age").values.to_pylist()
    ([1, 2, 0], [20, 40])
    """
    check_names(arrow.column_names, schema)
    names = [name for name in arrow.column_names if schema[name].role != "identifier"]
    return encode_raw(RawTable.of(arrow.select(names)), schema, origin=origin, place=place)


def encode_raw(raw: RawTable, schema: Schema, *, origin: Origin = "pyarrow", place: RowPlace = row_place) -> Table:
    """The same of columns as a source gave them, none of which is an identifier."""
    if not raw.rows:
        raise TableError("table", "a table must have rows", given="none", remedy="give a table with rows")

    def one(name: str) -> Column | ItemColumn:
        return encode_column(name, raw.columns[name], schema[name], place=place)

    columns = dict(zip(raw.columns, side_by_side(one, raw.columns), strict=True))
    return Table(schema, columns, raw.rows, origin)


def encode_column(
    name: str, data: RawColumn, attribute: Attribute, *, place: RowPlace = row_place
) -> Column | ItemColumn:
    """One column in codes. Where its distinct entries are known, they are read once each, and rows follow."""
    in_use = _in_use(data)
    array = single(cast("pa.ChunkedArray[Any]", data)) if in_use is None else in_use.distinct

    def told(rows: Any) -> str:
        first = place(int(rows[0]))
        return first if len(rows) == 1 else f"{first} (the first of {len(rows):,} such cells)"

    def where(bad: Any) -> str:
        return told(in_use.rows(bad) if in_use is not None else np.flatnonzero(bad))

    if isinstance(attribute, ItemSet):
        items = encode_items(name, array, attribute, coded=in_use is not None, place=where)
        items = bounded(name, bucketed_items(items, attribute), attribute)
        check_labels(name, items.values, attribute)
        return items if in_use is None else _spread(in_use, items)
    column = _distinct(name, array, attribute, place=where)
    column = clipped(column, attribute) if isinstance(attribute, Number) else bucketed(column, attribute)
    if in_use is not None:
        column = spread(in_use.at, column)
    if isinstance(attribute, Number):
        check_number(name, column, attribute, place=lambda bad: told(np.flatnonzero(bad)))
    else:
        check_labels(name, column.values, attribute)
    return column


def _in_use(data: RawColumn) -> Entries | None:
    """The distinct entries of a column, where they are known."""
    if isinstance(data, Column):
        return Entries(data.codes, data.values)
    array = single(data)
    return entries(array) if isinstance(array, pa.DictionaryArray) else None


def moved_rows(name: str, data: RawColumn, attribute: Number) -> int:
    """How many rows of a column that can be read lie outside its declared range, and are moved to an end of it.

    >>> moved_rows("age", pa.chunked_array([[17, 40, 95, 99, None]]), Number(range=(18, 90), outside="clip"))
    3
    """
    in_use = _in_use(data)
    array = single(cast("pa.ChunkedArray[Any]", data)) if in_use is None else in_use.distinct
    whole = _distinct(name, array, attribute, place=lambda _: name)
    whole = whole if in_use is None else spread(in_use.at, whole)
    if not len(whole.values):
        return 0
    each = np.arange(len(whole.values))
    inside = clipped(Column(narrow(each, len(each)), whole.values), attribute)
    same = inside.values.take(inside.codes).cast(whole.values.type, safe=False)
    return int(whole.counts[:-1][~pc.equal(same, whole.values).to_numpy(zero_copy_only=False)].sum())


def _distinct(name: str, array: pa.Array[Any], attribute: Number | Category, *, place: Place) -> Column:
    """Entries in codes; those that mean missing are."""
    if isinstance(attribute, Category):
        _refuse_no_label(name, array.type)
        column = rank(array.cast(pa.string()) if _told_in_text(array.type, attribute) else array)
        return _fold(column, _among(column.values, attribute.missing))
    if is_text(array.type) and attribute.missing:
        trimmed = pc.utf8_trim_whitespace(array)
        gone = pc.is_in(trimmed, value_set=pa.array(attribute.missing, array.type))
        array = pc.if_else(gone, None, trimmed)
    numbers = rank(to_numbers(name, array, attribute, place=place))
    return _fold(numbers, _meaning_missing(numbers.values, attribute))


def _told_in_text(kind: pa.DataType, attribute: Category) -> bool:
    """Whether labels are read as text: where there are none; where text is declared of true and false, or of 1.0."""
    declared = attribute.taxonomy is not None or attribute.values is not None
    return pt.is_null(kind) or (declared and (pt.is_boolean(kind) or pt.is_floating(kind)))


def _among(values: pa.Array[Any], texts: tuple[str, ...]) -> pa.Array[Any]:
    """Which values read as one of the texts."""
    if not texts:
        return pa.array(np.zeros(len(values), dtype=np.bool_))
    return pc.is_in(values.cast(pa.string()), value_set=pa.array(texts))


def _meaning_missing(values: pa.Array[Any], attribute: Number) -> pa.Array[Any]:
    """Which numbers mean missing, such as -9999."""
    if attribute.calendar:
        return _among(values, attribute.missing)
    marks = np.zeros(len(values), dtype=np.bool_)
    for number in (_number(text) for text in attribute.missing):
        if number is not None:
            found = values.to_numpy()
            marks |= np.isnan(found) if number != number else found == number
    return pa.array(marks)


def _number(text: str) -> int | float | None:
    """The number that a text is, a whole one exactly."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def _fold(column: Column, gone: pa.Array[Any]) -> Column:
    """The same column with the marked values missing."""
    marks = gone.to_numpy(zero_copy_only=False)
    if not marks.any():
        return column
    return only(np.flatnonzero(np.logical_not(marks)), column.codes, column.values)


def _refuse_no_label(name: str, kind: pa.DataType) -> None:
    if is_list(kind):
        raise SchemaError(
            name,
            "a category has one label in each row",
            given=f"a column of lists ({kind})",
            remedy="declare it an item set",
        )
    simple = is_text(kind) or pt.is_null(kind) or pt.is_decimal(kind) or key_type(kind) is not None
    if not simple or pt.is_duration(kind):
        raise SchemaError(
            name,
            "a category holds text, numbers, dates or true and false",
            given=f"type {kind}",
            remedy="convert the column to text",
        )


def encode_items(
    name: str, array: pa.Array[Any], attribute: ItemSet, *, coded: bool = False, place: Place
) -> ItemColumn:
    """Sets in codes: repeated items count once, an empty set is not a missing one. `coded`: each text stands once."""
    if pt.is_null(array.type):
        array = array.cast(pa.list_(pa.string()))
    if is_list(array.type):
        return _without_missing(_from_lists(name, array, place=place), attribute.missing)
    if coded and is_text(array.type):
        _refuse_written_lists(name, array, attribute.separator)
        _refuse_other_separator(name, array, attribute.separator)
        return _without_missing(_from_lists(name, _split(array, attribute.separator), place=place), attribute.missing)
    raise SchemaError(
        name,
        "an item set is a list column, or text with a separator",
        given=f"type {array.type}",
        remedy="declare it a category or a number",
    )


def _refuse_written_lists(name: str, texts: pa.Array[Any], separator: str) -> None:
    """Brackets and quotation marks around items would become parts of them."""
    if like_lists(text for text in texts.drop_null().to_pylist() if text):
        raise TableError(
            name,
            "the items of a set in text stand bare, with the separator between them",
            given="texts like lists of Python or JSON, in brackets",
            remedy=f"write a{separator}b in place of ['a', 'b'] (in pandas: frame[NAME].str.join({separator!r}) before "
            "to_csv), or save the table as Parquet, which keeps lists",
        )


def _refuse_other_separator(name: str, texts: pa.Array[Any], separator: str) -> None:
    """Texts that list items by another mark would each become one item, and be counted as one."""
    if pc.any(pc.match_substring(texts, separator)).as_py():
        return
    some = [text for text in texts.drop_null()[:LOOKED_AT].to_pylist() if text]
    mark = separator_of(some)
    listing = sum(mark in text for text in some) if mark is not None else 0
    if listing >= ENOUGH and 2 * listing > len(some):
        raise TableError(
            name,
            f"the items of a set in text have the declared separator {separator!r} between them",
            given=f"no cell with it, and {mark!r} in most",
            remedy=f"write separator: {mark!r} for this column; where each cell is one item, declare it kind: category",
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
