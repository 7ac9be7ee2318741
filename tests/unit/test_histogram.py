"""Tables generated from noisy counts: limits that need no statistics, and everything that is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.data.table import Table
from sfumato.engines import ReferenceEngine
from sfumato.maskers.histogram.domains import declared, public_cut
from sfumato.maskers.histogram.growth import scores
from sfumato.maskers.histogram.public_space import UNIT, PublicSpace, diameter
from sfumato.maskers.histogram.records import Box, Split, records_of, splits
from sfumato.maskers.masker import Labels, Masker, Outcome, Task
from sfumato.privacy.budget import Budget, Spending
from sfumato.privacy.mechanisms import Mechanisms, Noise, OpenDPNoise, SeededNoise

TREE = sf.Taxonomy.from_tree({"ANY": {"N": ["a", "b"], "S": ["c", "d"]}})
SCHEMA = sf.Schema(
    number=sf.Number(role="quasi", range=(0, 15), integer=True),
    label=sf.Category(role="quasi", taxonomy=TREE),
    items=sf.ItemSet(role="quasi", values=("p", "q", "r")),
    income=sf.Category(role="sensitive", values=("low", "high")),
)
RANDOM = np.random.default_rng(1)
ROWS = 400
PEOPLE = pa.table(
    {
        "number": np.where(np.arange(ROWS) % 2, RANDOM.integers(0, 4, ROWS), RANDOM.integers(12, 16, ROWS)),
        "label": np.where(np.arange(ROWS) % 2, "a", "d"),
        "items": pa.array([["p"] if at % 2 else ["q", "r"] for at in range(ROWS)], pa.list_(pa.string())),
        "income": np.where(np.arange(ROWS) % 4 == 0, "high", "low"),
    }
)
MASKERS: list[Masker] = [
    sf.PrivateTree(),
    sf.PrivateTree(rows="generalized"),
    sf.PrivateTree(pairs=2),
    sf.DPHeter(steps=6),
]


def run(masker: Masker, epsilon: Any, *, table: pa.Table = PEOPLE, noise: Noise | None = None) -> Outcome:
    people: Table = encode(table, sf.Schema({name: SCHEMA[name] for name in table.column_names}))
    mechanisms = Mechanisms(Spending(Budget(epsilon)), noise or OpenDPNoise())
    labels = Labels((np.arange(people.rows) % 2).astype(np.uint8), 2, most=2)
    found = masker.mask(Task(people, labels, (), ReferenceEngine(), mechanisms=mechanisms))
    mechanisms.spending.check_complete()
    return found


@pytest.mark.parametrize("masker", MASKERS)
@pytest.mark.parametrize("epsilon", ["1/3", 0.1, 2])
def test_the_ledger_sums_to_epsilon_exactly(masker: Masker, epsilon: Any) -> None:
    outcome = run(masker, epsilon, noise=SeededNoise(4))
    assert not outcome.masked.row_by_row
    assert len({len(column) for column in outcome.masked.values()}) == 1
    assert set(outcome.masked) == set(SCHEMA)


@pytest.mark.parametrize(
    "masker", [sf.PrivateTree(), sf.PrivateTree(splits=5), sf.DPHeter(steps=1), sf.DPHeter(steps=40)]
)
def test_a_plan_adds_up_and_names_what_is_spent(masker: Any) -> None:
    plan = masker.plan(SCHEMA, Budget("1/7"))
    assert sum(share.epsilon for share in plan) == Fraction(1, 7)
    assert len({share.purpose for share in plan}) == len(plan)


def _told_as(told: Any, domains: Any) -> Callable[[Split], dict[str, Any]]:
    """How a split is told: by cells; of labels by the places of those that are shown; of sets by what they hold."""
    leaves, shown = domains["label"].tree.leaves, told["domains"]["label"]["labels"]

    def tell(split: Split) -> dict[str, Any]:
        if split.attribute == "items":
            items, held = domains["items"], told["domains"]["items"]["labels"]
            if split.tests[0] == len(items.nodes):
                return {"attribute": "items", "holds": None}
            node = items.nodes[split.tests[0]]
            below = {label for label in items.cut if label == node or node in items.tree.ancestors(label)}
            return {"attribute": "items", "holds": [at for at, label in enumerate(held) if label in below]}
        cells = list(split.tests)
        if split.attribute == "label":
            cells = sorted(shown.index(leaves[test]) for test in split.tests if leaves[test] in shown)
        return {"attribute": split.attribute, "cells": cells}

    return tell


def test_a_huge_epsilon_gives_the_exact_tree_and_the_exact_counts() -> None:
    outcome = run(sf.PrivateTree(splits=1), 10**9)
    assert len(outcome.masked["label"]) == ROWS
    assert Counter(outcome.masked["label"].to_pylist()) == Counter(PEOPLE["label"].to_pylist())
    people = records_of(encode(PEOPLE, SCHEMA), declared(SCHEMA, bins=8, may_miss=()))
    space = PublicSpace.of(people.domains, {"number": 1.0, "label": 1.0, "items": 1.0})
    offered = [(split,) for split in splits(people.domains, ["number", "label", "items"])]
    best = scores(people, space, np.zeros(ROWS, dtype=np.int64), offered)
    told: Any = outcome.mask.files()["private_tree.json"]
    chosen = told["splits"][0]
    told_as = _told_as(told, people.domains)
    assert chosen in [told_as(split) for worth, (split,) in zip(best, offered, strict=True) if worth == max(best)]
    labels, numbers = (outcome.masked[name].to_pylist() for name in ("label", "number"))
    joint = [(str(label), int(str(number)) > 7) for label, number in zip(labels, numbers, strict=True)]
    assert set(joint) == {("a", False), ("d", True)}


def test_a_huge_epsilon_keeps_every_group_of_dpheter() -> None:
    outcome = run(sf.DPHeter(steps=40), 10**9)
    assert len(outcome.masked["label"]) == ROWS
    labels, items = (outcome.masked[name].to_pylist() for name in ("label", "items"))
    found = {(label, *(held or ())) for label, held in zip(labels, items, strict=True)}
    assert found == {("a", "p"), ("d", "q", "r")}


def test_a_threshold_says_which_combinations_stay() -> None:
    """The paper's keeps more empty combinations than ours; a high one prunes those that people have, too."""
    kept = {times: run(sf.DPHeter(steps=40, threshold=times), 20, noise=SeededNoise(1)) for times in (1, None, 900)}
    sets = {times: {tuple(one or ()) for one in out.masked["items"].to_pylist()} for times, out in kept.items()}
    assert sets[1] >= {("p",), ("q", "r")}
    assert not {("p",), ("q", "r")} & sets[900]


