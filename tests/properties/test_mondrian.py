"""Mondrian: the compiled loops are their twin in plain Python, whatever is asked and however regions are batched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.axis import TreeAxis, make_axis, positions
from sfumato.data.encoding import encode
from sfumato.data.table import Table
from sfumato.engines import LocalEngine
from sfumato.maskers.masker import Labels, Task
from sfumato.maskers.mondrian import cutting
from sfumato.maskers.mondrian.fit import Mondrian
from sfumato.maskers.mondrian.holding import Holding
from sfumato.maskers.mondrian.mask import Regions
from sfumato.maskers.mondrian.worth import added
from sfumato.maskers.sensitive import sensitive_columns
from sfumato.privacy.requirements import KAnonymity, Requirement, basic, largest_k, without_covered
from tests.contracts.mixes import random_mix
from tests.contracts.test_engines import random_case
from tests.mondrian_twin import Twin, leaves, nested, told

EVERY_KIND = ("anonymity", "diversity", "confidence", "alpha", "closeness", "lkc")
SCORES = ("infogain", "median")


def twin_of(table: Table, labels: Labels, asked: Sequence[Requirement], score: str) -> tuple[Twin, list[str]]:
    requirements = without_covered(asked).kept
    names = [name for name in table.schema.quasi if any(name in need.on for need in requirements)]
    many = largest_k(requirements)
    axes = [make_axis(name, table.schema[name], table.column(name), many=many[name]) for name in names]
    parts = basic(requirements)
    secrets = {
        name: (table.column(name).codes.tolist(), len(column.values))
        for name, column in sensitive_columns(table, parts).items()
    }
    places = [positions(axis, table.column(axis.name)).tolist() for axis in axes]
    holding = Holding.of(table, parts)
    twin = Twin(axes, places, labels.classes.tolist(), secrets, holding, score == "infogain")
    return twin, [axis.name for axis in axes if isinstance(axis, TreeAxis)]


def check_twin(table: Table, labels: Labels, asked: Sequence[Requirement], score: Any) -> int:
    """How many regions there are, if both agree."""
    outcome = Mondrian(score=score).mask(Task(table, labels, asked, LocalEngine()))
    twin, trees = twin_of(table, labels, asked, score)
    expected = told(twin.tree(), trees)
    assert isinstance(outcome.mask, Regions)
    assert nested(outcome.mask) == expected
    again = outcome.mask.apply(table)
    assert {name: again[name].to_pylist() for name in again} == {
        name: outcome.masked[name].to_pylist() for name in outcome.masked
    }
    return sum(1 for _ in leaves(expected))


@pytest.mark.parametrize("score", SCORES)
def test_the_loops_are_their_twin(score: str) -> None:
    cases = [random_case(seed) for seed in range(120)]
    assert sum(check_twin(case.table, case.labels, case.needs, score) for case in cases) > 300


@pytest.mark.parametrize("score", SCORES)
def test_the_loops_are_their_twin_whatever_is_asked(score: str) -> None:
    regions = []
    for seed in range(60):
        mix = random_mix(seed + 500, EVERY_KIND)
        try:
            regions.append(check_twin(mix.table, mix.labels, mix.needs, score))
        except (sf.Infeasible, sf.SchemaError):
            continue
    assert len(regions) > 20
    assert sum(regions) > 2 * len(regions)


def wide_table(seed: int, rows: int, classes: int) -> tuple[Table, Labels]:
    """More numbers than records of most regions, many labels, missing ones, and classes that follow them."""
    rng = np.random.default_rng(seed)
    wage, town = rng.integers(0, 50_000, rows), np.minimum(rng.integers(0, 40, rows), rng.integers(0, 40, rows))
    missing = rng.random(rows) < 0.1
    schema = sf.Schema(wage=sf.Number(role="quasi"), town=sf.Category(role="quasi"))
    table = pa.table({"wage": pa.array(wage, mask=missing), "town": [f"t{one}" for one in town]})
    codes = (wage // 400 + 7 * town + rng.integers(0, 2, rows)) % classes
    return encode(table, schema), Labels(codes.astype(np.uint16), classes)


@pytest.mark.parametrize("classes", [1, 9, 150])
def test_wide_attributes_and_many_classes_are_the_twins(classes: int) -> None:
    table, labels = wide_table(classes, 150, classes)
    labels = Labels(labels.classes, int(labels.classes.max()) + 1)
    assert check_twin(table, labels, (KAnonymity(["wage", "town"], 6),), "infogain") > 5


@pytest.mark.parametrize("asked", [(), (sf.ConfidenceBound(["wage", "town"], "ill", 0.8),)], ids=["k", "confidence"])
def test_batches_change_nothing(asked: tuple[Requirement, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    table, labels = wide_table(3, 400, 3)
    schema = sf.Schema({**table.schema, "ill": sf.Category(role="sensitive")})
    ill = np.random.default_rng(1).choice(["a", "b", "c"], table.rows)
    people = encode(table.to_arrow().append_column("ill", pa.array(ill)), schema)
    task = Task(people, labels, (KAnonymity(["wage", "town"], 5), *asked), LocalEngine())
    at_once = Mondrian().mask(task)
    monkeypatch.setattr(cutting, "CHUNK", 50)
    some_at_a_time = Mondrian().mask(task)
    assert some_at_a_time.mask == at_once.mask
    assert isinstance(at_once.mask, Regions)
    assert len(at_once.mask.leaves) > 10
    assert {n: c.to_pylist() for n, c in some_at_a_time.masked.items()} == {
        n: c.to_pylist() for n, c in at_once.masked.items()
    }


def test_terms_are_added_as_numpy_adds_them() -> None:
    rng = np.random.default_rng(0)
    for n in [*range(1, 40), 127, 128, 129, 136, 250, 257, 1000, 5000]:
        terms = rng.random((2, n)) * 1e5
        assert [added(row, n) for row in terms] == terms.sum(axis=-1).tolist()
