"""Searching beside earlier releases of the same rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.counting import Engine
from sfumato.data.encoding import encode
from sfumato.data.grouping import group_numbers, group_sizes
from sfumato.data.schema import Category, Number, Schema
from sfumato.data.table import Table
from sfumato.engines import LocalEngine, ReferenceEngine
from sfumato.errors import Infeasible
from sfumato.maskers.masker import Labels
from sfumato.maskers.topdown.fit import Fitted, fit
from sfumato.maskers.topdown.masker import TopDown
from sfumato.maskers.topdown.problem import MOST, _steps
from sfumato.privacy.requirements import KAnonymity

SCHEMA = Schema(age=Number(role="quasi"), sex=Category(role="quasi"), town=Category(role="quasi"))
K = 8
WANTED = (KAnonymity(["age", "sex"], K), KAnonymity(["sex", "town"], 2 * K))
ENGINES: list[Engine] = [ReferenceEngine(), LocalEngine()]


def people(seed: int, rows: int = 300) -> Table:
    drawn = np.random.default_rng(seed)
    columns = {
        "age": drawn.integers(20, 60, rows),
        "sex": drawn.choice(["f", "m"], rows),
        "town": drawn.choice(list("abcde"), rows),
    }
    return encode(pa.table(columns), SCHEMA)


def labels(seed: int, rows: int = 300) -> Labels:
    return Labels(np.random.default_rng(seed).integers(0, 3, rows).astype(np.uint8), 3)


def groups(table: Table, fitted: list[Fitted], on: tuple[str, ...]) -> list[np.ndarray]:
    return [one.masked(table)[name].keys for one in fitted for name in on]


@pytest.mark.parametrize("engine", ENGINES, ids=["reference", "local"])
@pytest.mark.parametrize("seed", range(3))
def test_joint_groups_hold_and_nothing_more_can_be_shown(seed: int, engine: Engine) -> None:
    table = people(seed)
    first = fit(table, labels(seed), WANTED, settings=TopDown(max_steps=3), engine=engine)
    fixed = {frozenset(w.on): group_numbers(groups(table, [first], w.on), table.rows) for w in WANTED}
    later = fit(table, labels(seed + 50), WANTED, settings=TopDown(), engine=engine, fixed=fixed)
    for wanted in WANTED:
        assert group_sizes(groups(table, [first, later], wanted.on), table.rows).min() >= wanted.k
    alone = fit(table, labels(seed + 50), WANTED, settings=TopDown(), engine=engine)
    assert later.history.stopped == "maximal"
    assert len(later.history.rounds) > 0
    assert alone.recoding != first.recoding


def test_both_engines_find_the_same() -> None:
    table = people(9)
    first = fit(table, labels(1), WANTED, settings=TopDown(max_steps=4), engine=ENGINES[0])
    fixed = {frozenset(w.on): group_numbers(groups(table, [first], w.on), table.rows) for w in WANTED}
    found = [fit(table, labels(2), WANTED, settings=TopDown(), engine=e, fixed=fixed).recoding for e in ENGINES]
    assert found[0] == found[1]


def test_earlier_releases_that_are_broken_already_are_refused() -> None:
    table = people(3)
    fixed = {frozenset(w.on): np.arange(table.rows) for w in WANTED}
    with pytest.raises(Infeasible, match="earlier releases, joined row by row"):
        fit(table, labels(1), WANTED, settings=TopDown(), engine=ENGINES[1], fixed=fixed)


def test_many_earlier_groups_are_set_apart_in_runs() -> None:
    size = 2 * MOST + 5
    value = np.zeros(size, dtype=np.int64)
    for step in _steps(0, size):
        for (first, end), child in zip(step.parts, step.children, strict=True):
            assert (value[first:end] == step.value).all()
            value[first:end] = child
        assert len(step.parts) <= MOST
    assert len(np.unique(value)) == size
