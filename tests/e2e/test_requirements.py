"""Every requirement from a recipe to a written release that verify holds for, and that a brute force agrees with."""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.cli.summary import recheck

QUASI = ("age", "education", "sex")
RECIPE = """
sfumato: 1
attributes:
  age: {kind: number, role: quasi, range: [17, 90]}
  education: {kind: category, role: quasi, taxonomy: {ANY: {School: [Ninth, Tenth], College: [Bachelors, Masters]}}}
  sex: {kind: category, role: quasi}
  disease: {kind: category, role: sensitive, taxonomy: {ANY: {Lung: [Flu, Asthma], Other: [Diabetes, HIV]}}}
  stage: {kind: number, role: sensitive}
structure: {classes: disease}
privacy:
  - {k_anonymity: 3, on: [age, education, sex]}
  - REQUIREMENT
mask: MASK
"""
ON = "on: [age, education, sex]"
ASKED = {
    "distinct": f"{{l_diversity: 3, {ON}, sensitive: disease}}",
    "entropy": f"{{l_diversity: 2, {ON}, sensitive: disease, kind: entropy}}",
    "recursive": f"{{l_diversity: 2, {ON}, sensitive: disease, kind: recursive, c: 2}}",
    "confidence": f"{{confidence_bound: 0.4, {ON}, sensitive: disease, value: HIV}}",
    "alpha_k": f"{{alpha_k: {{alpha: 0.6, k: 8}}, {ON}, sensitive: disease}}",
    "equal": f"{{t_closeness: 0.3, {ON}, sensitive: disease}}",
    "ordered": f"{{t_closeness: 0.2, {ON}, sensitive: stage, distance: ordered}}",
    "hierarchical": f"{{t_closeness: 0.2, {ON}, sensitive: disease, distance: hierarchical}}",
    "lkc": f"{{lkc: {{l: 2, k: 10, c: 0.7}}, {ON}, sensitive: disease}}",
}


def people(rows: int = 400, seed: int = 0) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": random.integers(17, 91, rows),
            "education": random.choice(["Ninth", "Tenth", "Bachelors", "Masters"], rows),
            "sex": random.choice(["F", "M"], rows),
            "disease": random.choice(["Flu", "Asthma", "Diabetes", "HIV"], rows, p=[0.4, 0.3, 0.2, 0.1]),
            "stage": random.integers(1, 5, rows),
        }
    )


def shares(table: pl.DataFrame, sensitive: str, on: tuple[str, ...] = QUASI) -> list[Counter[Any]]:
    groups: dict[tuple[Any, ...], Counter[Any]] = defaultdict(Counter)
    for row in table.iter_rows(named=True):
        groups[tuple(row[name] for name in on)][row[sensitive]] += 1
    return list(groups.values())


MASKS = ("top_down", "mondrian", "partition")
PAIRS = [
    pytest.param(asked, mask, marks=() if (row + column) % len(MASKS) == 0 else pytest.mark.slow)
    for row, asked in enumerate(ASKED)
    for column, mask in enumerate(MASKS)
]
"""The fast suite takes one masker for each requirement, and three requirements for each masker."""


@pytest.mark.parametrize(("asked", "mask"), PAIRS)
def test_every_requirement_is_published_and_verified(asked: str, mask: str, tmp_path: Path) -> None:
    recipe = sf.Recipe.from_yaml(RECIPE.replace("REQUIREMENT", ASKED[asked]).replace("MASK", mask))
    release = sf.publish(people(), recipe, run=sf.Run(report=False))
    folder = release.write(tmp_path / "out")
    verdict = sf.verify(folder)
    assert verdict.holds, str(verdict)
    assert sf.Recipe.from_yaml(tmp_path / "out.holder" / "recipe.yaml") == recipe
    table = pl.read_parquet(folder / "table.parquet")
    assert table.select(QUASI).n_unique() > 1, "nothing was shown, so nothing was tested"
    groups = shares(table, "disease")
    assert min(group.total() for group in groups) >= (8 if asked == "alpha_k" else 3)
    if asked == "distinct":
        assert min(map(len, groups)) >= 3
    if asked == "confidence":
        assert max(group["HIV"] / group.total() for group in groups) <= 0.4
    if asked == "alpha_k":
        assert max(max(group.values()) / group.total() for group in groups) <= 0.6
    if asked == "equal":
        whole = Counter(table["disease"])
        distance = [sum(abs(g[v] / g.total() - whole[v] / whole.total()) for v in whole) / 2 for g in groups]
        assert max(distance) <= 0.3 + 1e-9


