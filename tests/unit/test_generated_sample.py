"""Of a large generated table a stated sample is compared; `evaluate` compares everything."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.data import datasets
from sfumato.evaluation import generated
from sfumato.randomness import Seeded

NAMES = ("age", "education", "sex", "hours_per_week")


def test_a_sample_is_told_and_says_nearly_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    adult = datasets.load("adult", complete=True)
    table = adult.table.select(list(NAMES)).slice(0, 6_000)
    schema = sf.Schema({name: adult.schema[name] for name in NAMES})
    recipe = sf.Recipe(schema=schema, structure=sf.Clusters("kmeans", k=3), mask=sf.PrivateTree(), budget=sf.Budget(1))
    run = sf.Run(report=False, chance=Seeded(1))
    whole = sf.publish(table, recipe, run=run)
    monkeypatch.setattr(generated, "COMPARED", 2_000)
    some = sf.publish(table, recipe, run=run)
    assert "rows.compared" not in whole.scores["scores"]
    assert some.scores["scores"]["rows.compared"]["value"] == 2_000
    for name in ("f_measure.nearest", "cost_ratio"):
        assert some.scores["scores"][name]["value"] == pytest.approx(whole.scores["scores"][name]["value"], abs=0.05)
    assert some.verdict.holds
    assert some.table.equals(whole.table)


def test_parts_are_told_of_the_records_that_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    adult = datasets.load("adult", complete=True)
    schema = sf.Schema({name: adult.schema[name] for name in NAMES[:2]})
    recipe = sf.Recipe(schema=schema, structure=sf.Clusters("kmeans", k=2), mask=sf.DPHeter(), budget=sf.Budget(9))
    monkeypatch.setattr(generated, "COMPARED", 200)
    monkeypatch.setattr(generated, "STARTS", 2)
    table = adult.table.select(list(NAMES[:2])).slice(0, 400)
    release = sf.publish(table, recipe, run=sf.Run(report=False, chance=Seeded(1)))
    found = release.scores["scores"]["f_measure.parts"]["value"]
    monkeypatch.setattr(generated, "COMPARED", 400)
    whole = sf.publish(table, recipe, run=sf.Run(report=False, chance=Seeded(1)))
    assert found == pytest.approx(whole.scores["scores"]["f_measure.parts"]["value"], abs=0.1)
