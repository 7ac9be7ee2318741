"""Released texts that a spreadsheet would take for formulas: told to the holder, and read back where marked."""

from __future__ import annotations

import warnings
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.data._ranking import is_text
from sfumato.data.canonical.spreadsheets import restored, would_run

REMEDY = "say release: {spreadsheet_safe: true} in the recipe, which puts an apostrophe before each of them"


def warn_of_formulas(shown: pa.Table, *, csv: bool, safe: bool) -> None:
    """Say which columns of a CSV table a spreadsheet would run, and how many different labels; no label is told."""
    if safe and not csv:
        warnings.warn("release.spreadsheet_safe concerns CSV, and the table is written as Parquet", stacklevel=4)
    if safe or not csv:
        return
    counts = {name: _formulas(shown.column(name)) for name in shown.column_names}
    told = [f"{name!r} ({count} different)" for name, count in counts.items() if count]
    named = [repr(name) for name in shown.column_names if would_run(name)]
    parts = [f"cells of {', '.join(told)}"] if told else []
    parts += [f"the column names {', '.join(named)}"] if named else []
    if parts:
        warnings.warn(
            f"a spreadsheet would run {' and '.join(parts)}: they begin with =, +, -, @ or a tab; {REMEDY}",
            stacklevel=4,
        )


def _formulas(column: pa.ChunkedArray[Any]) -> int:
    """How many different texts of a column a spreadsheet would run."""
    if pt.is_nested(column.type):  # CSV joins the items of a list, the first one first
        filled: Any = pc.greater(pc.list_value_length(column), pa.scalar(0))
        column = pc.list_element(column.filter(filled), 0)
    kind = column.type.value_type if isinstance(column.type, pa.DictionaryType) else column.type
    if not is_text(kind):
        return 0
    return sum(would_run(text) for text in column.unique().cast(kind).to_pylist() if text is not None)


def undone(table: pa.Table) -> pa.Table:
    """A table as it was before its texts and its names were made harmless for spreadsheets."""
    columns = {restored(name): _undone(table.column(name)) for name in table.column_names}
    return pa.table(columns)


def _undone(column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    kind = column.type.value_type if isinstance(column.type, pa.DictionaryType) else column.type
    if not is_text(kind):
        return column
    coded = column.combine_chunks()
    if not isinstance(coded, pa.DictionaryArray):
        coded = coded.dictionary_encode()
    texts = pa.array([None if text is None else restored(text) for text in coded.dictionary.to_pylist()], kind)
    found = pa.DictionaryArray.from_arrays(coded.indices, texts)
    return pa.chunked_array([found if isinstance(column.type, pa.DictionaryType) else found.dictionary_decode()])