@pytest.mark.parametrize("masker", [sf.PrivateTree(items=2), sf.DPHeter(steps=40, items=2)])
def test_items_limits_how_many_labels_of_a_set_are_counted(masker: Any) -> None:
    tree = sf.Taxonomy.from_tree({"ANY": {"v": ["p", "q"], "w": ["r", "s"]}})
    schema = sf.Schema(items=sf.ItemSet(role="quasi", taxonomy=tree))
    people = encode(pa.table({"items": pa.array([["p"], ["q", "r"]] * 200, pa.list_(pa.string()))}), schema)
    mechanisms = Mechanisms(Spending(Budget(10**6)), SeededNoise(1))
    labels = Labels((np.arange(people.rows) % 2).astype(np.uint8), 2, most=2)
    found = masker.mask(Task(people, labels, (), ReferenceEngine(), mechanisms=mechanisms))
    shown = {item for held in found.masked["items"].to_pylist() for item in held or ()}
    assert shown == {"v", "w"}


@pytest.mark.parametrize("masker", MASKERS)
def test_a_tiny_epsilon_ignores_the_data(masker: Masker) -> None:
    """With the same noise two tables without anything in common give the same choices."""
    other = PEOPLE.set_column(1, "label", pa.array(["b"] * ROWS)).set_column(0, "number", pa.array([7] * ROWS))
    told = []
    for table in (PEOPLE, other):
        single = table.drop_columns(["items"])  # empty combinations of items are sampled: other draws, same chances
        found = run(masker, Fraction(1, 10**12), table=single, noise=_SmallRows(5))
        (form,) = found.mask.files().values()
        told.append(form.get("splits", form.get("known")))
    assert told[0] == told[1]


class _SmallRows(SeededNoise):
    """Tiny epsilons would ask for billions of rows: the last counts are cut off, which is post-processing."""

    def laplace(self, values: Any, *, epsilon: Fraction, sensitivity: int) -> Any:
        return np.clip(super().laplace(values, epsilon=epsilon, sensitivity=sensitivity), -3, 3)


