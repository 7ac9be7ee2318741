"""With the raw table, for the holder: the released rows are its rows, recoded, in another order."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import TableError
from sfumato.privacy.verify import Verdict, verify
from sfumato.privacy.verify.raw.rows import alike

if TYPE_CHECKING:
    from tests.conftest import Blueprint


def failed(verdict: Verdict) -> set[str]:
    return {check.name for check in verdict.failed}


def _pandas(table: pa.Table) -> Any:
    return importlib.import_module("pandas").DataFrame(table.to_pylist())


KINDS: dict[str, Callable[[pa.Table], object]] = {
    "pyarrow": lambda table: table,
    "polars": lambda table: pl.DataFrame(table),
    "lazy": lambda table: pl.DataFrame(table).lazy(),
    "pandas": _pandas,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_released_rows_are_the_raw_rows(kind: str, form: str, blueprint: Blueprint, tmp_path: Path) -> None:
    folder = (blueprint.write if form == "parquet" else blueprint.write_csv)(tmp_path / "out")
    verdict = verify(folder, raw=KINDS[kind](blueprint.raw_table()))
    assert verdict.holds, str(verdict)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_the_raw_table_is_a_file(suffix: str, blueprint: Blueprint, tmp_path: Path) -> None:
    path = tmp_path / f"raw.{suffix}"
    table = blueprint.raw_table()
    if suffix == "csv":
        path.write_text(blueprint.csv_text(table), encoding="utf-8")
    elif suffix == "parquet":
        pq.write_table(table, path)
    else:
        pl.DataFrame(table).write_ipc(path)
    verdict = verify(blueprint.write(tmp_path / "out"), raw=path)
    assert verdict.holds, str(verdict)


def test_texts_that_mean_missing(blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    rows = [{**row, "age": "?" if row["age"] is None else str(row["age"])} for row in blueprint.raw]
    raw = pa.Table.from_pylist(rows)
    assert "raw rows" in failed(verify(folder, raw=raw))
    assert verify(folder, raw=raw, missing=["?"]).holds


@pytest.mark.parametrize(
    ("column", "value"),
    [("age", 91), ("age", 16), ("education", "11th"), ("income", "a lot"), ("hours", 1.0), ("born", None)],
)
def test_another_raw_value_is_noticed(column: str, value: object, blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    rows = [dict(row) for row in blueprint.raw]
    rows[7][column] = value
    assert "raw rows" in failed(verify(folder, raw=pa.Table.from_pylist(rows)))


def test_a_cell_that_moved_within_its_claims_is_noticed(blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    rows = blueprint.table().to_pylist()
    first = rows[0]["income"]
    other = next(row for row in rows if row["income"] != first)
    rows[0]["income"], other["income"] = other["income"], first
    blueprint.replace(folder, blueprint.encoded(pa.Table.from_pylist(rows)))
    assert verify(folder).holds
    assert failed(verify(folder, raw=blueprint.raw_table())) == {"raw rows"}


def test_rows_or_columns_that_are_not_in_the_raw_table(blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    raw = blueprint.raw_table()
    assert "raw rows" in failed(verify(folder, raw=raw.slice(1)))
    assert "raw rows" in failed(verify(folder, raw=raw.drop_columns(["income"])))


def test_lifted_records_are_raw_records(blueprint: Blueprint, tmp_path: Path) -> None:
    lifted = blueprint.with_lifted(20)
    folder = lifted.write(tmp_path / "out", lifted=20)
    assert verify(folder, raw=blueprint.raw_table()).holds
    rows = lifted.table().to_pylist()
    changed = next(row for row in rows if row["education"] == "ANY" and row["income"] == ">50K")
    changed["income"] = "<=50K"
    blueprint.replace(folder, blueprint.encoded(pa.Table.from_pylist(rows)))
    assert verify(folder).holds
    assert failed(verify(folder, raw=blueprint.raw_table())) == {"raw rows"}


@pytest.mark.parametrize("stated", [0, 10])
def test_more_lifted_records_than_stated(stated: int, blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.with_lifted(20).write(tmp_path / "out", lifted=20)
    blueprint.edit(folder, "certificate.json", lambda c: c.update(lifted=stated))
    assert {"lifted", "raw rows"} <= failed(verify(folder, raw=blueprint.raw_table()))


def test_rows_that_were_not_shuffled(blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    kept = blueprint.encoded(pa.Table.from_pylist(list(blueprint.shown)))
    blueprint.replace(folder, kept)
    assert verify(folder).holds
    assert failed(verify(folder, raw=blueprint.raw_table())) == {"row order"}
    turned = pa.array(range(239, 179, -1))
    half = pa.concat_tables([kept.slice(0, 180), kept.take(turned)])
    blueprint.replace(folder, half)
    assert failed(verify(folder, raw=blueprint.raw_table())) == {"row order"}
    blueprint.edit(folder, "certificate.json", lambda c: c.update(row_order="kept"))
    assert verify(folder, raw=blueprint.raw_table()).holds


def test_a_raw_table_that_cannot_be_read_is_an_error(blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    (tmp_path / "raw.parquet").write_bytes(b"nothing")
    for raw in (tmp_path / "raw.parquet", tmp_path / "nowhere.csv", 7):
        with pytest.raises(TableError):
            verify(folder, raw=raw)


@pytest.mark.parametrize("released", ["list", "text"])
@pytest.mark.parametrize("raw", ["list", "text"])
def test_sets_have_no_order(released: str, raw: str) -> None:
    rows = [["q", "p", "p"], ["q"], [], None]
    texts = ["p;q", "q", "", None]
    shown = pl.Series("items", [["p", "q"], ["q"], [], None]) if released == "list" else pl.Series("items", texts)
    given = pl.Series("items", rows) if raw == "list" else pl.Series("items", texts)
    both = alike(shown.cast(pl.Categorical) if released == "text" else shown, given)
    assert both.released.to_list() == both.expected.to_list()
    other = alike(shown.cast(pl.Categorical) if released == "text" else shown, given.reverse())
    assert other.released.to_list() != other.expected.to_list()