def test_a_population_bounds_who_a_record_may_be_about(tmp_path: Path) -> None:
    everybody = people(3000, seed=1).select(QUASI)
    everybody.write_csv(tmp_path / "register.csv")
    asked = f"{{k_map: 40, {ON}, population: {tmp_path / 'register.csv'}}}"
    text = RECIPE.replace("REQUIREMENT", asked).replace("MASK", "top_down")
    recipe = sf.Recipe.from_yaml(text, allow=[tmp_path])
    folder = sf.publish(people(), recipe, run=sf.Run(report=False)).write(tmp_path / "out")
    assert not sf.verify(folder).holds, "without the population nobody can know"
    assert recheck(recipe, folder).endswith(f"--population {tmp_path / 'register.csv'}")
    verdict = sf.verify(folder, population=tmp_path / "register.csv")
    assert verdict.holds, str(verdict)
    other = tmp_path / "other.csv"
    everybody.head(300).write_csv(other)
    assert not sf.verify(folder, population=other).holds


def test_a_population_outside_the_declared_range_is_told_as_such() -> None:
    older = people(50).select(QUASI).with_columns(age=pl.lit(120))
    privacy = [sf.KMap(QUASI, k=5, population=older)]
    recipe = sf.Recipe.from_yaml(RECIPE.replace("REQUIREMENT", ASKED["distinct"]).replace("MASK", "top_down"))
    with pytest.raises(sf.SfumatoError, match="age of the population"):
        sf.publish(people(), dataclasses.replace(recipe, privacy=privacy), run=sf.Run(report=False))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (f"{{l_diversity: 5, {ON}, sensitive: disease}}", "at most"),
        (f"{{confidence_bound: 0.2, {ON}, sensitive: disease}}", "most masked table"),
        (f"{{l_diversity: 2, {ON}, sensitive: diseas}}", "did you mean 'disease'?"),
        (f"{{l_diversity: 2, {ON}}}", "it needs sensitive"),
        (f"{{l_diversity: 2, {ON}, sensitive: age}}", "not what is known"),
        ("{l_diversity: 2, on: [age], sensitive: sex}", "role: sensitive"),
        (f"{{confidence_bound: 0.5, {ON}, sensitive: disease, value: Plague}}", "somebody has"),
        (f"{{t_closeness: 0.5, {ON}, sensitive: disease, distance: ordered}}", "order"),
        (f"{{t_closeness: 0.5, {ON}, sensitive: stage, distance: hierarchical}}", "taxonomy"),
        (f"{{lkc: {{l: 4, k: 2, c: 0.5}}, {ON}, sensitive: disease}}", "at most the number"),
    ],
)
def test_what_cannot_hold_is_told(asked: str, told: str) -> None:
    with pytest.raises(sf.SfumatoError, match=told) as caught:
        sf.publish(people(), sf.Recipe.from_yaml(RECIPE.replace("REQUIREMENT", asked).replace("MASK", "top_down")))
    assert caught.value.remedy
    assert "Diabetes" not in str(caught.value), "no cell value in an error"


def test_one_value_in_the_whole_table_is_no_secret() -> None:
    same = people().with_columns(disease=pl.lit("Flu"))
    recipe = RECIPE.replace("classes: disease", "classes: stage").replace("REQUIREMENT", ASKED["distinct"])
    with pytest.raises(sf.SfumatoError, match="at least two values"):
        sf.publish(same, sf.Recipe.from_yaml(recipe.replace("MASK", "top_down")))


@pytest.mark.parametrize("mask", ["microaggregate", "genetic", "{top_down: {suppress: 0.05}}"])
def test_maskers_that_count_records_alone_say_so(mask: str) -> None:
    with pytest.raises(sf.RecipeError, match="k-anonymity"):
        sf.Recipe.from_yaml(RECIPE.replace("REQUIREMENT", ASKED["distinct"]).replace("MASK", mask))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("value", [True, "true"])
@pytest.mark.parametrize("held", [pa.bool_(), pa.string()])
def test_true_is_named_with_or_without_quotation_marks(value: object, held: Any, tmp_path: Path) -> None:
    """As in `values`. 1 and '1' stay apart."""
    table = pa.table({"age": [row % 40 for row in range(200)], "ill": [row % 7 == 0 for row in range(200)]})
    table = table.set_column(1, "ill", table.column("ill").cast(held))
    schema = sf.Schema(age=sf.Number(role="quasi"), ill=sf.Category(role="sensitive"))
    bound = sf.ConfidenceBound(on=["age"], sensitive="ill", h=0.4, value=value)
    for form in ("parquet", "csv"):
        run = sf.Run(report=False, format=form, ledger=sf.Ledger(tmp_path / f"{form}.jsonl"))
        release = sf.publish(table, sf.Recipe(schema=schema, privacy=[bound]), run=run)
        assert sf.verify(release.write(tmp_path / form)).holds
    with pytest.raises(sf.SchemaError, match="a value of nobody"):
        sf.publish(table, sf.Recipe(schema=schema, privacy=[bound.replace(value=1)]))
