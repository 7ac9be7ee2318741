"""The program as shells and other programs use it: -m, completion, --json and its schemas, --quiet, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from sfumato.cli.main import EXITS, app
from sfumato.cli.schema import COMMANDS, schema_text
from sfumato.errors import SfumatoError

ROOT = Path(__file__).parents[2]
RECIPE = """sfumato: 1
table: people.csv
attributes:
  age: {kind: number, role: quasi}
  sex: {kind: category, role: quasi}
  ill: {kind: category, role: sensitive}
structure: {clusters: kmeans, k: 2, n_init: 1}
privacy:
- {k_anonymity: 4, on: [age, sex]}
mask: top_down
"""
PUBLISHED = ("publish", "recipe.yaml", "--no-report", "--no-suggest")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shell")
    rng = np.random.default_rng(3)
    columns = {"age": rng.integers(18, 80, 90), "sex": rng.choice(["f", "m"], 90), "ill": rng.choice(["y", "n"], 90)}
    pc.write_csv(pa.table(columns), folder / "people.csv")
    (folder / "recipe.yaml").write_text(RECIPE, encoding="utf-8")
    assert program(folder, *PUBLISHED, "-o", "out").returncode == 0
    return folder


@pytest.fixture
def inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    return folder


def program(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A process of its own."""
    state = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "COLUMNS": "100"}
    words = [sys.executable, "-m", "sfumato", *arguments]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, env=state)


