"""Publishing with k-means makes vectors of few records at a time: what is found, measured and drawn works on codes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.evaluation import clusters
from sfumato.randomness import Seeded
from sfumato.release.report import clusters as projecting
from sfumato.structure import coded_points
from tests.e2e.stopping import adult, recipe_for

ROWS, FEW = 1_200, 200


def watching(monkeypatch: pytest.MonkeyPatch, kind: type[Any], name: str, seen: list[int]) -> None:
    """Note how many vectors each call makes."""
    made: Callable[..., Any] = getattr(kind, name)

    def noted(self: Any, *arguments: Any) -> Any:
        found = made(self, *arguments)
        seen.append(len(found))
        return found

    monkeypatch.setattr(kind, name, noted)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many vectors were made at once, while samples are small."""
    seen: list[int] = []
    monkeypatch.setattr(clusters, "SILHOUETTE_ROWS", FEW)
    monkeypatch.setattr(projecting, "AT_ONCE", FEW)
    watching(monkeypatch, coded_points.Placed, "vectors", seen)
    watching(monkeypatch, coded_points.Block, "at", seen)
    watching(monkeypatch, coded_points.SetBlock, "at", seen)
    return seen


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("masker", "method"), [("partition", "kmeans"), ("top_down", "bisecting")])
def test_no_step_of_a_run_makes_vectors_of_all_records(masker: str, method: Any, made: list[int]) -> None:
    recipe = recipe_for(masker, n_init=1)
    recipe = replace(recipe, structure=sf.Clusters(method, k=4, n_init=1))
    sf.publish(adult(ROWS), recipe, run=sf.Run(chance=Seeded(1)))
    assert made
    assert max(made) <= FEW


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_sets_are_not_spread_out_either(made: list[int]) -> None:
    draw = np.random.default_rng(0)
    jobs = [[f"job {item}" for item in sorted(draw.choice(12, 3, replace=False))] for _ in range(ROWS)]
    table = pa.table({"age": draw.integers(20, 60, ROWS), "jobs": pa.array(jobs)})
    schema = sf.Schema(age=sf.Number(role="quasi", range=(20, 60)), jobs=sf.ItemSet(role="plain"))
    recipe = sf.Recipe(
        schema=schema,
        structure=sf.Clusters("kmeans", k=3, n_init=1),
        privacy=(sf.KAnonymity(["age"], 5),),
        mask=sf.TopDown(),
    )
    release = sf.publish(table, recipe, run=sf.Run(chance=Seeded(1)))
    assert 0 < release.scores["scores"]["f_measure.start"]["value"] <= 1
    assert max(made) <= FEW
