"""Set-valued quasi-identifiers under top-down refinement, held against counting by hand."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.engines import LocalEngine
from sfumato.maskers.masker import Labels
from sfumato.maskers.topdown.fit import Fitted, fit
from tests.sampling import some

TREE = sf.Taxonomy.from_tree({"ANY": {"1": {"11": ["111", "112"], "12": None}, "2": ["21", "22", "23"], "3": None}})
LEAVES = TREE.leaves


def drawn(seed: int) -> pa.Table:
    """Sets, some of them empty or missing, beside a category."""
    random = np.random.default_rng(seed)
    rows = int(random.integers(12, 60))
    usual = [list(random.choice(LEAVES, size=int(random.integers(1, 4)), replace=False)) for _ in range(4)]
    sets: list[Any] = [
        usual[int(random.integers(0, 4))]
        if random.random() < 0.7
        else list(random.choice(LEAVES, size=int(random.integers(0 if seed % 2 else 1, 5)), replace=False))
        for _ in range(rows)
    ]
    if seed % 3 == 0:
        sets = [None if random.random() < 0.2 else one for one in sets]
    return pa.table({"had": pa.array(sets, type=pa.list_(pa.string())), "sex": random.choice(["f", "m"], rows)})


def schema() -> sf.Schema:
    return sf.Schema(had=sf.ItemSet(role="quasi", taxonomy=TREE), sex=sf.Category(role="quasi"))


def run(table: pa.Table, needs: list[Any], **settings: Any) -> tuple[Fitted, list[tuple[Any, Any]]]:
    coded = encode(table, schema())
    labels = Labels((np.arange(table.num_rows) % 3).astype(np.uint8), 3)
    fitted = fit(coded, labels, needs, settings=sf.TopDown(**settings), engine=LocalEngine())
    masked = fitted.masked(coded)
    shown = [None if one is None else tuple(one) for one in masked["had"].decode().to_pylist()]
    return fitted, list(zip(shown, masked["sex"].decode().to_pylist(), strict=True))


def by_hand(items: list[str] | None, cut: set[str], apart: bool) -> tuple[str, ...] | None:
    """A set as the set of the cut's labels that it has items under."""
    if not apart:
        return (TREE.root,)
    if items is None:
        return None
    return tuple(sorted({label for label in cut for item in items if item in TREE.leaves_of(label)}))


@pytest.mark.parametrize("block", some(range(6), 3))
def test_brute_force_agrees(block: int) -> None:
    """300 tables: what is shown is what the definition says, k holds, and no label could be refined any more."""
    for seed in range(50 * block, 50 * block + 50):
        table, k = drawn(seed), 2 + seed % 4
        fitted, rows = run(table, [sf.KAnonymity(on=["had", "sex"], k=k)])
        form = fitted.recoding.to_json()["attributes"]["had"]
        cut, raw = set(form["cut"]), table["had"].to_pylist()
        assert [shown for shown, _ in rows] == [by_hand(items, cut, form["apart"]) for items in raw], seed
        assert min(Counter(rows).values()) >= k, seed
        for finer in refinements(cut, form["apart"]):
            again = [(by_hand(items, *finer), sex) for items, (_, sex) in zip(raw, rows, strict=True)]
            assert min(Counter(again).values()) < k or again == rows, (seed, finer)


def refinements(cut: set[str], apart: bool) -> list[tuple[set[str], bool]]:
    if not apart:
        return [(cut, True)]
    return [(cut - {one} | set(TREE.children(one)), True) for one in cut if not TREE.is_leaf(one)]


def test_several_requirements_hold_on_sets() -> None:
    for seed in range(20):
        table = drawn(seed).append_column(
            "ill", pa.array(np.random.default_rng(seed).choice(["a", "b", "c"], len(drawn(seed))))
        )
        coded = encode(table, sf.Schema({**schema(), "ill": sf.Category(role="sensitive")}))
        needs: list[Any] = [sf.LDiversity(on=["had", "sex"], l=2, sensitive="ill"), sf.KAnonymity(on=["had"], k=3)]
        labels = Labels((np.arange(table.num_rows) % 2).astype(np.uint8), 2)
        try:
            fitted = fit(coded, labels, needs, settings=sf.TopDown(), engine=LocalEngine())
        except sf.Infeasible:
            continue
        shown = fitted.masked(coded)
        keys = list(zip(map(str, shown["had"].decode().to_pylist()), shown["sex"].decode().to_pylist(), strict=True))
        held: dict[Any, set[Any]] = {}
        for key, secret in zip(keys, table["ill"].to_pylist(), strict=True):
            held.setdefault(key, set()).add(secret)
        assert min(map(len, held.values())) >= 2
        assert min(Counter(key[0] for key in keys).values()) >= 3


def test_the_example_of_the_paper() -> None:
    """003, Example 2: refining ** sends records to {1*}, {2*} and {1*, 2*}."""
    tree = sf.Taxonomy.from_tree({"**": {"1*": ["11", "12"], "2*": ["21", "22"]}})
    sets = [list(some) for size in (1, 2) for some in combinations(tree.leaves, size)] * 4
    table = pa.table({"had": pa.array(sets, type=pa.list_(pa.string()))})
    coded = encode(table, sf.Schema(had=sf.ItemSet(role="quasi", taxonomy=tree)))
    labels = Labels((np.arange(len(sets)) % 2).astype(np.uint8), 2)
    fitted = fit(
        coded, labels, [sf.KAnonymity(on=["had"], k=12)], settings=sf.TopDown(max_steps=1), engine=LocalEngine()
    )
    shown = {tuple(one or ()) for one in fitted.masked(coded)["had"].decode().to_pylist()}
    assert shown == {("1*",), ("2*",), ("1*", "2*")}
    assert fitted.history.rounds[0].children == ("{2*}", "{1*}", "{1*, 2*}")
