"""One contract for every masker in the registry: a recipe with it goes out verified, and reads back as written."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.maskers.registry import MASKERS, masker_named, name_of
from sfumato.publishing import evaluate
from sfumato.release.reading import read_mask

K = 5
IRIS = sf.datasets.load("iris")
SETTINGS: dict[str, dict[str, Any]] = {"genetic": {"generations": 3}}


def recipe_with(name: str) -> sf.Recipe:
    mask = masker_named(name)(**SETTINGS.get(name, {}))
    return sf.Recipe(
        schema=IRIS.schema,
        structure=sf.Clusters("kmeans", k=3, n_init=2),
        privacy=(sf.KAnonymity(IRIS.schema.quasi, K),) if mask.guarantee.name == "k_anonymity" else (),
        mask=mask,
        i_understand="no_guarantee" if mask.guarantee.name == "none" else None,
        budget=sf.Budget(1) if mask.guarantee.name == "differential_privacy" else None,
    )


@cache
def released(name: str) -> sf.Release:
    """One release of each masker, with its report, for all that is asked of it."""
    return sf.publish(IRIS.table, recipe_with(name))


@pytest.mark.parametrize("name", MASKERS)
def test_a_release_verifies_and_its_claims_hold_for_the_file(name: str, tmp_path: Path) -> None:
    folder = released(name).write(tmp_path / "out")
    assert sf.verify(folder).holds
    assert sf.verify(folder, raw=IRIS.table).holds
    shown = pl.read_parquet(folder / "table.parquet")
    sizes = shown.group_by(IRIS.schema.quasi).len()["len"]
    certificate = json.loads((folder / "certificate.json").read_text())
    if certificate["guarantee"] == "differential_privacy":
        assert certificate["claims"] == []
        assert sum(Fraction(event["epsilon"]) for event in certificate["differential_privacy"]["events"]) == 1
        assert {column["masked"] for column in certificate["table"]["columns"]} == {"generated"}
        return
    if certificate["guarantee"] == "none":
        assert certificate["claims"] == []
        assert certificate["statement"].startswith("Nothing is claimed")
    else:
        assert (sizes >= K).all()
    assert sorted(map(str, shown["species"])) == sorted(map(str, IRIS.table["species"].to_pylist()))


@pytest.mark.parametrize("name", MASKERS)
def test_a_recipe_with_it_reads_back_as_written(name: str) -> None:
    recipe = recipe_with(name)
    assert name_of(recipe.mask) == name
    assert sf.Recipe.from_yaml(recipe.to_yaml()) == recipe


@pytest.mark.parametrize("name", MASKERS)
def test_what_the_holder_keeps_is_not_in_the_release(name: str, tmp_path: Path) -> None:
    release = released(name)
    folder = release.write(tmp_path / "out")
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert (tmp_path / "out.holder" / "report.html").is_file()
    for kept in release.holder:
        assert (tmp_path / "out.holder" / kept).is_file()
        assert not (folder / kept).exists()
    if release.certificate["guarantee"] == "none":
        assert sorted(path.name for path in folder.iterdir()) == [
            "README.md",
            "certificate.html",
            "certificate.json",
            "certificate.md",
            "datapackage.json",
            "report.html",
            "table.parquet",
        ]


def test_a_masker_without_a_guarantee_must_be_understood() -> None:
    with pytest.raises(sf.RecipeError, match="no_guarantee"):
        sf.Recipe(schema=IRIS.schema, structure=sf.Clusters("kmeans", k=3), mask=masker_named("translate")())
    with pytest.raises(sf.RecipeError, match="leave it out"):
        sf.Recipe(
            schema=IRIS.schema,
            structure=sf.Clusters("kmeans", k=3),
            i_understand="no_guarantee",
            privacy=(sf.KAnonymity(IRIS.schema.quasi, K),),
        )


@pytest.mark.parametrize("name", MASKERS)
def test_what_was_learned_reads_back_and_applies_to_the_same_rows(name: str, tmp_path: Path) -> None:
    release = released(name)
    folder = release.write(tmp_path / "out")
    people = sf.read(IRIS.table, IRIS.schema)
    assert evaluate(IRIS.table, folder, seeds=1)["headline"]
    if release.certificate["guarantee"] == "differential_privacy":
        with pytest.raises(sf.RecipeError, match="rows of its own"):
            read_mask(folder).apply(people)
        return
    again = read_mask(folder).apply(people)
    assert set(again) == {c["name"] for c in release.certificate["table"]["columns"] if c["masked"]}
    assert all(len(column) == people.rows for column in again.values())
