"""What a data scientist does without looking it up: draft, publish by a path, mask new rows, and get pandas back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.reading import read
from sfumato.data.writing import give_back
from sfumato.maskers.masker import Masker
from sfumato.publishing import Run

ROWS = 300


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    visits = pd.array(rng.integers(0, 4, ROWS), dtype="Int64")
    visits[:20] = pd.NA
    return pd.DataFrame(
        {
            "ssn": [f"{at:05d}" for at in range(ROWS)],
            "age": rng.integers(18, 80, ROWS),
            "sex": rng.choice(["f", "m"], ROWS),
            "visits": visits,
            "disease": rng.choice(["flu", "gout", "cold"], ROWS),
        }
    )


@pytest.fixture(scope="module")
def release(people: pd.DataFrame) -> sf.Release:
    recipe = sf.draft(people)
    return sf.publish(people, recipe, run=Run(report=False, trial=True))


def test_a_draft_is_a_recipe_with_reasons(people: pd.DataFrame, tmp_path: Path) -> None:
    recipe = sf.draft(people)
    assert isinstance(recipe, sf.Recipe)
    assert recipe.schema["ssn"].role == "identifier"
    assert "age" in recipe.schema.quasi
    assert list(recipe.reasons) == list(people.columns)
    assert all(recipe.reasons.values())
    assert recipe.table is None
    assert sf.Recipe.from_yaml(recipe.to_yaml()) == recipe
    path = tmp_path / "people.csv"
    people.to_csv(path, index=False)
    read = sf.draft(path)
    assert (read.table, read.schema.quasi) == (str(path), recipe.schema.quasi)


def test_a_recipe_may_be_a_path(people: pd.DataFrame, release: sf.Release, tmp_path: Path) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text(release.recipe.to_yaml(), encoding="utf-8")
    again = sf.publish(people, str(path), run=Run(report=False, trial=True))
    assert again.recipe == release.recipe
    columns = list(again.table.columns)
    assert (
        again.table.sort_values(columns).to_numpy().tolist() == release.table.sort_values(columns).to_numpy().tolist()
    )


def test_new_rows_are_shown_as_the_old_ones(people: pd.DataFrame, release: sf.Release) -> None:
    shown = release.apply(people)
    assert isinstance(shown, pd.DataFrame)
    assert list(shown.columns) == list(release.table.columns)
    assert sorted(shown.astype(str).to_numpy().tolist()) == sorted(release.table.astype(str).to_numpy().tolist())
    assert isinstance(release.apply(pl.from_pandas(people)), pl.DataFrame)
    numbered = people.set_axis(range(7, 7 + len(people)), axis=0)
    assert release.apply(numbered).index.equals(numbered.index)
    with pytest.raises(sf.SfumatoError, match=r"within the declared range.*or say unseen='suppress'"):
        release.apply(people.head(1).assign(age=999))
    masked = list(release.recipe.schema.quasi)
    fewer = people[masked]  # new people have no class yet
    assert release.apply(fewer).astype(str).equals(shown[masked].astype(str))
    with pytest.raises(sf.SchemaError, match=r"sex: every .* add the column to the table, or take it out of the sch"):
        release.apply(people.drop(columns="sex"))
    other = next(name for name in shown.columns if name not in masked)
    with pytest.raises(sf.SchemaError, match="did you mean"):
        release.apply(people.rename(columns={other: f"{other}{other[-1]}"}))
    stranger = people.head(1).assign(sex="x")
    told = (
        r"every row lies in a part\. Given: 1 of 1 rows that lie in none: 1 have a value that no part shows \(in sex\)"
    )
    with pytest.raises(sf.SfumatoError, match=rf"{told}.*unseen='suppress'.* as their parts do\.$"):
        release.apply(stranger)
    assert release.apply(stranger, unseen="suppress")[release.recipe.schema.quasi[0]].tolist() == ["*"]


def test_an_index_with_a_name_is_told(people: pd.DataFrame, recwarn: pytest.WarningsRecorder) -> None:
    sf.draft(people.set_index("sex", drop=False))
    sf.draft(people.set_axis(range(7, 7 + len(people)), axis=0))
    assert not recwarn.list
    with pytest.warns(UserWarning, match=r'the index "sex" .* is left out: write frame\.reset_index\(\)'):
        sf.draft(people.set_index("sex"))


def test_another_table_is_told_as_such_first(people: pd.DataFrame, release: sf.Release, tmp_path: Path) -> None:
    folder = replace(release, account=None).keep(tmp_path / "out")
    rule = "compared with the raw table that it was made from"
    with pytest.raises(sf.ReleaseError, match=f"{rule}.*Given: 7 rows for a release of"):
        sf.attack(people.head(7).assign(age=999), folder)
    with pytest.raises(sf.ReleaseError, match=f"{rule}.*does not fit its recipe \\(age: .*declared range"):
        sf.evaluate(people.assign(age=999), folder)
    with pytest.raises(sf.TableError, match="no such file"):
        sf.attack(tmp_path / "nothing.csv", folder)


@pytest.mark.parametrize("mask", [sf.TopDown(), sf.Partition(), sf.Mondrian()], ids=lambda mask: type(mask).__name__)
def test_a_number_outside_the_declared_range_is_in_no_interval(mask: Masker, people: pd.DataFrame) -> None:
    schema = sf.Schema(age=sf.Number(role="quasi", range=(18, 80)), sex=sf.Category(role="quasi"))
    recipe = sf.Recipe(schema=schema, privacy=[sf.KAnonymity(["age", "sex"], 5)], mask=mask)
    release = sf.publish(people[["age", "sex"]], recipe, run=Run(report=False, trial=True))
    strange = pd.DataFrame({"age": [17, 18, 80, 81, 999], "sex": ["f"] * 5})
    shown = release.apply(strange, unseen="suppress")["age"].tolist()
    assert [text == "*" for text in shown] == [True, False, False, True, True]
    people_of = read(strange, schema.without_domains())
    with pytest.raises(sf.TableError, match="unseen='suppress'"):
        release.mask.apply(people_of)
    with pytest.raises(sf.TableError, match="within the declared range"):
        release.apply(strange)


@pytest.mark.parametrize("unseen", ["refuse", "suppress"])
def test_new_values_are_moved_where_the_schema_says(
    people: pd.DataFrame, unseen: Literal["refuse", "suppress"]
) -> None:
    schema = sf.Schema(
        age=sf.Number(role="quasi", range=(20, 60), outside="clip"),
        disease=sf.Category(role="quasi", values=("flu", "gout", "other"), outside="other"),
    )
    recipe = sf.Recipe(schema=schema, privacy=[sf.KAnonymity(["age", "disease"], 5)], mask=sf.TopDown())
    release = sf.publish(people[list(schema)], recipe, run=Run(report=False, trial=True))
    new = pd.DataFrame({"age": [17, 20, 60, 999], "disease": ["plague", "other", "other", "plague"]})
    shown = release.apply(new, unseen=unseen)
    assert "*" not in shown.to_numpy()
    assert shown.iloc[0].equals(shown.iloc[1].rename(0))
    assert shown.iloc[3].equals(shown.iloc[2].rename(3))
    recoder = sf.Recoder(recipe, unseen=unseen, output="labels").fit(people[list(schema)])
    assert recoder.transform(new).tolist() == shown.to_numpy().tolist()


def test_pandas_gets_its_usual_types() -> None:
    raw = pd.DataFrame(
        {
            "text": ["a", None, "b"],
            "whole": [1, 2, 3],
            "gaps": pd.array([1, None, 3], dtype="Int64"),
            "part": [1.5, None, 2],
            "truth": [True, False, True],
            "unsure": pd.array([True, None, False], dtype="boolean"),
            "day": pd.to_datetime(["2020-01-01", "2021-01-01", None]),
        }
    )
    back = give_back(pa.Table.from_pandas(raw), "pandas")
    pd.testing.assert_frame_equal(back, raw, check_dtype=False)
    kinds = {name: str(kind) for name, kind in back.dtypes.items()}
    assert kinds.pop("day").startswith("datetime64")
    assert kinds == {name: str(kind) for name, kind in raw.drop(columns="day").dtypes.items()}


def test_a_draft_asks_in_python_as_it_does_in_the_shell(people: pd.DataFrame) -> None:
    recipe = sf.draft(people)
    assert any(text.startswith("Are these really known to others?") for text in recipe.questions)
    assert any("people: NAME" in text for text in recipe.questions)
    assert "question 1: " in repr(recipe)
    assert recipe == sf.Recipe.from_yaml(recipe.to_yaml(), allow=["/"])
