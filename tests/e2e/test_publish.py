"""The whole job: publish, verify, explain, apply, from Python and from the command line."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import polars as pl
import pyarrow as pa
import pyarrow.csv as pc
import pytest

import sfumato as sf
from sfumato.cli.main import main
from sfumato.errors import Stopped
from sfumato.events import Stop
from sfumato.maskers.topdown.groups import GroupSession
from sfumato.maskers.topdown.refinement import Refinement

RECIPE = """
sfumato: 1
table: people.csv
attributes:
  name:   {kind: category, role: identifier}
  age:    {kind: number, role: quasi, range: [0, 99]}
  sex:    {kind: category, role: quasi, taxonomy: {ANY: [f, m]}}
  town:   {kind: category, role: quasi}
  ill:    {kind: category, role: sensitive}
structure: {classes: ill}
privacy:
  - {k_anonymity: 4, on: [age, sex]}
  - {k_anonymity: 3, on: [town]}
mask: top_down
"""


def people(rows: int = 60) -> pa.Table:
    return pa.table(
        {
            "name": [f"Person-{i:03d}" for i in range(rows)],
            "age": [(i * 7) % 90 if i % 13 else None for i in range(rows)],
            "sex": ["f" if i % 3 else "m" for i in range(rows)],
            "town": [["Ur", "Uruk", "Kish", None][i % 4] for i in range(rows)],
            "ill": ["yes" if (i * 7) % 90 > 50 else "no" for i in range(rows)],
        }
    )


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    pc.write_csv(people(), tmp_path / "people.csv")
    path = tmp_path / "recipe.yaml"
    path.write_text(RECIPE)
    return path


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def sfumato(*words: str | Path) -> Done:
    """The program, in this process: what it says and how it ends."""
    out, err = StringIO(), StringIO()
    said = patch.object(sys, "argv", ["sfumato", *map(str, words)])
    with redirect_stdout(out), redirect_stderr(err), said, pytest.raises(SystemExit) as end:
        main()
    return Done(int(end.value.code or 0), out.getvalue(), err.getvalue())


def test_a_table_goes_out_masked_and_verified(recipe: Path, tmp_path: Path) -> None:
    done = sfumato("publish", recipe, "--output", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "VERIFIED" in done.stdout
    shown = pl.read_parquet(tmp_path / "out" / "table.parquet")
    assert shown.columns == ["age", "sex", "town", "ill"]
    assert (shown.group_by("age", "sex").len()["len"] >= 4).all()
    assert sfumato("verify", tmp_path / "out").returncode == 0
    assert sfumato("verify", tmp_path / "out", "--raw", tmp_path / "people.csv").returncode == 0


def test_no_name_and_no_raw_age_is_anywhere_in_the_release(recipe: Path, tmp_path: Path) -> None:
    sfumato("publish", recipe, "--output", tmp_path / "out", "--csv")
    found = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert b"Person-" not in found
    assert b"history" not in found


def test_explain_names_what_blocks_the_next_value(recipe: Path, tmp_path: Path) -> None:
    sfumato("publish", recipe, "--output", tmp_path / "out")
    told = sfumato("explain", tmp_path / "out", "age")
    assert told.returncode == 0
    assert "It is shown" in told.stdout
    wrong = sfumato("explain", tmp_path / "out", "agee")
    assert (wrong.returncode, "did you mean 'age'?" in wrong.stderr) == (2, True)


def test_new_rows_are_shown_as_the_old_ones(recipe: Path, tmp_path: Path) -> None:
    sfumato("publish", recipe, "--no-report", "--no-suggest", "--output", tmp_path / "out")
    pc.write_csv(people(8), tmp_path / "new.csv")
    done = sfumato("apply", tmp_path / "out", tmp_path / "new.csv", "--output", tmp_path / "new.parquet")
    assert done.returncode == 0, done.stderr
    seen = pl.read_parquet(tmp_path / "out" / "table.parquet")
    assert set(pl.read_parquet(tmp_path / "new.parquet")["age"]) <= set(seen["age"])


def test_unseen_values_are_refused_or_suppressed_as_told(recipe: Path, tmp_path: Path) -> None:
    recipe.write_text(RECIPE.replace("range: [0, 99]", "range: [0, 120]"))
    sfumato("publish", recipe, "--no-report", "--no-suggest", "--output", tmp_path / "out")
    new = people(4).set_column(2, "sex", pa.array(["f", "m", "f", "x"]))
    new = new.set_column(3, "town", pa.array(["Ur", "Eridu", "Uruk", "Kish"]))
    pc.write_csv(new, tmp_path / "new.csv")
    words = ("apply", tmp_path / "out", tmp_path / "new.csv", "--output", tmp_path / "new.csv.parquet")
    assert sfumato(*words).returncode == 2
    assert not (tmp_path / "new.csv.parquet").exists()


def test_the_same_job_from_python_gives_back_the_kind_that_came_in() -> None:
    recipe = sf.Recipe.from_yaml(RECIPE)
    release = sf.publish(pl.from_arrow(people()), recipe, run=sf.Run(report=False))
    assert isinstance(release.table, pl.DataFrame)
    assert release.verdict.holds
    assert "at least 4 records" in release.guarantee


def test_who_asks_a_run_to_stop_gets_nothing() -> None:
    stop = Stop()
    stop.ask()
    with pytest.raises(Stopped):
        sf.publish(people(), sf.Recipe.from_yaml(RECIPE), run=sf.Run(stop=stop))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("k_anonymity: 4", "k_anonymity: 61", "even the most masked table"),
        ("k_anonymity: 4", "k_anonymity: 0", "at least 2"),
        ("on: [town]", "on: [twon]", "did you mean 'town'?"),
        ("on: [town]", "on: [town, ill]", "role quasi"),
        ("{ANY: [f, m]}", "{ANY: [f]}", "leaf"),
        ("table: people.csv", "table: nobody.csv", "nobody.csv"),
    ],
)
def test_a_wrong_recipe_writes_nothing_and_exits_with_2(
    recipe: Path, tmp_path: Path, old: str, new: str, told: str
) -> None:
    recipe.write_text(RECIPE.replace(old, new))
    done = sfumato("publish", recipe, "--output", tmp_path / "out")
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("*out*"))


@pytest.mark.parametrize(
    ("column", "values", "told"),
    [
        ("age", [40] * 60, "at least two values"),
        ("town", ["Ur"] * 60, "at least two values"),
        ("town", [None] * 60, "missing in every row"),
        ("age", [None] * 60, "missing in every row"),
    ],
)
def test_an_attribute_that_cannot_be_masked_is_refused(column: str, values: list[object], told: str) -> None:
    table = people()
    kind = pa.int64() if column == "age" else pa.string()
    table = table.set_column(table.column_names.index(column), column, pa.array(values, type=kind))
    with pytest.raises(sf.SfumatoError, match=told):
        sf.publish(table, sf.Recipe.from_yaml(RECIPE))


def test_a_fingerprint_column_is_refused_unless_confirmed() -> None:
    table = people().append_column("fnlwgt", pa.array(range(60)))
    text = RECIPE.replace("structure:", "  fnlwgt: {kind: number, role: plain}\nstructure:")
    with pytest.raises(sf.RecipeError, match="tells most people apart"):
        sf.publish(table, sf.Recipe.from_yaml(text))
    confirmed = text.replace("role: plain}", "role: plain, unique_ok: true}")
    assert sf.publish(table, sf.Recipe.from_yaml(confirmed), run=sf.Run(report=False)).verdict.holds


def test_rows_that_miss_a_value_are_dropped_only_when_told() -> None:
    text = RECIPE.replace("mask: top_down", "mask: top_down\nmissing: {age: drop}")
    release = sf.publish(people(), sf.Recipe.from_yaml(text), run=sf.Run(report=False))
    assert release.certificate["table"]["rows"] == 60 - people()["age"].null_count


def test_an_output_folder_of_strangers_is_left_alone(recipe: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("years of work")
    done = sfumato("publish", recipe, "--output", tmp_path / "out")
    assert done.returncode == 2
    assert (tmp_path / "out" / "thesis.txt").read_text() == "years of work"


def test_an_earlier_release_is_replaced_whole(recipe: Path, tmp_path: Path) -> None:
    for k in (4, 6):
        assert (
            sfumato(
                "publish", recipe, "-o", tmp_path / "out", "--no-report", "--no-suggest", "--set", f"privacy.0.k={k}"
            ).returncode
            == 0
        )
    assert json.loads((tmp_path / "out" / "certificate.json").read_text())["claims"][0]["k"] == 6
    assert sfumato("verify", tmp_path / "out").returncode == 0


def test_a_disk_that_fills_up_leaves_nothing_behind(recipe: Path, tmp_path: Path) -> None:
    pc.write_csv(people(6_000), tmp_path / "people.csv")
    before = sorted(tmp_path.iterdir())
    done = subprocess.run(
        [sys.executable, "-m", "sfumato.cli.main", "publish", str(recipe), "--no-report", "-o", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
    )
    assert done.returncode == 2, done.stderr
    assert sorted(tmp_path.iterdir()) == before


def pressing_ctrl_c(refine: Callable[..., None]) -> Callable[..., None]:
    """A refinement in the middle of which Ctrl-C is pressed."""

    def pressed(session: GroupSession, step: Refinement) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        refine(session, step)

    return pressed


def test_ctrl_c_in_the_middle_writes_nothing(recipe: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    with patch.object(GroupSession, "refine", pressing_ctrl_c(GroupSession.refine)):
        assert sfumato("publish", recipe, "--output", tmp_path / "out").returncode == 130
    assert sorted(tmp_path.iterdir()) == before
