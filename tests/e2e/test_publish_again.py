"""Publishing the same people again, from the shell: what is told first, what is refused, what is done already."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import sfumato as sf
from sfumato.cli.main import app
from sfumato.privacy.ledger import Entry, Ledger
from sfumato.release.accounting import _follow

RECIPE = """
sfumato: 1
table: people.csv
people: census
attributes:
  age: {kind: number, role: quasi}
  sex: {kind: category, role: quasi}
  ill: {kind: category, role: sensitive}
privacy: [{k_anonymity: {on: [age, sex], k: 5}}]
"""


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [f"{20 + row % 40},{'mf'[row % 2]},{'yn'[row % 3 // 2]}" for row in range(240)]
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "people.csv").write_text("\n".join(["age,sex,ill", *rows]) + "\n")
    (tmp_path / "recipes" / "recipe.yaml").write_text(RECIPE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


def publish(*options: str) -> Result:
    return CliRunner().invoke(app, ["publish", "recipes/recipe.yaml", "--no-suggest", "--no-report", *options])


def test_the_same_again_is_done_already_and_mistakes_come_before_the_ledger(inside: Path) -> None:
    assert publish("-o", "out").exit_code == 0
    again = publish("-o", "out", "-q")
    assert again.exit_code == 0
    assert "by this recipe from this table: out; nothing to do" in again.stdout, "a result, also for the quiet"
    assert again.stderr == ""
    too_large = publish("-o", "out", "--set", "privacy.0.k=9000")
    assert isinstance(too_large.exception, sf.Infeasible)
    assert too_large.exception.given == "k = 9000 of 240 rows"
    assert "will replace" in too_large.stderr, "told before the work begins"
    elsewhere = publish("-o", "other")
    assert isinstance(elsewhere.exception, sf.RecipeError)
    assert "publish --trial" in elsewhere.exception.remedy
    assert "earlier: {" not in elsewhere.exception.remedy, "a partition cannot be followed"
    looked_at = publish("-o", "other", "--trial")
    assert looked_at.exit_code == 0
    assert (inside / "other.trial" / "certificate.json").is_file()
    assert not (inside / "other").exists()
    once_more = publish("-o", "other", "--trial", "--set", "privacy.0.k=9")
    assert "whoever has that one" not in once_more.stderr, "nobody has a trial"
    assert len(Ledger().releases()) == 1
    (inside / "recipes" / "people.csv").write_text("age,sexo,ill\n20,m,y\n")
    misspelt = publish("-o", "out")
    assert isinstance(misspelt.exception, sf.SchemaError)


def test_under_a_budget_a_trial_is_refused_with_what_to_do_in_its_place(inside: Path) -> None:
    recipe = inside / "recipes" / "recipe.yaml"
    recipe.write_text(RECIPE.partition("privacy")[0] + "mask: private_tree\nbudget: {epsilon: 1}\n")
    options = ["attributes.age.range=[0, 99]", "attributes.sex.values=[f, m]", "attributes.ill.values=[n, y]"]
    refused = publish("-o", "out", "--trial", *(word for option in options for word in ("--set", option)))
    assert isinstance(refused.exception, sf.RecipeError)
    assert "advise TABLE RECIPE --public FILE" in refused.exception.remedy
    assert "which nothing gives back" in refused.exception.rule
    assert Ledger().releases() == []


def test_what_was_replaced_is_withdrawn_on_the_holders_word_alone(
    inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = inside / "recipes" / "recipe.yaml"
    recipe.write_text(RECIPE.replace("people: census\n", ""))
    assert publish("-o", "out").exit_code == 0
    assert publish("-o", "out").exit_code == 0
    first = Ledger().releases()[0]
    refused = CliRunner().invoke(app, ["ledger", "--withdraw", first.id])
    assert isinstance(refused.exception, sf.ReleaseError)
    assert "--never-left" in refused.exception.remedy
    assert CliRunner().invoke(app, ["ledger", "--withdraw", first.id, "--never-left"]).exit_code == 0
    assert len(Ledger().releases()) == 1
    monkeypatch.chdir(inside / "state")
    told = CliRunner().invoke(app, ["explain", str(inside / "out"), "age"])
    assert told.exit_code == 0, "the table is found where it lay"


@pytest.mark.parametrize(("mask", "says"), [("top_down", "[out]"), ("partition", ""), ("of_a_later_version", "")])
def test_only_what_can_be_followed_is_proposed(mask: str, says: str, inside: Path) -> None:
    entry = Entry("0" * 32, "release", "named a", mask, "2026-01-01", folder=str(inside / "out"))
    recipe = sf.Recipe.from_yaml(inside / "recipes" / "recipe.yaml")
    assert _follow([entry], recipe) == ""
    joining = sf.Recipe(schema=recipe.schema, privacy=recipe.privacy, mask=sf.TopDown())
    assert says in _follow([entry], joining)
    assert bool(says) == bool(_follow([entry], joining))


def test_earlier_releases_that_the_recipe_tells_of_stay_in_what_is_proposed(inside: Path) -> None:
    entry = Entry("0" * 32, "release", "named a", "top_down", "2026-02-01", folder=str(inside / "out2"))
    recipe = sf.Recipe.from_yaml(inside / "recipes" / "recipe.yaml")
    before = sf.Earlier(releases=("out1",), people="growing")
    later = sf.Recipe(schema=recipe.schema, privacy=recipe.privacy, mask=sf.TopDown(), earlier=before)
    assert "earlier: {releases: [out1, out2], people: growing}" in _follow([entry], later)
    alone = sf.Recipe(schema=recipe.schema, privacy=recipe.privacy, mask=sf.TopDown())
    third = replace(entry, folder=str(inside / "out3"))
    assert "earlier: {releases: [out2, out3], people: same or growing}" in _follow([entry, third], alone)
