"""Whatever else lies in the table's file is found: metadata, statistics, indexes, filters, unused entries, bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.privacy.verify import verify
from sfumato.privacy.verify.parquet import column_of, nothing_else_in_parquet
from sfumato.privacy.verify.table import read_csv
from sfumato.privacy.verify.thrift import Struct
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    from tests.conftest import Blueprint


def look(blueprint: Blueprint, folder: Path, table: pa.Table, **options: Any) -> str:
    folder.mkdir(exist_ok=True)
    blueprint.write_table(table, folder, **options)
    path = folder / "table.parquet"
    return nothing_else_in_parquet(path, pl.read_parquet(path, glob=False))


GOOD: dict[str, dict[str, Any]] = {
    "as it is written": {},
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


@pytest.mark.parametrize("name", GOOD)
def test_a_bare_file_holds(name: str, blueprint: Blueprint, tmp_path: Path) -> None:
    rows = blueprint.table().to_pylist()
    table = blueprint.encoded(pa.Table.from_pylist(rows))
    assert "every dictionary entry is in use" in look(blueprint, tmp_path, table, **GOOD[name])


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
    assert [check.name for check in verify(folder).failed] == ["nothing else"]


def test_metadata_of_pandas_fails(blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    table = blueprint.table()
    with pq.ParquetWriter(folder / "table.parquet", table.schema, store_schema=False, write_statistics=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"pandas": "{}"})
    blueprint.rehash(folder)
    assert [check.name for check in verify(folder).failed] == ["nothing else"]


def with_entry(table: pa.Table, name: str, entry: str) -> pa.Table:
    column = table.column(name).combine_chunks()
    assert isinstance(column, pa.DictionaryArray)
    entries = pa.array([*column.dictionary.to_pylist(), entry])
    wider = pa.DictionaryArray.from_arrays(column.indices, entries)
    return table.set_column(table.column_names.index(name), name, wider)


@pytest.mark.parametrize("options", [{}, {"compression": "none"}, {"row_group_size": 100}], ids=str)
@pytest.mark.parametrize("column", ["country", "income"])
def test_an_entry_that_no_row_shows_fails(
    column: str, options: dict[str, Any], blueprint: Blueprint, tmp_path: Path
) -> None:
    folder = blueprint.write(tmp_path / "out")
    blueprint.replace(folder, with_entry(blueprint.table(), column, "Atlantis"), **options)
    verdict = verify(folder)
    assert [check.name for check in verdict.failed] == ["nothing else"]
    assert "Atlantis" not in str(verdict)


def test_lists_and_numbers(blueprint: Blueprint, tmp_path: Path) -> None:
    table = pa.table(
        {"items": [["a", "b"], [], None, ["a"]], "x": [0.0, -0.0, float("nan"), None], "n": [1, 1, 2, None]}
    )
    assert look(blueprint, tmp_path, table)


def test_hidden_bytes_fail(blueprint: Blueprint, tmp_path: Path) -> None:
    look(blueprint, tmp_path, blueprint.table())
    path = tmp_path / "table.parquet"
    good = path.read_bytes()
    table = pl.read_parquet(path, glob=False)
    footer = len(good) - 8 - int.from_bytes(good[-8:-4], "little")
    path.write_bytes(good[:footer] + b"person 1 has 17" + good[footer:])
    assert pl.read_parquet(path, glob=False).equals(table)
    with pytest.raises(CheckError, match="no page"):
        nothing_else_in_parquet(path, table)


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


@pytest.mark.parametrize("number", [8, 12, 14, 15, 17])
def test_a_column_s_metadata_and_statistics_fail_without_those_of_pages(number: int) -> None:
    bare: Struct = {2: 0, 3: {1: 6, 7: 10, 9: 4}}
    assert column_of(bare) == bare[3]
    with pytest.raises(CheckError):
        column_of({2: 0, 3: {1: 6, 7: 10, 9: 4, number: {}}})
    with pytest.raises(CheckError):
        column_of({**bare, 6: 100})
