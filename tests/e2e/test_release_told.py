"""What a release says of itself: to its recipient, in Python, and to whoever compares it with a table."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.csv as pc
import pytest

import sfumato as sf
from tests.e2e.test_publish import RECIPE, people, sfumato


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("told")
    pc.write_csv(people(), home / "people.csv")
    sf.publish(people(), sf.Recipe.from_yaml(RECIPE), run=sf.Run(report=False)).write(home / "out")
    return home


def test_the_page_explains_intervals_of_dates_open_ends_and_stars(tmp_path: Path) -> None:
    days = pa.array([f"19{50 + i % 40}-0{i % 9 + 1}-1{i % 9}" for i in range(60)])
    table = people().append_column("born", days)
    text = RECIPE.replace("  ill: ", "  born: {kind: number, role: quasi, calendar: month}\n  ill: ")
    recipe = sf.Recipe.from_yaml(text.replace("[town]", "[town, born]"))
    page = (sf.publish(table, recipe, run=sf.Run(report=False)).write(tmp_path / "out") / "README.md").read_text()
    rows = {line.split("|")[1].strip(): line for line in page.splitlines() if line.startswith("| ")}
    assert "`[17-37)`" in rows["age"]
    assert "`[1972-08..1990-08)`: the month 1972-08 included, the month 1990-08 not" in rows["born"]
    assert "that is not told is `*`" in page.replace("\n", " ")
    assert "`*` in a column of intervals" in page


def test_k_of_one_is_no_promise() -> None:
    for given in ("k_anonymity: 1", "k_map: 1, population: all.csv", "alpha_k: {alpha: 0.5, k: 1}, sensitive: income"):
        with pytest.raises(sf.RecipeError, match="protects nobody"):
            sf.Recipe.from_yaml(RECIPE.replace("k_anonymity: 4", given))


def test_a_release_is_short_to_look_at() -> None:
    shown = repr(sf.publish(people(), sf.Recipe.from_yaml(RECIPE), run=sf.Run(report=False)))
    away = "  ill can be told with 90 % certainty or more for "
    first, second, *rest = shown.split("\n")
    assert first == "Release: 60 rows, 4 columns, verified, but"
    assert second.startswith(away)
    assert "  guarantee says it in whole sentences." in rest
    assert any(line.startswith("  k_anonymity, k = 4") for line in rest)
    assert max(map(len, shown.split("\n"))) <= 88
    assert len(shown) < 700


def test_another_table_is_not_compared(folder: Path) -> None:
    pc.write_csv(people(59), folder / "other.csv")
    done = sfumato("evaluate", folder / "other.csv", folder / "out")
    assert done.returncode == 2
    assert "59 rows for a release of 60" in done.stderr


def test_evaluate_is_public(folder: Path) -> None:
    assert sf.evaluate(people(), folder / "out", seeds=1)["headline"]


def test_apply_shuffles_unless_told(folder: Path) -> None:
    def applied(*more: str) -> list[str]:
        done = sfumato("apply", folder / "out", folder / "people.csv", "-o", folder / "new.parquet", "--force", *more)
        assert done.returncode == 0, done.stderr
        return pl.read_parquet(folder / "new.parquet")["ill"].to_list()

    raw = [str(value) for value in people().column("ill").to_pylist()]
    assert applied("--keep-order") == raw
    assert applied() != raw
    assert sorted(applied()) == sorted(raw)
    assert "holder's folder" in sfumato("apply", "--help").stdout
    assert "replaced" in sfumato("publish", "--help").stdout
