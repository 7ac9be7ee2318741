"""From a table to a release with nothing in between: what a draft says is published as it is, and is worth having."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

import sfumato as sf
from sfumato.cli.draft import draft as draft_command
from sfumato.data.drafting.draft import draft
from sfumato.data.drafting.text import recipe_text
from sfumato.data.reading import read_arrow
from sfumato.publishing import Run
from tests.messy_tables import MESSY, hospital

NEARLY_ALL = 0.97
ROWS = 1500
MOST_BLANK = {"hospital": 0, "bank": 0, "register": 3}
"""Quasi-identifiers that show nearly everybody the same value."""


def drafted(table: Path, recipe: Path) -> dict[str, Any]:
    draft_command(str(table), output=recipe)
    found: dict[str, Any] = yaml.safe_load(recipe.read_text(encoding="utf-8"))
    return found


def with_role(recipe: dict[str, Any], role: str) -> set[str]:
    return {name for name, entry in recipe["attributes"].items() if entry["role"] == role}


EXPECTED = {
    "hospital": {
        "identifier": {"Patientennummer", "Name", "Bemerkung", "CRP"},
        "sensitive": {"Hauptdiagnose", "Ausgang"},
        "plain": {"Klinik", "Stationstyp", "privatversichert"},
    },
    "bank": {
        "identifier": {"customer_id", "email", "opened"},
        "sensitive": {"credit_history", "default"},
        "plain": {"products", "branch_code", "education"},
    },
    "register": {
        "identifier": {"Numéro_dossier", "Nom", "Adresse", "Code_postal", "Arrivée"},
        "sensitive": {"Religion"},
        "plain": {"Canton_pays"},
    },
}


def nearly_one_value(column: list[object]) -> bool:
    return max(map(column.count, set(column))) >= NEARLY_ALL * len(column)


@pytest.mark.slow
@pytest.mark.parametrize("name", MESSY)
def test_a_messy_table_is_published_as_drafted(name: str, tmp_path: Path) -> None:
    path = MESSY[name](ROWS).write_csv(tmp_path / f"{name}.csv")
    recipe = drafted(path, tmp_path / "recipe.yaml")
    assert {role: with_role(recipe, role) for role in EXPECTED[name]} == EXPECTED[name]
    assert 5 <= len(with_role(recipe, "quasi")) <= 7
    release = sf.publish(path, sf.Recipe.from_yaml(tmp_path / "recipe.yaml"), run=Run(report=False, trial=True))
    assert release.verdict.holds
    columns = {one: release.shown.column(one).to_pylist() for one in with_role(recipe, "quasi")}
    assert sum(map(nearly_one_value, columns.values())) <= MOST_BLANK[name]


def german_number(text: str) -> object:
    return text if text == "?" else float(text.replace(".", "").replace(",", "."))


def german_date(text: str) -> object:
    return datetime.strptime(text, "%d.%m.%Y")


def test_a_workbook_gives_the_same_draft(tmp_path: Path) -> None:
    messy = hospital(300)
    csv = draft(read_arrow(messy.write_csv(tmp_path / "a.csv"), encoding="cp1252"))
    read: dict[str, Callable[[str], Any]] = {
        "Geburtsdatum": german_date,
        "Aufnahmedatum": german_date,
        "Gewicht_kg": german_number,
        "Stationstyp": int,
        "privatversichert": int,
    }
    excel = draft(read_arrow(messy.write_excel(tmp_path / "a.xlsx", read)))
    assert [(c.name, c.kind, c.role) for c in csv.columns] == [(c.name, c.kind, c.role) for c in excel.columns]
    assert csv.plan == excel.plan
    own = {name: csv[name].attribute for name in ("Geburtsdatum", "Aufnahmedatum")}
    assert {name: getattr(excel[name].attribute, "range", None) for name in own} == {
        name: getattr(attribute, "range", None) for name, attribute in own.items()
    }


@pytest.mark.parametrize("name", ["german", "zoo", "patients", pytest.param("adult", marks=pytest.mark.slow)])
def test_a_bundled_table_is_published_as_drafted(name: str) -> None:
    table = sf.datasets.load("patients", rows=600).table if name == "patients" else sf.datasets.load(name).table
    recipe = sf.Recipe.from_yaml(recipe_text(draft(table), f"{name}.csv"))
    assert sf.publish(table, recipe, run=Run(report=False, trial=True)).verdict.holds
    assert len(recipe.schema.quasi) <= 8
