"""Mondrian: regions, their bounds, and that every record shows the bounds of its own."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.data.encoding import encode
from sfumato.data.schema import Category, ItemSet, Number, Schema
from sfumato.data.table import Table
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.engines import LocalEngine
from sfumato.errors import Infeasible, RecipeError, TableError
from sfumato.maskers.masker import Labels, Outcome, Task
from sfumato.maskers.mondrian import cutting as mondrian_cutting
from sfumato.maskers.mondrian.fit import Mondrian
from sfumato.maskers.mondrian.mask import Regions
from sfumato.maskers.partition import cutting as partition_cutting
from sfumato.maskers.partition.fit import Partition
from sfumato.privacy.requirements import KAnonymity

SCHOOL = Taxonomy.from_tree({"ANY": {"Low": ["a", "b"], "High": ["c", "d"]}})
SCHEMA = Schema(
    age=Number(role="quasi", range=(0, 99)),
    school=Category(role="quasi", taxonomy=SCHOOL),
    town=Category(role="quasi"),
)
ON = ["age", "school", "town"]


def encoded(ages: list[Any], schools: list[Any], towns: list[Any]) -> Table:
    return encode(pa.table({"age": ages, "school": schools, "town": towns}), SCHEMA)


def run(table: Table, classes: list[int], k: int, score: Any = "infogain", on: list[str] | None = None) -> Outcome:
    labels = Labels(np.array(classes, dtype=np.uint8), max(classes) + 1)
    return Mondrian(score=score).mask(Task(table, labels, (KAnonymity(on or ON, k),), LocalEngine()))


def shown(outcome: Outcome, name: str) -> list[str | None]:
    found: list[str | None] = outcome.masked[name].to_pylist()
    return found


def test_a_region_is_cut_where_that_tells_most() -> None:
    table = encoded([10, 20, 60, 70] * 3, ["a", "c", "a", "c"] * 3, ["x", "y", "y", "x"] * 3)
    outcome = run(table, [0, 0, 1, 1] * 3, k=6)
    assert shown(outcome, "age")[:4] == ["[0-50)", "[0-50)", "[50-99]", "[50-99]"]
    assert set(shown(outcome, "school")) == {"ANY"}
    assert set(shown(outcome, "town")) == {"*"}


def test_values_of_a_column_overlap_and_are_marked_as_regions() -> None:
    """Below age 50 the class follows the school, above the age: one school is shown in two ways."""
    rng = np.random.default_rng(0)
    ages, schools = rng.integers(0, 100, 400), rng.integers(0, 4, 400)
    classes = np.where(ages < 50, schools > 1, ages > 75).astype(int).tolist()
    table = encoded(ages.tolist(), [("a", "b", "c", "d")[s] for s in schools], ["x", "y"] * 200)
    outcome = run(table, classes, k=80)
    assert set(outcome.masked.treated.values()) == {"region"}
    assert {"ANY", "Low", "High"} <= set(shown(outcome, "school"))


def test_labels_without_a_taxonomy_are_grouped_by_their_classes() -> None:
    table = encoded([1] * 8 + [2], ["a"] * 9, ["p", "q", "r", "s"] * 2 + ["p"])
    outcome = run(table, [0, 1, 0, 1] * 2 + [0], k=4, on=["town"])
    assert set(shown(outcome, "town")) == {"{p, r}", "{q, s}"}


def test_missing_values_are_hidden_or_set_apart() -> None:
    table = encoded([10, 20, None, None] * 3, ["a", None, "c", "d"] * 3, ["x", "y", None, "x"] * 3)
    assert set(shown(run(table, [0, 0, 1, 1] * 3, k=12), "age")) == {"*"}
    apart = run(table, [0, 0, 1, 1] * 3, k=6)
    assert shown(apart, "age")[:4] == ["[0-99]", "[0-99]", None, None]


def test_regions_hold_for_several_quasi_identifiers() -> None:
    rng = np.random.default_rng(3)
    table = encoded(rng.integers(0, 100, 300).tolist(), rng.choice(list("abcd"), 300).tolist(), ["x", "y", "z"] * 100)
    needs = (KAnonymity(["age", "school"], 7), KAnonymity(["school", "town"], 20))
    outcome = Mondrian().mask(Task(table, Labels(rng.integers(0, 2, 300).astype(np.uint8), 2), needs, LocalEngine()))
    for need in needs:
        rows = list(zip(*(shown(outcome, name) for name in need.on), strict=True))
        assert min(rows.count(row) for row in set(rows)) >= need.k


def test_the_median_knows_nothing_of_classes() -> None:
    rng = np.random.default_rng(3)
    table = encoded(rng.integers(0, 100, 200).tolist(), rng.choice(list("abcd"), 200).tolist(), ["x", "y"] * 100)
    first, second = (run(table, rng.integers(0, 2, 200).tolist(), k=10, score="median") for _ in range(2))
    assert first.mask == second.mask
    assert len(set(shown(first, "age"))) > 3


def test_regions_are_json_and_apply_to_other_rows() -> None:
    rng = np.random.default_rng(1)
    table = encoded(rng.integers(0, 100, 200).tolist(), rng.choice(list("abc"), 200).tolist(), ["x", "y"] * 100)
    outcome = run(table, rng.integers(0, 2, 200).tolist(), k=5)
    (form,) = outcome.mask.files().values()
    back = Regions.read({"regions.json": json.loads(json.dumps(form))})
    assert back == outcome.mask
    assert {n: c.to_pylist() for n, c in back.apply(table).items()} == {n: shown(outcome, n) for n in ON}
    strange = encoded([5, 5], ["a", "d"], ["x", "elsewhere"])
    with pytest.raises(TableError, match="falls into a region"):
        back.apply(strange)
    assert [c.to_pylist()[1] for c in back.apply(strange, unseen="suppress").values()] == ["*", "ANY", "*"]


def test_what_cannot_be_masked_is_refused() -> None:
    unknown: Any = "mean"
    with pytest.raises(RecipeError, match="infogain or median"):
        Mondrian(score=unknown)
    with pytest.raises(RecipeError, match="at least one requirement"):
        Mondrian().check(SCHEMA, [])
    with pytest.raises(RecipeError, match="item set"):
        Mondrian().check(Schema(items=ItemSet(role="quasi")), [KAnonymity(["items"], 2)])
    with pytest.raises(Infeasible, match="most masked"):
        run(encoded([1, 2], ["a", "b"], ["x", "y"]), [0, 1], k=3)


@pytest.mark.parametrize("masker", [Mondrian(), Partition()])
def test_shares_rise_with_every_cut_and_not_with_finished_regions_alone(
    masker: Mondrian | Partition, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They stood at 0 until the first regions were finished, a third of the time of a million rows."""
    told: list[float] = []
    for module in (mondrian_cutting, partition_cutting):
        monkeypatch.setattr(module, "checkpoint", lambda done=None: told.append(-1.0 if done is None else done))
    monkeypatch.setattr(mondrian_cutting, "CHUNK", 400)
    monkeypatch.setattr(partition_cutting, "CHUNK", 400)
    ages = np.random.default_rng(0).integers(0, 100, 4000)
    table = encoded(ages.tolist(), ["a", "b", "c", "d"] * 1000, ["x", "y"] * 2000)
    masker.mask(Task(table, Labels((ages > 50).astype(np.uint8), 2), (KAnonymity(ON, 10),), LocalEngine()))
    shares = told[: told.index(max(told)) + 1]
    assert shares == sorted(shares)
    assert shares[0] == 0.0 < shares[1] < 0.4
    assert len(set(shares)) > 5
