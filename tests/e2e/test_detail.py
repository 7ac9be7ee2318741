"""Adult: everybody's age within ten years, whatever else is shown; counted from the released table alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.publishing import Run

QUASI = ("age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country")
MASKERS = {"partition": sf.Partition(), "top_down": sf.TopDown()}


@pytest.fixture(autouse=True)
def _own_ledger(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def published(
    mask: Any, k: int, on: Sequence[str] = QUASI, *, suggest: bool = False, **detail: float
) -> list[dict[str, Any]]:
    adult = sf.datasets.load("adult", complete=True)
    schema = sf.Schema(
        {name: replace(one, role="quasi" if name in on else "identifier") for name, one in adult.schema.items()}
    )
    recipe = sf.Recipe(schema=schema, privacy=[sf.KAnonymity(on, k)], mask=mask, detail=detail)
    found = sf.publish(adult.table, recipe, run=Run(report=False, suggest=suggest))
    assert found.verdict.holds
    return found.shown.to_pylist()


def widest(rows: list[dict[str, Any]]) -> float:
    """Of every age that is shown, the widest interval."""
    found = [re.fullmatch(r"\[([\d.]+)-([\d.]+)[)\]]", text) for text in {row["age"] for row in rows}]
    return max(float(one[2]) - float(one[1]) for one in found if one is not None) if None not in found else float("inf")


def smallest(rows: list[dict[str, Any]]) -> int:
    return min(Counter(tuple(row.values()) for row in rows).values())


@pytest.mark.slow
@pytest.mark.parametrize("name", MASKERS)
def test_everybody_is_shown_within_ten_years(name: str) -> None:
    rows = published(MASKERS[name], 20, age=10)
    assert len(rows) == 45_222
    assert smallest(rows) >= 20
    assert widest(rows) <= 10
    assert widest(published(MASKERS[name], 20)) > 10  # else the wish would ask for nothing


@pytest.mark.slow
@pytest.mark.parametrize("name", MASKERS)
def test_the_k_that_is_named_keeps_it(name: str) -> None:
    on = ("age", "sex", "race")
    with pytest.raises(
        sf.Infeasible, match="detail: age: not everybody can be shown in intervals of at most 10"
    ) as error:
        published(MASKERS[name], 1000, on, age=10)
    found = re.search(r"k of at most (\d+), .* detail: \{age: (\d+)\}", str(error.value))
    assert found is not None
    k, reached = int(found[1]), int(found[2])
    assert 20 < k < 1000
    rows = published(MASKERS[name], k, on, age=10)
    assert widest(rows) <= 10
    assert smallest(rows) >= k
    assert 10 < widest(published(MASKERS[name], 1000, on, age=reached)) <= reached
    with pytest.raises(sf.Infeasible):
        published(MASKERS[name], k + 1, on, age=10)


def test_labels_and_numbers_together() -> None:
    rows = published(sf.Partition(), 20, age=20, occupation=6)
    assert widest(rows) <= 20
    assert max(len(row["occupation"].strip("{}").split(", ")) for row in rows) <= 6
    assert smallest(rows) >= 20


def test_a_sample_that_cannot_keep_it_spoils_nothing() -> None:
    """Where a table tells little, other settings are tried on 5,000 records, among which the wish cannot be kept."""
    assert widest(published(sf.TopDown(), 100, age=10, suggest=True)) <= 10
