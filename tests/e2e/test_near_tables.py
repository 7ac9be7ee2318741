"""A table, and the same table less one person: what the two tell together, and what the ledger says of it."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.privacy.ledger import Ledger, People
from sfumato.publishing import Run
from sfumato.randomness import Secure
from sfumato.release.accounting import Accounting, costs_of

NAMES = ["age", "education", "sex", "hours_per_week", "occupation", "income"]
ROWS, PERSONS = 3_000, 12
ADULT = sf.datasets.load("adult").table.select(NAMES)
ORDER = np.random.default_rng(0).permutation(ADULT.num_rows)
TABLE = ADULT.take(ORDER[:ROWS])
RECIPE = sf.Recipe(
    schema=sf.Schema(
        age=sf.Number(role="quasi", range=(17, 90)),
        education=sf.Category(role="quasi"),
        sex=sf.Category(role="quasi"),
        hours_per_week=sf.Number(role="quasi", range=(1, 99)),
        occupation=sf.Category(role="sensitive"),
        income=sf.Category(role="sensitive"),
    ),
    structure=sf.Classes("income"),
    privacy=[sf.KAnonymity(["age", "education", "sex", "hours_per_week"], 50)],
    mask=sf.TopDown(),
)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "state" / "ledger.jsonl")


def publish(table: pa.Table, ledger: Ledger, recipe: sf.Recipe = RECIPE, **settings: Any) -> sf.Release:
    return sf.publish(table, recipe, run=Run(report=False, ledger=ledger, **settings))


def told(table: pa.Table, ledger: Ledger, recipe: sf.Recipe = RECIPE) -> tuple[sf.Release, list[str]]:
    """A release, and what the ledger said of it."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        release = publish(table, ledger, recipe)
    return release, [str(one.message) for one in said if "the ledger knows" in str(one.message)]


def less_one(person: int) -> pa.Table:
    return TABLE.take([row for row in range(ROWS) if row != person])


def rows_of(table: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row.values()) for row in table.to_pylist())


def said_of(table: pa.Table, ledger: Ledger, recipe: sf.Recipe = RECIPE) -> list[str]:
    """What the ledger would say of a release, without making one."""
    accounting = Accounting(recipe, costs_of(recipe, Secure()), ledger)
    accounting.begin()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        accounting.account(sf.read(table, recipe.schema, witness=accounting.look))
    return [str(one.message) for one in said]


