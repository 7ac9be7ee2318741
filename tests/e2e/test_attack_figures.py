"""The page of the attack report says what the benchmark finds today."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.attack_report import HEADINGS, MASKERS, Adult, Shown, line, published, requirements

PAGE = Path(__file__).parents[2] / "docs" / "results" / "attacks.md"


@pytest.fixture(scope="module")
def adult() -> Adult:
    return Adult.load()


def printed(name: str) -> list[str]:
    """The figures of one line of the page."""
    (found,) = [row for row in PAGE.read_text(encoding="utf-8").splitlines() if row.startswith(f"| {name} |")]
    return cells(found)


def cells(row: str) -> list[str]:
    found = row.strip("| ").split(" | ")
    assert len(found) == len(HEADINGS)
    return found


@pytest.mark.slow
def test_the_line_of_the_raw_table(adult: Adult) -> None:
    assert cells(line("raw", adult, Shown(adult.people.to_arrow()))) == printed("raw")


@pytest.mark.slow
def test_the_line_of_k_alone(adult: Adult) -> None:
    name, asked = "top-down, k = 50: k-anonymity", requirements(adult.population.to_arrow())["k-anonymity"]
    assert cells(published(name, adult, asked(50), MASKERS["top-down"])) == printed(name)
