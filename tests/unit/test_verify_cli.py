"""`sfumato verify`: 0 where everything holds, 1 where a check fails, 2 where there is no release."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app, main
from sfumato.cli.verify import raw_table
from sfumato.errors import TableError

if TYPE_CHECKING:
    from tests.conftest import Blueprint


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["sfumato", "verify", *(str(argument) for argument in arguments)])
    with pytest.raises(SystemExit) as ending:
        main()
    return int(ending.value.code or 0)


def test_a_good_release(
    blueprint: Blueprint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = blueprint.write(tmp_path / "out")
    assert run(monkeypatch, folder) == 0
    assert "HOLDS: all 26 checks" in capsys.readouterr().out


def test_a_tampered_release(
    blueprint: Blueprint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = blueprint.write(tmp_path / "out")
    (folder / "README.md").write_text("changed")
    assert run(monkeypatch, folder) == 1
    told = capsys.readouterr().out
    assert "DOES NOT HOLD" in told
    assert "FAIL  hashes" in told


def test_a_broken_release(blueprint: Blueprint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = blueprint.write(tmp_path / "out")
    (folder / "table.parquet").unlink()
    (folder / "recoding.json").write_text("{")
    assert run(monkeypatch, folder) == 1


def test_no_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, tmp_path) == 2
    assert "certificate.json" in capsys.readouterr().err


def test_with_the_raw_table(blueprint: Blueprint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = blueprint.write(tmp_path / "out")
    raw = tmp_path / "raw.csv"
    raw.write_text(blueprint.csv_text(blueprint.raw_table()), encoding="utf-8")
    assert run(monkeypatch, folder, "--raw", raw) == 0
    raw.write_text(raw.read_text(encoding="utf-8").replace("Peru", "Mexico"), encoding="utf-8")
    assert run(monkeypatch, folder, "--raw", raw) == 1
    assert run(monkeypatch, folder, "--raw", tmp_path / "nowhere.csv") == 2


@pytest.mark.parametrize("name", ["raw.arrows", "raw.arrow", "raw.feather"])
def test_with_the_raw_table_as_a_stream_of_arrow(
    name: str, blueprint: Blueprint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = blueprint.write(tmp_path / "out")
    table = blueprint.raw_table()
    for kind in (pa.ipc.new_stream, pa.ipc.new_file):
        with kind(str(tmp_path / name), table.schema) as writer:
            writer.write_table(table)
        assert run(monkeypatch, folder, "--raw", tmp_path / name) == 0


def test_with_the_raw_table_as_a_folder_of_files(
    blueprint: Blueprint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, table = blueprint.write(tmp_path / "out"), blueprint.raw_table()
    (tmp_path / "raw").mkdir()
    pq.write_table(table.slice(0, 2), tmp_path / "raw" / "a.parquet")
    pq.write_table(table.slice(2), tmp_path / "raw" / "b.parquet")
    assert run(monkeypatch, folder, "--raw", tmp_path / "raw") == 0
    pq.write_table(table.slice(3), tmp_path / "raw" / "b.parquet")
    assert run(monkeypatch, folder, "--raw", tmp_path / "raw") == 1


def test_a_workbook_is_read_as_publish_reads_it(tmp_path: Path) -> None:
    for name in ("raw.xlsx", "raw.xlsm"):
        (tmp_path / name).write_bytes(b"no workbook")
        with pytest.raises(TableError, match=r"xcel"):
            raw_table(str(tmp_path / name), tmp_path / "out")


def test_a_raw_table_with_dates_and_decimals_of_its_country_is_compared_by_the_holders_recipe(tmp_path: Path) -> None:
    lines = [f"{1 + n % 28:02}.{1 + n % 12:02}.{1950 + n % 40};{n % 90},{n % 10};{'AB'[n % 2]}" for n in range(400)]
    (tmp_path / "stays.csv").write_text("\n".join(["born;cost;ward", *lines, "k.A.;3,5;Ä"]), encoding="cp1252")
    recipe = """sfumato: 1
