"""What the terminal says of a release."""

from __future__ import annotations

from dataclasses import replace

import sfumato as sf
from sfumato.cli.summary import centres_stay

CODES = sf.Taxonomy.flat(map(str, range(600)))
SCHEMA = sf.Schema(
    age=sf.Number(role="quasi", range=(0, 99)),
    weight=sf.Number(role="quasi"),
    born=sf.Number(role="quasi", calendar="year", range=("1900", "2020")),
    drugs=sf.ItemSet(role="quasi"),
    food=sf.ItemSet(role="plain"),
    codes=sf.ItemSet(role="plain", taxonomy=CODES),
    ill=sf.Category(role="sensitive"),
)
RECIPE = sf.Recipe(schema=SCHEMA, structure=sf.Clusters("kmeans", k=3), mask=sf.Microaggregate(),
                   privacy=[sf.KAnonymity(SCHEMA.quasi, 5)])  # fmt: skip
PUBLIC = sf.Schema(age=SCHEMA["age"], food=sf.ItemSet(role="quasi", values=("fig", "plum")))


def test_why_centres_stay_is_told_of_each_attribute() -> None:
    told = centres_stay(RECIPE)
    assert "weight, a number without a declared range (declare it)" in told
    assert "born, a date or time" in told
    assert "drugs, an item set;" in told
    assert "codes, an item set of more than 512 labels" in told
    assert "age" not in told
    assert "food" not in told


def test_only_what_clusters_are_found_by_keeps_centres_back() -> None:
    told = centres_stay(replace(RECIPE, structure=sf.Clusters("kmeans", k=3, attributes=("born", "age"))))
    assert "born" in told
    assert "weight" not in told


def test_generalized_rows_have_no_centres() -> None:
    told = centres_stay(
        sf.Recipe(schema=PUBLIC, structure=RECIPE.structure, mask=sf.PrivateTree(rows="generalized"),
                  budget=sf.Budget(1))
    )  # fmt: skip
    assert "rows: values" in told
    assert "more than the table" not in told


def test_centres_that_nobody_wanted_are_not_explained() -> None:
    assert "as the recipe says" in centres_stay(replace(RECIPE, release=sf.Along(starting_centres=False)))
