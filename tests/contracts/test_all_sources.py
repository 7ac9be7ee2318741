"""One table from every source: the same mask, the same claims, the same groups, and equal rows up to their order."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.publishing import Run
from tests import engines

ROWS = 20_000
SCHOOLS: dict[str, Any] = {
    "ANY": {"Secondary": ["9th", "10th"], "University": {"Bachelors": None, "Graduate": ["it's", 'a"; --']}}
}
SCHEMA = sf.Schema(
    name=sf.Category(role="identifier"),
    age=sf.Number(role="quasi", range=(17, 90)),
    school=sf.Category(role="quasi", taxonomy=sf.Taxonomy.from_tree(SCHOOLS)),
    born=sf.Number(role="quasi", calendar="day"),
    wage=sf.Number(role="quasi"),
    member=sf.Category(role="quasi"),
    hours=sf.Number(role="plain", range=(0, 80)),
    disease=sf.Category(role="sensitive"),
    income=sf.Category(role="sensitive"),
)
ONE, TWO = ("age", "school", "wage"), ("age", "born", "member")
PRIVACY = (
    sf.KAnonymity(on=ONE, k=20),
    sf.KAnonymity(on=TWO, k=20),
    sf.LDiversity(on=ONE, sensitive="disease", l=2),
)
RECIPES = {
    "top_down": sf.Recipe(schema=SCHEMA, structure=sf.Classes("income"), privacy=PRIVACY, mask=sf.TopDown()),
    "partition": sf.Recipe(schema=SCHEMA, structure=sf.Clusters("kmeans", k=4), privacy=PRIVACY, mask=sf.Partition()),
}


def people(rows: int, seed: int = 5) -> pa.Table:
    """People of all types that databases and files share, with missing values, and text that looks like code."""
    chance = np.random.default_rng(seed)

    def labels(given: list[str | None], shares: list[float]) -> pa.Array[Any]:
        return pa.array(np.array(given, dtype=object)[chance.choice(len(given), rows, p=shares)], pa.string())

    age = chance.integers(17, 91, rows)
    cents = (age * 20 + chance.integers(0, 60, rows) * 25).astype(np.int64)
    days = [date(1950, 1, 1) + timedelta(days=int(day)) for day in chance.integers(0, 400, rows)]
    return pa.table(
        {
            "name": pa.array([f"person {row}" for row in range(rows)]),
            "age": pa.array(age, mask=chance.random(rows) < 0.01),
            "school": labels(["9th", "10th", "Bachelors", "it's", 'a"; --', None], [0.2, 0.2, 0.3, 0.1, 0.15, 0.05]),
            "born": pa.array(days, pa.date32()),
            "wage": pa.array([Decimal(int(cent)) / 100 for cent in cents], pa.decimal128(10, 2)),
            "member": pa.array(chance.random(rows) < 0.4, mask=chance.random(rows) < 0.1),
            "hours": pa.array(np.round(chance.normal(40, 5, rows).clip(0, 80) * 2) / 2),
            "disease": labels(["flu", "Flü", "'; DROP TABLE people; --", "a,b\n"], [0.4, 0.3, 0.2, 0.1]),
            "income": labels([">50K", "<=50K"], [0.3, 0.7]),
        }
    )


@cache
def given() -> pa.Table:
    return people(ROWS)


SOURCES: Mapping[str, Callable[[Path], object]] = {
    "stream": lambda folder: engines.in_parquet(given(), folder, files=3),
    "duckdb": lambda folder: engines.in_duckdb(given(), folder),
    "sqlite": lambda folder: engines.in_sqlite(given(), folder),
    "postgresql": lambda _: engines.in_postgres(given()),
    "spark": lambda folder: engines.in_spark(given(), folder),
}


def told(release: sf.Release) -> dict[str, Any]:
    """Everything that must not depend on where rows came from."""
    drawn = "f_measure.floor.random", "masked_error.alike", "baseline_error.alike"  # by the places of rows
    figures = {one["name"]: one["value"] for one in release.scores["headline"] if one["name"] not in drawn}
    return {
        "mask": json.loads(json.dumps(release.mask.files())),
        "claims": release.certificate["claims"],
        "figures": figures,
    }


@cache
def expected(recipe: str) -> tuple[dict[str, Any], list[str]]:
    release = sf.publish(given(), RECIPES[recipe], run=Run(report=False, trial=True))
    return told(release), engines.rows_of(release.shown)


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_release(source: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    table = SOURCES[source](tmp_path)
    for recipe, asked in RECIPES.items():
        run = Run(report=False, trial=True, stream=True if source == "stream" else None)
        release = sf.publish(table, asked, run=run)
        assert release.verdict.holds
        wanted, rows = expected(recipe)
        assert told(release) == wanted
        assert engines.rows_of(release.shown) == rows