CALLS: dict[str, tuple[str, ...]] = {
    "advise": ("advise", "people.csv", "recipe.yaml", "--rows", "50", "--seconds", "1"),
    "attack": ("attack", "people.csv", "out", "--known", "1"),
    "clusters": ("clusters", "out"),
    "draft": ("draft", "people.csv"),
    "evaluate": ("evaluate", "people.csv", "out", "--seeds", "1"),
    "explain": ("explain", "out"),
    "ledger": ("ledger",),
    "policies": ("policies",),
    "publish": (*PUBLISHED, "-o", "again", "--set", "privacy.0.k=5"),
    "publish, a family": (*PUBLISHED, "-o", "family", "--clusters", "2,3"),
    "sweep": ("sweep", "recipe.yaml", "--over", "privacy.k=4,8", "-o", "swept", "--workers", "1"),
    "verify": ("verify", "out"),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.usefixtures("inside")
def test_json_is_as_its_schema_says_and_nothing_else_is_printed(name: str) -> None:
    done = CliRunner().invoke(app, [*CALLS[name], "--json", "--quiet"])
    assert done.exit_code == 0, done.stderr
    form = json.loads(done.stdout)
    command = name.split(",")[0]
    assert (form["format"], form["command"]) == (1, command)
    schema = json.loads(schema_text(command))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(form)
    for broken in ({**form, "format": 2}, {key: one for key, one in form.items() if key != "command"}):
        assert not Draft202012Validator(schema).is_valid(broken), "the schema can refuse"


@pytest.mark.parametrize("report", [pytest.param("--report", marks=pytest.mark.slow), "--no-report"])
def test_json_has_all_that_the_terminal_says(inside: Path, report: str) -> None:
    """A secret that anybody guesses can be told with 90 % certainty; the verdict, warnings, and what would help."""
    table = pa.table({"age": range(90), "sex": ["f", "m"] * 45, "ill": ["n"] * 84 + ["y"] * 6})
    pc.write_csv(table, inside / "nearly.csv")
    asked = ["publish", "recipe.yaml", "--table", "nearly.csv", "-o", f"nearly{report}", report]
    told = CliRunner().invoke(app, [*asked, "--set", "privacy.0.k=60", "--json"])
    form = json.loads(told.stdout)
    assert form["given_away"] == {"ill": form["evaluation"]["scores"]["nearly_certain.ill"]["value"]}
    assert form["given_away"]["ill"] > 0
    assert form["headline"].startswith("VERIFIED, but ")
    assert "hardly worth handing over" in form["headline"]
    assert "hardly worth handing over" in form["but"][-1]
    assert form["suggestions"][0].startswith("Tried on all 90 records")
    assert form["proposals"][0]["set"].startswith("--set ")
    assert all(f"{one['set']} {one['says']}" in form["suggestions"] for one in form["proposals"])
    assert any(line.startswith('"ill" is sensitive, and no requirement bounds') for line in form["warnings"])
    assert told.stderr.count("warning: ") == len(form["warnings"])
    assert "(read the verdict and the warnings before you hand it over)" in told.stderr


@pytest.mark.slow
def test_json_of_the_demo(tmp_path: Path) -> None:
    done = program(tmp_path, "demo", "-o", "demo", "--json", "--quiet")
    Draft202012Validator(json.loads(schema_text("demo"))).validate(json.loads(done.stdout))


def test_every_command_with_figures_has_a_schema() -> None:
    told = {name.split(",")[0] for name in CALLS} | {"demo"}
    assert told == set(COMMANDS)
    commands = {one.callback.__name__: one for one in app.registered_commands if one.callback is not None}
    with_json = {
        name for name, one in commands.items() if "json" in (one.callback.__annotations__ if one.callback else {})
    }
    assert with_json == set(COMMANDS)
    assert all("quiet" in one.callback.__annotations__ for one in commands.values() if one.callback is not None)


def test_a_check_that_fails_is_told_in_json_and_by_the_exit_code(folder: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(folder / "out", tmp_path / "out")
    (tmp_path / "out" / "README.md").write_text("changed", encoding="utf-8")
    done = program(tmp_path, "verify", "out", "--json")
    assert done.returncode == 1
    form = json.loads(done.stdout)
    assert form["holds"] is False
    assert [one["name"] for one in form["checks"] if not one["holds"]]


@pytest.mark.usefixtures("inside")
def test_quiet_leaves_results_and_mistakes(folder: Path) -> None:
    loud = CliRunner().invoke(app, ["clusters", "out", "-o", "loud.csv"])
    quiet = CliRunner().invoke(app, ["clusters", "out", "-o", "quiet.csv", "--quiet"])
    assert "wrote" in loud.stderr
    assert quiet.stderr == ""
    assert quiet.stdout == loud.stdout
    wrong = program(folder, "clusters", "nowhere", "--quiet")
    assert wrong.returncode == 2
    assert "error: " in wrong.stderr


def test_exit_codes_stand_in_one_table_in_help_and_docs() -> None:
    help_text = " ".join(program(ROOT, "--help").stdout.split())
    page = (ROOT / "docs" / "shell.md").read_text(encoding="utf-8")
    for code, says in EXITS.items():
        assert f"{code}: {says}" in help_text
        assert f"| {code} | {says} |" in page


COMPLETED = """
eval "$({python} -m sfumato --show-completion bash)"
complete -p sfumato
COMP_WORDS=({words}); COMP_CWORD={at}; COMP_LINE="{line}"; COMP_POINT=${{#COMP_LINE}}
$(complete -p sfumato | sed 's/.*-F \\([^ ]*\\).*/\\1/') sfumato
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("sfumato pub", {"publish"}),
        ("sfumato ", {"publish", "verify", "draft", "schema"}),
        ("sfumato verify --str", {"--strict"}),
        ("sfumato publish --j", {"--json"}),
        ("sfumato taxonomy ch", {"check"}),
    ],
)
def test_a_real_bash_completes(tmp_path: Path, line: str, offered: set[str]) -> None:
    program_file = tmp_path / "sfumato"
    program_file.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sfumato "$@"\n', encoding="utf-8")
    program_file.chmod(0o755)
    words = [*line.split(), *([""] if line.endswith(" ") else [])]
    script = COMPLETED.format(
        python=sys.executable,
        words=" ".join(f"'{word}'" for word in words),
        at=len(words) - 1,
        line=line,
    )
    state = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "SHELL": "/bin/bash"}
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, env=state)
    assert offered <= set(done.stdout.split()), done.stderr


def test_schemas_are_printed() -> None:
    with pytest.raises(SfumatoError, match="did you mean 'verify'"):
        CliRunner().invoke(app, ["schema", "verfy"], catch_exceptions=False)
    told: dict[str, Any] = json.loads(CliRunner().invoke(app, ["schema"]).stdout)
    assert told["$id"] == "sfumato:recipe:1"
    assert CliRunner().invoke(app, ["schema", "verify"]).stdout == schema_text("verify")


@pytest.mark.slow
def test_copies_for_statisticians_show_their_labels(folder: Path) -> None:
    pyreadstat: Any = import_module("pyreadstat")
    done = program(folder, *PUBLISHED, "-o", "copied", "--format", "stata", "--format", "spss", "--json")
    assert done.returncode == 0, done.stderr
    assert "a copy of the table for stata, spss" in done.stderr
    claims = json.loads((folder / "copied" / "certificate.json").read_text(encoding="utf-8"))["claims"]
    for suffix, read in ((".dta", pyreadstat.read_dta), (".sav", pyreadstat.read_sav)):
        shown, about = read(str(folder / f"copied{suffix}"), apply_value_formats=True)
        assert set(about.variable_value_labels["ill"].values()) == {"y", "n"}
        assert all(text.startswith("[") for text in about.variable_value_labels["age"].values())
        smallest = shown.groupby(["age", "sex"], observed=True).size().min()
        assert smallest == claims[0]["achieved"] >= 4, "what a reader of the copy counts is what is certified"
    assert program(folder, "verify", "copied").returncode == 0