def test_one_person_less_is_told_and_other_people_are_not(ledger: Ledger, tmp_path: Path) -> None:
    publish(TABLE, ledger).write(tmp_path / "whole")
    said = [said_of(less_one(person), ledger) for person in range(0, ROWS, ROWS // PERSONS)]
    assert [len(texts) for texts in said] == [1] * PERSONS
    assert all(f"in {tmp_path / 'whole'}, with about 100 % of" in texts[0] for texts in said)
    assert [said_of(unrelated(at), ledger) for at in range(PERSONS)] == [[]] * PERSONS


@pytest.mark.slow
def test_what_the_missing_person_loses_and_that_it_is_told(ledger: Ledger, tmp_path: Path) -> None:
    """Twelve persons, one at a time: everything about them is read off, and twelve times the ledger said so."""
    first = publish(TABLE, ledger)
    first.write(tmp_path / "whole")
    warned = read_off = 0
    for person in range(0, ROWS, ROWS // PERSONS):
        second, said = told(less_one(person), ledger)
        warned += len(said) == 1 and str(tmp_path / "whole") in said[0] and "about 100 %" in said[0]
        only = rows_of(first.table) - rows_of(second.table)
        secret = tuple(TABLE.column(name)[person].as_py() for name in ("occupation", "income"))
        read_off += [row[-2:] for row in only.elements()] == [secret]
    assert warned == PERSONS
    assert read_off == PERSONS, "two releases, each with k = 50, tell all about one person"


def unrelated(at: int) -> pa.Table:
    """Other people; every third time with every column drawn anew from its own values, or shuffled by itself."""
    chance = np.random.default_rng(at)
    if at % 3 == 0:
        return pa.table({name: TABLE.column(name).take(chance.permutation(ROWS)) for name in NAMES})
    if at % 3 == 1:
        return pa.table({name: TABLE.column(name).take(chance.integers(0, ROWS, ROWS)) for name in NAMES})
    return ADULT.take(ORDER[(1 + at) * ROWS : (2 + at) * ROWS])


@pytest.mark.slow
def test_other_people_in_a_table_of_the_same_shape_are_not_told(ledger: Ledger, tmp_path: Path) -> None:
    """Those of each kind, released; what the ledger would say of all twelve is asked above."""
    publish(TABLE, ledger).write(tmp_path / "whole")
    assert [told(unrelated(at), ledger)[1] for at in range(3)] == [[]] * 3


def test_people_with_a_name_are_released_again_only_if_the_recipe_says_how(ledger: Ledger, tmp_path: Path) -> None:
    named = replace(RECIPE, people="census")
    publish(TABLE, ledger, named).write(tmp_path / "whole")
    with pytest.raises(sf.TableError):  # mistakes of the table are told first
        sf.publish("no such table.csv", named, run=Run(ledger=ledger))
    for person in range(PERSONS):
        with pytest.raises(sf.RecipeError, match="people: census") as refused:
            publish(less_one(person), ledger, named)
        assert str(tmp_path / "whole") in refused.value.given
    same = sf.Earlier(releases=(str(tmp_path / "whole"),), people="same")
    second, said = told(TABLE, ledger, replace(named, earlier=same))
    assert said == [], "the recipe tells of it"
    second.write(tmp_path / "beside")
    assert told(TABLE, ledger, replace(named, i_understand="several_releases"))[1] != []
    with pytest.raises(sf.RecipeError, match="beside"):
        publish(TABLE, ledger, replace(named, earlier=same))
    assert publish(TABLE, ledger, replace(RECIPE, people="others")).verdict.holds


def test_two_runs_that_began_at_once_cannot_both_release(ledger: Ledger, tmp_path: Path) -> None:
    one, other = (publish(TABLE, ledger, replace(RECIPE, people="census")) for _ in range(2))
    one.write(tmp_path / "one")
    one.write(tmp_path / "copy")  # the same release once more
    with pytest.raises(sf.RecipeError, match="people: census"):
        other.write(tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_trial_is_neither_told_nor_refused(ledger: Ledger, tmp_path: Path) -> None:
    named = replace(RECIPE, people="census")
    publish(TABLE, ledger, named).write(tmp_path / "whole")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="the ledger knows")
        publish(TABLE, ledger, named, trial=True)


def test_a_release_that_never_left_the_house_is_withdrawn(ledger: Ledger, tmp_path: Path) -> None:
    named = replace(RECIPE, people="census")
    out = publish(TABLE, ledger, named).write(tmp_path / "out")
    (entry,) = ledger.entries()
    command = ["ledger", "--path", str(ledger.path)]
    stands = CliRunner().invoke(app, [*command, "--withdraw", entry.id[:8]])
    assert stands.exit_code != 0
    assert "once it is gone" in str(stands.exception)
    out.rename(tmp_path / "elsewhere")
    assert CliRunner().invoke(app, [*command, "--withdraw", "nobody"]).exit_code != 0
    assert CliRunner().invoke(app, [*command, "--withdraw", entry.id[:8]]).exit_code == 0
    assert ledger.entries()[0].withdrawn
    assert "withdrawn: top_down" in CliRunner().invoke(app, command).output
    assert CliRunner().invoke(app, [*command, "--check"]).exit_code == 0
    _, said = told(TABLE, ledger, named)
    assert said == []


def test_the_ledger_shows_names_and_which_releases_share_rows(ledger: Ledger, tmp_path: Path) -> None:
    publish(TABLE, ledger, replace(RECIPE, people="census")).write(tmp_path / "one")
    told(less_one(0), ledger, replace(RECIPE, people="others"))[0].write(tmp_path / "two")
    shown = " ".join(
        CliRunner().invoke(app, ["ledger", "--path", str(ledger.path)], env={"COLUMNS": "200"}).output.split()
    )
    assert "census" in shown
    assert f"100 % of rows also in {ledger.entries()[0].id[:8]}" in shown


SPENDS = sf.Recipe(
    schema=sf.Schema(
        age=sf.Number(role="quasi", range=(17, 90), outside="clip"),
        hours_per_week=sf.Number(role="quasi", range=(1, 99), outside="clip"),
        sex=sf.Category(role="quasi", values=("Female", "Male")),
        income=sf.Category(role="sensitive", values=("<=50K", ">50K")),
    ),
    structure=sf.Clusters("kmeans", k=2, n_init=1),
    mask=sf.PrivateTree(splits=2),
    budget=sf.Budget(1, total=1),
)


def edited(age: Any = None, **changes: Any) -> sf.Recipe:
    schema = sf.Schema({**dict(SPENDS.schema), **({} if age is None else {"age": age})})
    return replace(SPENDS, schema=schema, **changes)


EDITS = {
    "a range": edited(sf.Number(role="quasi", range=(20, 80), outside="clip")),
    "another range": edited(sf.Number(role="quasi", range=(0, 60), outside="clip")),
    "texts that mean missing": edited(sf.Number(role="quasi", range=(17, 90), outside="clip", missing=("40",))),
    "rows that are dropped": edited(
        sf.Number(role="quasi", range=(17, 90), outside="clip", missing=("40",)), missing=("age",)
    ),
    "a column that is dropped": edited(sf.Number(role="identifier")),
    "a name": edited(people="a"),
    "another name": edited(people="b"),
    "another masker": edited(mask=sf.PrivateTree(splits=3)),
}


@pytest.mark.parametrize("form", ["arrow", "csv", "parquet"])
def test_no_edit_of_the_recipe_spends_a_total_twice(form: str, ledger: Ledger, tmp_path: Path) -> None:
    people = ADULT.select(list(SPENDS.schema)).slice(0, 500)
    source: Any = people if form == "arrow" else tmp_path / f"people.{form}"
    if form != "arrow":
        (pc.write_csv if form == "csv" else pq.write_table)(people, source)
    sf.publish(source, SPENDS, run=Run(report=False, ledger=ledger))
    for what, recipe in EDITS.items():
        with pytest.raises(sf.BudgetError, match="1 spent before"):
            sf.publish(source, recipe, run=Run(report=False, ledger=ledger))
        assert len(ledger.entries()) == 1, what
    with pytest.raises(sf.BudgetError, match="1 spent before"):  # the same table from another kind of file
        sf.publish(people.take(list(range(499, -1, -1))), SPENDS, run=Run(report=False, ledger=ledger))
    sf.publish(people.slice(1), SPENDS, run=Run(report=False, ledger=ledger))
    assert len(ledger.entries()) == 2


def test_a_private_release_of_nearly_the_table_is_told_how_to_add_up(ledger: Ledger, tmp_path: Path) -> None:
    people = ADULT.select(list(SPENDS.schema)).slice(0, 3_000)
    publish(people, ledger, SPENDS).write(tmp_path / "one")
    _, said = told(people.slice(1), ledger, SPENDS)
    assert len(said) == 1
    assert "so that their epsilons add up" in said[0]
    named = replace(SPENDS, budget=sf.Budget(1), people="census")
    publish(people, ledger, named).write(tmp_path / "two")
    assert told(people, ledger, named)[1] == [], "they add up"
    assert ledger.spent(People.named("census")) == 2


def test_a_budget_is_a_way_out_for_people_with_a_name_whatever_was_released_before(
    ledger: Ledger, tmp_path: Path
) -> None:
    named, spends = replace(RECIPE, people="census"), replace(SPENDS, people="census")
    publish(TABLE, ledger, named).write(tmp_path / "recoded")
    with pytest.raises(sf.RecipeError, match="can compare them") as refused:
        said_of(less_one(0), ledger, named)
    assert "under a budget" in refused.value.remedy
    (said,) = said_of(less_one(0).select(list(SPENDS.schema)), ledger, spends)
    assert str(tmp_path / "recoded") in said
    assert "keeps its promise whatever else is out, and its epsilon is counted" in said
    assert "stays given away" in said
    assert "reads off" not in said, "its rows are generated"
    with pytest.raises(sf.RecipeError, match="it is held beside no other"):
        replace(spends, earlier=sf.Earlier(releases=(str(tmp_path / "recoded"),), people="growing"))


def test_people_who_are_out_under_a_budget_are_refused_without_one_for_what_is_true(
    ledger: Ledger, tmp_path: Path
) -> None:
    publish(TABLE.select(list(SPENDS.schema)).slice(0, 500), ledger, replace(SPENDS, people="census")).write(
        tmp_path / "private"
    )
    with pytest.raises(sf.RecipeError, match="bounded by no epsilon") as refused:
        said_of(TABLE, ledger, replace(RECIPE, people="census"))
    assert "compare" not in str(refused.value), "rows that are generated are nobody's"
