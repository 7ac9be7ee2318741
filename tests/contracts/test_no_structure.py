"""Plain anonymity: a recipe that names no structure goes out verified, with every masker that needs no labels."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from benchmarks.peers import QUASI, trees
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.maskers.registry import MASKERS, masker_named
from tests.sampling import some

K = 5
IRIS = sf.datasets.load("iris")
GUIDED = {"dp_heter": "guided by the labels"}
"""Maskers that are nothing without labels, and how they say so."""
PLAIN = """
sfumato: 1
table: people.csv
attributes:
  age: {kind: number, role: quasi, range: [17, 90]}
  sex: {kind: category, role: quasi}
  income: {kind: category, role: sensitive}
privacy:
  - {k_anonymity: 10, on: [age, sex]}
"""


@pytest.mark.parametrize("name", some(MASKERS, 3))
def test_every_masker_goes_without_or_says_why_not(name: str, tmp_path: Path) -> None:
    mask = masker_named(name)(**({"generations": 3} if name == "genetic" else {}))
    settings = {
        "schema": IRIS.schema,
        "privacy": () if mask.guarantee.spends or not mask.guarantee.claims else (sf.KAnonymity(IRIS.schema.quasi, K),),
        "mask": mask,
        "i_understand": None if mask.guarantee.claims else "no_guarantee",
        "budget": sf.Budget(1) if mask.guarantee.spends else None,
    }
    if name in GUIDED:
        with pytest.raises(sf.RecipeError, match=GUIDED[name]):
            sf.Recipe(**settings)
        return
    recipe = sf.Recipe(**settings)
    assert sf.Recipe.from_yaml(recipe.to_yaml()) == recipe
    run = sf.Run(report=name == "top_down", ledger=sf.Ledger(tmp_path / "ledger.jsonl"))
    release = sf.publish(IRIS.table, recipe, run=run)
    folder = release.write(tmp_path / "out")
    assert sf.verify(folder).holds
    figures = release.scores["scores"]
    assert not any(figure.startswith(("f_measure", "masked_error")) for figure in figures)
    if not mask.guarantee.spends:
        assert "prosecutor.highest" in figures
        assert sf.evaluate(IRIS.table, folder)["headline"]


def test_a_deep_tree_does_not_take_everything() -> None:
    """One attribute to its last leaf and nothing of the others would be little use to anybody."""
    table = sf.datasets.load("adult", complete=True).table.slice(0, 5000).select([*QUASI])
    texts = table.set_column(0, "age", table.column("age").cast(pa.string()))
    schema = sf.Schema({name: sf.Category(role="quasi", taxonomy=tree) for name, tree in trees().items()})

    def lost(score: str) -> float:
        mask = sf.TopDown(score=score)
        recipe = sf.Recipe(schema=schema, privacy=[sf.KAnonymity(QUASI, 5)], mask=mask)
        release = sf.publish(texts, recipe, run=sf.Run(report=False, trial=True))
        return float(release.scores["scores"]["certainty_penalty"]["value"])

    assert lost("auto") == lost("detail") < lost("distortion") - 0.1


@pytest.mark.parametrize("mask", [sf.TopDown(score="infogain"), sf.TopDown(beneficial_only=True)], ids=str)
def test_what_goes_by_labels_needs_labels(mask: sf.TopDown) -> None:
    with pytest.raises(sf.RecipeError, match="there is no structure"):
        sf.Recipe(schema=IRIS.schema, privacy=(sf.KAnonymity(IRIS.schema.quasi, K),), mask=mask)


def test_plain_k_anonymity_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    adult = sf.datasets.load("adult", complete=True).table.slice(0, 500).select(["age", "sex", "income"])
    adult.to_pandas().to_csv("people.csv", index=False)
    Path("recipe.yaml").write_text(PLAIN, encoding="utf-8")
    done = CliRunner().invoke(app, ["publish", "recipe.yaml", "--output", "out"])
    assert done.exit_code == 0, done.output
    assert sf.verify("out").holds
    assert (tmp_path / "out" / "report.html").is_file()
    assert "information lost" in (tmp_path / "out.holder" / "report.html").read_text(encoding="utf-8")
    assert CliRunner().invoke(app, ["evaluate", "people.csv", "out"]).exit_code == 0
    assert CliRunner().invoke(app, ["explain", "out"]).exit_code == 0, "where the table is, is noted"
    Path("people.csv").rename("moved.csv")
    told = CliRunner().invoke(app, ["explain", "out"])
    assert told.exit_code == 1
    assert "name the raw table: --raw TABLE" in str(told.exception)
    Path("moved.csv").rename("people.csv")
    assert CliRunner().invoke(app, ["attack", "people.csv", "out"]).exit_code == 0


def test_numbers_are_halved_where_no_label_says_where_to_cut() -> None:
    ages = [18 + number % 60 for number in range(600)]
    table = pa.table({"age": ages, "ill": ["yes", "no", "no"] * 200})
    schema = sf.Schema(age=sf.Number(role="quasi", range=(18, 90)), ill=sf.Category(role="sensitive"))
    recipe = sf.Recipe(schema=schema, privacy=(sf.KAnonymity(("age",), 50),))
    shown = sf.publish(table, recipe, run=sf.Run(report=False, trial=True)).table
    assert len(shown["age"].unique()) >= 6, "600 people in groups of 50"
