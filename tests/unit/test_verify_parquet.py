"""Whatever else lies in the table's file is found: metadata, statistics, indexes, filters, unused entries, bytes."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.privacy.verify import verify
from sfumato.privacy.verify.files.parquet import Walked, walk
from sfumato.privacy.verify.table import read_csv
from sfumato.privacy.verify.verdict import CheckError
from tests.forgeries import every_forgery
from tests.parquet_parts import I32, I64, Parts
from tests.releases import release_of

if TYPE_CHECKING:
    from tests.conftest import Blueprint


def look(blueprint: Blueprint, folder: Path, table: pa.Table) -> Walked:
    folder.mkdir(exist_ok=True)
    blueprint.write_table(table, folder)
    return walk(folder / "table.parquet")


def failing(folder: Path) -> set[str]:
    return {check.name for check in verify(folder).failed}


OTHERS: dict[str, dict[str, Any]] = {
    "as pyarrow writes": {"compression": "zstd"},
    "uncompressed": {"compression": "none"},
    "snappy": {"compression": "snappy"},
    "gzip": {"compression": "gzip"},
    "lz4": {"compression": "lz4"},
    "without dictionaries": {"use_dictionary": False},
    "version 2 pages": {"data_page_version": "2.0"},
    "many row groups": {"row_group_size": 50},
    "many pages": {"data_page_size": 64, "write_batch_size": 16},
    "dictionaries that were too large": {"dictionary_pagesize_limit": 1, "write_batch_size": 16},
    "checksums": {"write_page_checksum": True},
}


def test_the_canonical_form_holds(blueprint: Blueprint, tmp_path: Path) -> None:
    table = blueprint.table()
    found = look(blueprint, tmp_path, table)
    assert (found.rows, list(found.missing)) == (table.num_rows, table.column_names)
    assert found.missing == {name: table.column(name).null_count for name in table.column_names}


@pytest.mark.parametrize("name", OTHERS)
def test_the_form_of_other_writers_fails(name: str, blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    assert not failing(folder)
    blueprint.replace(folder, blueprint.table(), **OTHERS[name])
    assert {"nothing else", "shown values"} <= failing(folder)


@pytest.mark.parametrize(
    "options",
    [
        {"write_statistics": True},
        {"write_statistics": ["age"]},
        {"write_page_index": True, "write_statistics": True},
        {"store_schema": True},
        {"sorting_columns": "age"},
        {"bloom_filter_options": {"age": True}},
    ],
    ids=str,
)
def test_more_than_values_fails(options: dict[str, Any], blueprint: Blueprint, tmp_path: Path) -> None:
    if "sorting_columns" in options:
        options = {"sorting_columns": [pq.SortingColumn(0)]}
    folder = blueprint.write(tmp_path / "out")
    try:
        blueprint.replace(folder, blueprint.table(), **options)
    except TypeError:
        pytest.skip("this pyarrow cannot write it")
    assert "nothing else" in failing(folder)


def test_metadata_of_pandas_fails(blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    table = blueprint.table()
    with pq.ParquetWriter(folder / "table.parquet", table.schema, store_schema=False, write_statistics=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"pandas": "{}"})
    blueprint.rehash(folder)
    assert "nothing else" in failing(folder)


def with_entry(table: pa.Table, name: str, entry: str) -> pa.Table:
    column = table.column(name).combine_chunks()
    assert isinstance(column, pa.DictionaryArray)
    entries = pa.array([*column.dictionary.to_pylist(), entry])
    wider = pa.DictionaryArray.from_arrays(column.indices, entries)
    return table.set_column(table.column_names.index(name), name, wider)


@pytest.mark.parametrize("options", [{"compression": "none"}, {"row_group_size": 100}], ids=str)
@pytest.mark.parametrize("column", ["country", "income"])
def test_an_entry_that_no_row_shows_fails(
    column: str, options: dict[str, Any], blueprint: Blueprint, tmp_path: Path
) -> None:
    folder = blueprint.write(tmp_path / "out")
    blueprint.replace(folder, with_entry(blueprint.table(), column, "Atlantis"), **options)
    verdict = verify(folder)
    assert "nothing else" in {check.name for check in verdict.failed}
    assert "Atlantis" not in str(verdict)


def test_lists_and_numbers(blueprint: Blueprint, tmp_path: Path) -> None:
    table = pa.table(
        {"items": [["a", "b"], [], None, ["a"]], "x": [0.0, -0.0, float("nan"), None], "n": [1, 1, 2, None]}
    )
    assert look(blueprint, tmp_path, table).missing == {"items": 1, "x": 1, "n": 1}


@pytest.mark.slow
def test_row_groups_and_every_width(blueprint: Blueprint, tmp_path: Path) -> None:
    rows = 2**20 + 3
    numbers = np.arange(rows)
    columns: dict[str, Any] = {f"{count}": numbers % count for count in (1, 2, 4, 5, 17, 256, 257, 65_537)}
    columns["all"] = pa.array(numbers.astype(str))
    columns["first"] = pa.array(np.where(numbers < 2**20, "one", "two"))
    columns["unsigned"] = pa.array(np.where(numbers < 2**20, 7, 2**64 - 1).astype(np.uint64))
    columns["truth"] = pa.array(numbers % 3 == 0, mask=numbers % 5 == 0)
    columns["nothing"] = pa.array([None] * 2**20 + ["a", None, "b"])
    table = pa.table(columns)
    found = look(blueprint, tmp_path, table)
    assert (found.rows, found.missing["truth"], found.missing["nothing"]) == (rows, (rows + 4) // 5, rows - 2)
    assert pq.read_table(tmp_path / "table.parquet").equals(table)
    assert pl.read_parquet(tmp_path / "table.parquet").equals(pl.DataFrame(table))


def test_an_unsigned_column_has_a_number_that_needs_it(blueprint: Blueprint, tmp_path: Path) -> None:
    look(blueprint, tmp_path, pa.table({"x": pa.array([1, 2**64 - 1], pa.uint64())}))
    parts = Parts.of(tmp_path / "table.parquet")
    parts.entries("x").content = (1).to_bytes(8, "little") + (2).to_bytes(8, "little")
    parts.write(tmp_path / "table.parquet")
    with pytest.raises(CheckError, match="unsigned"):
        walk(tmp_path / "table.parquet")


@pytest.mark.parametrize(
    ("rows", "holds"),
    [
        ("[[0, 2], [0, 1], [0, 0]]", True),
        ("[[0, 1], [1, 2], [0, 2]]", False),
        ("[[1, 2], [0, 2], [0, 2]]", False),
        ("[[0, 3], [0, 2], [0, 2]]", False),
        ("[[0, 2], [1, 1], [0, 2]]", False),
    ],
)
def test_levels_of_lists_say_what_can_be(rows: str, holds: bool, blueprint: Blueprint, tmp_path: Path) -> None:
    look(blueprint, tmp_path, pa.table({"x": [["a"], [], None]}))
    parts = Parts.of(tmp_path / "table.parquet")
    pairs: list[list[int]] = json.loads(rows)
    repeated = sum(pair[0] << at for at, pair in enumerate(pairs))
    defined = sum(pair[1] << 2 * at for at, pair in enumerate(pairs))
    page = parts.data("x")
    page.content = b"\2\0\0\0\3" + bytes([repeated]) + b"\3\0\0\0\3" + defined.to_bytes(2, "little") + page.content[13:]
    parts.write(tmp_path / "table.parquet")
    if holds:
        walk(tmp_path / "table.parquet")
    else:
        with pytest.raises(CheckError):
            walk(tmp_path / "table.parquet")


def test_the_items_of_a_set_ascend(blueprint: Blueprint, tmp_path: Path) -> None:
    look(blueprint, tmp_path, pa.table({"x": [["b", "a", "b"], ["c"], ["a", "c"]], "y": [[True, False], [True], []]}))
    path = tmp_path / "table.parquet"
    assert pq.read_table(path).to_pydict() == {
        "x": [["a", "b"], ["c"], ["a", "c"]],
        "y": [[False, True], [True], []],
    }
    for name, last in (("x", b"\x61\x02"), ("y", b"\x05")):  # b, a, c, a, c; true, false, true
        parts = Parts.of(path)
        parts.data(name).content = parts.data(name).content[: -len(last)] + last
        parts.write(tmp_path / "other.parquet")
        assert pq.read_table(tmp_path / "other.parquet").column(name).to_pylist()[0] in (["b", "a"], [True, False])
        with pytest.raises(CheckError, match="ascend"):
            walk(tmp_path / "other.parquet")


def test_hidden_bytes_fail(blueprint: Blueprint, tmp_path: Path) -> None:
    look(blueprint, tmp_path, blueprint.table())
    path = tmp_path / "table.parquet"
    good = path.read_bytes()
    table = pl.read_parquet(path, glob=False)
    footer = len(good) - 8 - int.from_bytes(good[-8:-4], "little")
    path.write_bytes(good[:footer] + b"person 1 has 17" + good[footer:])
    assert pl.read_parquet(path, glob=False).equals(table)
    with pytest.raises(CheckError, match="more than its pages"):
        walk(path)


IN_PARQUET = {name: forgery for name, forgery in every_forgery().items() if name.startswith("in Parquet")}


def test_most_forgeries_are_read_as_if_nothing_were(tmp_path: Path) -> None:
    """They would work: a reader gets the same table."""
    unseen: list[bool] = []
    for at, forgery in enumerate(IN_PARQUET.values()):
        path = release_of(forgery.of, tmp_path / str(at)) / "table.parquet"
        before = pq.read_table(path)
        forgery.forge(path.parent)
        with pytest.raises(CheckError):
            walk(path)
        with suppress(pa.ArrowException, OSError):
            unseen.append(bool(pq.read_table(path).equals(before)))
    assert sum(unseen) >= 45


def test_no_memory_is_taken_for_rows_that_are_not_there(blueprint: Blueprint, tmp_path: Path) -> None:
    """A few bytes that claim millions of rows, each way that there is."""
    look(blueprint, tmp_path, pa.table({"x": ["a"] * 9, "y": [["a"]] * 9}))
    path = tmp_path / "table.parquet"
    for change in (_claim_rows, _claim_group, _claim_places, _claim_entries):
        blueprint.write_table(pa.table({"x": ["a"] * 9, "y": [["a"]] * 9}), tmp_path)
        parts = Parts.of(path)
        change(parts)
        parts.write(path)
        tracemalloc.start()
        with pytest.raises(CheckError):
            walk(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 10**6


MANY = 2**30


def _claim_rows(parts: Parts) -> None:
    parts.footer[3] = (I64, MANY)


def _claim_group(parts: Parts) -> None:
    parts.footer[3] = parts.group()[3] = (I64, 8 * 600)


def _claim_places(parts: Parts) -> None:
    parts.data("y").header[5][1][1] = (I32, MANY)


def _claim_entries(parts: Parts) -> None:
    parts.entries("x").header[7][1][1] = (I32, MANY)


def test_a_few_long_texts_that_many_rows_repeat_fail(blueprint: Blueprint, tmp_path: Path) -> None:
    long = pa.DictionaryArray.from_arrays(pa.array(np.zeros(200_000, np.int32), pa.int32()), pa.array(["x" * 100_000]))
    with pytest.raises(CheckError, match="far more text"):
        look(blueprint, tmp_path, pa.table({"x": long}))


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"\xff" * 40 + b"PAR1", b"PAR1\0\0\0\0PAR1"])
def test_what_is_no_parquet_fails(content: bytes, blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    (folder / "table.parquet").write_bytes(content)
    names = {check.name for check in verify(blueprint.rehash(folder)).failed}
    assert {"columns", "rows", "shown values", "nothing else"} <= names


def test_masked_columns_hold_text(blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    table = blueprint.table()
    numbers = pa.array([row["age"] for row in blueprint.raw])
    blueprint.replace(folder, table.set_column(0, "age", numbers))
    assert "shown values" in {check.name for check in verify(folder).failed}


CSV_DAMAGE: dict[str, Callable[[str], str]] = {
    "a byte order mark": lambda text: "\ufeff" + text,
    "a comment above": lambda text: "# made from raw.csv\n" + text,
    "a remark in a row": lambda text: text.replace("\n", ",person 1\n", 2),
    "a short row": lambda text: text + "[17-37)\n",
    "a row more": lambda text: text + text.splitlines()[1] + "\n",
    "another header": lambda text: text.replace("age", "Age", 1),
    "no rows": lambda text: text.splitlines()[0],
    "nothing": lambda text: "",
    "too many columns": lambda text: "," * 20_000 + text,
    "a header without an end": lambda text: "a" * 2**21,
}


@pytest.mark.parametrize("name", CSV_DAMAGE)
def test_a_damaged_csv_file_fails(name: str, blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write_csv(tmp_path / "out")
    path = folder / "table.csv"
    path.write_text(CSV_DAMAGE[name](path.read_text(encoding="utf-8")), encoding="utf-8")
    assert not verify(blueprint.rehash(folder)).holds


def test_a_csv_file_is_utf_8(blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write_csv(tmp_path / "out")
    path = folder / "table.csv"
    path.write_bytes(path.read_bytes().replace(b"Mexico", b"M\xe9xico"))
    assert not verify(blueprint.rehash(folder)).holds


def test_an_empty_line_is_a_missing_value_where_there_is_one_column(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('age\na\n\n""\n')
    assert read_csv(path)["age"].to_list() == ["a", None, ""]
