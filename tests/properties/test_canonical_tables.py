"""One file for one table: what verify accepts, written again from its values, gives the same bytes."""

from __future__ import annotations

import datetime
import math
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.data.writing import write
from sfumato.privacy.verify.files.csv_file import read_rows
from sfumato.privacy.verify.files.parquet import walk
from sfumato.privacy.verify.verdict import CheckError

ODD = ["", " ", "a", "=1+1", "'=1", "-5", "+5", "-5-3", "@x", "\t", "a,b", '"', "\r", "\n", "NA", "é", "𝔘"]
SOME = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
MANY = settings(SOME, max_examples=75)
TEXT = st.one_of(
    st.sampled_from(ODD),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
)
KINDS: dict[str, tuple[st.SearchStrategy[Any], pa.DataType]] = {
    "text": (TEXT, pa.string()),
    "label": (TEXT, pa.dictionary(pa.int8(), pa.string())),
    "small": (st.integers(-128, 127), pa.int8()),
    "whole": (st.integers(-(2**63), 2**63 - 1), pa.int64()),
    "large": (st.one_of(st.integers(0, 9), st.integers(0, 2**64 - 1)), pa.uint64()),
    "float": (st.one_of(st.sampled_from([0.0, -0.0, math.nan, math.inf]), st.floats()), pa.float64()),
    "single": (st.floats(width=32), pa.float32()),
    "truth": (st.booleans(), pa.bool_()),
    "day": (st.dates(), pa.date32()),
    "moment": (st.datetimes(), pa.timestamp("us")),
    "second": (st.datetimes().map(lambda moment: moment.replace(microsecond=0)), pa.timestamp("s")),
    "instant": (st.datetimes(), pa.timestamp("us", tz="Asia/Tokyo")),
    "time": (st.times(), pa.time64("us")),
    "nothing": (st.none(), pa.null()),
}
LISTS: dict[str, tuple[str, pa.DataType]] = {
    "texts": ("text", pa.string()),
    "numbers": ("whole", pa.int64()),
    "truths": ("truth", pa.bool_()),
}


@st.composite
def tables(draw: st.DrawFn, *, lists: bool = True) -> pa.Table:
    """A table of any columns."""
    rows = draw(st.integers(0, 20))
    columns = {}
    for at in range(draw(st.integers(1, 5))):
        name = draw(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=4)) + str(at)
        kind = draw(st.sampled_from([*KINDS, *(LISTS if lists else ())]))
        if kind in LISTS:
            inner, item = LISTS[kind]
            one: st.SearchStrategy[Any] = st.lists(KINDS[inner][0], max_size=3)
            arrow: pa.DataType = pa.list_(item)
        else:
            one, arrow = KINDS[kind]
        columns[name] = pa.array(draw(st.lists(st.none() | one, min_size=rows, max_size=rows)), arrow)
    return pa.table(columns)


def meaning(table: pa.Table) -> list[tuple[str, list[str]]]:
    """Columns as text: NaN equals NaN, there is one zero, and times with a zone are told in UTC."""
    return [(name, [_meaning(value) for value in table.column(name).to_pylist()]) for name in table.column_names]


def _meaning(value: Any) -> str:
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    if isinstance(value, list):  # a set, whose items stand in order and once
        value = sorted(set(value))
    return repr(0.0 if isinstance(value, float) and not value else value)


@SOME
@given(tables())
def test_any_table_is_read_by_others_and_walked(table: pa.Table) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        write(table, path, order=None)
        found = walk(path)
        read = pq.read_table(path)
        frame = pl.read_parquet(path, glob=False).to_arrow()
        assert meaning(read) == meaning(table) == meaning(frame)
        assert found.rows == table.num_rows
        assert found.missing == {name: table.column(name).null_count for name in table.column_names}
        write(read, Path(folder) / "again.parquet", order=None)
        assert (Path(folder) / "again.parquet").read_bytes() == path.read_bytes()


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Some bytes other than they were, more of them, or fewer."""
    at = chance.randrange(len(content))
    kind = chance.choice(["flip", "flip", "bit", "bit", "insert", "delete", "repeat", "swap"])
    if kind == "flip":
        return content[:at] + bytes([chance.randrange(256)]) + content[at + 1 :]
    if kind == "bit":
        return content[:at] + bytes([content[at] ^ 1 << chance.randrange(8)]) + content[at + 1 :]
    if kind == "insert":
        return content[:at] + chance.randbytes(chance.randint(1, 4)) + content[at:]
    if kind == "delete":
        return content[:at] + content[at + chance.randint(1, 4) :]
    end = at + chance.randint(1, 8)
    if kind == "repeat":
        return content[:end] + content[at:end] + content[end:]
    return content[:at] + content[end : 2 * end - at] + content[at:end] + content[2 * end - at :]


def accepted(look: Callable[[Path], pa.Table], path: Path) -> pa.Table | None:
    try:
        return look(path)
    except CheckError:
        return None


def _parquet(path: Path) -> pa.Table:
    walk(path)
    return pq.read_table(path)


def _csv(path: Path, *, safe: bool) -> pa.Table:
    columns = read_rows(path, spreadsheet_safe=safe)
    texts = {name: [(*one.texts, None)[code] for code in one.codes] for name, one in columns.items()}
    return pa.table({name: pa.array(cells, pa.string()) for name, cells in texts.items()})


@pytest.mark.slow
@MANY
@given(tables(), st.integers(0, 2**32))
def test_what_is_accepted_is_the_one_file_of_its_table(table: pa.Table, seed: int) -> None:
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path, again = Path(folder) / "table.parquet", Path(folder) / "again.parquet"
        write(table, path, order=None)
        good = path.read_bytes()
        for _ in range(40):
            path.write_bytes(damaged(good, chance))
            read = accepted(_parquet, path)
            if read is not None:
                write(read, again, order=None)
                assert again.read_bytes() == path.read_bytes()


@SOME
@given(tables(lists=False), st.booleans())
def test_any_csv_is_read_as_its_texts(table: pa.Table, safe: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        write(table, path, order=None, spreadsheet_safe=safe)
        read = _csv(path, safe=safe)
        assert (read.num_rows, read.column_names) == (table.num_rows, table.column_names)
        for name in table.column_names:
            if pa.types.is_string(table.schema.field(name).type):
                assert read.column(name).to_pylist() == table.column(name).to_pylist()
            assert read.column(name).null_count == table.column(name).null_count
        if safe:
            bare = pc.read_csv(path, parse_options=pc.ParseOptions(newlines_in_values=True))
            assert not [name for name in bare.column_names if name[0] in "=+-@"]


@pytest.mark.slow
@MANY
@given(tables(lists=False), st.integers(0, 2**32), st.booleans())
def test_what_is_accepted_is_the_one_csv_of_its_texts(table: pa.Table, seed: int, safe: bool) -> None:
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path, again = Path(folder) / "table.csv", Path(folder) / "again.csv"
        write(table, path, order=None, spreadsheet_safe=safe)
        good = path.read_bytes()
        for _ in range(40):
            path.write_bytes(damaged(good, chance))
            read = accepted(lambda path: _csv(path, safe=safe), path)
            if read is not None:
                write(read, again, order=None, spreadsheet_safe=safe)
                assert again.read_bytes() == path.read_bytes()
