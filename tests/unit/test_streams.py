"""Tables read by batches: the same codes as in memory, the same refusals, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.data import csv_files, packed_files
from sfumato.data.grouping import pairs
from sfumato.data.masked import Masked
from sfumato.data.reading import read
from sfumato.data.safe_files import Progress
from sfumato.data.sources import scratch
from sfumato.data.sources.coding import coded
from sfumato.data.sources.source import RawTable
from sfumato.data.table import Column, ItemColumn, Table
from sfumato.data.writing import write, write_coded
from sfumato.errors import SfumatoError, TableError
from sfumato.privacy.ledger.entries import likeness
from sfumato.privacy.ledger.keyed_rows import Secret
from sfumato.randomness import Secure, Seeded

SCHEMA = sf.Schema(
    name=sf.Category(role="identifier"),
    age=sf.Number(role="quasi", missing=("?", "-1")),
    town=sf.Category(role="quasi", missing=("NA",)),
    born=sf.Number(role="quasi", calendar="day"),
    pay=sf.Number(role="sensitive"),
    ills=sf.ItemSet(role="plain"),
)
ROWS = 3000


def people() -> pa.Table:
    """Numbers with both zeros and NaN, more towns than a byte counts, missing values of every kind, sets as text."""
    chance = np.random.default_rng(3)
    at = np.arange(ROWS)
    return pa.table(
        {
            "name": [f"p{row}" for row in at],
            "age": pa.array(np.where(at % 50 == 0, -1, chance.integers(17, 90, ROWS)), mask=at % 70 == 0),
            "town": pa.array([("NA" if row % 90 == 0 else f"town {row * row % 977}") for row in at], mask=at % 80 == 0),
            "born": pa.array(chance.integers(0, 9000, ROWS).astype(np.int32), mask=at % 33 == 0).cast(pa.date32()),
            "pay": pa.array(np.where(at % 7 == 0, -0.0, np.where(at % 9 == 0, np.nan, at % 400)), mask=at % 8 == 0),
            "ills": pa.array([["a;b", "", "b;a;;a", "c"][row % 4] for row in at], mask=at % 5 == 0),
        }
    )


def _csv(folder: Path) -> Path:
    write(people(), folder / "t.csv", order=None)
    return folder / "t.csv"


def _parquet(folder: Path) -> Path:
    pq.write_table(people(), folder / "t.parquet", row_group_size=700)
    return folder / "t.parquet"


def _arrow(folder: Path) -> Path:
    feather.write_feather(people(), folder / "t.feather", chunksize=400)
    return folder / "t.feather"


def _parts(folder: Path) -> Path:
    (folder / "parts").mkdir(exist_ok=True)
    for at in range(0, ROWS, 1000):
        pq.write_table(people().slice(at, 1000), folder / "parts" / f"{at:05}.parquet")
    (folder / "parts" / "_SUCCESS").touch()
    return folder / "parts"


class Streaming:
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader: Any = people().to_reader(max_chunksize=500)
        return reader.__arrow_c_stream__(requested_schema)


FORMS: dict[str, Callable[[Path], Any]] = {
    "csv": _csv,
    "parquet": _parquet,
    "arrow": _arrow,
    "parts": _parts,
    "stream": lambda folder: Streaming(),
}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_files, "_BATCH", 300)
    monkeypatch.setattr(csv_files, "_BLOCK", 20_000)
    monkeypatch.setattr(scratch, "BLOCK", 256)


def same(one: Table, other: Table) -> None:
    assert (list(one.columns), one.rows) == (list(other.columns), other.rows)
    for name, column in one.columns.items():
        found = other.columns[name]
        assert column.values.type == found.values.type
        assert list(map(repr, column.values.to_pylist())) == list(map(repr, found.values.to_pylist()))
        assert column.codes.dtype == found.codes.dtype
        assert column.codes.tolist() == found.codes.tolist()
        if isinstance(column, ItemColumn) and isinstance(found, ItemColumn):
            assert column.offsets.tolist() == found.offsets.tolist()
            assert column.missing_rows.tolist() == found.missing_rows.tolist()


@pytest.mark.parametrize("form", FORMS)
def test_batches_give_the_codes_that_memory_gives(form: str, tmp_path: Path) -> None:
    same(read(FORMS[form](tmp_path), SCHEMA, stream=False), read(FORMS[form](tmp_path), SCHEMA, stream=True))


@pytest.mark.parametrize("form", FORMS)
def test_the_ledger_sees_the_same_table(form: str, tmp_path: Path) -> None:
    seen: list[Any] = []

    def look(raw: RawTable) -> None:
        seen.append(likeness(raw, Secret(bytes(32))).to_json())

    for stream in (False, True):
        read(FORMS[form](tmp_path), SCHEMA, stream=stream, witness=look)
    assert seen[0] == seen[1]


PLAIN = sf.Schema(a=sf.Category(), b=sf.Number())
NASTY = {
    "line breaks in quotes": 'a,b\n"x\ny",1\n"x\r\ny",2\n',
    "doubled quotes": 'a,b\n"say ""hi""",1\n"""",2\n',
    "empty and missing": 'a,b\n"",1\n,2\nx,\n',
    "semicolons": "a;b\nx;1\ny;2\n",
    "carriage returns": "a,b\r\nx,1\r\ny,2\r\n",
    "blank lines": "a,b\n\nx,1\n\n\ny,2\n\n",
    "no end of line": "a,b\nx,1\ny,2",
    "byte order mark": "\ufeffa,b\nx,1\n",
    "leading zeros": "a,b\n007,01\n7,1\n",
    "spaces": "a,b\n x , 1\nx,1 \n",
    "large numbers": "a,b\nx,9223372036854775808\ny,1\n",
    "decimals late": "a,b\n" + "x,1\n" * 9000 + "x,1.5\n",
    "letters": "a,b\n\u00e4\u4f60\U0001f600,1\n",
    "too few fields": "a,b\n" + "x,1\n" * 9000 + "x\n",
    "too many fields": "a,b\nx,1\ny,2,3\n",
    "an open quote": 'a,b\nx,1\n"y,2\n',
    "text among numbers": "a,b\n" + "x,1\n" * 9000 + "x,one\n",
    "no rows": "a,b\n",
    "nothing": "",
}


def outcome(path: Path, **how: Any) -> Table | str:
    try:
        return read(path, PLAIN, **how)
    except SfumatoError as error:
        return str(error)


@pytest.mark.parametrize("encoding", [None, "latin-1", "utf-16"])
@pytest.mark.parametrize("case", NASTY)
def test_csv_is_read_by_the_same_rules(case: str, encoding: str | None, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(NASTY[case].encode(encoding or "utf-8", errors="replace"))
    one, other = (outcome(path, stream=stream, encoding=encoding) for stream in (False, True))
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
    else:
        same(one, other)


def test_types_that_are_counted_by_hash_and_those_that_are_kept_whole() -> None:
    table = pa.table(
        {
            "price": pa.array([Decimal("1.50"), None, Decimal("-2.00"), Decimal("1.50")] * 100),
            "moment": pa.array([1, 2, None, 1] * 100, pa.timestamp("us", tz="UTC")),
            "truth": pa.array([True, None, False, True] * 100),
            "lists": pa.array([["a"], [], None, ["b", "a"]] * 100),
            "coded": pa.array([7, None, 9, 7] * 100, pa.int16()).dictionary_encode(),
        }
    )
    found = coded(table.to_batches(max_chunksize=64), table.schema, progress=Progress())
    for name, column in found.columns.items():
        held = column.to_pylist()
        assert held == table.column(name).to_pylist()
        assert isinstance(column, Column) == (name != "lists")


@pytest.mark.parametrize("turned", [False, True], ids=["as they come", "the last first"])
@pytest.mark.parametrize("n", [254, 255, 256, 300, 65_535, 65_536, 70_000])
def test_codes_widen_as_values_come(n: int, turned: bool) -> None:
    file, at = scratch.Scratch(), np.arange(n)
    order = at[::-1] if turned else at
    for begin in range(0, n, 100):
        some = at[begin : begin + 100]
        file.append(np.arange(len(some) + 1) - 1, np.append(some, -1))  # one of them missing
    codes = file.finish(order)
    places = np.arange(len(codes))
    expected = np.concatenate([np.append(n, order[begin : begin + 100]) for begin in range(0, n, 100)])
    assert codes[places].tolist() == expected.tolist()
    assert scratch.in_file(codes)


def test_what_cannot_be_streamed_says_so(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="by batches"):
        read(people(), SCHEMA, stream=True)
    (tmp_path / "mixed").mkdir()
    (tmp_path / "mixed" / "notes.txt").write_text("x")
    with pytest.raises(TableError, match="holds Parquet files"):
        read(tmp_path / "mixed", SCHEMA)
    pq.write_table(people(), tmp_path / "parts.parquet")
    parts = _parts(tmp_path)
    pq.write_table(people().drop_columns(["pay"]), parts / "z.parquet")
    with pytest.raises(TableError, match="other columns"):
        read(parts, SCHEMA)
    pq.write_table(people().set_column(1, "age", people()["age"].cast(pa.float64())), parts / "z.parquet")
    for stream in (True, False):
        with pytest.raises(TableError, match="different types"):
            read(parts, SCHEMA, stream=stream)


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: object, **more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(TableError, match="TMPDIR"):
        scratch.room(10, np.uint8)
    nearly = Mock(**{"write.side_effect": [3, OSError(28, "No space left on device")]})
    monkeypatch.setattr(scratch, "TemporaryFile", lambda **settings: nearly)
    with pytest.raises(TableError, match="TMPDIR"):  # the first write took a part, and said nothing
        scratch.Scratch().append(np.arange(5), np.arange(5))


KILLED = """
import sys, time
from sfumato.data.reading import read
import sfumato as sf
def wait(raw):
    print("reading", flush=True)
    time.sleep(60)
