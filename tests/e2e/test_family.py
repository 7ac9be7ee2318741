"""`sfumato publish --clusters`: versions that are safe together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.release.reading import read_recipe_of, read_recoding
from sfumato.sweeping.sweep import publish_family

RECIPE = """
sfumato: 1
table: people.parquet
attributes:
  age: {kind: number, role: quasi, range: [20, 60]}
  pay: {kind: number, role: quasi}
  sex: {kind: category, role: quasi}
  disease: {kind: category, role: sensitive}
structure: {clusters: kmeans, k: 6, seed: 0}
privacy: [{k_anonymity: 5, on: [age, pay, sex]}]
"""


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    drawn = np.random.default_rng(4)
    columns = {
        "age": drawn.integers(20, 60, 300),
        "pay": drawn.normal(50, 9, 300).round(),
        "sex": drawn.choice(["f", "m"], 300),
        "disease": drawn.choice(["flu", "cold"], 300),
    }
    pq.write_table(pa.table(columns), tmp_path / "people.parquet")
    (tmp_path / "recipe.yaml").write_text(RECIPE)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "recipe.yaml"


def test_a_family_is_published_shown_and_verified(recipe: Path) -> None:
    found = CliRunner().invoke(app, ["publish", str(recipe), "--clusters", "2,4,6", "-o", "out", "--no-report"])
    assert found.exit_code == 0, found.output
    assert "3 versions, safe together" in found.output
    out = recipe.parent / "out"
    both = [part for name in ("clusters-2", "clusters-4") for part in ("--with", str(out / name))]
    raw = ["--raw", str(recipe.parent / "people.parquet")]
    for given in ([], raw):
        checked = CliRunner().invoke(app, ["verify", str(out / "clusters-6"), *both, *given])
        assert checked.exit_code == 0, checked.output
        assert "records are alike in all releases, which cut alike" in checked.output
    alone = CliRunner().invoke(app, ["verify", str(out / "clusters-6"), *both[:2]])
    assert alone.exit_code == 1
    cuts = {str(read_recoding(out / f"clusters-{n}").files()["recoding.json"]) for n in (2, 4, 6)}
    assert len(cuts) == 1  # all show what they may show together
    assert read_recipe_of(out / "clusters-4").structure == sf.Clusters("kmeans", k=4, seed=0, also=(2, 6))


@pytest.mark.parametrize(
    ("numbers", "change", "said"),
    [
        ("2", [], "at least two versions"),
        ("2,2", [], "at least two versions"),
        ("two", [], "a list of whole numbers"),
        ("2,3", ["--set", "structure={classes: disease}"], "structure: {clusters"),
        ("2,3", ["--set", "mask={top_down: {suppress: 0.1}}"], "without suppress"),
    ],
)
def test_what_is_no_family_is_refused(recipe: Path, numbers: str, change: list[str], said: str) -> None:
    found = CliRunner().invoke(
        app, ["publish", str(recipe), "--clusters", numbers, "-o", "out", "--no-report", *change]
    )
    assert found.exit_code != 0
    assert said in " ".join((found.output + str(found.exception)).split())


def test_a_growing_table_has_no_family(recipe: Path) -> None:
    asked = sf.Recipe.from_yaml(RECIPE + "earlier: {releases: [old], people: growing}\n")
    with pytest.raises(sf.RecipeError, match="versions of one table"):
        publish_family("people.parquet", asked, [2, 3], "out")


def test_versions_by_several_methods_are_safe_together(recipe: Path) -> None:
    found = CliRunner().invoke(
        app, ["publish", str(recipe), "--clusters", "2,3", "--methods", "kmeans,ward", "-o", "out", "--no-report"]
    )
    assert found.exit_code == 0, found.output
    assert "4 versions, safe together" in found.output
    out = recipe.parent / "out"
    names = ("kmeans-2", "kmeans-3", "ward-2", "ward-3")
    beside = [part for name in names[:-1] for part in ("--with", str(out / name))]
    checked = CliRunner().invoke(app, ["verify", str(out / "ward-3"), *beside, "--raw", "people.parquet"])
    assert checked.exit_code == 0, checked.output
    asked = sf.Clusters("ward", k=3, seed=0, also=(2,), beside=("kmeans",))
    assert read_recipe_of(out / "ward-3").structure == asked


@pytest.mark.slow
def test_joint_k_of_methods_is_what_brute_force_counts(tmp_path: Path) -> None:
    """Small tables: rows that look alike in every version are counted by hand, and the certificate says the same."""
    for seed in range(6):
        drawn = np.random.default_rng(seed)
        table = pa.table({"age": drawn.integers(20, 40, 40), "sex": drawn.choice(["f", "m"], 40)})
        schema = sf.Schema(age=sf.Number(role="quasi", range=(20, 60)), sex=sf.Category(role="quasi"))
        asked = sf.Recipe(
            schema=schema,
            structure=sf.Clusters("kmeans", k=2),
            privacy=[sf.KAnonymity(on=["age", "sex"], k=4)],
            mask=sf.TopDown(max_steps=2 + seed),
            keep_order=True,
        )
        methods = ["kmeans", "ward", "average"]
        family = publish_family(table, asked, [2, 3], tmp_path / str(seed), methods=methods, run=sf.Run(report=False))
        rows = [pa.table(release.table).select(["age", "sex"]).to_pylist() for release in family.releases.values()]
        seen = [tuple(tuple(row.values()) for row in of) for of in zip(*rows, strict=True)]
        smallest = min(seen.count(one) for one in seen)
        last = list(family.releases.values())[-1]
        told = [claim["achieved"] for claim in last.certificate["claims"] if "with" in claim]
        assert told == [smallest]
        assert smallest >= 4
