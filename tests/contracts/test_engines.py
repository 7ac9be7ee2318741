"""One contract for every engine: what it answers adds up over any split of the rows, and is what the oracle counts.

And for the compiled groups: the same refinements in the same order as dicts and loops, on random tables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from sfumato.counting import Engine
from sfumato.data.encoding import encode
from sfumato.data.schema import Attribute, Category, Number, Schema
from sfumato.data.table import Table
from sfumato.data.taxonomy.taxonomy import Taxonomy, Tree
from sfumato.engines import LocalEngine, ReferenceEngine
from sfumato.maskers.masker import Labels
from sfumato.maskers.topdown.fit import Fitted, fit
from sfumato.maskers.topdown.masker import TopDown
from sfumato.privacy.requirements import KAnonymity
from tests.contracts.oracle import by_the_oracle
from tests.sampling import some

SCORES = ("tradeoff", "infogain", "distortion", "total_gain", "detail")


@dataclass(frozen=True)
class Case:
    table: Table
    labels: Labels
    needs: tuple[KAnonymity, ...]
    settings: TopDown


def random_tree(rng: np.random.Generator, leaves: list[str]) -> Taxonomy:
    """Groups of neighbours put under one label until few enough stand at the top."""
    level: list[tuple[str, Tree]] = [(leaf, None) for leaf in leaves]
    made = 0
    while len(level) > 3:
        grouped: list[tuple[str, Tree]] = []
        while level:
            size = int(rng.integers(1, 4))
            taken, level = level[:size], level[size:]
            if len(taken) == 1:
                grouped += taken
                continue
            made += 1
            grouped.append((f"g{made}", dict(taken)))
        level = grouped
    return Taxonomy.from_tree({"ANY": dict(level)})


def random_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(8, 60))
    schema: dict[str, Attribute] = {}
    columns: dict[str, pa.Array[Any]] = {}
    for number in range(int(rng.integers(1, 6))):
        name = f"a{number}"
        schema[name], columns[name] = random_column(rng, rows)
    names = list(schema)
    needs: dict[frozenset[str], KAnonymity] = {}
    for _ in range(int(rng.integers(1, 6))):
        on = [str(n) for n in rng.permutation(names)[: int(rng.integers(1, len(names) + 1))]]
        needs[frozenset(on)] = KAnonymity(on, max(2, int(rng.integers(1, 1 + rows // 3))))
    unused = set(names) - {name for need in needs.values() for name in need.on}
    for name in unused:
        del schema[name], columns[name]
    n = int(rng.integers(1, 4))
    settings = TopDown(
        score=str(rng.choice(SCORES)),
        split="best_valid" if rng.random() < 0.3 else "best",
        beneficial_only=bool(rng.random() < 0.2),
        suppress=0.3 if rng.random() < 0.3 else 0.0,
    )
    labels = Labels(rng.integers(0, n, rows).astype(np.uint8), n)
    return Case(encode(pa.table(columns), Schema(schema)), labels, tuple(needs.values()), settings)


def random_column(rng: np.random.Generator, rows: int) -> tuple[Attribute, pa.Array[Any]]:
    missing = rng.random(rows) < (0.15 if rng.random() < 0.4 else 0.0)
    missing[:2] = False
    kind = int(rng.integers(0, 3))
    size = int(rng.integers(2, 9))
    codes = np.minimum(rng.integers(0, size, rows), rng.integers(0, size, rows))
    codes[:2] = (0, 1)
    if kind == 0:
        values = pa.array(codes * (0.5 if rng.random() < 0.5 else 1), mask=missing)
        return Number(role="quasi", range=(0, size) if rng.random() < 0.5 else None), values
    leaves = [f"v{value}" for value in range(size)]
    values = pa.array([leaves[code] for code in codes], mask=missing)
    return Category(role="quasi", taxonomy=random_tree(rng, leaves) if kind == 1 else None), values


def run(case: Case, engine: Engine) -> Fitted:
    return fit(case.table, case.labels, case.needs, settings=case.settings, engine=engine)


@pytest.mark.parametrize("threads", [True, False], ids=["threads", "one-thread"])
@pytest.mark.parametrize("block", some(range(12), 4))
def test_a_search_takes_the_oracles_steps(block: int, threads: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.maskers.topdown.groups.SMALL", 0 if threads else 10**9)
    for seed in range(block * 60, block * 60 + (12 if threads else 60)):
        case = random_case(seed)
        with by_the_oracle():
            expected = run(case, ReferenceEngine())
        found = run(case, LocalEngine())
        assert found.history == expected.history, f"case {seed}"
        assert found.recoding == expected.recoding, f"case {seed}"
        assert np.array_equal(found.lifted, expected.lifted), f"case {seed}"


def reordered(case: Case, order: NDArray[np.int64]) -> Case:
    table = encode(case.table.to_arrow().take(order), case.table.schema)
    return replace(case, table=table, labels=Labels(case.labels.classes[order], case.labels.n))


@pytest.mark.parametrize("block", some(range(4), 2))
def test_row_order_changes_nothing(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        case = random_case(seed)
        case = replace(case, settings=replace(case.settings, suppress=0.0))
        order = np.random.default_rng(seed + 1).permutation(case.table.rows)
        assert run(reordered(case, order), LocalEngine()).history == run(case, LocalEngine()).history


def states(case: Case) -> list[Fitted]:
    """Every state on the way: the search stopped after each number of steps."""
    whole = run(replace(case, settings=replace(case.settings, suppress=0.0)), LocalEngine())
    return [
        run(replace(case, settings=replace(case.settings, suppress=0.0, max_steps=steps)), LocalEngine())
        for steps in range(len(whole.history.rounds) + 1)
    ]


def smallest_group(case: Case, fitted: Fitted, on: tuple[str, ...]) -> int:
    masked = fitted.recoding.apply(case.table, lifted=fitted.lifted)
    shown = pa.table({name: masked[name].decode().cast(pa.string()) for name in on})
    return int(
        pa.compute.min(
            shown.append_column("one", pa.array([1] * case.table.rows))
            .group_by(list(on))
            .aggregate([("one", "sum")])["one_sum"]
        ).as_py()
    )


@pytest.mark.parametrize("block", some(range(4), 2))
def test_every_state_on_the_way_satisfies_all_requirements(block: int) -> None:
    for seed in range(block * 25, block * 25 + 25):
        case = random_case(seed)
        for state in states(case):
            for need in case.needs:
                assert smallest_group(case, state, need.on) >= need.k, f"case {seed}"


@pytest.mark.parametrize("block", some(range(4), 2))
def test_lifting_and_best_valid_splits_never_break_a_requirement(block: int) -> None:
    lifted = 0
    for seed in range(1000 + block * 100, 1000 + block * 100 + 60):
        case = random_case(seed)
        case = replace(case, settings=replace(case.settings, suppress=0.4, split="best_valid", beneficial_only=False))
        fitted = run(case, LocalEngine())
        count = int(fitted.lifted.sum())
        lifted += count > 0
        assert count == 0 or max(need.k for need in case.needs) <= count <= 0.4 * case.table.rows
        for need in case.needs:
            assert smallest_group(case, fitted, need.on) >= need.k, f"case {seed}"
    assert lifted > 3, "the cases must exercise lifting"
