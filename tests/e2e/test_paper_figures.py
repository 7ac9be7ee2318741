"""The pages of results say what the benchmarks find today, and every part of the papers has its command and page."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from benchmarks.papers.agreement import CELLS, Cell, printed
from benchmarks.papers.cluster_published import published
from benchmarks.papers.cluster_settings import Setting
from benchmarks.papers.cluster_text import number
from benchmarks.papers.contents import CONTENTS, Part

from sfumato.errors import DatasetError

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("part", CONTENTS, ids=lambda part: f"{part.paper} {part.part}")
def test_every_part_of_the_papers_has_its_command_and_its_page(part: Part) -> None:
    program, *words = part.command.split()
    assert (ROOT / part.page).is_file()
    if program == "pytest":
        names = re.findall(r"^def (test_\w+)", (ROOT / words[0]).read_text(encoding="utf-8"), re.MULTILINE)
        assert any(words[2] in name for name in names), "no test of that name"
    else:
        assert find_spec(words[1]) is not None


def test_five_papers_are_there_and_a_cell_can_disagree() -> None:
    assert {part.paper for part in CONTENTS} == {"000", "001", "002", "003", "004"} == set(CELLS)
    assert not Cell("page.md", "a cell", 0.50, 0.51, 0.006).agrees


@pytest.mark.slow
@pytest.mark.parametrize("paper", CELLS)
def test_pages_say_what_is_found_today(paper: str) -> None:
    for cell in CELLS[paper]():
        assert cell.agrees, cell


@pytest.mark.slow
@pytest.mark.parametrize("mask", ["tradeoff", "partition"])
def test_clusters_of_crx_as_published(mask: str) -> None:
    setting = Setting(experiment="published", dataset="crx", method="kmeans", clusters=6, h=20, mask=mask)
    try:
        row = published(setting)
    except DatasetError:
        pytest.skip("CRX is not bundled: SFUMATO_DATA names its folder")
    page = printed("cluster_anonymity.md", "### As published", ["CRX", "k-means", "6", "20"])
    name = {"tradeoff": "tradeoff", "partition": "Partition"}[mask]
    assert number(row.f_start) == page[f"F from centres: {name}"]
    assert number(row.f_ten) == page[f"F cold, best of ten: {name}"]
    assert number(row.penalty) == page[f"NCP: {name}"]