def test_scores_move_one_way_and_no_farther_than_the_diameter() -> None:
    domains = declared(SCHEMA, bins=4, may_miss=())
    space = PublicSpace.of(domains, dict.fromkeys(domains, 1.0))
    limit = diameter(space, Box.whole(domains)) + 1
    assert limit <= UNIT**2 * 1.01
    offered = [(split,) for split in splits(domains, list(domains))]
    random = np.random.default_rng(3)
    for _ in range(30):
        rows = int(random.integers(1, 12))
        table = pa.table(
            {
                "number": random.integers(0, 16, rows),
                "label": random.choice(["a", "b", "c", "d"], rows),
                "items": pa.array(
                    [["p", "q", "r"][: int(k)] for k in random.integers(0, 4, rows)], pa.list_(pa.string())
                ),
                "income": random.choice(["low", "high"], rows),
            }
        )
        more = records_of(encode(table, SCHEMA), domains)
        before = [0] * len(offered)
        if rows > 1:
            less = records_of(encode(table.slice(1), SCHEMA), domains)
            before = scores(less, space, np.zeros(rows - 1, dtype=np.int64), offered)
        after = scores(more, space, np.zeros(rows, dtype=np.int64), offered)
        assert all(0 <= b - a <= limit for a, b in zip(after, before, strict=True))


def test_all_undeclared_domains_are_listed_with_how_to_declare_them() -> None:
    schema = sf.Schema(
        age=sf.Number(), city=sf.Category(), drugs=sf.ItemSet(taxonomy=sf.Taxonomy.flat(map(str, range(99))))
    )
    with pytest.raises(sf.RecipeError) as caught:
        sf.PrivateTree().check(schema, ())
    message = str(caught.value)
    assert all(word in message for word in ("age", "range: [", "city", "values: [", "drugs", "most: 40", "identifier"))


@pytest.mark.parametrize("masker", [sf.PrivateTree, sf.DPHeter])
def test_a_missing_value_is_refused_unless_it_is_declared(masker: Any) -> None:
    labels = [None if at == 3 else label for at, label in enumerate(PEOPLE["label"].to_pylist())]
    holey = PEOPLE.set_column(1, "label", pa.array(labels))
    with pytest.raises(sf.TableError, match="may_miss"):
        run(masker(), 1, table=holey)
    both = holey.set_column(0, "number", pa.array([None, *PEOPLE["number"].to_pylist()[1:]]))
    with pytest.raises(
        sf.TableError, match=r"^number, label: .*may_miss: \[number, label\]\}\}.*: \{number: drop, label: drop\}"
    ):
        run(masker(), 1, table=both)
    outcome = run(masker(may_miss=["label"]), 10**9, table=holey)
    assert len(outcome.masked["label"]) == ROWS


def test_values_outside_a_domain_go_where_it_is_declared_or_are_refused() -> None:
    table = pa.table({"age": [5, 200], "city": ["x", "Atlantis"], "drugs": [["p", "q", "zz"], ["q"]]})
    plain = sf.Schema(
        age=sf.Number(range=(0, 100)),
        city=sf.Category(values=("x", "Other")),
        drugs=sf.ItemSet(values=("p", "q", "r")),
    )
    for name in plain:
        with pytest.raises(sf.TableError, match=name):
            encode(table.select([name]), sf.Schema({name: plain[name]}))
    declared_ = sf.Schema(
        age=sf.Number(range=(0, 100), outside="clip"),
        city=sf.Category(values=("x", "Other"), outside="Other"),
        drugs=sf.ItemSet(values=("p", "q", "r"), outside="r", most=2, too_many="first"),
    )
    assert encode(table, declared_).to_arrow().to_pydict() == {
        "age": [5, 100],
        "city": ["x", "Other"],
        "drugs": [["p", "q"], ["q"]],
    }


def test_a_set_larger_than_declared_is_refused() -> None:
    table = pa.table({"drugs": [["p", "q"], ["q"]]})
    with pytest.raises(sf.TableError, match="too_many: first"):
        encode(table, sf.Schema(drugs=sf.ItemSet(values=("p", "q"), most=1)))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: sf.DPHeter(steps=0),
        lambda: sf.DPHeter(steps=True),
        lambda: sf.DPHeter(threshold=-1),
        lambda: sf.DPHeter(items=0),
        lambda: sf.PrivateTree(items=10_000),
        lambda: sf.PrivateTree(bins=1),
        lambda: sf.PrivateTree(splits=99),
        lambda: sf.PrivateTree(pairs=-1),
        lambda: sf.PrivateTree(pairs=2, splits=2),
        lambda: sf.PrivateTree(pairs=2, rows="generalized"),
        lambda: sf.PrivateTree(pairs=2, weights={"age": 2.0}),
        lambda: sf.Category(values=("a",), outside="b"),
        lambda: sf.Number(outside="clip"),
        lambda: sf.ItemSet(values=("a",), most=0),
        lambda: sf.ItemSet(values=("a",), too_many="first"),
    ],
)
def test_nonsense_is_refused(wrong: Any) -> None:
    with pytest.raises(sf.SfumatoError):
        wrong()


