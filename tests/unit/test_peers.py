"""The comparison with other libraries runs, small: no time is asserted. Who is not installed is told in words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from benchmarks import __main__ as benchmark
from benchmarks import peers

NOWHERE = Path("nowhere") / "python"


@pytest.mark.slow
def test_a_small_comparison_recounts_what_was_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(peers.JAR, raising=False)
    peers.lay_out(tmp_path, 300)
    able = [one for one in peers.contenders(NOWHERE) if isinstance(one, peers.Contender)]
    floor, ours = (next(one for one in able if name in one.name) for name in ("polars", "TopDown"))
    bare, masked = peers.measure(tmp_path, [floor, ours], runs=1, k=5, python=NOWHERE)
    assert bare.worth is not None
    assert bare.worth.loss == 0
    assert masked.worth is not None
    assert masked.worth.k >= 5
    assert 0 < masked.worth.loss < 1
    assert masked.worth.rows == 300
    assert "not installed" in peers.page([bare, masked])


def test_who_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(peers.JAR, raising=False)
    words = [one for one in peers.contenders(NOWHERE) if isinstance(one, str)]
    assert len(words) == 2
    assert "tools/peers.sh" in words[0]
    assert peers.JAR in words[1]


def test_a_jar_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(peers.JAR, str(tmp_path / "arx.jar"))
    with pytest.raises(SystemExit, match="where there is no file"):
        peers.arx()


@pytest.mark.parametrize(("text", "leaves"), [("*", 74), ("40-49", 10), ("{41, 42}", 2), ("18-23", 6), ("17,90", 2)])
def test_what_a_shown_value_covers(text: str, leaves: int) -> None:
    assert peers.covered(text, peers.trees()["age"]) == leaves


def test_the_table_of_the_readme_has_figures_of_those_alone_who_were_measured() -> None:
    ours = peers.Contender("Sfumato, Partition", "local", ())
    measured = peers.Measured(ours, [1.0], peers.Worth(100, 5, 20, 0.1))
    lines = benchmark.table([measured]).splitlines()
    others = [line for line in lines[3:] if any(name in line for name in benchmark.NOT_MEASURED)]
    assert len(others) == len(lines) - 3 == 3
    assert all(line.endswith("| | | | |") and not re.search(r"\d", line.split("](")[0]) for line in others)
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert all(line in readme for line in others)
    arx = peers.Measured(peers.Contender("ARX", "global", ()), [1.0], peers.Worth(100, 5, 20, 0.1))
    assert "no jar" not in benchmark.table([arx])
