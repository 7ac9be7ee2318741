"""Pairs of attributes under a budget: what is spent, how much a record moves a score, what is exact without noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.engines import ReferenceEngine
from sfumato.maskers.histogram.domains import declared
from sfumato.maskers.histogram.pairs import FINE, apart, joint, most_pairs
from sfumato.maskers.histogram.records import Records, records_of
from sfumato.maskers.masker import Labels, Outcome, Task
from sfumato.privacy.budget import Budget, Spending
from sfumato.privacy.mechanisms import Mechanisms, SeededNoise

LETTERS = ("a", "b", "c")
SCHEMA = sf.Schema(
    one=sf.Category(role="quasi", values=LETTERS),
    same=sf.Category(role="quasi", values=LETTERS),
    other=sf.Number(role="quasi", range=(0, 7), integer=True),
    free=sf.Category(role="quasi", values=LETTERS),
    items=sf.ItemSet(role="quasi", values=("p", "q")),
)


def people(rows: int, seed: int = 0) -> pa.Table:
    """`same` is `one`; `other` is high where `one` is a; `free` goes its own way."""
    random = np.random.default_rng(seed)
    one = random.choice(LETTERS, rows)
    other = np.where(one == "a", random.integers(4, 8, rows), random.integers(0, 4, rows))
    sets = [["p"] if at % 3 else ["p", "q"] for at in range(rows)]
    free = random.choice(LETTERS, rows)
    return pa.table({"one": one, "same": one, "other": other, "free": free, "items": sets})


def records(table: pa.Table) -> Records:
    return records_of(encode(table, SCHEMA), declared(SCHEMA, bins=8, may_miss=()))


def made(pairs: int, epsilon: str | int, seed: int = 1) -> tuple[Outcome, Spending]:
    table = encode(people(600), SCHEMA)
    spending = Spending(Budget(epsilon))
    labels = Labels(np.zeros(table.rows, dtype=np.uint8), 1, most=1)
    task = Task(table, labels, (), ReferenceEngine(), mechanisms=Mechanisms(spending, SeededNoise(seed)))
    return sf.PrivateTree(pairs=pairs).mask(task), spending


@pytest.mark.parametrize("pairs", [1, 2, 3, 40])
@pytest.mark.parametrize("epsilon", ["1/3", "0.1", 7])
def test_what_is_spent_is_epsilon_and_what_the_plan_says(pairs: int, epsilon: str | int) -> None:
    _, spending = made(pairs, epsilon)
    spending.check_complete()
    plan = sf.PrivateTree(pairs=pairs).plan(SCHEMA, Budget(epsilon))
    assert sum((share.epsilon for share in plan), Fraction(0)) == Budget(epsilon).epsilon
    spent: dict[str, Fraction] = {}
    for event in spending.events:
        kind = event.purpose.split(" of ")[0]
        spent[kind] = spent.get(kind, Fraction(0)) + event.epsilon
    planned = {share.purpose: share.epsilon for share in plan}
    assert spent["a pair"] == planned["choosing pairs of attributes"]
    assert spent["pair"] == planned["pairs of attributes"]
    assert sum(event.purpose.startswith("pair of") for event in spending.events) == min(pairs, 3)


@pytest.mark.parametrize("seed", range(5))
def test_one_record_moves_a_score_by_no_more_than_its_sensitivity(seed: int) -> None:
    """With the noisy shares fixed, whatever record is added, also to hardly anybody."""
    random = np.random.default_rng(seed)
    some = people(int(random.integers(1, 30)), seed)
    one_way = {name: random.dirichlet(np.ones(3 if name != "other" else 8)) for name in ("one", "same", "other")}
    for pair in (("one", "same"), ("one", "other")):
        before = apart(joint(records(some), pair), one_way, 20.0, pair)
        for at in range(8):
            more = pa.concat_tables([some, people(8, seed + 100).slice(at, 1)])
            assert abs(apart(joint(records(more), pair), one_way, 20.0, pair) - before) <= FINE


def test_without_noise_the_pairs_that_hang_together_are_kept_and_others_are_not_made() -> None:
    outcome, spending = made(2, 10**7)
    shown = {name: outcome.masked[name].to_pylist() for name in ("one", "same", "other")}
    raw = people(600)
    assert abs(outcome.masked.rows - 600) <= 1
    assert np.mean([a == b for a, b in zip(shown["one"], shown["same"], strict=True)]) > 0.99
    high = [number >= 4 for number in shown["other"]]
    assert np.mean([a == (b == "a") for a, b in zip(high, shown["one"], strict=True)]) > 0.98
    assert abs(shown["one"].count("a") - raw["one"].to_pylist().count("a")) <= 2
    assert not any("free" in event.purpose for event in spending.events if event.purpose.startswith("pair of"))


def test_pairs_close_no_circle() -> None:
    domains = declared(SCHEMA, bins=8, may_miss=())
    assert most_pairs(domains, 40) == 3  # four attributes that are no sets
    _, spending = made(40, 10**7)
    pairs = [event.purpose for event in spending.events if event.purpose.startswith("pair of")]
    assert len(pairs) == 3
    assert all(any(f"{name}" in purpose for purpose in pairs) for name in ("one", "same", "other", "free"))


def test_an_attribute_alone_gets_all() -> None:
    schema = sf.Schema(one=SCHEMA["one"])
    table = encode(people(50).select(["one"]), schema)
    spending = Spending(Budget(1))
    labels = Labels(np.zeros(50, dtype=np.uint8), 1, most=1)
    task = Task(table, labels, (), ReferenceEngine(), mechanisms=Mechanisms(spending, SeededNoise(1)))
    sf.PrivateTree(pairs=3).mask(task)
    spending.check_complete()
    assert [share.purpose for share in sf.PrivateTree(pairs=3).plan(schema, Budget(1))] == ["marginal of one"]
