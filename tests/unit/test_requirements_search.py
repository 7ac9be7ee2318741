"""Requirements beyond k in the maskers: what is refused, and in which words; what the history tells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.engines import LocalEngine
from sfumato.maskers.centroids.fit import MDAV
from sfumato.maskers.genetic.fit import Genetic
from sfumato.maskers.masker import Labels, Task
from sfumato.maskers.mondrian.fit import Mondrian
from sfumato.maskers.partition.fit import Partition
from sfumato.maskers.topdown.explanation import explain, stories
from sfumato.maskers.topdown.masker import TopDown, allowed_to_json, allowing
from sfumato.maskers.topdown.scores import tradeoff
from sfumato.maskers.topdown.search import Rules
from sfumato.privacy.requirements import (
    LKC,
    AlphaK,
    ConfidenceBound,
    KAnonymity,
    KMap,
    LDiversity,
    Requirement,
    TCloseness,
    basic,
)
from tests.contracts.mixes import random_mix
from tests.properties.definitions import Row, holds

SCHEMA = sf.Schema(age=sf.Number(role="quasi"), town=sf.Category(role="quasi"), illness=sf.Category(role="sensitive"))
ON = ["age", "town"]


def task(*needs: Requirement, illness: list[Any] | None = None, rows: int = 120) -> Task:
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "age": rng.integers(20, 60, rows).tolist(),
            "town": rng.choice(list("abc"), rows).tolist(),
            "illness": pa.array(illness or rng.choice(["flu", "cold", "gout", "HIV"], rows, p=[0.6, 0.2, 0.15, 0.05])),
        }
    )
    return Task(encode(table, SCHEMA), Labels(rng.integers(0, 2, rows).astype(np.uint8), 2), needs, LocalEngine())


def refused(work: Task, masker: Any = None) -> str:
    with pytest.raises(sf.SfumatoError) as found:
        (masker or TopDown()).mask(work)
    return str(found.value)


@pytest.mark.parametrize("masker", [TopDown(), Mondrian(), Partition()])
def test_the_whole_table_must_hold_and_the_remedy_says_what_would(masker: Any) -> None:
    assert refused(task(LDiversity(ON, "illness", 7)), masker) == (
        "distinct 7-diversity of illness on {age, town}: even the most masked table must satisfy it. "
        "Given: a table with 4 different values of illness, and l is 7. To mend it: ask for l of at most 4."
    )
    entropy = refused(task(LDiversity(ON, "illness", 4, "entropy")), masker)
    assert "with the entropy of 2." in entropy
    assert entropy.endswith("ask for l of at most 2.")
    assert "ask for c above" in refused(task(LDiversity(ON, "illness", 2, "recursive", 0.5)), masker)
    assert "fewer than 5 different values" in refused(task(LDiversity(ON, "illness", 5, "recursive", 3)), masker)
    share = refused(task(ConfidenceBound(ON, "illness", 0.4)), masker)
    assert "a share of 0.6" in share
    assert "ask for a bound of at least 0.6" in share
    assert "illness = flu" in refused(task(AlphaK(ON, "illness", 0.4, 5, "flu")), masker)
    assert "120 records, and k is 500" in refused(task(LKC(ON, "illness", 1, 500, 0.9)), masker)


def test_what_the_remedy_says_is_feasible() -> None:
    TopDown().mask(task(LDiversity(ON, "illness", 4)))
    TopDown().mask(task(LDiversity(ON, "illness", 2, "entropy")))
    counts = np.unique(task().table.column("illness").codes, return_counts=True)[1]
    TopDown().mask(task(ConfidenceBound(ON, "illness", float(np.ceil(counts.max() / 120 * 1000) / 1000))))


def test_a_sensitive_attribute_needs_two_values() -> None:
    needs: list[Requirement] = [
        LDiversity(ON, "illness", 2),
        TCloseness(ON, "illness", 0.5),
        ConfidenceBound(ON, "illness", 0.99),
    ]
    for need in needs:
        assert "illness: a sensitive attribute has at least two values" in refused(task(need, illness=["flu"] * 120))
        assert "missing in every row" in refused(task(need, illness=[None] * 120))


def test_values_that_nobody_has_and_orders_that_are_not_given() -> None:
    assert "a value of nobody" in refused(task(ConfidenceBound(ON, "illness", 0.5, "measles")))
    assert "needs their order" in refused(task(TCloseness(ON, "illness", 0.5, "ordered")))
    assert "needs every value in a taxonomy" in refused(task(TCloseness(ON, "illness", 0.5, "hierarchical")))
    assert "lists every value" in refused(task(TCloseness(ON, "illness", 0.5, "ordered", ["flu"])))


def test_missing_is_a_value_of_its_own() -> None:
    work = task(LDiversity(ON, "illness", 3), illness=["flu", "cold", None] * 40)
    TopDown().mask(work)
    assert "ask for l of at most 3" in refused(replace(work, requirements=(LDiversity(ON, "illness", 4),)))


@pytest.mark.parametrize(
    ("masker", "says"),
    [
        (Genetic(), "the genetic search"),
        (MDAV(), "centroids"),
        (TopDown(suppress=0.1), "top_down with suppress"),
    ],
)
def test_maskers_that_promise_k_alone_say_so(masker: Any, says: str) -> None:
    with pytest.raises(sf.RecipeError, match=says):
        masker.check(SCHEMA, [KAnonymity(ON, 5), LDiversity(ON, "illness", 2)])
    masker.check(SCHEMA, [KAnonymity(ON, 5)])


def test_suppress_is_refused_for_what_an_alpha_stands_for() -> None:
    with pytest.raises(sf.RecipeError, match="leave suppress out"):
        TopDown(suppress=0.1).check(SCHEMA, [AlphaK(ON, "illness", 0.9, 5)])


def test_mondrian_knows_no_population() -> None:
    with pytest.raises(sf.RecipeError, match="use top_down"):
        Mondrian().check(SCHEMA, [KMap(ON, 5, "voters.csv")])


def test_a_population_lacks_a_column_or_people() -> None:
    assert "did you mean 'towns'" in refused(task(KMap(ON, 5, pa.table({"age": [1], "towns": ["a"]}))))
    few = pa.table({"age": [20, 30, 40], "town": ["a", "b", "c"]})
    assert "3 people of the population, and k is 5" in refused(task(KMap(ON, 5, few)))
    nobody = pa.table({"age": pa.array([None, None], pa.int64()), "town": ["a", "b"]})
    assert "nobody without a missing value" in refused(task(KMap(ON, 2, nobody)))


def test_a_population_may_have_other_types() -> None:
    people = pa.table(
        {"age": pa.array(np.arange(20, 60, 0.5)), "town": pa.array(list("abcd") * 20).dictionary_encode()}
    )
    outcome = TopDown().mask(task(KMap(ON, 3, people)))
    assert "d" not in str(outcome.mask.files()["recoding.json"]["attributes"]["town"]["disclosed"])


def test_the_same_attributes_lose_their_anonymity_once() -> None:
    """One quasi-identifier, however much is asked of it: the steps are those of k-anonymity as long as k decides."""
    alone = TopDown().mask(task(KAnonymity(ON, 20))).history["rounds"]
    more = TopDown().mask(task(KAnonymity(ON, 20), ConfidenceBound(ON, "illness", 0.99))).history["rounds"]
    assert [(r["attribute"], r["value"], r["score"]) for r in alone] == [
        (r["attribute"], r["value"], r["score"]) for r in more
    ]
    rules = Rules(basic([KAnonymity(ON, 5), LDiversity(ON, "illness", 2), KAnonymity(["age"], 9)]), tradeoff)
    assert rules.counting_for("age").tolist() == [0, 2]
    assert rules.counting_for("town").tolist() == [0]


def test_the_history_tells_what_fell_short_and_tries_no_k() -> None:
    work = task(KAnonymity(["age"], 4), LDiversity(ON, "illness", 3))
    history = TopDown().mask(work).history
    assert history["requirements"][0] == {"on": ["age"], "k": 4}
    assert history["requirements"][1]["claim"]["claim"] == "l_diversity"
    found = {**history, "allowed": allowed_to_json(allowing(work, TopDown(), history))}
    story = next(one for one in stories(found) if one.obstacles and one.obstacles[0].k is None)
    assert "different value" in story.next or "1 value of illness, and l is 3" in story.next
    assert story.remedy == "No k shows it: what stands in the way is asked of sensitive values, or of a population."
    assert story.attribute not in {one["attribute"] for one in found["allowed"]}
    assert "of illness, and l is 3" in explain(found)


def test_k_is_tried_where_k_stands_in_the_way() -> None:
    work = task(AlphaK(ON, "illness", 0.99, 30), TCloseness(["town"], "illness", 0.99))
    history = TopDown().mask(work).history
    found = allowing(work, TopDown(), history)
    assert found
    assert all(change.k < 30 for one in found for change in one.changes)


@pytest.mark.parametrize("seed", range(30))
def test_mondrian_holds_any_mix(seed: int) -> None:
    mix = random_mix(seed + 9000, ("anonymity", "diversity", "confidence", "alpha", "closeness", "lkc"))
    try:
        outcome = Mondrian().mask(Task(mix.table, mix.labels, mix.needs, LocalEngine()))
    except (sf.Infeasible, sf.SchemaError):
        return
    columns = {**outcome.masked, **{name: mix.table.column(name) for name in ("illness", "wage", "grade")}}
    lists = {name: column.to_pylist() for name, column in columns.items()}
    rows: list[Row] = [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
    grade = mix.table.schema["grade"]
    assert isinstance(grade, sf.Category)
    for need in mix.needs:
        assert holds(need, rows, tree=grade.taxonomy), str(need)
