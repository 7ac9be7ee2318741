"""docs/recipes.md lists every key of a recipe, and its examples can be read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.data.yaml_files import load_yaml
from sfumato.maskers.registry import MASKERS, masker_named
from sfumato.privacy.requirements import REQUIREMENTS
from sfumato.recipe.yaml_form import KINDS, TOP

PAGE = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text(encoding="utf-8")
ATTRIBUTES = "\n" + PAGE.split("## `attributes`\n")[1].split("\n## ")[0]


PEOPLE = """
sfumato: 1
attributes:
  born: {kind: number, role: quasi}
  zip: {kind: category, role: quasi}
  sex: {kind: category, role: quasi}
  disease: {kind: category, role: sensitive}
  stage: {kind: category, role: sensitive}
structure: {clusters: kmeans, k: 3}
"""


def section(name: str, within: str = PAGE) -> str:
    """The part of the page whose heading names it."""
    parts = re.split(r"^(?=#{2,3} )", within, flags=re.MULTILINE)
    return next((part for part in parts if f"`{name}`" in part.splitlines()[0]), "")


def unsaid(names: Iterable[str], text: str) -> list[str]:
    return [name for name in names if f"`{name}`" not in text]


def test_every_key_is_there() -> None:
    assert unsaid(TOP, PAGE) == []


@pytest.mark.parametrize("name", MASKERS)
def test_every_masker_is_there_with_every_setting(name: str) -> None:
    assert unsaid([field.name for field in fields(masker_named(name))], section(name) or "no section") == []


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_is_there_with_every_field(name: str) -> None:
    shared = ATTRIBUTES.split("\n### ")[0]
    kind: type = KINDS[name]
    assert unsaid([field.name for field in fields(kind)], shared + section(f"kind: {name}", ATTRIBUTES)) == []


@pytest.mark.parametrize(("name", "settings"), [("structure", sf.Clusters), ("release", sf.Along)])
def test_the_other_parts_are_there_with_every_field(name: str, settings: type) -> None:
    names = [field.name for field in fields(settings) if field.name != "method"]  # {clusters: METHOD}
    assert unsaid(names, section(name)) == []


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_every_requirement_is_there_with_every_setting(name: str) -> None:
    row = next((line for line in section("privacy").splitlines() if line.startswith(f"| `{name}`")), "")
    assert unsaid([field.name for field in fields(REQUIREMENTS[name])], row) == []


def test_the_examples_of_requirements_are_read_and_written_back() -> None:
    text = section("privacy").split("```yaml\n")[1].split("```")[0]
    recipe = sf.Recipe.from_yaml(PEOPLE + text)
    assert {requirement.name for requirement in recipe.privacy} == set(REQUIREMENTS)
    again = sf.Recipe.from_yaml(recipe.to_yaml())
    assert again == recipe
    assert [str(requirement) for requirement in again.privacy] == [str(requirement) for requirement in recipe.privacy]


def test_the_check_can_fail() -> None:
    assert unsaid(["score", "serch"], section("top_down")) == ["serch"]
    assert section("nothing") == ""


def test_the_whole_example_is_a_recipe() -> None:
    text = PAGE.split("```yaml\n")[1].split("```")[0]
    recipe = sf.Recipe.from_yaml(text)
    assert recipe.missing == ("income",)
    assert sf.Recipe.from_yaml(recipe.to_yaml()) == recipe


@pytest.mark.parametrize("line", re.findall(r"^mask: .*$", PAGE.split("## `mask`")[1], flags=re.MULTILINE))
def test_the_examples_of_maskers_can_be_read(line: str) -> None:
    name, settings = next(iter(load_yaml(line + "\n", what="example")["mask"].items()))
    assert masker_named(name)(**settings) != masker_named(name)()
