"""A written file holds the shown values and nothing else, and appears whole or not at all."""

from __future__ import annotations

import datetime
import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.data.canonical import sheet as sheets
from sfumato.data.canonical.parquet import write_parquet
from sfumato.data.reading import read
from sfumato.data.schema import ItemSet, Number, Schema
from sfumato.data.table import Origin
from sfumato.data.writing import give_back, write
from sfumato.errors import TableError
from sfumato.randomness import Secure

DAY = datetime.date(2001, 2, 3)
TABLE = pa.table(
    {
        "label": pa.DictionaryArray.from_arrays(
            pa.array([3, 1, None, 3], pa.int8()), pa.array(["unused", "b", "never", "a"])
        ),
        "text": ["x", "", None, 'q",\n'],
        "whole": pa.array([1, None, 2**63 - 1, -5]),
        "part": [0.5, -0.0, float("nan"), 5.0],
        "day": [DAY, None, DAY, DAY],
        "yes": [True, False, None, True],
    }
).replace_schema_metadata({"pandas": "secret"})
ORDER = np.array([2, 0, 3, 1])


def _meaning(table: pa.Table) -> list[dict[str, str]]:
    """Rows as text, so that NaN equals NaN and -0.0 differs from 0.0."""
    return [{name: str(value) for name, value in row.items()} for row in table.to_pylist()]


def _written(table: pa.Table) -> list[dict[str, str]]:
    """Rows as they are written: there is one zero."""
    return [{name: "0.0" if text == "-0.0" else text for name, text in row.items()} for row in _meaning(table)]


def test_parquet_holds_the_values_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write(TABLE, path, order=ORDER)
    file = pq.ParquetFile(path)
    assert file.schema_arrow.field("label").type == pa.string()
    assert _meaning(file.read()) == _written(TABLE.take(ORDER))
    assert file.metadata.metadata is None
    for at in range(file.metadata.num_columns):
        assert not file.metadata.row_group(0).column(at).is_stats_set
    content = path.read_bytes()
    for word in (b"unused", b"never", b"secret", b"pandas", b"ARROW:schema"):
        assert word not in content


def test_the_dictionary_does_not_tell_the_raw_order(tmp_path: Path) -> None:
    labels = pa.array(["zebra", "apple", "mango"] * 5)
    shuffled = pa.DictionaryArray.from_arrays(pa.array([2, 0, 1] * 5), pa.array(["apple", "mango", "zebra"]))
    for name, column in {"raw": labels.dictionary_encode(), "sorted": shuffled}.items():
        write(pa.table({"x": column}), tmp_path / f"{name}.parquet", order=None)
    assert (tmp_path / "raw.parquet").read_bytes() == (tmp_path / "sorted.parquet").read_bytes()


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write(TABLE, path, order=ORDER)
    assert path.read_text() == (
        "label,text,whole,part,day,yes\n"
        ",,9223372036854775807,NaN,2001-02-03,\n"
        "a,x,1,0.5,2001-02-03,true\n"
        'a,"q"",\n",-5,5.0,2001-02-03,true\n'
        'b,"",,0.0,,false\n'
    )


def test_no_order_keeps_the_order(tmp_path: Path) -> None:
    write(TABLE, tmp_path / "t.parquet", order=None)
    assert _meaning(pq.read_table(tmp_path / "t.parquet")) == _written(TABLE)


def test_a_secure_order_moves_whole_rows(tmp_path: Path) -> None:
    numbers = np.arange(1000)
    table = pa.table({"n": numbers, "s": pa.array(numbers.astype(str)).dictionary_encode()})
    write(table, tmp_path / "t.parquet", order=Secure().permutation(1000))
    written = pq.read_table(tmp_path / "t.parquet").to_pydict()
    assert [str(n) for n in written["n"]] == written["s"]
    assert sorted(written["n"]) == numbers.tolist()
    assert written["n"] != numbers.tolist()


@pytest.mark.parametrize("order", [[0, 0, 1, 2], [0, 1], [0, 1, 2, 4]])
def test_an_order_names_every_row_once(order: list[int], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="once"):
        write(TABLE, tmp_path / "t.csv", order=np.array(order))
    assert list(tmp_path.iterdir()) == []


