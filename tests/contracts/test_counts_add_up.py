"""What an engine answers about the parts of a table adds up to what it answers about the whole, for every question."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sfumato.counting import Engine, Needs, Positions, Records, Tuples, added
from sfumato.engines import ENGINES, LocalEngine, ReferenceEngine, engine_named
from sfumato.errors import Infeasible, RecipeError, SchemaError
from sfumato.maskers.topdown.fit import fit
from sfumato.maskers.topdown.problem import Problem
from tests.contracts.mixes import random_mix
from tests.contracts.test_engines_requirements import mixes, problem_of

QUESTIONS = {"histogram", "tuples"}
Listed = Counter[tuple[int, ...]]


def weighted(problem: Problem, rng: np.random.Generator) -> Records:
    weights = rng.integers(1, 4, problem.records.rows).astype(np.int64)
    return replace(problem.records, weights=weights if rng.random() < 0.5 else None)


def split(records: Records, parts: int, rng: np.random.Generator) -> list[Records]:
    """Every row, and everybody of a population, in one of the parts; a part may be empty."""
    rows = rng.integers(0, parts, records.rows)
    people = [rng.integers(0, parts, len(next(iter(of.values())))) for of in records.populations]
    return [_part(records, rows == at, [of == at for of in people]) for at in range(parts)]


def _part(records: Records, rows: NDArray[np.bool_], people: list[NDArray[np.bool_]]) -> Records:
    populations: tuple[Mapping[int, Positions], ...] = tuple(
        {attribute: column[kept] for attribute, column in of.items()}
        for of, kept in zip(records.populations, people, strict=True)
    )
    return replace(
        records,
        positions=tuple(column[rows] for column in records.positions),
        classes=records.classes[rows],
        weights=None if records.weights is None else records.weights[rows],
        sensitive=tuple(codes[rows] for codes in records.sensitive),
        populations=populations,
    )


def listed(tuples: Tuples) -> Listed:
    """How many records each combination stands for, by value."""
    counts = tuples.counts.tolist() if len(tuples.counts) else [1] * len(tuples)
    codes: Any = np.zeros(len(tuples), dtype=np.int64) if tuples.codes is None else tuples.codes
    found: Listed = Counter()
    columns = [column.tolist() for column in (*tuples.columns, codes)]
    for *combination, count in zip(*columns, counts, strict=True):
        found[tuple(combination)] += count
    return found


def tuples_add_up(engine: Engine, whole: Records, parts: list[Records], need: Needs) -> bool:
    expected = listed(engine.tuples(whole, need))
    of_parts = [engine.tuples(part, need) for part in parts]
    return sum((listed(of) for of in of_parts), Counter()) == expected == listed(added(of_parts))


def needs_of(problem: Problem) -> list[Needs]:
    return [*problem.needs, Needs(problem.needs[0].on)]


def test_these_are_all_questions() -> None:
    asked = {name for name, _ in inspect.getmembers(Engine, inspect.isfunction) if not name.startswith("_")}
    assert asked == QUESTIONS


@pytest.mark.parametrize(("most", "few"), [(1 << 22, 4), (1, 0), (1, 1 << 40)], ids=["cells", "listed", "row by row"])
@pytest.mark.parametrize("name", ENGINES)
def test_the_parts_add_up(name: str, most: int, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.engines.MOST_CELLS", most)
    monkeypatch.setattr("sfumato.engines.FEW", few)
    monkeypatch.setattr("sfumato.engines.BLOCK", 7)
    engine, tried, empty = engine_named(name), 0, 0
    for seed, mix in mixes(9000, 30):
        problem, rng = problem_of(mix), np.random.default_rng(seed)
        whole = weighted(problem, rng)
        parts = split(whole, int(rng.integers(2, 9)), rng)
        empty += any(not part.rows for part in parts)
        for attribute in range(len(whole.sizes)):
            of_parts = sum(engine.histogram(part, attribute) for part in parts)
            assert np.array_equal(of_parts, engine.histogram(whole, attribute)), f"case {seed}"
        for need in needs_of(problem):
            assert tuples_add_up(engine, whole, parts, need), f"case {seed}"
            tried += 1
    assert tried > 30
    assert empty


def test_an_engine_that_is_not_there_is_refused() -> None:
    with pytest.raises(RecipeError, match="it is one of local, reference"):
        engine_named("locale")


def test_engines_answer_what_the_oracle_counts() -> None:
    local, oracle = LocalEngine(), ReferenceEngine()
    for seed, mix in mixes(9500, 40):
        problem = problem_of(mix)
        records = weighted(problem, np.random.default_rng(seed))
        for attribute in range(len(records.sizes)):
            assert np.array_equal(local.histogram(records, attribute), oracle.histogram(records, attribute))
        for need in needs_of(problem):
            assert listed(local.tuples(records, need)) == listed(oracle.tuples(records, need)), f"case {seed}"


@pytest.mark.parametrize(("kinds", "listed_once"), [(30, True), (4000, False)])
def test_combinations_that_come_often_are_carried_once(kinds: int, listed_once: bool) -> None:
    """Long quasi-identifiers, too: what a search looks at grows with different people, not with rows."""
    rng = np.random.default_rng(5)
    people = rng.integers(0, 250, (kinds, 4)).astype(np.uint8)
    drawn = people[rng.integers(0, kinds, 4000)]
    columns = tuple(np.ascontiguousarray(column) for column in drawn.T)
    records = Records(columns, (250,) * 4, np.zeros(4000, dtype=np.uint8), 1)
    found = LocalEngine().tuples(records, Needs((0, 1, 2, 3)))
    assert len(found) == (len(np.unique(drawn, axis=0)) if listed_once else 4000)
    assert listed(found) == listed(ReferenceEngine().tuples(records, Needs((0, 1, 2, 3))))


@dataclass(frozen=True)
class InParts:
    """Asks about every part of a table, and adds up."""

    parts: int

    def histogram(self, records: Records, attribute: int) -> NDArray[np.int64]:
        counts = np.stack([LocalEngine().histogram(part, attribute) for part in self._split(records)])
        return np.asarray(counts.sum(axis=0), dtype=np.int64)

    def tuples(self, records: Records, need: Needs) -> Tuples:
        return added([LocalEngine().tuples(part, need) for part in self._split(records)])

    def _split(self, records: Records) -> list[Records]:
        return split(records, self.parts, np.random.default_rng(self.parts))


@pytest.mark.parametrize("block", range(3))
def test_a_search_over_parts_ends_where_the_whole_ends(block: int) -> None:
    steps = 0
    for seed in range(9800 + block * 20, 9800 + block * 20 + 20):
        mix = random_mix(seed)
        try:
            whole = fit(mix.table, mix.labels, mix.needs, settings=mix.settings, engine=LocalEngine())
        except (Infeasible, SchemaError):
            continue
        parts = fit(mix.table, mix.labels, mix.needs, settings=mix.settings, engine=InParts(2 + seed % 4))
        assert parts.history == whole.history, f"case {seed}"
        assert parts.recoding == whole.recoding, f"case {seed}"
        steps += len(whole.history.rounds)
    assert steps > 20


class Hiding:
    """An engine that leaves out combinations which only one record has: what it answers does not add up."""

    def histogram(self, records: Records, attribute: int) -> NDArray[np.int64]:
        return LocalEngine().histogram(records, attribute)

    def tuples(self, records: Records, need: Needs) -> Tuples:
        whole = LocalEngine().tuples(records, need)
        kept: Any = whole.counts > 1
        columns: Any = tuple(column[kept] for column in whole.columns)
        return replace(whole, columns=columns, counts=whole.counts[kept])


def test_an_answer_that_is_no_sum_is_noticed() -> None:
    records = Records((np.array([0, 0, 1, 1], dtype=np.uint8),), (2,), np.zeros(4, dtype=np.uint8), 1)
    parts = [_part(records, np.array([at, not at, at, at]), []) for at in (True, False)]
    for engine, sound in ((LocalEngine(), True), (Hiding(), False)):
        assert tuples_add_up(engine, records, parts, Needs((0,))) is sound
