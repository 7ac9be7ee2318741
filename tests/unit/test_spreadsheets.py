"""What a spreadsheet would run is told at publish, and made harmless where the recipe says so; verify undoes it."""

from __future__ import annotations

import csv
import random
import warnings
from pathlib import Path

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.canonical.csv import harmless, restored, would_run
from sfumato.publishing.orders import released_rows
from sfumato.release.reading import read_rows
from tests.corruptions import forge

AGE = sf.Number(role="quasi", range=(0, 100))
LABELS = ["=1+1", "'=1+1", "+49 170", "-5", "@sum", "plain", "\tx", "it's", "−5"]


def people(name: str = "note") -> pa.Table:
    chance = random.Random(2)
    rows = [
        {"age": chance.randint(0, 99), name: chance.choice(LABELS), "debt": chance.choice([-5, 0, 5])}
        for _ in range(120)
    ]
    return pa.Table.from_pylist(rows)


def published(tmp_path: Path, *, safe: bool, name: str = "note", form: str = "csv") -> tuple[Path, list[str]]:
    schema = sf.Schema({"age": AGE, name: sf.Category(role="plain"), "debt": sf.Number(role="plain")})
    recipe = sf.Recipe(
        schema=schema,
        structure=sf.Clusters("kmeans", k=2, n_init=1),
        privacy=(sf.KAnonymity(["age"], 5),),
        release=sf.Along(spreadsheet_safe=safe),
    )
    run = sf.Run(report=False, format="csv" if form == "csv" else "parquet", ledger=sf.Ledger(tmp_path / "ledger"))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        release = sf.publish(people(name), recipe, run=run)
    return release.write(tmp_path / "out"), [str(one.message) for one in told if "spreadsheet" in str(one.message)]


def cells(folder: Path) -> list[list[str]]:
    with (folder / "table.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_formulas_are_told_without_a_cell(tmp_path: Path) -> None:
    folder, told = published(tmp_path, safe=False, name="=note")
    assert sf.verify(folder).holds
    (message,) = told
    assert "'=note' (4 different)" in message
    assert "column names '=note'" in message
    assert "spreadsheet_safe: true" in message
    assert "1+1" not in message
    assert "170" not in message


def test_formulas_are_written_harmless(tmp_path: Path) -> None:
    folder, told = published(tmp_path, safe=True, name="=note")
    assert told == []
    found = sf.verify(folder)
    assert found.holds, found
    header, *rows = cells(folder)
    assert header == ["age", "'=note", "debt"]
    shown = {row[1] for row in rows}
    assert shown == {"'=1+1", "''=1+1", "'+49 170", "-5", "'@sum", "plain", "'\tx", "it's", "−5"}
    assert {row[2] for row in rows} == {"-5", "0", "5"}
    for table in (read_rows(folder), released_rows(folder)):
        assert set(table.column("=note").to_pylist()) == set(LABELS)


def test_a_cell_that_would_run_fails_where_none_should(tmp_path: Path) -> None:
    folder, _ = published(tmp_path, safe=True)
    path = folder / "table.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("plain", "=2"), encoding="utf-8")
    forge(folder)
    assert "nothing else" in {check.name for check in sf.verify(folder).failed}


def test_parquet_has_no_cells_that_run(tmp_path: Path) -> None:
    folder, told = published(tmp_path, safe=False, form="parquet")
    assert sf.verify(folder).holds
    assert told == []
    _, told = published(tmp_path / "safe", safe=True, form="parquet")
    assert told == ["release.spreadsheet_safe concerns CSV, and the table is written as Parquet"]


def test_nothing_to_tell(tmp_path: Path) -> None:
    schema = sf.Schema(age=AGE, debt=sf.Number(role="plain"))
    recipe = sf.Recipe(schema=schema, privacy=(sf.KAnonymity(["age"], 5),))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        run = sf.Run(report=False, format="csv", ledger=sf.Ledger(tmp_path / "ledger"))
        sf.publish(people().select(["age", "debt"]), recipe, run=run)


@pytest.mark.parametrize("text", [*LABELS, "", "'", "''", "-inf", "-1e5", "-1e+22", "＝1", "\n=", "'-5", "''@"])
def test_what_is_made_harmless_can_be_undone(text: str) -> None:
    assert restored(harmless(text)) == text
    assert not would_run(harmless(text))
