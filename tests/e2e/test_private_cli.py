"""A budget at the command line: the plan, the promise, what is refused in which words, and two runs at once."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

import sfumato as sf
from sfumato.cli.ledger import show_plan
from sfumato.cli.main import main
from sfumato.cli.output import asking
from sfumato.publishing import Run

Form = dict[str, Any]
RECIPE = """
sfumato: 1
table: people.parquet
attributes:
  age:       {kind: number, role: quasi, range: [0, 120]}
  sex:       {kind: category, role: quasi, values: [F, M, Other]}
  diagnoses: {kind: item_set, role: quasi, values: [flu, gout, mumps, rest], most: 3}
structure: {clusters: kmeans, k: 2, n_init: 1}
mask: private_tree
people: clinic
budget: {epsilon: 1/3, total: 1}
"""
ROWS = 150


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    """A folder with a table, and a recipe for it."""
    random = np.random.default_rng(0)
    sets = [random.choice(["flu", "gout", "mumps"], size, replace=False).tolist() for size in 1 + np.arange(ROWS) % 3]
    write(
        tmp_path,
        {"age": random.integers(0, 100, ROWS).tolist(), "sex": ["F", "M", "M"] * (ROWS // 3), "diagnoses": sets},
    )
    (tmp_path / "recipe.yaml").write_text(RECIPE)
    return tmp_path


def write(folder: Path, columns: Form) -> None:
    pq.write_table(pa.table(columns), folder / "people.parquet")


def edit(clinic: Path, change: Callable[[Form], object]) -> None:
    form = yaml.safe_load((clinic / "recipe.yaml").read_text())
    change(form)
    (clinic / "recipe.yaml").write_text(yaml.safe_dump(form, sort_keys=False))


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


Program = Callable[..., Ended]
PUBLISH = ("publish", "recipe.yaml", "--output", "out", "--no-report")


@pytest.fixture
def sfumato(clinic: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Program:
    """Runs the program in that folder."""
    monkeypatch.chdir(clinic)

    def call(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["sfumato", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        return Ended(ended.value.code if isinstance(ended.value.code, int) else 0, shown.out, shown.err)

    return call


def spent() -> list[str]:
    return [str(entry.epsilon) for entry in sf.Ledger().entries() if entry.kind == "spending" and not entry.given_back]


def test_publish_shows_the_plan_then_the_promise_and_what_it_wrote_holds(sfumato: Program) -> None:
    done = sfumato(*PUBLISH)
    assert done.code == 0, done.err
    assert "The plan: epsilon = 1/3" in done.err
    assert "marginal of diagnoses (how many)" in done.err
    assert "differentially private with epsilon = 1/3; the unit of privacy is one record added" in one_line(done.out)
    assert "adding up to epsilon = 1/3" in one_line(done.out)
    assert sfumato("verify", "out").code == 0
    judged = sfumato("evaluate", "people.parquet", "out", "--seeds", "1")
    assert judged.code == 0, judged.err
    assert "the floor: no data at all" in judged.out
    assert spent() == ["1/3"]


def test_of_the_plan_the_quiet_are_told_nothing_not_half(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with asking(quiet=True):
        show_plan(sf.Recipe.from_yaml(clinic / "recipe.yaml"))
    assert capsys.readouterr().err == ""


def one_line(text: str) -> str:
    return " ".join(text.split())


REFUSED: dict[str, tuple[Callable[[Form], object], tuple[str, ...]]] = {
    "no epsilon": (lambda form: form["budget"].update(epsilon=0), ("epsilon", "positive number", "epsilon: 0.5")),
    "less than none": (lambda form: form["budget"].update(epsilon=-1), ("epsilon", "positive number", "given: -1")),
    "no end": (lambda form: form["budget"].update(epsilon=float("inf")), (".inf", "at most 18 digits")),
    "no steps": (lambda form: form.update(mask={"dp_heter": {"steps": 0}}), ("steps", "from 1 to 1,000")),
    "no range": (lambda form: form["attributes"]["age"].pop("range"), ("age without a range", "range: [0, 120]")),
    "no values": (lambda form: form["attributes"]["sex"].pop("values"), ("sex without a taxonomy", "values: [A, B]")),
    "a value outside a list": (lambda form: form["attributes"]["sex"].update(values=["F", "X"]), ("sex", "declared")),
    "a number outside its range": (lambda form: form["attributes"]["age"].update(range=[0, 40]), ("age", "range")),
    "a large set": (lambda form: form["attributes"]["diagnoses"].update(most=2), ("diagnoses", "most", "too_many")),
    "a requirement beside": (
        lambda form: form.update(privacy=[{"k_anonymity": 5, "on": ["age", "sex", "diagnoses"]}]),
        ("privacy", "budget"),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_told_with_its_remedy_and_costs_nothing(case: str, clinic: Path, sfumato: Program) -> None:
    change, words = REFUSED[case]
    edit(clinic, change)
    done = sfumato(*PUBLISH)
    assert done.code == 2
    assert all(word in one_line(done.err) for word in (*words, "to mend it:")), done.err
    told = done.err.partition("error:")[2]
    assert not any(cell in told for cell in ("'M'", "mumps", "99"))
    assert not (clinic / "out").exists()
    assert spent() == []


def test_values_outside_go_to_a_bucket_only_where_it_is_declared(clinic: Path, sfumato: Program) -> None:
    half = ROWS // 2
    write(
        clinic,
        {
            "age": [130, 5] * half,
            "sex": ["diverse", "F"] * half,
            "diagnoses": [["flu", "gout", "mumps"], ["gout"]] * half,
        },
    )
    assert sfumato(*PUBLISH).code == 2
    edit(clinic, lambda form: form["attributes"]["age"].update(outside="clip"))
    edit(clinic, lambda form: form["attributes"]["sex"].update(outside="Other"))
    edit(clinic, lambda form: form["attributes"]["diagnoses"].update(most=2, too_many="first"))
    edit(clinic, lambda form: form["budget"].update(epsilon=1000, total=1000))
    done = sfumato(*PUBLISH)
    assert done.code == 0, done.err
    shown: Form = pq.read_table(clinic / "out" / "table.parquet").to_pydict()
    assert Counter(shown["sex"]) == {"Other": half, "F": half}
    assert sum(age >= 105 for age in shown["age"]) == half
    assert {item for items in shown["diagnoses"] for item in items} == {"flu", "gout"}
    assert (
        "of a set with more items than declared the first ones are kept" in (clinic / "out" / "README.md").read_text()
    )
    certificate = (clinic / "out" / "certificate.json").read_text()
    assert certificate.count('"shortened": true') == 1
    (clinic / "out" / "certificate.json").write_text(re.sub(r',\s*"shortened": true', "", certificate))
    assert not sf.verify(clinic / "out").holds


def test_a_run_beyond_the_total_stops_before_it_looks_at_the_data(
    clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = sf.Recipe.from_yaml(clinic / "recipe.yaml", changes=["budget.epsilon=2/3"])
    sf.publish(clinic / "people.parquet", recipe, run=Run(report=False))

    def looked(*_: object) -> object:
        raise AssertionError("the data was looked at")

    monkeypatch.setattr("sfumato.publishing.steps.find", looked)
    monkeypatch.setattr(sf.PrivateTree, "mask", looked)
    with pytest.raises(sf.BudgetError, match="2/3 spent before, 2/3 asked, a total of 1"):
        sf.publish(clinic / "people.parquet", recipe, run=Run(report=False))
    assert spent() == ["2/3"]


@pytest.mark.slow
def test_of_two_programs_at_once_one_gets_the_last_share(clinic: Path) -> None:
    edit(clinic, lambda form: form["budget"].update(epsilon=1))
    program = [sys.executable, "-m", "sfumato.cli.main", "publish", str(clinic / "recipe.yaml"), "--no-report"]
    runs = [
        subprocess.Popen(
            [*program, "--output", str(clinic / name)],
            stderr=subprocess.PIPE,
            text=True,
            stdout=subprocess.DEVNULL,
            env=dict(os.environ),
        )
        for name in ("one", "two")
    ]
    told = [run.communicate()[1] for run in runs]
    assert sorted(run.returncode for run in runs) == [0, 2], told
    assert sum("1 spent before, 1 asked, a total of 1" in text for text in told) == 1
    assert [(clinic / name).exists() for name in ("one", "two")].count(True) == 1
    assert spent() == ["1"]
