"""The portfolio search: several ways, never worse than the settings themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.schema import Category, Schema
from sfumato.engines import LocalEngine
from sfumato.evaluation.evaluate import objective_for
from sfumato.maskers.masker import Labels, Task
from sfumato.maskers.topdown.fit import best_of, fit_task, purity, variants
from sfumato.maskers.topdown.masker import TopDown
from sfumato.maskers.topdown.scores import chosen_score
from sfumato.privacy.requirements import KAnonymity
from sfumato.structure.structures import Classes, find
from tests.contracts.test_engines import random_case
from tests.sampling import some


def task_of(seed: int) -> Task:
    case = random_case(seed)
    return Task(case.table, case.labels, case.needs, LocalEngine())


@pytest.mark.parametrize("seed", some(range(30), 3))
def test_it_is_never_worse_than_greedy_by_its_own_objective(seed: int) -> None:
    task, settings = task_of(seed), TopDown(search="portfolio", suppress=0.2)
    greedy = fit_task(task, replace(settings, search="greedy"))
    best = best_of(task, settings)
    assert purity(best.masked(task.table), task.labels) >= purity(greedy.masked(task.table), task.labels)


def test_it_keeps_what_the_objective_likes_best() -> None:
    task = task_of(3)
    seen: list[int] = []

    def objective(masked: Masked) -> float:
        shown = sum(len(np.unique(column.keys)) for column in masked.values())
        seen.append(shown)
        return float(shown)

    best = best_of(replace(task, objective=objective), TopDown(search="portfolio"))
    assert sum(len(np.unique(column.keys)) for column in best.masked(task.table).values()) == max(seen)
    assert len(seen) == len(list(variants(TopDown(score="tradeoff", search="portfolio"))))


def test_where_classes_must_survive_ways_are_compared_by_held_out_rows() -> None:
    """Labels of single records make pure groups, and tell nothing of others."""
    rng = np.random.default_rng(0)
    telling = rng.integers(0, 2, 600)
    classes = np.where(rng.random(600) < 0.1, 1 - telling, telling)
    columns = {"a": telling, "b": np.arange(600) // 2, "class": classes}
    arrow = pa.table({name: pa.array([f"{name}{value}" for value in codes]) for name, codes in columns.items()})
    schema = Schema(a=Category(role="quasi"), b=Category(role="quasi"), **{"class": Category(role="plain")})
    table = encode(arrow, schema)
    found = find(Classes("class"), table)
    hidden = pa.array(["*"] * 600)
    general, single = (
        Masked.of({"a": arrow["a"].combine_chunks(), "b": hidden}),
        Masked.of({"a": hidden, "b": arrow["b"].combine_chunks()}),
    )
    objective = objective_for(Classes("class"), found, table)
    assert objective is not None
    assert objective(general) > 0.85 > 0.65 > objective(single)
    labels = Labels(found.labels, 2)
    assert purity(single, labels) > 0.7


def test_an_attribute_that_comes_last_waits_for_all_others() -> None:
    for seed in range(20):
        task = task_of(seed)
        name = task.requirements[0].on[0]
        fitted = fit_task(task, TopDown(last=(name,)))
        order = [r.attribute for r in fitted.history.rounds]
        if name in order:
            assert set(order[order.index(name) :]) == {name}


def test_time_over_keeps_the_first() -> None:
    task = task_of(5)
    best = best_of(task, TopDown(search="portfolio", seconds=0.0))
    assert best.recoding == fit_task(task, TopDown()).recoding


def test_auto_is_total_gain_for_clusters_under_several_quasi_identifiers() -> None:
    several = [KAnonymity(["a", "b"], 2), KAnonymity(["c"], 2)]
    clusters, classes = (Labels(np.zeros(4, dtype=np.uint8), 2, told_in_part=part) for part in (False, True))
    assert chosen_score("auto", several, clusters) == "total_gain"
    assert chosen_score("auto", several[:1], clusters) == chosen_score("auto", several, classes) == "tradeoff"
    assert chosen_score("infogain", several, clusters) == "infogain"
