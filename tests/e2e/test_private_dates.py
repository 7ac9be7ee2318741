"""Dates published under a budget, verified and loaded again: from pandas and from text, in every unit and file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sfumato as sf
from sfumato.publishing import Run
from sfumato.randomness import Seeded
from tests.conftest import Blueprint

ROWS = 600
SCHEMA = sf.Schema(
    born=sf.Number(role="quasi", calendar="month", range=("1930-03-15", "2009-12-31")),
    seen=sf.Number(role="plain", calendar="hour", range=("2024-01-01", "2024-12-31")),
    age=sf.Number(role="quasi", range=(0, 120), integer=True),
    sex=sf.Category(role="quasi", values=("f", "m")),
)


def people() -> pd.DataFrame:
    """Half of them young, and seen in summer; some were never seen."""
    chance = np.random.default_rng(0)
    young = np.arange(ROWS) % 2
    born = pd.Timestamp("1940-01-01") + pd.to_timedelta(chance.integers(0, 3650, ROWS) + 16_000 * young, unit="D")
    seen = pd.Timestamp("2024-01-02") + pd.to_timedelta(chance.integers(0, 60 * 86_400, ROWS), unit="s")
    seen = pd.Series(seen + pd.to_timedelta(150 * young, unit="D"))
    seen[::11] = pd.NaT
    return pd.DataFrame({"born": born, "seen": seen, "age": 80 - 40 * young, "sex": np.where(young, "f", "m")})


def recipe(mask: Any, epsilon: int = 20) -> sf.Recipe:
    structure = sf.Clusters("kmeans", k=2, n_init=1)
    return sf.Recipe(schema=SCHEMA, structure=structure, mask=mask, budget=sf.Budget(epsilon))


def published(place: Path, mask: Any, *, table: object = None, kind: Any = "parquet") -> Path:
    run = Run(ledger=sf.Ledger(place / "ledger.jsonl"), format=kind)
    return sf.publish(people() if table is None else table, recipe(mask), run=run).write(place / "out")


MASKS = {
    "values": sf.PrivateTree(may_miss=("seen",)),
    "pairs": sf.PrivateTree(may_miss=("seen",), pairs=2),
    "generalized": sf.PrivateTree(may_miss=("seen",), rows="generalized"),
    "dp_heter": sf.DPHeter(may_miss=("seen",)),
}


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published(tmp_path_factory.mktemp("values"), MASKS["values"])


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("name", MASKS)
def test_dates_are_published_verified_and_loaded(name: str, kind: str, tmp_path: Path) -> None:
    folder = published(tmp_path, MASKS[name], kind=kind)
    assert sf.verify(folder).holds
    found = sf.load(folder, kind="pandas")
    numbers = found.numbers()
    assert (numbers.dtypes[["born", "seen"]] == "datetime64[us]").all()
    shown = found.table
    for day in ("born", "seen"):
        assert shown[day].dtype == ("category" if name in ("generalized", "dp_heter") else "datetime64[us]")
    assert numbers["born"].between("1930-03-01", "2009-12-31").all()
    assert numbers["seen"].dropna().between("2024-01-01", "2025-01-01").all()
    assert numbers["seen"].isna().any() or name in ("generalized", "dp_heter")  # where the whole range may stand for it
    assert len(found.points()) == len(found)
    assert repr(found).count("date or time") == 2


def test_generated_dates_have_the_shape_of_the_raw_ones(released: Path) -> None:
    shown = pl.read_parquet(released / "table.parquet")
    assert shown["born"].dtype == pl.Date
    assert shown["seen"].dtype == pl.Datetime("us")
    assert (shown["born"].dt.day() == 1).all()
    women = shown.filter(pl.col("sex") == "f")
    assert women.filter(pl.col("born").dt.year() >= 1975).height > 0.8 * women.height
    assert 0.03 < shown["seen"].null_count() / shown.height < 0.2


def test_the_release_tells_them_as_dates(released: Path) -> None:
    columns = json.loads((released / "certificate.json").read_text())["table"]["columns"]
    assert [column.get("calendar") for column in columns] == ["month", "hour", None, None]
    fields = json.loads((released / "datapackage.json").read_text())["resources"][0]["schema"]["fields"]
    assert [one["type"] for one in fields] == ["date", "datetime", "integer", "string"]
    readme = (released / "README.md").read_text(encoding="utf-8")
    assert "dates in whole months, one month alone as its first day" in readme
    assert "moments in whole hours" in readme
    assert json.loads((released / "private_tree.json").read_text())["domains"]["born"] == {
        "kind": "dates",
        "range": ["1930-03", "2009-12"],
        "calendar": "month",
        "missing": False,
    }


def test_text_is_read_as_the_recipe_says(tmp_path: Path) -> None:
    table = people()
    table["born"] = table["born"].dt.strftime("%d.%m.%Y")
    table["seen"] = table["seen"].dt.strftime("%d.%m.%Y %H:%M:%S")
    table.to_csv(tmp_path / "people.csv", index=False)
    lines = (
        "sfumato: 1\nbudget: {epsilon: 20}\nmask: {private_tree: {may_miss: [seen]}}\nattributes:\n"
        "  born: {kind: number, role: quasi, calendar: month, range: ['1930-03-15', '2009-12-31'], dates: dmy}\n"
        "  seen: {kind: number, role: plain, calendar: hour, range: ['2024-01-01', '2024-12-31'], dates: dmy}\n"
        "  age: {kind: number, role: quasi, range: [0, 120]}\n  sex: {kind: category, role: quasi, values: [f, m]}\n"
    )
    run = Run(ledger=sf.Ledger(tmp_path / "ledger.jsonl"))
    release = sf.publish(str(tmp_path / "people.csv"), sf.Recipe.from_yaml(lines), run=run)
    assert sf.verify(release.write(tmp_path / "out")).holds


def test_the_same_is_drawn_whether_days_have_a_type_of_their_own_or_not(tmp_path: Path) -> None:
    one = people()
    drawn = []
    for at, table in enumerate((one, one.assign(born=one["born"].dt.date))):
        run = Run(chance=Seeded(3), ledger=sf.Ledger(tmp_path / f"{at}.jsonl"), report=False)
        drawn.append(sf.publish(table, recipe(MASKS["values"]), run=run).table)
    assert drawn[0].equals(drawn[1])


def test_a_date_outside_costs_nothing_and_is_named_without_its_value(tmp_path: Path) -> None:
    table = people()
    table.loc[5, "born"] = pd.Timestamp("1911-11-11")
    ledger = sf.Ledger(tmp_path / "ledger.jsonl")
    with pytest.raises(sf.TableError, match="born") as caught:
        sf.publish(table, recipe(MASKS["values"]), run=Run(ledger=ledger))
    assert "1911" not in str(caught.value)
    assert not ledger.entries()


def test_classes_are_learned_from_generated_dates(tmp_path: Path) -> None:
    schema = sf.Schema({**SCHEMA, "sex": sf.Category(role="sensitive", values=("f", "m"))})
    made = sf.Recipe(schema=schema, structure=sf.Classes("sex"), mask=MASKS["values"], budget=sf.Budget(20))
    release = sf.publish(people(), made, run=Run(ledger=sf.Ledger(tmp_path / "ledger.jsonl"), report=False))
    assert "masked_error.alike" in release.scores["scores"]


def domain(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    return lambda folder: Blueprint.edit(folder, "private_tree.json", lambda form: change(form["domains"]))


def certificate(change: Callable[[list[dict[str, Any]]], object]) -> Callable[[Path], object]:
    return lambda folder: Blueprint.edit(
        folder, "certificate.json", lambda form: change(form["table"]["columns"]), rehash=False
    )


def rows(change: pl.Expr) -> Callable[[Path], object]:
    def forge(folder: Path) -> None:
        pl.read_parquet(folder / "table.parquet").with_columns(change).write_parquet(folder / "table.parquet")

    return forge


FORGED: dict[str, Callable[[Path], object]] = {
    "a narrower range": domain(lambda d: d["born"].update(range=["1950-01", "2009-12"])),
    "a range that ends earlier": domain(lambda d: d["born"].update(range=["1930-03", "1980-01"])),
    "a range more exact than its unit": domain(lambda d: d["born"].update(range=["1930-03-15", "2009-12-31"])),
    "a range that says something": domain(lambda d: d["born"].update(range=["1930-03", "Ada"])),
    "a range of numbers": domain(lambda d: d["born"].update(range=[1930, 2009])),
    "a longer unit": domain(lambda d: d["born"].update(calendar="year", range=["1930", "2009"])),
    "a shorter unit": domain(lambda d: d["born"].update(calendar="day", range=["1930-03-15", "2009-12-31"])),
    "an unknown unit": domain(lambda d: d["born"].update(calendar="moon")),
    "a key beside": domain(lambda d: d["born"].update(integer=True)),
    "dates called numbers": domain(
        lambda d: d.update(born={"kind": "numbers", "range": [-40, 40], "integer": True, "missing": False})
    ),
    "missing dates that may not be": domain(lambda d: d["seen"].update(missing=False)),
    "another unit in the certificate": certificate(lambda c: c[0].update(calendar="year")),
    "no unit in the certificate": certificate(lambda c: c[0].pop("calendar")),
    "a unit of a number": certificate(lambda c: c[2].update(calendar="year")),
    "a unit of a label": certificate(lambda c: c[3].update(calendar="year")),
    "a day inside a month": rows(pl.col("born").dt.offset_by("3d")),
    "a minute inside an hour": rows(pl.col("seen").dt.offset_by("7m")),
    "dates after the range": rows(pl.col("born").dt.offset_by("900mo")),
    "moments in the place of dates": rows(pl.col("born").cast(pl.Datetime("us"))),
    "moments in a zone": rows(pl.col("seen").dt.replace_time_zone("UTC")),
}


@pytest.mark.parametrize("forgery", FORGED)
def test_a_forged_domain_of_dates_does_not_hold(forgery: str, released: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(released, tmp_path / "copy"))
    FORGED[forgery](folder)
    failed = {check.name for check in sf.verify(folder).failed}
    assert failed & {"domains", "made of", "certificate"}, failed


def test_no_earlier_format_tells_units_of_generated_dates(released: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(released, tmp_path / "copy"))
    Blueprint.edit(folder, "certificate.json", lambda form: form.update(format=5), rehash=False)
    assert "certificate" in {check.name for check in sf.verify(folder).failed}
