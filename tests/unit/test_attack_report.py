"""The benchmark that writes the attack report: its lines, and where it puts them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from benchmarks import attack_report
from benchmarks.attack_report import BEGIN, END, HEADINGS, QUASI, Adult, Shown, line, placed, requirements


@pytest.fixture(scope="module")
def adult() -> Adult:
    return Adult.load(400)


def cells(text: str) -> dict[str, str]:
    found = text.strip("| ").split(" | ")
    assert len(found) == len(HEADINGS)
    return dict(zip(HEADINGS, found, strict=True))


def test_the_raw_table_gives_everybody_away_and_a_hidden_one_nobody(
    adult: Adult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attack_report, "PEOPLE", 200)
    raw = cells(line("raw", adult, Shown(adult.people.to_arrow())))
    assert raw["prosecutor, highest"] == "100.00%"
    assert float(raw["secret inferred"].rstrip("%")) > 90
    assert float(raw["of others"].rstrip("%")) < 70
    stars = {name: pa.array(["*"] * adult.people.rows) for name in QUASI}
    table = pa.table({**stars, "marital_status": adult.people.columns["marital_status"].decode()})
    hidden = cells(line("hidden", adult, Shown(table)))
    assert hidden["linked"] == "0.25%"  # one in 400
    assert float(hidden["rows alone"].rstrip("%")) < 2


def test_every_requirement_is_asked_at_both_k() -> None:
    lines = requirements(pa.table({}))
    names = {type(part).__name__ for asked in lines.values() for part in asked(5)}
    assert names == {"KAnonymity", "LDiversity", "ConfidenceBound", "AlphaK", "TCloseness", "KMap", "LKC"}
    assert all(getattr(asked(50)[0], "k", 50) == 50 for asked in lines.values())


def test_the_table_is_put_between_the_marks() -> None:
    page = f"before\n{BEGIN}\n| new | old |\n| other | 1 |\n{END}\nafter\n"
    once = placed(page, "| new |", whole=False)
    assert "old" not in once
    assert "| new |\n| other | 1 |\n" in once
    assert once.startswith("before\n")
    assert once.endswith("after\n")
    assert placed(once, "| new |", whole=False) == once
    assert "other" not in placed(page, "| new |", whole=True)