table: stays.csv
encoding: cp1252
attributes:
  born: {kind: number, role: quasi, calendar: year, dates: dmy, missing: [k.A.]}
  cost: {kind: number, role: quasi, decimal: comma}
  ward: {kind: category, role: plain}
privacy: [{k_anonymity: 5, on: [born, cost]}]
"""
    (tmp_path / "recipe.yaml").write_text(recipe, encoding="utf-8")
    out = tmp_path / "out"
    made = CliRunner().invoke(
        app, ["publish", str(tmp_path / "recipe.yaml"), "-o", str(out), "--no-report", "--no-suggest"]
    )
    assert made.exit_code == 0, made.output
    checked = CliRunner().invoke(app, ["verify", str(out), "--raw", str(tmp_path / "stays.csv")])
    assert checked.exit_code == 0, checked.output


def german(folder: Path) -> Path:
    """A CSV as offices write it: semicolons, cp1252, 31.12.1990, 1.234,50, and sets with a separator of their own."""
    lines = [
        f"{n};{1 + n % 28:02}.{1 + n % 12:02}.{1950 + n % 40};{'-' if n % 29 == 0 else f'{1 + n % 7}.{n:03},50'};"
        f"{('Köln', 'Ulm', '-')[n % 3]};{'a|b' if n % 2 else 'b'}"
        for n in range(120)
    ]
    path = folder / "stays.csv"
    path.write_bytes("\n".join(["Nr;Geburt;Kosten;Ort;Mittel", *lines, ""]).encode("cp1252"))
    return path


RECIPE = """
sfumato: 1
table: stays.csv
encoding: cp1252
attributes:
  Nr: {kind: category, role: identifier}
  Geburt: {kind: number, role: quasi, calendar: year, dates: dmy, range: ["1950", "1990"]}
  Kosten: {kind: number, role: quasi, decimal: comma, missing: ["-"], range: [0, 5000], outside: clip}
  Ort: {kind: category, role: quasi}
  Mittel: {kind: item_set, role: plain, separator: "|"}
missing: {Kosten: drop}
structure: {clusters: kmeans, k: 2}
privacy:
  - {k_anonymity: 5, on: [Geburt, Kosten, Ort]}
"""


@pytest.mark.parametrize("mask", ["partition", "top_down"])
def test_the_very_file_that_was_published_holds(
    mask: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Dates, decimals, letters, separators and rows left out are read as the recipe in the holder's folder says."""
    raw = german(tmp_path)
    (tmp_path / "recipe.yaml").write_text(f"{RECIPE}mask: {{{mask}: {{}}}}\n", encoding="utf-8")
    out = sf.publish(raw, tmp_path / "recipe.yaml", run=sf.Run(report=False)).write(tmp_path / "out")
    assert run(monkeypatch, out, "--raw", raw) == 0, capsys.readouterr().out
    raw.write_bytes(raw.read_bytes().replace(b"K\xf6ln;b", b"K\xf6ln;a|b", 3))
    assert run(monkeypatch, out, "--raw", raw) == 1
    capsys.readouterr()
    (tmp_path / "out.holder").rename(tmp_path / "elsewhere")
    raw.write_text(german(tmp_path).read_bytes().decode("cp1252"), encoding="utf-8")
    assert run(monkeypatch, out, "--raw", raw) == 1
    assert "the raw table has another number of rows" in capsys.readouterr().out


def test_without_the_recipe_a_cell_that_is_not_read_is_named(blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    rows = [{**row, "age": f"{row['age']},5"} for row in blueprint.raw]
    (told,) = {check.detail for check in sf.verify(folder, raw=pa.Table.from_pylist(rows)).failed}
    assert told.startswith("age: a raw cell is no plain number")
    assert "holder's folder" in told
