"""True and false as labels: one spelling in drafts, in recipes, in the table and in what is generated of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.maskers.masker import Masker
from sfumato.people.frames import true_or_false
from sfumato.randomness import Seeded

ROWS = 120
AGE = np.arange(ROWS) % 40 + 20
SMOKES = np.arange(ROWS) % 3 == 0


def in_sqlite(folder: Path) -> str:
    with sqlite3.connect(folder / "people.db") as database:
        database.execute("CREATE TABLE people (age INTEGER, smokes BOOLEAN)")
        database.executemany("INSERT INTO people VALUES (?, ?)", zip(AGE.tolist(), SMOKES.tolist(), strict=True))
    return f"sqlite:///{folder / 'people.db'}?table=people"


MADE: dict[str, Callable[[Path], Any]] = {
    "pandas": lambda _: pd.DataFrame({"age": AGE, "smokes": SMOKES}),
    "objects": lambda _: pd.DataFrame({"age": AGE, "smokes": pd.Series(list(SMOKES), dtype=object)}),
    "nullable": lambda _: pd.DataFrame({"age": AGE, "smokes": pd.array(SMOKES, dtype="boolean")}),
    "arrow": lambda _: pa.table({"age": AGE, "smokes": pa.array(SMOKES)}),
    "sqlite": in_sqlite,
    "halves": lambda _: pd.DataFrame({"age": AGE, "smokes": SMOKES.astype(float)}),
}


def recipe(mask: Masker, values: tuple[str, ...]) -> sf.Recipe:
    schema = sf.Schema(age=sf.Number(role="quasi", range=(0, 100)), smokes=sf.Category(values=values))
    return sf.Recipe(schema=schema, structure=sf.Classes("smokes"), mask=mask, budget=sf.Budget(50))


@pytest.mark.filterwarnings("ignore:the classes in")
@pytest.mark.parametrize("made", MADE)
def test_what_is_drafted_can_be_published_under_a_budget(made: str, tmp_path: Path) -> None:
    table = MADE[made](tmp_path)
    question = next(said for said in sf.draft(table).questions if "Under a budget" in said)
    labels = ("0", "1") if made == "halves" else ("false", "true")
    assert f"smokes {[*labels]!r}" in question
    for mask in (sf.PrivateTree(), sf.DPHeter(steps=8)):
        release = sf.publish(table, recipe(mask, labels), run=sf.Run(report=False, chance=Seeded(1)))
        assert {*map(str, release.table["smokes"])} == {*labels}


def test_true_and_false_come_back_as_such(tmp_path: Path) -> None:
    """And raw ones stand where the generated ones do."""
    schema = sf.Schema(age=sf.Number(role="quasi", range=(0, 100)), smokes=sf.Category(values=("false", "true")))
    asked = sf.Recipe(schema=schema, mask=sf.PrivateTree(), budget=sf.Budget(50))
    table = MADE["pandas"](tmp_path)
    people = sf.load(sf.publish(table, asked, run=sf.Run(report=False)).write(tmp_path / "out"))
    given = people.table["smokes"]
    assert given.dtype == bool
    assert people.numbers("sample")["smokes"].dtype == people.numbers()["smokes"].dtype == bool
    assert given.mean() == pytest.approx(SMOKES.mean(), abs=0.1)
    at = people.dims.index("smokes")
    places = {tuple(row) for row in people.points()[:, at:].round(6)}
    assert {tuple(row) for row in people.points(table)[:, at:].round(6)} == places
    assert len(places) == 2


@pytest.mark.parametrize("mask", [sf.Partition(), sf.TopDown(), sf.Mondrian(), sf.Microaggregate()])
@pytest.mark.parametrize("missing", [0, 60])
def test_masked_true_and_false_come_back_as_such(mask: Masker, missing: int, tmp_path: Path) -> None:
    schema = sf.Schema(age=sf.Number(role="quasi", range=(0, 100)), smokes=sf.Category(role="quasi"))
    table = MADE["nullable"](tmp_path)
    table.loc[: missing - 1, "smokes"] = pd.NA
    asked = sf.Recipe(schema=schema, privacy=[sf.KAnonymity(on=["age", "smokes"], k=5)], mask=mask)
    people = sf.load(sf.publish(table, asked, run=sf.Run(report=False, trial=True)).write(tmp_path / "out"))
    assert people.table["smokes"].dtype == ("boolean" if missing else "bool")
    assert people.table["smokes"].sum() == table["smokes"].sum()


def test_sets_of_true_and_false_stay_text() -> None:
    for shown in (["True", "False", "*"], ["True", "{False, True}"], ["True", "true"], [None]):
        assert true_or_false(pa.array(shown, pa.string())).type == pa.string()


def test_true_and_false_of_python_are_declared_as_they_are_read() -> None:
    for given in ((True, False), [np.True_, np.False_]):
        assert sf.Category(values=given).values == ("true", "false")  # type: ignore[arg-type]
    assert sf.Category(values=["True", "no"]).values == ("True", "no")  # type: ignore[arg-type]


def test_another_spelling_is_refused_with_the_right_one() -> None:
    table = pa.table({"smokes": pa.array(SMOKES)})
    with pytest.raises(sf.SfumatoError, match=r"write values: \['false', 'true'\]"):
        encode(table, sf.Schema(smokes=sf.Category(values=("True", "False"))))


@pytest.mark.parametrize("mask", [sf.Partition(), sf.Mondrian(), sf.Microaggregate()])
def test_a_taxonomy_of_true_and_false_is_shown_and_held_against_the_raw_rows(mask: Masker, tmp_path: Path) -> None:
    tree = sf.Taxonomy.from_tree({"ANY": ["true", "false"]})
    schema = sf.Schema(age=sf.Number(role="quasi", range=(0, 100)), smokes=sf.Category(role="quasi", taxonomy=tree))
    table = MADE["pandas"](tmp_path)
    asked = sf.Recipe(schema=schema, privacy=[sf.KAnonymity(on=["age", "smokes"], k=20)], mask=mask)
    release = sf.publish(table, asked, run=sf.Run(report=False))
    assert {*release.table["smokes"]} <= {"true", "false", "ANY"}
    release.write(tmp_path / "out")
    assert sf.verify(tmp_path / "out", raw=table).holds
