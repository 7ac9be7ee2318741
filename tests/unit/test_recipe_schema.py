"""The JSON Schema of recipes: what can be read validates, and what is plainly wrong does not."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import sfumato as sf
from sfumato.data.yaml_files import load_yaml
from sfumato.maskers.registry import MASKERS
from sfumato.recipe.json_schema import recipe_schema

ROOT = Path(__file__).parents[2]
SCHEMA = recipe_schema()
BASE = """sfumato: 1
attributes:
  age: {kind: number, role: quasi, range: [0, 120]}
  sex: {kind: category, role: quasi, values: [f, m]}
  ill: {kind: category, role: sensitive}
structure: {clusters: kmeans, k: 3}
privacy:
- {k_anonymity: 5, on: [age, sex]}
mask: {top_down: {score: tradeoff}}
"""


def valid(text: str) -> bool:
    return bool(Draft202012Validator(SCHEMA).is_valid(load_yaml(text, what="recipe")))


def written() -> list[str]:
    """Every text in the docs and tests that is a recipe and can be read, here, without files of its own."""
    texts = [
        block
        for page in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
        for block in re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    ]
    for path in (ROOT / "tests").rglob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        texts += [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return sorted({text for text in texts if "sfumato: 1" in text and "attributes:" in text and _reads(text)})


def _reads(text: str) -> bool:
    try:
        sf.Recipe.from_yaml(text if text.endswith("\n") else f"{text}\n")
    except (sf.SfumatoError, OSError):
        return False
    return True


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_every_recipe_that_can_be_read_validates() -> None:
    texts = written()
    assert len(texts) >= 15
    for text in texts:
        errors = [error.message[:200] for error in Draft202012Validator(SCHEMA).iter_errors(load_yaml(text, what="x"))]
        assert errors == [], text
        again = sf.Recipe.from_yaml(text if text.endswith("\n") else f"{text}\n").to_yaml()
        assert valid(again), again


@pytest.mark.parametrize("name", MASKERS)
def test_every_masker_can_be_named(name: str) -> None:
    for form in (name, f"{{{name}: {{}}}}"):
        assert valid(BASE.replace("mask: {top_down: {score: tradeoff}}", f"mask: {form}"))


GOOD: dict[str, tuple[str, str]] = {
    "settings under a name": ("{k_anonymity: 5, on: [age, sex]}", "{k_anonymity: {k: 5, on: [age, sex]}}"),
    "one attribute": ("on: [age, sex]", "on: age"),
    "two requirements": ("on: [age, sex]}", "on: [age, sex]}\n- {l_diversity: 2, on: [age], sensitive: ill}"),
    "classes": ("{clusters: kmeans, k: 3}", "{classes: ill}"),
    "no mask": ("mask: {top_down: {score: tradeoff}}\n", ""),
    "detail": ("mask:", "detail: {age: 10}\nmask:"),
    "missing": ("mask:", "missing: {age: drop}\nmask:"),
    "dates": ("range: [0, 120]", "calendar: day, dates: dmy"),
    "a tree": ("values: [f, m]", "taxonomy: {any: [f, m]}"),
    "numbers as labels": ("values: [f, m]", "values: [0, 1]"),
}

WRONG: dict[str, tuple[str, str]] = {
    "no format": ("sfumato: 1\n", ""),
    "another format": ("sfumato: 1", "sfumato: 2"),
    "a misspelt key": ("structure:", "strucure:"),
    "no attributes": ("attributes:", "attributs:"),
    "attributes in a list": ("attributes:\n  age:", "attributes: [age]\nx:\n  age:"),
    "a kind that is none": ("kind: number", "kind: date"),
    "no kind": ("kind: number, ", ""),
    "a role that is none": ("role: sensitive", "role: secret"),
    "one end of a range": ("range: [0, 120]", "range: [120]"),
    "a range as a number": ("range: [0, 120]", "range: 120"),
    "a number with labels": ("range: [0, 120]", "values: [1, 2]"),
    "a calendar that is none": ("range: [0, 120]", "calendar: decade"),
    "labels as a mapping": ("values: [f, m]", "values: {f: m}"),
    "a misspelt setting": ("values: [f, m]", "value: [f, m]"),
    "how many as text": ("k: 3}", "k: three}"),
    "clusters and classes": ("{clusters: kmeans, k: 3}", "{clusters: kmeans, classes: ill}"),
    "neither": ("{clusters: kmeans, k: 3}", "{k: 3}"),
    "a misspelt requirement": ("k_anonymity", "k_anonimity"),
    "k as text": ("k_anonymity: 5", "k_anonymity: five"),
    "on nothing": (", on: [age, sex]}", "}"),
    "on numbers": ("on: [age, sex]", "on: [1, 2]"),
    "privacy as a mapping": ("privacy:\n- {k_anonymity: 5, on: [age, sex]}", "privacy: {k_anonymity: 5, on: [age]}"),
    "diversity of nothing": ("{k_anonymity: 5, on", "{l_diversity: 2, on"),
    "a masker that is none": ("top_down", "bottom_up"),
    "two maskers": ("{top_down: {score: tradeoff}}", "{top_down: {}, partition: {}}"),
    "a setting of another masker": ("score: tradeoff", "extent: cuts"),
    "a budget without epsilon": ("mask:", "budget: {total: 2}\nmask:"),
    "rows that vanish": ("mask:", "missing: {age: vanish}\nmask:"),
    "understood what": ("mask:", "i_understand: everything\nmask:"),
    "detail in a list": ("mask:", "detail: [age]\nmask:"),
    "labels of what": ("mask:", "release: {labels: known}\nmask:"),
    "earlier people": ("mask:", "earlier: {releases: [out], people: others}\nmask:"),
}


@pytest.mark.parametrize("name", GOOD)
def test_what_is_right_validates(name: str) -> None:
    changed = BASE.replace(*GOOD[name], 1)
    assert changed != BASE
    assert valid(changed)


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_does_not(name: str) -> None:
    assert len(WRONG) >= 20
    changed = BASE.replace(*WRONG[name], 1)
    assert changed != BASE
    assert not valid(changed)
    with pytest.raises(sf.SfumatoError):
        sf.Recipe.from_yaml(changed)


def test_descriptions_are_for_people() -> None:
    told: Any = SCHEMA["properties"]["attributes"]["additionalProperties"]["oneOf"]
    assert told[0]["description"].split(";")[0] == "A number, a date or a time"
