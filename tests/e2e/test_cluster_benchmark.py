"""The quick form of paper 000's experiments runs, and what it writes can be drawn again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.papers import cluster_anonymity, cluster_rows
from benchmarks.papers.cluster_measuring import Row
from benchmarks.papers.cluster_page import TABLES
from benchmarks.papers.cluster_settings import FULL, QUICK, Setting, random_requirements, settings

pytest.importorskip("matplotlib")
SMALL = replace(QUICK, rows=1_000)
"""Every test case of the quick form, on fewer people: what is asked of their figures holds of any table."""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster_anonymity, "QUICK", SMALL)
        cluster_anonymity.main(["--quick", "--out", str(folder)])
    return folder


@pytest.mark.slow
def test_quick_run_writes_results_tables_and_plots(out: Path) -> None:
    rows = cluster_rows.read(out / "cluster_anonymity.csv")
    page = (out / "cluster_anonymity.md").read_text(encoding="utf-8")
    assert {row.setting.dataset for row in rows} >= {"adult"}
    assert all(f"<!-- table: {name} -->\n|" in page for name in TABLES)
    plots = sorted(path.name for path in (out / "cluster_anonymity").glob("adult_*.svg"))
    assert len(plots) == 6


@pytest.mark.slow
def test_figures_are_what_they_must_be(out: Path) -> None:
    rows = cluster_rows.read(out / "cluster_anonymity.csv")
    raw = cluster_rows.pick(rows, experiment="bounds", mask="raw", method="kmeans")
    assert all(row.agreement == 1.0 and row.f_start > 0.99 for row in raw)
    for row in rows:
        assert 0 < row.f_start <= 1
        assert 0 <= row.agreement <= 1
    for greedy in cluster_rows.pick(rows, experiment="portfolio", mask="tradeoff"):
        case = {"dataset": greedy.setting.dataset, "clusters": greedy.setting.clusters, "h": greedy.setting.h}
        for mask in ("portfolio", "portfolio 1 %"):
            (searched,) = cluster_rows.pick(rows, experiment="portfolio", mask=mask, seed=greedy.setting.seed, **case)
            assert searched.agreement >= greedy.agreement - cluster_rows.SAME


@pytest.mark.slow
def test_prose_stays_when_tables_are_filled_again(out: Path) -> None:
    page = out / "cluster_anonymity.md"
    before = page.read_text(encoding="utf-8")
    page.write_text("Why this is so.\n\n" + before, encoding="utf-8")
    cluster_anonymity.main(["--plots-only", "--out", str(out)])
    assert page.read_text(encoding="utf-8") == "Why this is so.\n\n" + before


def test_results_survive_the_file(tmp_path: Path) -> None:
    setting = Setting(experiment="single", dataset="adult", method="kmeans", clusters=6, h=5, mask="tradeoff")
    row = Row(
        setting,
        f_start=0.5,
        mp_start=0.25,
        f_joined=0.5,
        mp_joined=0.5,
        agreement=0.75,
        agreement_told=0.5,
        f_cold_mean=0.5,
        f_cold_best=0.5,
        f_cold_worst=0.5,
        mp_cold_mean=0.5,
        mp_cold_best=0.5,
        mp_cold_worst=0.5,
        lifted=3,
        cut="ab",
        at_top="age sex",
        table="[[1, 2]]",
        f_ten=0.5,
        f_ten_raw=0.25,
        penalty=0.125,
    )
    cluster_rows.write(tmp_path / "rows.csv", [row])
    assert cluster_rows.read(tmp_path / "rows.csv") == [row]


def test_one_tailed_tests() -> None:
    low, high = np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.3, 0.6])
    assert cluster_rows.p_value(high, low) < 0.05 < cluster_rows.p_value(low, high)
    assert cluster_rows.p_value(low, low) == 1.0
    assert cluster_rows.p_value(low + 0.1, low) == 0.0
    assert cluster_rows.tally(np.array([0.4, 0.2, 0.1]), low) == "1 / 1 / 1"


def test_every_figure_of_the_paper_has_its_test_cases() -> None:
    cases = list(settings("adult", FULL))
    assert len({(c.method, c.clusters, c.h) for c in cases if c.experiment == "single"}) == 2 * 3 * 20
    assert {c.qid for c in cases if c.experiment == "size"} == {f"Top{size}" for size in range(3, 9)}
    assert len({c.qid for c in cases if c.experiment == "multi"}) == 60
    assert len(cases) == len(set(cases))


def test_random_requirements_are_as_the_paper_draws_them() -> None:
    names = tuple("abcdefghijklmn")
    found = random_requirements(names, 30)
    assert found == random_requirements(names, 40)[:30]
    for qids in found:
        assert 1 <= len(qids) <= 7
        assert len({len(qid) for qid in qids}) == 1
        assert 2 <= len(qids[0]) <= 9
