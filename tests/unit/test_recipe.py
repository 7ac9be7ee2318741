"""Recipes: read, written without loss, and refused with a message that helps."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf

TEXT = """
sfumato: 1
table: people.csv
attributes:
  age:     {kind: number, role: quasi, range: [17, 90]}
  born:    {kind: number, role: quasi, calendar: year, range: ["1900", "2020"]}
  school:  {kind: category, role: quasi, taxonomy: {ANY: {Low: [a, b], High: [c, d]}}}
  country: {kind: category, role: quasi, missing: ["?"]}
  income:  {kind: category, role: sensitive}
  drugs:   {kind: item_set, separator: "|"}
structure: {clusters: kmeans, k: 3, seed: 1}
privacy:
  - {k_anonymity: 50, on: [age, school, born]}
  - {k_anonymity: 20, on: [age, country]}
mask: {top_down: {score: total_gain, suppress: 0.01}}
keep_order: true
release: {codebook: false}
missing: {country: drop}
"""


def test_a_recipe_reads_as_it_is_written() -> None:
    recipe = sf.Recipe.from_yaml(TEXT)
    assert recipe.privacy[0] == sf.KAnonymity(["age", "school", "born"], 50)
    assert recipe.mask == sf.TopDown(score="total_gain", suppress=0.01)
    assert recipe.missing == ("country",)
    assert recipe.keep_order
    assert sf.Recipe.from_yaml(recipe.to_yaml()) == recipe


def test_files_are_named_from_the_recipes_folder(tmp_path: Path) -> None:
    (tmp_path / "school.yaml").write_text("ANY: {Low: [a, b], High: [c, d]}\n")
    path = tmp_path / "recipe.yaml"
    path.write_text(TEXT.replace("{ANY: {Low: [a, b], High: [c, d]}}", "school.yaml"))
    recipe = sf.Recipe.from_yaml(path)
    assert recipe.table == str(tmp_path / "people.csv")
    assert recipe.schema["school"] == sf.Recipe.from_yaml(TEXT).schema["school"]


@pytest.mark.parametrize(("change", "k"), [("privacy.0.k=7", 7), ("privacy.0.k_anonymity=8", 8), ("privacy.1.k=9", 50)])
def test_one_setting_is_changed_by_its_path(change: str, k: int) -> None:
    assert sf.Recipe.from_yaml(TEXT, changes=[change]).privacy[0].claim()["k"] == k


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("sfumato: 1", "sfumato: 2", "formats to 1 are read"),
        ("keep_order", "keep_ordr", "did you mean 'keep_order'?"),
        ("kind: number, role: quasi, range", "kind: numbr, role: quasi, range", "did you mean 'number'?"),
        ("range: [17, 90]", "range: [90, 17]", "lower end must be below"),
        ("range: [17, 90]", "rnge: [17, 90]", "did you mean 'range'?"),
        ("on: [age, country]", "on: [age, countri]", "did you mean 'country'?"),
        ("on: [age, country]", "on: [age, income]", "role quasi"),
        ("on: [age, country]", "on: [country, country]", "once"),
        ("on: [age, country]", "on: [age]", "would go out raw"),
        ("k_anonymity: 20, on: [age, country]", "k_anonymity: 20, on: [school, born, age]", "asked about once"),
        ("k_anonymity: 20", "k_anonymity: 0", "at least 2"),
        ("k_anonymity: 20", "k_anonymity: 1", "protects nobody"),
        ("k_anonymity: 20", "k_anonymity: 2.5", "whole number"),
        ("k_anonymity: 20", "x_anonymity: 20", "k_anonymity"),
        ("score: total_gain", "score: total_gian", "did you mean 'total_gain'?"),
        ("suppress: 0.01", "suppress: 1.5", "share"),
        ("top_down", "topdown", "did you mean 'top_down'?"),
        ("structure: {clusters: kmeans, k: 3, seed: 1}", "", "there is no structure"),
        ("structure: {clusters: kmeans, k: 3, seed: 1}", "structure: {classes: age}", "no quasi-identifier"),
        ("structure: {clusters: kmeans, k: 3, seed: 1}", "structure: {classes: incme}", "did you mean 'income'?"),
        ("keep_order: true", "keep_order: true\nkeep_order: false", "twice"),
        ("missing: {country: drop}", "missing: {country: forget}", "drop"),
        ("  - {k_anonymity: 20", "  - [k_anonymity: 20", "valid YAML"),
    ],
)
def test_a_wrong_recipe_is_refused_with_a_remedy(old: str, new: str, told: str) -> None:
    assert old in TEXT
    with pytest.raises(sf.SfumatoError) as caught:
        sf.Recipe.from_yaml(TEXT.replace(old, new))
    assert told in str(caught.value)
    assert caught.value.remedy


@pytest.mark.parametrize("change", ["privacy.9.k=1", "k", "privacy.x.k=1", "table.a.b=1", "privacy.k=1", "table.a=1"])
def test_a_path_that_leads_nowhere_is_refused(change: str) -> None:
    with pytest.raises(sf.RecipeError):
        sf.Recipe.from_yaml(TEXT, changes=[change])


PEOPLE_YAML = """
sfumato: 1
attributes:
  age: {kind: number, role: quasi}
  disease: {kind: category, role: sensitive}