def test_a_budget_goes_with_maskers_that_spend_it() -> None:
    clusters = sf.Clusters("kmeans", k=2)
    with pytest.raises(sf.RecipeError, match=r"budget: \{epsilon: 1\}"):
        sf.Recipe(schema=SCHEMA, structure=clusters, mask=sf.PrivateTree())
    with pytest.raises(sf.RecipeError, match="private_tree"):
        sf.Recipe(
            schema=SCHEMA,
            structure=clusters,
            budget=Budget(1),
            privacy=[sf.KAnonymity(["number", "label", "items"], 2)],
        )
    with pytest.raises(sf.RecipeError, match="no requirements"):
        sf.Recipe(
            schema=SCHEMA,
            structure=clusters,
            mask=sf.PrivateTree(),
            budget=Budget(1),
            privacy=[sf.KAnonymity(["number", "label", "items"], 2)],
        )
    with pytest.raises(sf.RecipeError, match="no input order"):
        sf.Recipe(schema=SCHEMA, structure=clusters, mask=sf.PrivateTree(), budget=Budget(1), keep_order=True)


def test_a_public_cut_is_made_of_the_tree_alone() -> None:
    tree = sf.Taxonomy.from_tree({"ANY": {str(at): [f"{at}.{leaf}" for leaf in range(9)] for at in range(9)}})
    cut = public_cut(tree, 30)
    assert len(cut) <= 30
    assert sorted(leaf for label in cut for leaf in tree.leaves_of(label)) == sorted(tree.leaves)


@pytest.mark.parametrize("masker", [sf.PrivateTree(splits=1), sf.DPHeter(steps=2)])
def test_noise_alone_makes_some_rows_and_never_more_than_fit(masker: Masker) -> None:
    for seed in range(6):
        rows = len(run(masker, Fraction(1, 500), noise=SeededNoise(seed)).masked["label"])
        assert 1 <= rows < 200_000


def drawn(number: sf.Number, values: list[float]) -> pa.Array[Any]:
    """What a generous budget draws of one column."""
    people = encode(pa.table({"hba1c": values}), sf.Schema(hba1c=number))
    mechanisms = Mechanisms(Spending(Budget(50)), SeededNoise(1))
    labels = Labels(np.zeros(people.rows, dtype=np.uint8), 1, most=1)
    outcome = sf.PrivateTree().mask(Task(people, labels, (), ReferenceEngine(), mechanisms=mechanisms))
    return outcome.masked["hba1c"].values


@pytest.mark.parametrize(
    ("number", "whole"),
    [
        (sf.Number(range=(4, 12), integer=False), False),
        (sf.Number(range=(4.0, 12.0)), False),
        (sf.Number(range=(4, 12), integer=True), True),
    ],
)
def test_decimals_stay_decimals_as_declared(number: sf.Number, whole: bool) -> None:
    assert pa.types.is_integer(drawn(number, [7.0, 9.0] * 30 if whole else [7.2, 9.5] * 30).type) == whole
    said = "whole numbers" if whole else "decimals"
    plan = sf.Recipe(schema=sf.Schema(hba1c=number), mask=sf.PrivateTree(), budget=sf.Budget(1)).plan
    assert f"marginal of hba1c (8 bins, {said})" in repr(plan)


def test_decimals_are_not_lost_without_a_word() -> None:
    assert pa.types.is_integer(drawn(sf.Number(range=(4, 12)), [7.0, 9.0] * 30).type)
    with pytest.raises(sf.SfumatoError, match=r"integer: false \(or range: \[4.0, 12.0\]\)"):
        drawn(sf.Number(range=(4, 12)), [7.2, 9.5] * 30)


def test_a_date_without_a_range_is_refused_with_one_to_write() -> None:
    birth = sf.Number(role="quasi", calendar="day")
    with pytest.raises(sf.RecipeError) as caught:
        sf.Recipe(schema=sf.Schema(birth=birth), mask=sf.PrivateTree(), budget=sf.Budget(1))
    assert "birth without a range (range: ['1900-01-01', '2029-12-31'])" in str(caught.value)