read(sys.argv[1], sf.Schema(a=sf.Number()), stream=True, witness=wait)
"""


def test_nothing_is_left_when_it_is_killed(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": np.arange(100_000)}), tmp_path / "t.parquet")
    (tmp_path / "tmp").mkdir()
    command = [sys.executable, "-c", KILLED, str(tmp_path / "t.parquet")]
    run = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(tmp_path / "tmp")}, stdout=subprocess.PIPE)
    assert run.stdout is not None
    assert run.stdout.readline().strip() == b"reading"
    assert str(tmp_path / "tmp") in Path(f"/proc/{run.pid}/maps").read_text()  # it has codes there
    assert not any((tmp_path / "tmp").iterdir())  # under no name
    run.send_signal(signal.SIGKILL)
    run.wait()
    time.sleep(0.1)
    assert not any((tmp_path / "tmp").iterdir())


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_rows_in_pieces_are_written_as_rows_at_once(suffix: str, tmp_path: Path) -> None:
    table = read(_parquet(tmp_path), SCHEMA)
    masked = Masked.made(table.columns, word="x")
    order = Seeded(4).permutation(ROWS)
    write(masked.to_arrow(), tmp_path / f"whole.{suffix}", order=order)
    pieces = (order[at : at + 77] for at in range(0, ROWS, 77))
    write_coded(masked.columns, tmp_path / f"pieces.{suffix}", pieces=pieces)
    assert (tmp_path / f"whole.{suffix}").read_bytes() == (tmp_path / f"pieces.{suffix}").read_bytes()


def test_a_secure_order_in_buckets_is_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.randomness.PIECE", 2)
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(4800):
        order = tuple(np.concatenate(list(Secure().pieces(4))).tolist())
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 24
    chi = sum((count - 200) ** 2 / 200 for count in counts.values())
    assert chi < 70  # 23 degrees of freedom: beyond with a chance of one in a million


@pytest.mark.parametrize("cells", [2**22, 10])
def test_pairs_are_counted(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.data.grouping._CELLS", cells)
    monkeypatch.setattr("sfumato.data.grouping._BLOCK", 100)
    chance = np.random.default_rng(0)
    one, other = chance.integers(0, 9, 1000).astype(np.uint8), chance.integers(0, 40, 1000)
    found = pairs(one, other)
    keys, counts = np.unique(one.astype(np.int64) * 40 + other, return_counts=True)
    assert (found.first * 40 + found.second).tolist() == keys.tolist()
    assert found.counts.tolist() == counts.tolist()
