"""Advice from the command line: side by side, to be followed by a command that works, and nothing is left behind."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pytest
from typer.testing import CliRunner

from sfumato.cli.main import app
from sfumato.errors import RecipeError

RECIPE = """
sfumato: 1
table: people.csv
attributes:
  age:  {kind: number, role: quasi, range: [0, 99]}
  town: {kind: category, role: quasi}
  ill:  {kind: category, role: sensitive}
structure: {clusters: kmeans, k: 2, n_init: 1}
privacy:
  - {k_anonymity: 4, on: [age, town]}
mask: top_down
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = 200
    table = pa.table(
        {
            "age": [(i * 37) % 90 for i in range(rows)],
            "town": [f"town-{i * i % 7}" for i in range(rows)],
            "ill": ["yes" if (i * 37) % 90 > 50 else "no" for i in range(rows)],
        }
    )
    pc.write_csv(table, tmp_path / "people.csv")
    (tmp_path / "recipe.yaml").write_text(RECIPE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def advise(*words: str) -> str:
    done = CliRunner().invoke(app, ["advise", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def left(folder: Path) -> list[str]:
    state = Path(os.environ["XDG_STATE_HOME"])
    return sorted(path.name for path in folder.iterdir()) + [str(path) for path in state.rglob("*")]


def test_the_command_that_is_told_can_be_followed(folder: Path) -> None:
    out = advise("people.csv", "recipe.yaml")
    for told in ("top_down", "partition", "cuts", "mondrian", "k 2", "k 8", "age", "town", "that tell nothing"):
        assert told in out
    assert "certain: ill" in out
    table, _, _ = out.partition("  top_down, as it is:")
    assert all(len(line) <= 80 for line in table.splitlines())
    assert left(folder) == ["people.csv", "recipe.yaml"]
    (command,) = (line for line in out.splitlines() if "sfumato publish" in line)
    words = [*shlex.split(command)[1:], "--no-report", "--no-suggest"]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert (folder / "out" / "certificate.json").is_file()


def test_json_tells_everything_that_was_measured_of_a_draft_too(folder: Path) -> None:
    form = json.loads(advise("people.csv", "--json", "--rows", "100", "--seconds", "1", "--html", "page.html"))
    assert form["drafted"]
    assert (form["rows"], form["of_rows"]) == (100, 200)
    assert form["take"] in [one["name"] for one in form["tried"]]
    first = form["tried"][0]
    assert set(first["columns"]["age"]) == {"kept", "tells_nothing"}
    assert first["highest_risk"] <= 1 / 5
    page = (folder / "page.html").read_text()
    assert form["advice"].partition(":")[0] in page
    assert first["name"].partition(",")[0] in page
    assert left(folder) == ["page.html", "people.csv", "recipe.yaml"]
    assert CliRunner().invoke(app, ["advise", "people.csv", "--html", "page.html"]).exit_code != 0


def test_a_budget_is_refused_before_the_table_is_read(folder: Path) -> None:
    (folder / "dp.yaml").write_text(
        "sfumato: 1\nattributes:\n  age: {kind: number, role: quasi, range: [0, 99]}\nmask: private_tree\nbudget: 1\n"
    )
    with pytest.raises(RecipeError, match="--public FILE"):
        advise("nothing.csv", "dp.yaml")
    pc.write_csv(pa.table({"age": [at % 90 for at in range(200)]}), folder / "public.csv")
    out = advise("nothing.csv", "dp.yaml", "--public", "public.csv")
    assert "of the public table" in out
    assert "sfumato publish dp.yaml --table nothing.csv" in out
    assert left(folder) == ["dp.yaml", "people.csv", "public.csv", "recipe.yaml"]