structure: {clusters: kmeans, k: 3, also: [2, 4]}
privacy: [{k_anonymity: 5, on: [age]}]
"""


def test_a_recipe_may_name_no_structure() -> None:
    recipe = sf.Recipe.from_yaml(PEOPLE_YAML.replace("structure: {clusters: kmeans, k: 3, also: [2, 4]}\n", ""))
    assert recipe.structure is None
    assert "structure" not in recipe.to_yaml()
    assert sf.Recipe.from_yaml(recipe.to_yaml()) == recipe
    assert recipe.masker == sf.Partition()
    assert sf.Recipe.from_yaml(PEOPLE_YAML).masker == sf.Partition()
    told = sf.Recipe.from_yaml(recipe.to_yaml().replace("partition", "top_down"))
    assert told.masker == sf.TopDown(score="detail")
    assert dataclasses.replace(told, mask=sf.TopDown(score="distortion")).masker == sf.TopDown(score="distortion")


def test_earlier_releases_are_read_and_written() -> None:
    recipe = sf.Recipe.from_yaml(PEOPLE_YAML + "earlier: {releases: [out/2024, out/2025], people: growing}\n")
    assert recipe.earlier == sf.Earlier(releases=("out/2024", "out/2025"), people="growing")
    assert sf.Recipe.from_yaml(recipe.to_yaml()) == recipe


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("earlier: {releases: [], people: same}\n", "at least one release"),
        ("earlier: {releases: [a, a], people: same}\n", "twice"),
        ("earlier: {releases: [a], people: sames}\n", "did you mean 'same'"),
        ("earlier: {releases: [a], people: same}\nmask: mondrian\n", "mask: top_down"),
        ("earlier: {releases: [a], people: same}\nmask: {top_down: {suppress: 0.1}}\n", "without suppress"),
    ],
)
def test_earlier_releases_that_cannot_be_held_beside_are_refused(text: str, said: str) -> None:
    with pytest.raises(sf.RecipeError, match=said):
        sf.Recipe.from_yaml(PEOPLE_YAML + text)


@pytest.mark.parametrize("understood", ["", "i_understand: several_releases\n", "i_understand: [several_releases]\n"])
def test_people_have_a_name_in_any_recipe(understood: str) -> None:
    recipe = sf.Recipe.from_yaml(PEOPLE_YAML + "people: census\n" + understood)
    assert recipe.people == "census"
    assert recipe.understood == ({"several_releases"} if understood else set())
    assert sf.Recipe.from_yaml(recipe.to_yaml()) == recipe


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("people: ''\n", "printable characters"),
        ("people: [a]\n", "it is a text"),
        ('people: "a\\e[2J"\n', "printable characters"),
        ('people: "a\\u202Eb"\n', "printable characters"),
        (f"people: {'a' * 81}\n", "at most 80"),
        ("i_understand: several_releases\n", "people that have a name"),
        ("people: a\ni_understand: several_release\n", "did you mean 'several_releases'"),
        ("people: a\ni_understand: no_guarantee\n", "maskers without a guarantee"),
        ("people: a\ni_understand: 5\n", "a text or a list of texts"),
        ("people: a\ni_understand: [5]\n", "a text or a list of texts"),
        ("budget: {epsilon: 1, people: a}\n", "people: NAME at the top"),
    ],
)
def test_names_and_consents_that_mean_nothing_are_refused(text: str, said: str) -> None:
    with pytest.raises(sf.RecipeError, match=said):
        sf.Recipe.from_yaml(PEOPLE_YAML + text)


def test_sets_whose_items_stand_in_a_taxonomy_are_masked_by_top_down_where_no_mask_is_named() -> None:
    tree = sf.Taxonomy.from_tree({"ANY": {"money": ["card", "loan"], "cover": ["life", "car"]}})

    def recipe(**more: Any) -> sf.Recipe:
        schema = sf.Schema(age=sf.Number(role="quasi", range=(0, 99)), products=sf.ItemSet(role="quasi", **more))
        return sf.Recipe(schema=schema, privacy=[sf.KAnonymity(["age", "products"], 5)])

    assert recipe(taxonomy=tree).mask == sf.TopDown()
    with pytest.raises(sf.RecipeError, match=r"mask: top_down \(with a taxonomy of items\)"):
        recipe()
