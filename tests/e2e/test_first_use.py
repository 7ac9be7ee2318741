"""What a first-time user stumbled over: each of these failed once."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pytest

import sfumato as sf
from sfumato.data.masked import Masked
from sfumato.structure.released import ReleasedValues
from tests.e2e.test_publish import RECIPE, people, sfumato


def test_a_unique_sensitive_column_does_not_go_out_unasked() -> None:
    """Names declared sensitive by mistake would have been released as they are."""
    text = RECIPE.replace("name:   {kind: category, role: identifier}", "name:   {kind: category, role: sensitive}")
    with pytest.raises(sf.RecipeError, match="tells most people apart"):
        sf.publish(people(), sf.Recipe.from_yaml(text))


def test_the_codebook_tells_of_no_value_below_the_largest_k_of_its_attribute(tmp_path: Path) -> None:
    """A small k on one attribute let the codebook tell shares of few people on others."""
    rows = 800
    table = pa.table(
        {
            "sex": ["f" if i % 2 else "m" for i in range(rows)],
            "town": ["rare" if i < 3 else f"t{i % 4}" for i in range(rows)],
            "ill": ["yes" if i % 5 else "no" for i in range(rows)],
        }
    )
    tree = sf.Taxonomy.from_tree({"ANY": {"here": ["rare", "t0", "t1"], "there": ["t2", "t3"]}})
    recipe = sf.Recipe(
        schema=sf.Schema(
            sex=sf.Category(role="quasi"),
            town=sf.Category(role="quasi", taxonomy=tree),
            ill=sf.Category(role="sensitive"),
        ),
        structure=sf.Classes("ill"),
        privacy=[sf.KAnonymity(["sex"], 2), sf.KAnonymity(["town"], 100)],
        mask=sf.TopDown(),
    )
    folder = sf.publish(table, recipe, run=sf.Run(report=False)).write(tmp_path / "out")
    book = json.loads((folder / "codebook.json").read_text())
    assert "rare" not in json.dumps(book["town"])
    assert book["town"]


def test_no_mean_is_told_of_fewer_than_k_numbers(tmp_path: Path) -> None:
    """A label shown by k records, of whom one has a number at all, would have told that number."""
    rows = 60
    table = pa.table(
        {
            "age": pa.array([None] * 20 + [50.0] + list(range(1, 40)), pa.float64()),
            "sex": ["m"] * 21 + ["f"] * 39,
            "ill": ["yes" if i % 2 else "no" for i in range(rows)],
        }
    )
    masked = Masked.of({"age": pa.array(["*"] * 21 + ["[0-99]"] * 39)})
    people_ = sf.read(
        table, sf.Schema(age=sf.Number(role="quasi", range=(0, 99)), sex=sf.Category(), ill=sf.Category())
    )

    told = ReleasedValues.learn(people_, masked, minimum=10).to_json()
    assert told == {"age": {"[0-99]": {"mean": 19.99}}}  # 20 is the age of one of them


def test_a_drafted_taxonomy_is_not_released_unread() -> None:
    schema = sf.Schema(
        town=sf.Category(role="quasi", taxonomy=sf.Taxonomy.from_tree({"ANY": ["a", "b"]}, draft=True)),
        ill=sf.Category(role="sensitive"),
    )
    with pytest.raises(sf.RecipeError, match="draft"):
        sf.Recipe(schema=schema, structure=sf.Classes("ill"), privacy=[sf.KAnonymity(["town"], 2)])


def test_unseen_values_are_shown_as_the_top_if_told(tmp_path: Path) -> None:
    pc.write_csv(people(), tmp_path / "people.csv")
    (tmp_path / "recipe.yaml").write_text(RECIPE)
    sfumato("publish", tmp_path / "recipe.yaml", "--no-report", "--no-suggest", "--output", tmp_path / "out")
    new = people(4).set_column(2, "sex", pa.array(["f", "m", "f", "x"]))
    pc.write_csv(new, tmp_path / "new.csv")
    words = ("apply", tmp_path / "out", tmp_path / "new.csv", "--output", tmp_path / "new.parquet")
    done = sfumato(*words, "--unseen", "suppress")
    assert done.returncode == 0, done.stderr
    assert "ANY" in sf.read(tmp_path / "new.parquet", _as_text()).column("sex").values.to_pylist()


def _as_text() -> sf.Schema:
    return sf.Schema({name: sf.Category() for name in ("age", "sex", "town", "ill")})


def test_verify_reads_the_raw_table_as_publish_does(tmp_path: Path) -> None:
    text = people().to_pandas().to_csv(sep=";", index=False, na_rep="NA")
    (tmp_path / "people.csv").write_text(text)
    recipe = RECIPE.replace("role: quasi, range", 'role: quasi, missing: ["NA"], range').replace(
        "town:   {kind: category, role: quasi}", 'town:   {kind: category, role: quasi, missing: ["NA"]}'
    )
    (tmp_path / "recipe.yaml").write_text(recipe)
    assert (
        sfumato("publish", tmp_path / "recipe.yaml", "--no-report", "--no-suggest", "-o", tmp_path / "out").returncode
        == 0
    )
    told = sfumato("verify", tmp_path / "out", "--raw", tmp_path / "people.csv")
    assert told.returncode == 0, told.stdout + told.stderr


def test_a_table_in_another_encoding_is_read_as_the_recipe_says(tmp_path: Path) -> None:
    table = people().set_column(3, "town", pa.array([["Zürich", "Genève"][i % 2] for i in range(60)]))
    (tmp_path / "people.csv").write_bytes(table.to_pandas().to_csv(index=False).encode("cp1252"))
    (tmp_path / "recipe.yaml").write_text(RECIPE)
    words = ("publish", tmp_path / "recipe.yaml", "--no-report", "--no-suggest", "--output", tmp_path / "out")
    refused = sfumato(*words)
    assert refused.returncode == 2
    (tmp_path / "recipe.yaml").write_text(RECIPE + "encoding: cp1252\n")
    assert sfumato(*words).returncode == 0


def test_more_clusters_than_records_are_refused() -> None:
    text = RECIPE.replace("{classes: ill}", "{clusters: kmeans, k: 50}")
    with pytest.raises(sf.RecipeError, match="at most 30"):
        sf.publish(people(), sf.Recipe.from_yaml(text))
