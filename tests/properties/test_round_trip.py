"""No value is lost or changed on its way: CSV, codes, labels, Parquet, pandas and polars."""

from __future__ import annotations

import csv
import io
import math
import tempfile
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.data.encoding import encode
from sfumato.data.reading import read
from sfumato.data.schema import Attribute, Category, ItemSet, Number, Schema
from sfumato.data.table import Table
from sfumato.data.writing import give_back, write
from sfumato.errors import hides

TEXT = st.one_of(
    st.sampled_from(
        [
            "",
            " ",
            "a",
            "007",
            "1",
            "NA",
            "nan",
            "null",
            "a,b",
            'say "hi"',
            "two\nlines",
            "\r",
            "\r\n",
            "𝔘",
            "é",
            ";",
        ]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
)
WHOLE = st.one_of(st.integers(-5, 5), st.sampled_from([-(2**63), 2**63 - 1]), st.integers(-(2**63), 2**63 - 1))
LARGE = st.one_of(st.integers(0, 5), st.just(2**64 - 1), st.integers(0, 2**64 - 1))
FLOAT = st.one_of(st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf, 5e-324, 1.5]), st.floats())
KINDS: dict[str, tuple[st.SearchStrategy[Any], pa.DataType]] = {
    "text": (TEXT, pa.string()),
    "whole": (WHOLE, pa.int64()),
    "large": (LARGE, pa.uint64()),
    "float": (FLOAT, pa.float64()),
    "date": (st.dates(), pa.date32()),
    "time": (st.datetimes(), pa.timestamp("us")),
    "items": (
        st.frozensets(st.text('abc;,"', min_size=1, max_size=2), max_size=3).map(sorted),
        pa.list_(pa.string()),
    ),
}
ATTRIBUTES: dict[str, Attribute] = {
    "text": Category(),
    "whole": Number(),
    "large": Number(),
    "float": Number(),
    "date": Number(calendar="day"),
    "time": Number(calendar="second"),
    "items": ItemSet(separator="|"),
}
NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=5).filter(
    lambda name: name.strip() == name and not hides(name)
)


def look(name: str) -> str:
    """What two names must differ in."""
    return " ".join(unicodedata.normalize("NFKC", name).split())


@st.composite
def tables(draw: st.DrawFn) -> tuple[pa.Table, Schema]:
    """A table of one to five columns of any kind, and its schema."""
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique_by=look))
    rows = draw(st.integers(1, 8))
    columns, attributes = {}, {}
    for name in names:
        kind = draw(st.sampled_from(sorted(KINDS)))
        strategy, arrow = KINDS[kind]
        values = draw(st.lists(st.none() | strategy, min_size=rows, max_size=rows))
        columns[name] = pa.array(values, arrow)
        attributes[name] = ATTRIBUTES[kind]
    return pa.table(columns), Schema(attributes)


