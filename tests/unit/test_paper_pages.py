"""What commands of the papers do to their pages, and the clusterer that stands in Chameleon's place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.papers import cluster_anonymity
from benchmarks.papers.cluster_measuring import Row
from benchmarks.papers.cluster_settings import Setting
from benchmarks.papers.dpheter import NAMES
from benchmarks.papers.dpheter_page import Figure, page
from benchmarks.papers.dpheter_rivals import Coded
from benchmarks.papers.gdtm import into_page
from benchmarks.papers.gdtm_graph import by_graph

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.evaluation.clusters import misclassification


def test_a_table_goes_in_the_place_of_its_own_title() -> None:
    page = "# head\n\n### one\n\n| 1 |\n\n### Table 2: Sec\n\n| s |\n"
    once = into_page(page, "### graph\n\n| 7 |\n", "### Table 2: Sec")
    assert once == "# head\n\n### one\n\n| 1 |\n\n### graph\n\n| 7 |\n\n### Table 2: Sec\n\n| s |\n"
    assert into_page(once, "### graph\n\n| 8 |\n", "### Table 2: Sec") == once.replace("7", "8")


def test_lines_of_cases_that_were_not_measured_stay(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("<!-- table: steps -->\n<!-- end of table -->\nprose\n", encoding="utf-8")

    def measured(table: str, k: int, f: float) -> None:
        figures = [Figure(table, "kmeans", k, "kmeans", by, "1", f, f, 1.0) for by in ("tree", "h=4", "h=8")]
        page(path, figures, (), cases=["adult kmeans 5", "patients kmeans 5"])

    measured("patients", 5, 0.22)
    measured("adult", 5, 0.11)
    measured("adult", 5, 0.33)
    lines = [line.split(" | ") for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert [line[1:] for line in lines[2:]] == [
        ["kmeans 5", "h=4", "0.33; 0.33 |"],
        ["kmeans 5", "h=8", "0.33; 0.33 |"],
        ["kmeans 5", "h=4", "0.22; 0.22 |"],
        ["kmeans 5", "h=8", "0.22; 0.22 |"],
    ]
    assert path.read_text(encoding="utf-8").endswith("<!-- end of table -->\nprose\n")


def test_a_table_of_which_nothing_was_measured_stays(tmp_path: Path) -> None:
    path, old = (
        tmp_path / "page.md",
        "| table | clusters | by | 1 |\n| --- |\n| adult | kmeans 5, then bisecting | tree | 0.7 |",
    )
    marked = f"<!-- table: figures 16 and 17 -->\n\n{old}\n\n<!-- end of table -->\n"
    path.write_text(marked, encoding="utf-8")
    figures = [Figure("adult", "kmeans", 3, "kmeans", by, "1", 0.5, 0.5, 1.0) for by in ("tree", "h=4")]
    page(path, figures, (), cases=NAMES)
    assert path.read_text(encoding="utf-8") == marked


def test_lines_of_cases_that_have_another_name_now_go(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("<!-- table: steps -->\n<!-- end of table -->\nprose\n", encoding="utf-8")
    for table, cases in (("mimic", ["mimic kmeans 5"]), ("adult", ["adult kmeans 5"]), ("patients", NAMES)):
        page(
            path,
            [Figure(table, "kmeans", 5, "kmeans", by, "1", 0.5, 0.5, 1.0) for by in ("tree", "h=4")],
            (),
            cases=cases,
        )
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert [line.split(" | ")[0] for line in lines] == ["| table", "| ---", "| adult", "| patients"]
    assert {"adult bisecting 3", "patients kmeans 5"} < set(NAMES)


def test_kept_results_that_would_be_others_today_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [
        Row(
            Setting(experiment="single", dataset="crx", method="kmeans", clusters=6, h=h, mask="raw"),
            f_start=h / 100,
            agreement=1.0,
        )
        for h in range(10)
    ]
    monkeypatch.setattr(cluster_anonymity, "_measured", lambda cases: [Row(cases[0], f_start=0.05, agreement=1.0)])
    told = list(cluster_anonymity.compared(kept, 2))
    assert told[-1].strip() == "1 of 2 as kept, to three digits"
    assert "| 0 | raw | 0.000 | 0.050 | 1.000 | 1.000 |" in told[2]


def test_merging_along_a_graph_of_neighbours_finds_groups_and_follows_a_rotation() -> None:
    random = np.random.default_rng(1)
    true = np.repeat([0, 1, 2], 60)
    points = np.array([(0, 0), (9, 1), (3, 8)])[true] + random.normal(0, 1, (180, 2))
    turned = points @ np.array([[0.6, 0.8], [-0.8, 0.6]])
    found = by_graph(points * (1, 1000), 3, 0)
    assert misclassification(true, found) == 0
    assert misclassification(found, by_graph(turned * (1, 1000), 3, 0)) == 0


def test_sets_come_back_from_the_yes_and_no_that_rivals_get() -> None:
    adult = sf.datasets.load("adult_heterogeneous")
    table = encode(adult.table.slice(0, 50), adult.schema)
    coded = Coded.of(table, bins=8, may_miss=())
    back = coded.columns(coded.codes, np.random.default_rng(0))["occupation"].decode().to_pylist()
    assert [set(row or ()) for row in back] == [
        set(row or ()) for row in adult.table["occupation"].slice(0, 50).to_pylist()
    ]
