"""Sensitive values that are equal, missing, dates or truth: what is one value, in the search and in verify."""

from __future__ import annotations

from datetime import date
from math import nan
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.privacy.requirements import Requirement

ON = ("age",)
AGE = sf.Number(role="quasi", range=(0, 100))
FORMATS: tuple[Literal["parquet", "csv"], ...] = ("parquet", "csv")


def publish(tmp_path: Path, values: list[Any], asked: Any, attribute: Any, kind: Literal["parquet", "csv"]) -> Path:
    drawn = np.random.default_rng(0)
    table = pl.DataFrame(
        {"age": drawn.integers(0, 100, 120), "s": [values[at] for at in drawn.integers(0, len(values), 120)]}
    )
    recipe = sf.Recipe(
        schema=sf.Schema(age=AGE, s=attribute),
        structure=sf.Clusters("kmeans", k=2, n_init=1),
        privacy=(sf.KAnonymity(ON, 10), asked),
    )
    run = sf.Run(report=False, format=kind, ledger=sf.Ledger(tmp_path / "ledger"))
    folder = sf.publish(table, recipe, run=run).write(tmp_path / "out")
    assert sf.verify(folder, raw=table).holds, str(sf.verify(folder, raw=table))
    return folder


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("values", [[0.0, -0.0, 1.0], [nan, None, 1.0]])
def test_equal_numbers_do_not_add_to_diversity(
    values: list[Any], kind: Literal["parquet", "csv"], tmp_path: Path
) -> None:
    number = sf.Number(role="sensitive")
    with pytest.raises(sf.SfumatoError, match="2 different values"):
        publish(tmp_path, values, sf.LDiversity(ON, "s", 3), number, kind)
    folder = publish(tmp_path, values, sf.LDiversity(ON, "s", 2), number, kind)
    assert sf.verify(folder).holds


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("attribute", [sf.Category(role="sensitive"), sf.Number(role="sensitive", calendar="day")])
def test_a_bound_on_a_date_is_published(attribute: Any, kind: Literal["parquet", "csv"], tmp_path: Path) -> None:
    days = [date(2020, 1, 1), date(2020, 1, 2)]
    publish(tmp_path, days, sf.ConfidenceBound(ON, "s", 0.9, days[0]), attribute, kind)


def test_true_is_not_the_number_one(tmp_path: Path) -> None:
    with pytest.raises(sf.SfumatoError, match="a value of nobody"):
        publish(tmp_path, [0, 1], sf.ConfidenceBound(ON, "s", 0.9, True), sf.Number(role="sensitive"), "parquet")


@pytest.mark.parametrize("value", [["a"], nan, np.int64(1), b"a"])
def test_what_is_no_value_is_refused_at_once(value: Any) -> None:
    with pytest.raises(sf.RecipeError, match="`value` is one text"):
        sf.AlphaK(ON, "s", 0.5, 2, value)


def test_no_mean_of_a_few_is_told_where_no_k_is_asked(tmp_path: Path) -> None:
    drawn = np.random.default_rng(1)
    table = pl.DataFrame({"age": drawn.uniform(0, 100, 60), "s": drawn.choice(["a", "b"], 60)})
    asked: list[Requirement] = [sf.TCloseness(ON, "s", 0.9)]
    recipe = sf.Recipe(
        schema=sf.Schema(age=AGE, s=sf.Category(role="sensitive")),
        structure=sf.Clusters("kmeans", k=2, n_init=1),
        privacy=asked,
    )
    release = sf.publish(table, recipe, run=sf.Run(report=False, ledger=sf.Ledger(tmp_path / "ledger")))
    folder = release.write(tmp_path / "out")
    shown = pl.read_parquet(folder / "table.parquet")["age"].value_counts()["count"]
    assert shown.to_numpy().min() < 5, "nobody stands alone, so nothing was tested"
    assert "mean" not in (folder / "codebook.json").read_text(encoding="utf-8")