LISTS: list[pa.Array[Any]] = [
    pa.array([["b", "a"], [], None]),
    pa.array([["b", "a"], [], None], pa.list_view(pa.string())),
    pa.array([["b", "a"], [], None], pa.large_list(pa.dictionary(pa.int8(), pa.string()))),
]


@pytest.mark.parametrize("lists", LISTS)
def test_lists(lists: pa.Array[Any], tmp_path: Path) -> None:
    table = pa.table({"n": [1, 2, 3], "x": lists})
    write(table, tmp_path / "t.parquet", order=np.array([2, 0, 1]))
    assert pq.read_table(tmp_path / "t.parquet")["x"].to_pylist() == [None, ["a", "b"], []]
    write(table, tmp_path / "t.csv", order=None, separators={"x": "|"})
    assert (tmp_path / "t.csv").read_text() == 'n,x\n1,a|b\n2,""\n3,\n'
    again = read(tmp_path / "t.csv", Schema(n=Number(), x=ItemSet(separator="|")))
    assert again.columns["x"].decode().to_pylist() == [["a", "b"], [], None]


@pytest.mark.parametrize("item", ["a;b", ""])
def test_items_that_csv_cannot_hold(item: str, tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"x: .*separator ';'"):
        write(pa.table({"x": [["c", item]]}), tmp_path / "t.csv", order=None)
    assert list(tmp_path.iterdir()) == []


def test_paths_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="directory"):
        write(TABLE, _folder(tmp_path), order=None)
    with pytest.raises(TableError, match="no such folder"):
        write(TABLE, tmp_path / "nowhere" / "t.csv", order=None)
    with pytest.raises(TableError, match="CSV or Parquet"):
        write(TABLE, tmp_path / "t.xlsx", order=None)


def _folder(path: Path) -> Path:
    (path / "folder.csv").mkdir()
    return path / "folder.csv"


def test_a_folder_that_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "touch", refuse)
    with pytest.raises(TableError, match="Permission denied"):
        write(TABLE, tmp_path / "t.csv", order=None)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_failure_leaves_the_old_file_and_no_other(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / name).write_text("old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TableError, match="No space left"):
        write(TABLE, tmp_path / name, order=None)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [(name, "old")]


FILLING = """
import resource, sys
import pyarrow as pa
import polars
from sfumato.data.writing import write
from sfumato.errors import TableError
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    write(pa.table({"x": [f"{n * 7919 % 1000003}" for n in range(300_000)]}), sys.argv[1], order=None)
except TableError as error:
    sys.exit(7 if "not at all" in str(error) else 8)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on file sizes")
@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_real_write_that_runs_out_of_room(name: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FILLING, str(tmp_path / name)], check=False, timeout=60)
    assert done.returncode == 7
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(TABLE, tmp_path / "t.parquet", order=None)
    assert list(tmp_path.iterdir()) == []


def test_the_written_file_has_ordinary_permissions(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write(TABLE, tmp_path / "t.csv", order=None)
    assert (tmp_path / "t.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_give_back() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = give_back(TABLE, "pandas")
    assert isinstance(frame, pandas.DataFrame)
    assert frame["whole"].tolist()[2] == 2**63 - 1
    assert isinstance(give_back(TABLE, "polars"), polars.DataFrame)
    origins: tuple[Origin, ...] = ("path", "pyarrow")
    for origin in origins:
        table = give_back(TABLE, origin)
        assert table.schema.field("label").type == pa.string()
        assert table.schema.metadata is None
        assert _meaning(table) == _meaning(TABLE)


def test_large_columns_are_gone_through_in_their_own_order(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """However rows are taken, the file is the same."""
    few = np.random.default_rng(2).integers(0, [[5], [300]], (2, 1000))
    sheet, order = sheets.Sheet.of(pa.table({"a": few[0], "b": few[1]})), Secure().permutation(1000)
    write_parquet(sheet, tmp_path / "near", [order[:600], order[600:]])
    monkeypatch.setattr(sheets, "NEAR", 0)
    write_parquet(sheet, tmp_path / "far", [order[:600], order[600:]])
    assert (tmp_path / "near").read_bytes() == (tmp_path / "far").read_bytes()
