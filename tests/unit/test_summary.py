"""What the terminal says of a release."""

from __future__ import annotations

from dataclasses import replace

import sfumato as sf
from sfumato.cli.summary import centres_stay

SCHEMA = sf.Schema(age=sf.Number(role="quasi", range=(0, 99)), weight=sf.Number(role="quasi"),
                   born=sf.Number(role="quasi", calendar="year", range=("1900", "2020")),
                   drugs=sf.ItemSet(role="plain"), ill=sf.Category(role="sensitive"))  # fmt: skip
RECIPE = sf.Recipe(schema=SCHEMA, structure=sf.Clusters("kmeans", k=3),
                   privacy=[sf.KAnonymity(SCHEMA.quasi, 5)])  # fmt: skip


def test_why_centres_stay_is_told_of_each_attribute() -> None:
    told = centres_stay(RECIPE)
    assert "weight, a number without a declared range (declare it)" in told
    assert "born, a date or time" in told
    assert "drugs, an item set" in told
    assert "age" not in told


def test_only_what_clusters_are_found_by_keeps_centres_back() -> None:
    told = centres_stay(replace(RECIPE, structure=sf.Clusters("kmeans", k=3, attributes=("born", "age"))))
    assert "born" in told
    assert "weight" not in told


def test_centres_that_nobody_wanted_are_not_explained() -> None:
    assert "as the recipe says" in centres_stay(replace(RECIPE, release=sf.Along(starting_centres=False)))
