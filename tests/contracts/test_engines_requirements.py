"""Any mix of requirements: groups agree with the oracle, every state holds by definition, the last one is maximal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from sfumato.data.encoding import encode
from sfumato.data.schema import Category, Schema
from sfumato.engines import LocalEngine, ReferenceEngine
from sfumato.errors import Infeasible, SchemaError
from sfumato.maskers.topdown.candidates import ValueGrower
from sfumato.maskers.topdown.fit import Fitted, fit
from sfumato.maskers.topdown.groups import open_groups
from sfumato.maskers.topdown.masker import TopDown
from sfumato.maskers.topdown.problem import Problem, make_problem
from sfumato.maskers.topdown.refinement import Minima, Refinement, Session
from sfumato.maskers.topdown.scores import score_named
from sfumato.maskers.topdown.search import Limits, Rules, Search
from sfumato.privacy.requirements import KMap, Requirement, basic
from tests.contracts.mixes import KINDS, Mix, random_mix
from tests.contracts.oracle import OracleSession, by_the_oracle
from tests.properties.definitions import Row, holds
from tests.sampling import some

ALL = tuple(KINDS)


def mixes(first: int, count: int, kinds: tuple[str, ...] = ALL) -> Iterator[tuple[int, Mix]]:
    """Random mixes that the most masked table satisfies."""
    for seed in range(first, first + count):
        mix = random_mix(seed, kinds)
        try:
            problem_of(mix)
        except (Infeasible, SchemaError):
            continue
        yield seed, mix


def problem_of(mix: Mix) -> Problem:
    rules = Rules(basic(mix.needs), score_named(mix.settings.score), mix.settings.split == "best_valid")
    return make_problem(mix.table, mix.labels, rules, LocalEngine())


def run(mix: Mix, engine: Any, **more: Any) -> Fitted:
    return fit(mix.table, mix.labels, mix.needs, settings=replace(mix.settings, **more), engine=engine)


@pytest.mark.parametrize("block", some(range(6), 3))
def test_searches_take_the_same_steps(block: int) -> None:
    tried = 0
    for seed, mix in mixes(block * 100, 40):
        with by_the_oracle():
            expected = run(mix, ReferenceEngine())
        found = run(mix, LocalEngine())
        assert found.history == expected.history, f"case {seed}"
        assert found.recoding == expected.recoding, f"case {seed}"
        tried += len(found.history.rounds) > 1
    assert tried > 10


@pytest.mark.parametrize("block", some(range(4), 2))
def test_groups_are_the_same_with_weights(block: int) -> None:
    """Question by question, along a random path that keeps to no requirement."""
    for seed, mix in mixes(2000 + block * 50, 25):
        problem = problem_of(mix)
        rng = np.random.default_rng(seed)
        weights = rng.integers(1, 4, problem.records.rows).astype(np.int64)
        records = replace(problem.records, weights=weights if rng.random() < 0.7 else None)
        session = open_groups(LocalEngine(), records, problem.needs)
        walk(session, OracleSession(records, problem.needs), replace(problem, records=records), rng)


def walk(session: Session, oracle: Session, problem: Problem, rng: np.random.Generator) -> None:
    counted = [LocalEngine().histogram(problem.records, attribute) for attribute in range(len(problem.axes))]
    search = Search(oracle, problem.axes, problem.rules, counted=counted)
    for _ in range(6):
        offered = [candidate.refinement for grower in search.growers for candidate in grower.candidates()]
        if not offered:
            return
        same(session.minima(offered), oracle.minima(offered))
        thresholds = problem.rules.thresholds
        if (oracle.minima([]).level >= np.array(thresholds)).all():
            for interval in (step for step in offered if len(step.parts) == 2 and not step.rest):
                assert np.array_equal(session.splits(interval, thresholds), oracle.splits(interval, thresholds))
        step = offered[int(rng.integers(0, len(offered)))]
        session.refine(step)
        oracle.refine(step)
        search.growers[step.attribute].refine(step)


def same(found: Minima, expected: Minima) -> None:
    assert np.array_equal(found.anonymity, expected.anonymity)
    assert np.array_equal(found.after(), expected.after())
    assert np.allclose(found.level, expected.level, atol=1e-12)
    assert np.allclose(found.levels_after(), expected.levels_after(), atol=1e-12)


def shown(mix: Mix, fitted: Fitted) -> list[Row]:
    masked = fitted.masked(mix.table)
    return rows_of({**masked, **{name: mix.table.column(name).decode() for name in ("illness", "wage", "grade")}})


def rows_of(columns: dict[str, Any]) -> list[Row]:
    lists = {name: column.to_pylist() for name, column in columns.items()}
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def people_of(mix: Mix, fitted: Fitted, need: Requirement) -> list[Row]:
    """A population as it would be shown, without those who miss what nobody of the table misses."""
    assert isinstance(need, KMap)
    population: Any = need.population
    for name in need.on:
        if not mix.table.column(name).missing:
            population = population.filter(population.column(name).is_valid())
    table = encode(population, Schema({name: mix.table.schema[name] for name in need.on}))
    rules = replace(fitted.recoding, attributes={name: fitted.recoding.attributes[name] for name in need.on})
    return rows_of(dict(rules.apply(table, unseen="suppress")))


def all_hold(mix: Mix, fitted: Fitted) -> bool:
    rows = shown(mix, fitted)
    grade = mix.table.schema["grade"]
    assert isinstance(grade, Category)
    return all(
        holds(need, rows, people=people_of(mix, fitted, need) if isinstance(need, KMap) else (), tree=grade.taxonomy)
        for need in mix.needs
    )


@pytest.mark.parametrize("kind", [*ALL, "mix"])
@pytest.mark.parametrize("first", some((4000, 4008), 2))
def test_every_state_on_the_way_holds(first: int, kind: str) -> None:
    steps = 0
    for seed, mix in mixes(first, 8 if first == 4000 else 16, ALL if kind == "mix" else (kind,)):
        whole = run(mix, LocalEngine())
        for count in range(len(whole.history.rounds) + 1):
            assert all_hold(mix, run(mix, LocalEngine(), max_steps=count)), f"case {seed}, {count} steps"
        steps += len(whole.history.rounds)
    assert steps > 8


@pytest.mark.parametrize("kind", [*ALL, "mix"])
@pytest.mark.parametrize("first", some((6000, 6012), 2))
def test_no_further_refinement_holds_at_the_end(first: int, kind: str) -> None:
    """Each value that could still be refined is refined by hand, and the definitions are asked again."""
    tried = 0
    for seed, mix in mixes(first, 12 if first == 6000 else 18, ALL if kind == "mix" else (kind,)):
        problem = problem_of(replace(mix, settings=TopDown(score="tradeoff")))
        search = problem.open(None)
        search.run(Limits())
        values = values_after(problem, search.steps)
        assert broken_by(mix, problem, values) == [], f"case {seed}: the final state holds"
        for step in open_steps(problem, search, values):
            after = [held.copy() for held in values]
            for at, (first, end) in enumerate(step.parts):
                after[step.attribute][first:end] = 10_000 + at
            assert broken_by(mix, problem, after), f"case {seed}"
            tried += 1
    assert tried > 8


def values_after(problem: Problem, steps: list[Refinement]) -> list[NDArray[np.int64]]:
    values = [np.zeros(size, dtype=np.int64) for size in problem.records.sizes]
    for step in steps:
        for (first, end), child in zip(step.parts, step.children, strict=False):
            values[step.attribute][first:end] = child
    return values


def open_steps(problem: Problem, search: Search, values: list[NDArray[np.int64]]) -> list[Refinement]:
    """What was dropped and is still there; of suppressed labels all that anybody has are among them."""
    found = []
    for candidate in search.dropped:
        step = candidate.refinement
        inside = values[step.attribute][step.parts[0][0] : step.parts[-1][1]]
        if (inside == step.value).all():
            found.append(step)
    for attribute, grower in enumerate(search.growers):
        if isinstance(grower, ValueGrower):
            held = set(np.unique(problem.records.positions[attribute]).tolist())
            offered = {step.parts[0][0] for step in found if step.attribute == attribute}
            assert grower.suppressed & held == offered
    return found


def broken_by(mix: Mix, problem: Problem, values: list[NDArray[np.int64]]) -> list[Requirement]:
    """The requirements that a state breaks, by the definitions."""
    names = [axis.name for axis in problem.axes]
    columns: dict[str, Any] = {
        name: pa.array(held[positions])
        for name, held, positions in zip(names, values, problem.records.positions, strict=True)
    }
    columns |= {name: mix.table.column(name).decode() for name in ("illness", "wage", "grade")}
    grade = mix.table.schema["grade"]
    assert isinstance(grade, Category)
    maps = [part for part in problem.requirements if isinstance(part, KMap)]
    broken = []
    for need in mix.needs:
        people: list[Row] = []
        if isinstance(need, KMap):
            positions = problem.records.populations[maps.index(need)]
            people = rows_of({names[at]: pa.array(values[at][of]) for at, of in positions.items()})
        if not holds(need, rows_of(columns), people=people, tree=grade.taxonomy):
            broken.append(need)
    return broken


@pytest.mark.parametrize("seed", some(range(40), 4))
def test_labels_of_the_population_are_not_told(seed: int) -> None:
    """What only people of the population have is in no recoding, and no step does nothing."""
    mix = random_mix(seed + 8000, ("map",))
    try:
        fitted = run(mix, LocalEngine())
    except Infeasible:
        return
    for name, rule in fitted.recoding.attributes.items():
        if rule.to_json()["kind"] == "suppress":
            held = set(mix.table.column(name).decode().to_pylist())
            assert set(rule.to_json()["disclosed"]) <= held
    for step in fitted.history.rounds:
        assert step.children