def _cell(value: object) -> str:
    """A cell as anyone would write it: nothing for missing, quotes around an empty text."""
    if value is None:
        return ""
    if isinstance(value, list):
        value = "|".join(value)
    text = repr(value) if isinstance(value, float) else str(value)
    if text and not set(text) & set(',;|\t"\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'


def to_csv(table: pa.Table) -> str:
    """The table as CSV, written by nothing of ours."""
    header = io.StringIO()
    csv.writer(header, quoting=csv.QUOTE_ALL).writerow(table.column_names)
    lines = [",".join(_cell(value) for value in row.values()) for row in table.to_pylist()]
    return header.getvalue() + "\n".join(lines) + "\n"


def meaning(rows: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """Rows as text: NaN equals NaN, -0.0 differs from 0.0, 1 differs from 1.0."""
    return [{name: repr(value) for name, value in row.items()} for row in rows]


def as_written(rows: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """The same of rows that were written: there is one zero."""
    return [{name: "0.0" if text == "-0.0" else text for name, text in row.items()} for row in meaning(rows)]


def check_codes(table: Table) -> None:
    """The codebook is ascending and distinct, without nulls, and every entry is in use."""
    for column in table.columns.values():
        assert column.values.null_count == 0
        used = set(column.codes.tolist()) - {len(column.values)}
        assert used == set(range(len(column.values)))
        if pa.types.is_string(column.values.type):
            texts = [str(value) for value in column.values]
            assert texts == sorted(set(texts))


FEW = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.slow
@FEW
@given(tables())
def test_csv_to_codes_to_parquet_to_frames(drawn: tuple[pa.Table, Schema]) -> None:
    raw, schema = drawn
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_text(to_csv(raw), encoding="utf-8", newline="")
        table = read(path, schema)
        check_codes(table)
        labels = _as_declared(table.to_arrow(), raw)
        assert meaning(labels.to_pylist()) == meaning(raw.to_pylist())
        write(labels, Path(folder) / "t.parquet", order=None)
        written = pq.read_table(Path(folder) / "t.parquet")
    assert meaning(written.to_pylist()) == as_written(raw.to_pylist())
    for origin in ("pandas", "polars"):
        frame = give_back(written, "pandas" if origin == "pandas" else "polars")
        again = read(frame, schema)
        assert again.origin == origin
        assert _missing(meaning(again.to_arrow().to_pylist())) == _missing(as_written(raw.to_pylist()))


def _missing(rows: Any) -> Any:
    """pandas' usual types have one mark for missing numbers, which is no number."""
    return [{name: "None" if cell == "nan" else cell for name, cell in row.items()} for row in rows]


def _as_declared(table: pa.Table, raw: pa.Table) -> pa.Table:
    """A CSV column of whole floats or of small large numbers is read narrower: back to the type it had."""
    columns = {}
    for name in raw.column_names:
        kind, found = raw.schema.field(name).type, table.column(name)
        columns[name] = found if pa.types.is_list(kind) else found.cast(kind)
    return pa.table(columns)


@FEW
@given(tables())
def test_our_csv_reads_as_it_was_written(drawn: tuple[pa.Table, Schema]) -> None:
    raw, schema = drawn
    items = {name: "|" for name in raw.column_names if isinstance(schema[name], ItemSet)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        write(raw, path, order=None, separators=items)
        again = _as_declared(read(path, schema).to_arrow(), raw)
    assert meaning(again.to_pylist()) == as_written(raw.to_pylist())


@FEW
@given(tables(), st.randoms(use_true_random=False))
def test_any_order_of_rows_gives_the_same_codebook(drawn: tuple[pa.Table, Schema], chance: Any) -> None:
    raw, schema = drawn
    order = list(range(raw.num_rows))
    chance.shuffle(order)
    table, moved = encode(raw, schema), encode(raw.take(order), schema)
    for name, column in table.columns.items():
        values, again = column.values, moved.columns[name].values
        assert values.type == again.type
        assert [repr(value) for value in values.to_pylist()] == [
            repr(value) for value in again.to_pylist()
        ]  # -0.0, NaN
        if not isinstance(schema[name], ItemSet):
            assert column.codes[np.array(order)].tolist() == moved.column(name).codes.tolist()


@FEW
@given(st.lists(st.none() | TEXT, min_size=1, max_size=12), st.integers(1, 5))
def test_chunks_and_dictionaries_make_no_difference(texts: list[str | None], size: int) -> None:
    plain = pa.array(texts, pa.string())
    chunked = pa.chunked_array([plain[at : at + size] for at in range(0, len(texts), size)])
    schema = Schema(x=Category())
    expected = encode(pa.table({"x": plain}), schema).column("x")
    for other in (
        chunked,
        chunked.dictionary_encode(),
        plain.cast(pa.large_string()),
        plain.dictionary_encode(),
    ):
        found = encode(pa.table({"x": other}), schema).column("x")
        assert found.codes.tolist() == expected.codes.tolist()
        assert found.values.to_pylist() == expected.values.to_pylist()
