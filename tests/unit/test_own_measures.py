"""Figures of the holder's own choice: by name in a recipe, as functions from Python."""

from __future__ import annotations

from importlib import import_module
from math import log2
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.structure.measures import LEARNED, entropy, measures_named

QUIET = {"report": False, "trial": True}


def people(rows: int = 240) -> pa.Table:
    drawn = np.random.default_rng(1)
    at = drawn.integers(0, 3, rows)
    return pa.table({"age": 20 + 20 * at + drawn.integers(0, 9, rows), "pay": 100 * at + drawn.integers(0, 60, rows)})


def recipe(**more: Any) -> sf.Recipe:
    number = {"role": "quasi", "range": (0, 400)}
    schema = sf.Schema(age=sf.Number(**number), pay=sf.Number(**number))  # type: ignore[arg-type]
    structure = sf.Clusters("kmeans", k=3, **more)
    return sf.Recipe(schema=schema, structure=structure, privacy=[sf.KAnonymity(on=["age", "pay"], k=5)])


def test_entropy_is_what_its_definition_says() -> None:
    drawn = np.random.default_rng(3)
    for _ in range(50):
        raw, masked = drawn.integers(0, 4, 30), drawn.integers(0, 3, 30)
        pairs = list(zip(masked.tolist(), raw.tolist(), strict=True))
        bits = -sum(log2(pairs.count(pair) / len([one for one in pairs if one[0] == pair[0]])) for pair in pairs) / len(
            pairs
        )
        assert entropy(raw, masked) == pytest.approx(bits)


def test_names_in_a_recipe_and_functions_from_python_are_measured() -> None:
    asked = recipe(measures=("entropy", *LEARNED))
    assert sf.Recipe.from_yaml(asked.to_yaml()) == asked
    given: list[tuple[Any, Any]] = []

    def mine(raw: Any, masked: Any) -> float:
        given.append((raw, masked))
        return 0.25

    scores = sf.publish(people(), asked, run=sf.Run(measures={"mine": mine}, **QUIET)).scores  # type: ignore[arg-type]
    assert scores["scores"]["own.mine.start"]["value"] == 0.25
    assert not scores["scores"]["own.mine.start"]["publishable"]
    raw, masked = given[0]
    for name, measure in measures_named(asked.structure.measures).items():  # type: ignore[union-attr]
        assert scores["scores"][f"own.{name}.start"]["value"] == pytest.approx(measure(raw, masked))
    told = scores["scores"]["own.v_measure_score.start"]["value"]
    assert told == pytest.approx(import_module("sklearn.metrics").v_measure_score(raw, masked))
    assert "own.entropy.start" in [one["name"] for one in scores["headline"]]
    assert scores["scores"]["own.entropy.floor"]["value"] > scores["scores"]["own.entropy.start"]["value"]


def test_what_is_no_measure_is_refused() -> None:
    with pytest.raises(sf.RecipeError, match="by its name"):
        recipe(measures=("os.system",))
    with pytest.raises(sf.RecipeError, match="functions by printable names"):
        sf.Run(measures={"mine": 3})  # type: ignore[dict-item]
    with pytest.raises(sf.RecipeError, match="one finite number"):
        sf.publish(people(), recipe(), run=sf.Run(measures={"mine": lambda raw, masked: float("nan")}, **QUIET))  # type: ignore[arg-type]
