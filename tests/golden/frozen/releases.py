"""From a case to written folders, by nothing but what users have: a recipe in YAML, `publish`, and the command line."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path

import sfumato as sf
from tests.golden.frozen.recipes import Case
from tests.golden.frozen.tables import table_of, write_table


def published(case: Case, desk: Path) -> Mapping[str, Path]:
    """The release folders of a case by name, written into a folder that is there and empty."""
    columns = list(case.attributes)
    write_table(table_of(case.table, columns, case.rows), desk / f"people.{case.read}")
    if case.population:
        write_table(table_of(case.table, columns, case.population), desk / "population.csv")
    recipe = desk / "recipe.yaml"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if case.family:
            recipe.write_text(case.text(), encoding="utf-8")
            return _family(case, recipe)
        if case.earlier is None:
            recipe.write_text(case.text(), encoding="utf-8")
            return {"release": _release(case, recipe, "release")}
        first, whole = desk / "first.yaml", desk / f"people.{case.read}"
        first.write_text(case.first(), encoding="utf-8")
        recipe.write_text(case.text(beside="first"), encoding="utf-8")
        write_table(table_of(case.table, columns, case.earlier[0]), whole)
        folders = {"first": _release(case, first, "first")}
        write_table(table_of(case.table, columns, case.rows), whole)
        return {**folders, "release": _release(case, recipe, "release")}


def _release(case: Case, recipe: Path, name: str) -> Path:
    people = recipe.parent / f"people.{case.read}"
    release = sf.publish(people, sf.Recipe.from_yaml(recipe), run=run_of(case, recipe.parent))
    return release.write(recipe.parent / name)


def run_of(case: Case, desk: Path) -> sf.Run:
    """A run by the case's seed: it orders the rows, and it gives the noisy answers of maskers that ask for them."""
    from sfumato.randomness import Secure, Seeded

    chance = Secure() if case.seed is None else Seeded(case.seed)
    ledger = sf.Ledger(desk / "ledger.jsonl")
    return sf.Run(chance=chance, ledger=ledger, format=case.write, report=False)


def _family(case: Case, recipe: Path) -> Mapping[str, Path]:
    """`sfumato publish --clusters`, whose rows are shuffled by secure chance."""
    from typer.testing import CliRunner

    from sfumato.cli.main import app

    output = recipe.parent / "release"
    numbers = ",".join(map(str, case.family))
    told = ["publish", str(recipe), "--clusters", numbers, "--output", str(output), "--no-report"]
    found = CliRunner().invoke(app, told, env={"XDG_STATE_HOME": str(recipe.parent / "state")})
    if found.exit_code:
        raise AssertionError(found.output)
    return {f"clusters-{number}": output / f"clusters-{number}" for number in case.family}
