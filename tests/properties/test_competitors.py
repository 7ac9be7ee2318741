"""Both competitors on random tables: requirements hold by an independent count, values stand for what they hide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.engines import LocalEngine
from sfumato.maskers.genetic.fit import Genetic
from sfumato.maskers.masker import Masker, Outcome, Task
from sfumato.maskers.mondrian.fit import Mondrian
from sfumato.privacy.verify.claims import check_k_anonymity
from sfumato.structure.masked_positions import interval_ends
from tests.contracts.test_engines import Case, random_case

MASKERS: list[Masker] = [
    Mondrian(),
    Mondrian(score="median"),
    Genetic(metric="LM", generations=2, population=6),
    Genetic(metric="CM", generations=2, population=6),
]


def run(case: Case, masker: Masker) -> Outcome:
    return masker.mask(Task(case.table, case.labels, case.needs, LocalEngine()))


@pytest.mark.parametrize("masker", MASKERS, ids=str)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_requirement_holds_and_every_value_is_true(masker: Masker, seed: int) -> None:
    case = random_case(seed)
    outcome = run(case, masker)
    shown = pl.DataFrame(
        {name: column.to_pylist() for name, column in outcome.masked.items()}, infer_schema_length=None
    )
    for need in case.needs:
        check_k_anonymity(shown, {"claim": "k_anonymity", "on": list(need.on), "k": need.k})
    for name in outcome.masked:
        raw = case.table.column(name).decode().to_pylist()
        for value, label in set(zip(raw, outcome.masked[name].to_pylist(), strict=True)):
            assert stands_for(case, name, label, value), f"{name}: {label!r}"


def stands_for(case: Case, name: str, label: str | None, value: Any) -> bool:
    """Whether a shown value covers the raw one."""
    attribute = case.table.schema[name]
    if label == "*" or value is None:
        return label in ("*", "ANY", None) or (label or "").endswith("} or missing")
    if label is None:
        return False
    taxonomy = getattr(attribute, "taxonomy", None)
    if taxonomy is not None:
        return value in taxonomy.leaves_of(label)
    if not hasattr(attribute, "range"):
        return label == value or str(value) in label.removesuffix(" or missing").strip("{}").split(", ")
    ends = interval_ends(label)
    if ends is None:
        return False
    above = ends.low is None or ends.low <= value
    below = ends.high is None or value < ends.high or (label.endswith("]") and value == ends.high)
    return above and below


@pytest.mark.parametrize("masker", MASKERS, ids=str)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_a_mask_gives_its_own_table_the_same_columns_again(masker: Masker, seed: int) -> None:
    case = random_case(seed)
    outcome = run(case, masker)
    if outcome.masked.lifted is not None and outcome.masked.lifted.any():
        return
    again = outcome.mask.apply(case.table)
    assert {n: c.to_pylist() for n, c in again.items()} == {n: c.to_pylist() for n, c in outcome.masked.items()}


def test_the_count_can_fail() -> None:
    shown = pl.DataFrame({"a": ["x", "x", "y"]})
    with pytest.raises(Exception, match="fewer than 2"):
        check_k_anonymity(shown, {"claim": "k_anonymity", "on": ["a"], "k": 2})


@pytest.mark.parametrize("masker", [MASKERS[0], MASKERS[3]], ids=["mondrian", "genetic"])
def test_a_release_is_verified_from_its_file(masker: Masker, tmp_path: Path) -> None:
    adult = sf.datasets.load("adult", complete=True)
    names = ["age", "education", "sex", "income"]
    recipe = sf.Recipe(
        schema=sf.Schema({name: adult.schema[name] for name in names}),
        structure=sf.Classes("income"),
        privacy=(sf.KAnonymity(on=names[:3], k=20),),
        mask=masker,
    )
    release = sf.publish(adult.table.select(names).slice(0, 1500), recipe, run=sf.Run(report=False))
    release.write(tmp_path / "out")
    assert sf.verify(tmp_path / "out").holds
    assert sf.Recipe.from_yaml(recipe.to_yaml()) == recipe
