"""Whatever the table, what `draft` writes `publish` does not refuse."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.drafting.draft import draft
from sfumato.data.drafting.text import recipe_text
from sfumato.publishing import Run

Chance = np.random.Generator
COLUMNS: dict[str, Callable[[Chance, int], list[object]]] = {
    "age": lambda c, n: c.integers(0, 99, n).tolist(),
    "PLZ": lambda c, n: [f"0{v}" for v in c.integers(1000, 1060, n)],
    "id": lambda c, n: list(range(n)),
    "name": lambda c, n: [f"somebody {v}" for v in range(n)],
    "constant": lambda c, n: ["x"] * n,
    "one number": lambda c, n: [7] * n,
    "empty": lambda c, n: [None] * n,
    "nearly empty": lambda c, n: [1.5, *[None] * (n - 1)],
    "nan": lambda c, n: [*[float("nan")] * (n // 2), *c.normal(size=n - n // 2).tolist()],
    "inf": lambda c, n: [float("inf"), float("-inf"), *c.normal(size=n).tolist()][:n],
    "huge": lambda c, n: (c.integers(1, 5, n) * 10**17).tolist(),
    "tiny": lambda c, n: (c.integers(1, 9, n) * 1e-9).tolist(),
    "income": lambda c, n: c.choice(["low", "high", "?"], n, p=[0.8, 0.1, 0.1]).tolist(),
    "disease": lambda c, n: c.choice(["flu", "Flu", "FLU "], n).tolist(),
    "diagnosis": lambda c, n: [f"I{v}.{v % 7}" for v in c.integers(10, 99, n)],
    "class": lambda c, n: c.integers(0, 3, n).tolist(),
    "salary": lambda c, n: c.normal(5e4, 1e4, n).tolist(),
    "flag": lambda c, n: c.choice([True, False], n).tolist(),
    "born": lambda c, n: [f"{v % 28 + 1:02}/{v % 12 + 1:02}/{1950 + v % 50}" for v in c.integers(0, 9999, n)],
    "seen": lambda c, n: [datetime(2024, 1, 1) + timedelta(seconds=int(v)) for v in c.integers(0, 9, n)],
    "day": lambda c, n: [date(2024, 1, 1) + timedelta(days=int(v)) for v in c.integers(0, 2, n)],
    "compact date": lambda c, n: [20240101 + int(v) for v in c.integers(0, 28, n)],
    "amount": lambda c, n: [f"{v},{v % 10}0 " for v in c.integers(0, 500, n)],
    "items": lambda c, n: [[f"i{v % 3}", "b"][: v % 3] for v in c.integers(0, 9, n)],
    "holes": lambda c, n: [[None, "a"]] * n,
    "tags": lambda c, n: c.choice(["a;b", "a", "b;c;a", "", "NA"], n).tolist(),
    "bytes": lambda c, n: [b"x"] * n,
    "remark": lambda c, n: [f"a long text about person {v} and much more of that, and so on" for v in range(n)],
    "+/-": lambda c, n: c.choice(["+", "-", "."], n).tolist(),
    "coded": lambda c, n: c.choice([1, 2, 3, -9], n).tolist(),
    "ANY": lambda c, n: c.choice(["ANY", "*", "(ANY)", "  x", "[1-2)"], n).tolist(),
}


def messy(seed: int) -> pa.Table:
    """Some of the columns, some cells of them missing."""
    chance = np.random.default_rng(seed)
    rows = int(chance.choice([2, 5, 13, 40, 70]))
    names = chance.choice(list(COLUMNS), int(chance.integers(2, 9)), replace=False).tolist()
    if seed % 4 == 0:
        names = ["age", *(name for name in names if name != "age")]
    columns = {}
    for name in names:
        cells: list[Any] = COLUMNS[name](chance, rows)
        gone = chance.random(rows) < 0.1 * (seed % 2)
        columns[name] = pa.array([None if out else cell for cell, out in zip(cells, gone, strict=True)])
    return pa.table(columns)


@pytest.mark.parametrize("seed", range(12))
def test_no_drafted_recipe_is_refused(seed: int) -> None:
    table = messy(seed)
    found = draft(table)
    recipe = sf.Recipe.from_yaml(recipe_text(found, "people.csv"))
    release = sf.publish(table, recipe, run=Run(report=False, trial=True))
    assert release.verdict.holds


def test_the_property_can_fail() -> None:
    table = pa.table({"age": [30, 40] * 30, "weight": np.random.default_rng(0).normal(70, 9, 60)})
    raw = recipe_text(draft(table), "people.csv").replace("weight: {kind: number, role: quasi", "weight: {kind: number")
    recipe = sf.Recipe.from_yaml(raw.replace("[age, weight]", "[age]"))
    with pytest.raises(sf.RecipeError, match="tells most people apart"):
        sf.publish(table, recipe, run=Run(report=False, trial=True))
