"""Tables in codes: every column becomes whole numbers, and the labels they stand for are kept once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.data._declared import check_labels, check_names
from sfumato.data._itemsets import encode_items, is_list
from sfumato.data._numbers import check_number, to_numbers
from sfumato.data._outside import bounded, bucketed, bucketed_items, clipped
from sfumato.data._places import Place, RowPlace, row_place
from sfumato.data._ranking import entries, is_text, key_type, keys, only, rank, single, spread
from sfumato.data.schema import Attribute, Category, ItemSet, Number, Schema
from sfumato.data.table import Codes, Column, ItemColumn, Origin, Table, decode, narrow
from sfumato.errors import SchemaError, TableError


def encode(arrow: pa.Table, schema: Schema, *, origin: Origin = "pyarrow", place: RowPlace = row_place) -> Table:
    """A table in codes, checked against its schema; identifiers are left out.

    `place` tells where a row stands in its source, for messages.

    >>> table = encode(pa.table({"age": [40, None, 20]}), Schema(age=Number()))
    >>> table.column("age").codes.tolist(), table.column("age").values.to_pylist()
    ([1, 2, 0], [20, 40])
    """
    check_names(arrow.column_names, schema)
    names = [name for name in arrow.column_names if schema[name].role != "identifier"]
    if not arrow.num_rows:
        raise TableError("table", "a table must have rows", given="none", remedy="give a table with rows")

    def one(name: str) -> Column | ItemColumn:
        return encode_column(name, arrow.column(name), schema[name], place=place)

    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        columns = dict(zip(names, threads.map(one, names), strict=True))
    return Table(schema, columns, arrow.num_rows, origin)


def encode_column(
    name: str, data: pa.ChunkedArray[Any], attribute: Attribute, *, place: RowPlace = row_place
) -> Column | ItemColumn:
    """One column in codes."""
    array = single(data)
    in_use = None
    if isinstance(array, pa.DictionaryArray):
        in_use = entries(array)

    def where(bad: Any) -> str:
        return place(in_use.first_row(bad) if in_use is not None else int(np.flatnonzero(bad)[0]))

    if isinstance(attribute, ItemSet):
        items = bounded(name, bucketed_items(encode_items(name, array, attribute, place=where), attribute), attribute)
        check_labels(name, items.values, attribute)
        return items
    distinct = array if in_use is None else in_use.distinct
    column = _distinct(name, distinct, attribute, place=where)
    if in_use is not None:
        column = spread(in_use.at, column)
    if isinstance(attribute, Number):
        column = clipped(column, attribute)
        check_number(name, column, attribute)
    else:
        column = bucketed(column, attribute)
        check_labels(name, column.values, attribute)
    return column


def _distinct(name: str, array: pa.Array[Any], attribute: Number | Category, *, place: Place) -> Column:
    """Entries in codes; those that mean missing are."""
    if isinstance(attribute, Category):
        _refuse_no_label(name, array.type)
        labels = array.cast(pa.string()) if pt.is_null(array.type) else array
        column = rank(labels)
        return _fold(column, _among(column.values, attribute.missing))
    if is_text(array.type) and attribute.missing:
        trimmed = pc.utf8_trim_whitespace(array)
        gone = pc.is_in(trimmed, value_set=pa.array(attribute.missing, array.type))
        array = pc.if_else(gone, None, trimmed)
    numbers = rank(to_numbers(name, array, attribute, place=place))
    return _fold(numbers, _meaning_missing(numbers.values, attribute))


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


@dataclass(frozen=True, eq=False)
class Codebook:
    """Labels and the codes that stand for them, by attribute; the code past the last label means missing.

    >>> book = Codebook({"sex": pa.array(["Female", "Male"])})
    >>> book.encode("sex", pa.array(["Male", None])).tolist()
    [1, 2]
    >>> book.decode("sex", np.array([0, 2], dtype=np.uint8)).to_pylist()
    ['Female', None]
    """

    values: Mapping[str, pa.Array[Any]]

    @classmethod
    def of(cls, table: Table) -> Codebook:
        """The codebook of a table."""
        return cls({name: column.values for name, column in table.columns.items()})

    def encode(self, name: str, labels: pa.Array[Any]) -> Codes:
        """Codes of labels, missing ones included; a label that is not in the book is refused."""
        values = self.values[name]
        stranger = TableError(
            name,
            "every label is in the codebook",
            given="labels that are not",
            remedy="encode the table they come from",
        )
        try:
            column = rank(labels if labels.type == values.type else labels.cast(values.type))
        except pa.ArrowException:  # its message quotes a label
            raise stranger from None
        places = _find(column.values, values)
        if (places < 0).any():
            raise stranger
        return narrow(np.append(places, len(values)), len(values))[column.codes]

    def decode(self, name: str, codes: Codes) -> pa.Array[Any]:
        """Labels of codes."""
        return decode(codes, self.values[name])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Codebook)
            and self.values.keys() == other.values.keys()
            and all(_same(values, other.values[name]) for name, values in self.values.items())
        )

    def __hash__(self) -> int:
        return hash(tuple(self.values))


def _find(labels: pa.Array[Any], values: pa.Array[Any]) -> Any:
    """Where each label stands among ascending values; -1 where it does not."""
    if key_type(values.type) is None:
        return pc.index_in(labels, value_set=values).fill_null(-1).to_numpy()
    wanted, known = keys(labels), keys(values)
    at = np.searchsorted(known, wanted)
    inside = at < len(known)
    inside[inside] = known[at[inside]] == wanted[inside]
    return np.where(inside, at, -1)


def _same(left: pa.Array[Any], right: pa.Array[Any]) -> bool:
    if left.type != right.type or len(left) != len(right):
        return False
    return bool((_find(left, right) == np.arange(len(left))).all())
