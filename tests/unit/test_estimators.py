"""Recoder behaves as transformers of scikit-learn do, and what it gives is k-anonymous and worth something."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.exceptions import SkipTestWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import sfumato as sf

ROWS = 240


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, ROWS).astype(float)
    age[:9] = np.nan
    return pd.DataFrame(
        {
            "age": age,
            "hours": rng.normal(40, 8, ROWS).round(1),
            "sex": rng.choice(["f", "m"], ROWS),
            "town": [("Bonn", "Graz", "Linz", "Wien", None)[at] for at in rng.integers(0, 5, ROWS)],
        }
    )


@pytest.fixture(scope="module")
def illness(people: pd.DataFrame) -> np.ndarray[Any, Any]:
    old = people["age"].fillna(40).to_numpy() > 50
    return np.where(old, "ill", "well")


def test_scikit_learn_takes_it_for_one_of_its_own() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)  # array API is an option of scipy's
        check_estimator(sf.Recoder())


def same(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one, other, equal_nan=True))


def recipe(k: int = 8) -> sf.Recipe:
    schema = sf.Schema(
        age=sf.Number(role="quasi", range=(0, 120)),
        hours=sf.Number(role="identifier"),
        sex=sf.Category(role="quasi", values=("f", "m")),
        town=sf.Category(),
    )
    return sf.Recipe(schema=schema, privacy=[sf.KAnonymity(["age", "sex"], k)], mask=sf.TopDown(score="distortion"))


@pytest.mark.parametrize(
    "made",
    [
        sf.Recoder(k=8),
        sf.Recoder(k=8, mask=sf.Partition()),
        sf.Recoder(k=8, mask=sf.TopDown()),
        sf.Recoder(k=8, structure="y"),
        sf.Recoder(k=8, structure=sf.Clusters("kmeans", k=3)),
        sf.Recoder(recipe()),
        sf.Recoder(recipe(3), k=8, mask=sf.Partition()),
    ],
    ids=["usual", "parts", "top_down", "classes", "clusters", "recipe", "edited recipe"],
)
@pytest.mark.parametrize("output", ["numbers", "labels"])
def test_groups_of_a_mixed_table_have_k_and_differ(
    people: pd.DataFrame, illness: np.ndarray[Any, Any], made: sf.Recoder, output: str
) -> None:
    recoder = clone(made).set_params(output=output).set_output(transform="pandas")
    shown = recoder.fit_transform(people, illness)
    assert list(shown.columns) == list(recoder.get_feature_names_out())
    assert shown.shape[0] == ROWS
    masked = [name for name in shown if not str(name).startswith("town") or made.recipe is None]
    sizes = shown.groupby(masked, dropna=False).size()
    assert sizes.min() >= 8, "every combination of what comes out is shared by k rows"
    assert len(sizes) >= 4, "what comes out is not constant"
    assert recoder.group_sizes(people).min() >= 8
    pd.testing.assert_frame_equal(recoder.transform(people), shown)
    if output == "numbers":
        assert same(shown.filter(like="sex_").sum(axis=1).round(6), np.ones(ROWS))


def test_k_of_the_training_rows_does_not_carry_over() -> None:
    rows, _ = load_iris(return_X_y=True)
    train, test = train_test_split(rows, random_state=0)
    recoder = sf.Recoder(k=6).fit(train)
    assert recoder.group_sizes(train).min() >= 6
    assert recoder.group_sizes(test).min() < 6
    assert (sf.Recoder.__doc__ or "").split("**")[1].startswith("k is claimed for the rows that `fit_transform` gives")


def test_clones_and_pickles_give_the_same(people: pd.DataFrame, illness: np.ndarray[Any, Any]) -> None:
    recoder = sf.Recoder(recipe(), structure="y").fit(people, illness)
    again = pickle.loads(pickle.dumps(recoder))
    assert same(again.transform(people), recoder.transform(people))
    other = clone(recoder)
    assert not hasattr(other, "mask_")
    assert other.get_params() == recoder.get_params()
    assert same(other.fit_transform(people, illness), recoder.transform(people))


@pytest.mark.parametrize("container", ["pandas", "polars", "default"])
@pytest.mark.parametrize("output", ["numbers", "labels"])
def test_frames_come_out_as_asked(people: pd.DataFrame, container: str, output: str) -> None:
    recoder = sf.Recoder(output=output).set_output(transform=container)
    shown = recoder.fit_transform(pl.from_pandas(people))
    kinds = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "default": np.ndarray}
    assert isinstance(shown, kinds[container])
    assert shown.shape == (ROWS, len(recoder.get_feature_names_out()))
    assert recoder.feature_names_in_.tolist() == ["age", "hours", "sex", "town"]


def test_it_works_in_pipelines_columns_and_searches(people: pd.DataFrame, illness: np.ndarray[Any, Any]) -> None:
    known = people.dropna()
    columns = ColumnTransformer([("masked", sf.Recoder(), ["age", "sex"]), ("scaled", StandardScaler(), ["hours"])])
    line = Pipeline([("columns", columns), ("model", LogisticRegression())])
    search = GridSearchCV(
        line,
        {"columns__masked__k": [5, 60], "columns__masked__mask": [None, sf.TopDown()]},
        cv=3,
        error_score="raise",
    )
    search.fit(known, illness[known.index])
    assert search.best_params_["columns__masked__k"] == 5, "who is hidden among 60 tells less"
    assert search.best_score_ > 0.8
    names = search.best_estimator_["columns"].get_feature_names_out()
    assert names.tolist() == ["masked__age", "masked__sex_f", "masked__sex_m", "scaled__hours"]


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_what_is_sensitive_is_routed_and_bounded(people: pd.DataFrame, illness: np.ndarray[Any, Any]) -> None:
    known = people.dropna().reset_index(drop=True)
    sick = illness[people.dropna().index]
    recoder = sf.Recoder(confidence=0.8, output="labels").set_fit_request(sensitive=True)
    line = make_pipeline(recoder.set_output(transform="pandas"), FunctionTransformer())
    shown = line.fit_transform(known, sensitive=sick)
    shares = pd.crosstab(shown.astype(str).agg("|".join, axis=1), sick, normalize="index")
    assert shares.to_numpy().max() <= 0.8
    alone = sf.Recoder(output="labels").set_output(transform="pandas").fit_transform(known)
    free = pd.crosstab(alone.astype(str).agg("|".join, axis=1), sick, normalize="index")
    assert free.to_numpy().max() > 0.8, "the bound is what keeps them apart"


def test_unseen_values_show_nothing_or_are_refused(people: pd.DataFrame) -> None:
    known, new = people[["sex"]], pd.DataFrame({"sex": ["x"]})
    assert sf.Recoder(output="labels").fit(known).transform(new).tolist() == [["*"]]
    everybody = sf.Recoder().fit(known).transform(new)[0]
    assert everybody == pytest.approx([(people["sex"] == one).mean() for one in "fm"])
    with pytest.raises(sf.TableError, match="every row lies in a part"):
        sf.Recoder(unseen="refuse").fit(known).transform(new)


@pytest.mark.parametrize("extent", ["parts", "cuts"])
def test_new_rows_that_fall_between_groups_are_told(extent: Any) -> None:
    """Groups show what their rows cover: between two of them there is room."""
    rng = np.random.default_rng(1)
    x = pd.DataFrame(rng.normal(size=(300, 3)).round(2), columns=["a", "b", "c"])
    schema = sf.Schema({name: sf.Number(role="quasi") for name in x})
    recipe = sf.Recipe(schema=schema, privacy=[sf.KAnonymity([*x], 5)], mask=sf.Partition(extent=extent))
    recoder = sf.Recoder(recipe).fit(x.iloc[:200])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        recoder.transform(x.iloc[:200])
        assert not told, "fitted rows are in their groups"
        recoder.transform(x.iloc[200:])
    assert any("rows fall into no group" in str(one.message) for one in told) is (extent != "cuts")
    assert not told or 'say mask=sf.Partition(extent="cuts")' in str(told[0].message)


def test_a_recipe_may_be_a_path(people: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text(recipe().to_yaml(), encoding="utf-8")
    assert same(sf.Recoder(path).fit_transform(people), sf.Recoder(recipe()).fit_transform(people))


@pytest.mark.parametrize(
    ("recoder", "given", "says"),
    [
        (sf.Recoder(output="number"), {}, "did you mean 'numbers'"),
        (sf.Recoder(unseen="drop"), {}, "one of suppress, refuse"),
        (sf.Recoder(structure="y"), {}, "no y"),
        (sf.Recoder(structure="y"), {"y": np.linspace(0, 1, ROWS)}, "no classes"),
        (sf.Recoder(confidence=0.5), {}, "one without the other"),
        (sf.Recoder(structure=sf.Classes("churned")), {}, 'write structure="y"'),
        (
            sf.Recoder(structure="churned"),
            {},
            r'structure: it is "y".* Given: a str.* write structure="y", and fit\(X, y\)',
        ),
        (sf.Recoder(structure="sex"), {}, r'leave it out of X, and write structure="y", and fit\(X, y\)\.$'),
        (sf.Recoder(recipe(), structure="town"), {}, r"; or write structure=sf.Classes\('town'\)"),
        (sf.Recoder(k=1), {}, "k is at least 2"),
        (sf.Recoder(k=ROWS + 1), {}, "even the most masked table"),
    ],
)
def test_mistakes_are_told(people: pd.DataFrame, recoder: sf.Recoder, given: dict[str, Any], says: str) -> None:
    with pytest.raises((sf.SfumatoError, ValueError), match=says):
        recoder.fit(people, **given)


def test_dates_are_numbers_without_a_recipe_too(people: pd.DataFrame) -> None:
    """As labels of days they would be hundreds of columns, and sets of days."""
    since = pd.date_range("2000-01-01", periods=ROWS, freq="31D")
    dated = people.assign(since=since)[["age", "since"]]
    recoder = sf.Recoder(k=20).fit(dated)
    assert recoder.get_feature_names_out().tolist() == ["age", "since"]
    shown = recoder.transform(dated)[:, 1]
    assert 1 < len({*shown.tolist()}) < ROWS / 10
    assert np.corrcoef(shown, np.arange(ROWS))[0, 1] > 0.8
    first = (since[0] - pd.Timestamp("1970-01-01")).days
    assert first <= shown.min() < shown.max() <= first + 31 * ROWS, "in days"


def test_a_class_column_that_comes_out_is_told(people: pd.DataFrame) -> None:
    rows = people[["age", "sex"]]
    schema = sf.Schema(age=sf.Number(role="quasi"), sex=sf.Category(role="sensitive"))
    recipe = sf.Recipe(schema=schema, privacy=[sf.KAnonymity(["age"], 50)], structure=sf.Classes("sex"))
    with pytest.warns(UserWarning, match='the class column "sex" comes out with the others'):
        sf.Recoder(recipe, output="labels").fit(rows)
    with pytest.raises(sf.SchemaError, match=r"a recipe that declares it an sf\.ItemSet"):
        sf.Recoder().fit(rows.assign(products=[["a"]] * ROWS))


def test_a_recipe_with_sets_gives_a_column_for_each_item(people: pd.DataFrame) -> None:
    sets = [["card", "loan"][: at % 3] for at in range(ROWS)]
    schema = sf.Schema(
        age=sf.Number(role="quasi"), sex=sf.Category(role="quasi"), products=sf.ItemSet(role="sensitive")
    )
    recipe = sf.Recipe(schema=schema, privacy=[sf.KAnonymity(["age", "sex"], 10)])
    rows = people[["age", "sex"]].assign(products=sets)
    recoder = sf.Recoder(recipe=recipe).fit(rows)
    names = recoder.get_feature_names_out().tolist()
    assert names[-2:] == ["products_card", "products_loan"]
    found = recoder.transform(rows)[:, -2:]
    assert found.tolist() == [[float(one in held) for one in ("card", "loan")] for held in sets]
