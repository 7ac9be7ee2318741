"""The portfolio search: several ways, never worse than the settings themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sfumato.engines.local.engine import LocalEngine
from sfumato.maskers.masker import Columns, Task
from sfumato.maskers.topdown.fit import TopDown, fit_task
from sfumato.maskers.topdown.portfolio import best_of, purity, variants
from tests.contracts.test_engines import random_case


def task_of(seed: int) -> Task:
    case = random_case(seed)
    return Task(case.table, case.labels, case.needs, LocalEngine())


@pytest.mark.parametrize("seed", range(30))
def test_it_is_never_worse_than_greedy_by_its_own_objective(seed: int) -> None:
    task, settings = task_of(seed), TopDown(search="portfolio", suppress=0.2)
    greedy = fit_task(task, replace(settings, search="greedy"))
    best = best_of(task, settings)
    assert purity(best.columns(task.table), task.labels) >= purity(greedy.columns(task.table), task.labels)


def test_it_keeps_what_the_objective_likes_best() -> None:
    task = task_of(3)
    seen: list[int] = []

    def objective(columns: Columns) -> float:
        shown = sum(len(column.unique()) for column in columns.values())
        seen.append(shown)
        return float(shown)

    best = best_of(replace(task, objective=objective), TopDown(search="portfolio"))
    assert sum(len(column.unique()) for column in best.columns(task.table).values()) == max(seen)
    assert len(seen) == len(list(variants(TopDown(search="portfolio"))))


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
