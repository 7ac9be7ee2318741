"""The pages of results say what the benchmarks find today, and every part of the papers has its command and page."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from benchmarks.papers import __main__ as papers
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


NAMES = ("cluster_anonymity", "cluster_more", "classification", "wfcmeans", "dpheter", "gdtm")
PRINTED = {"000": (7, 14), "001": (1, 5), "002": (3, 11), "003": (3, 18), "004": (6, 5)}
"""How many tables and figures each paper has."""


def numbers(part: str, kind: str) -> set[int]:
    """Of the tables or figures that a line of the list names.

    >>> sorted(numbers("Table 7, Figures 4 to 6, 8 and 10b (time)", "Figure"))
    [4, 5, 6, 8, 10]
    """
    found: set[int] = set()
    for listed in re.findall(rf"{kind}s? ((?:\d+\w?(?:, | and | to )?)+)", part):
        whole = re.sub(r"(\d+)\w? to (\d+)", lambda m: " ".join(map(str, range(int(m[1]), int(m[2]) + 1))), listed)
        found |= {int(number) for number in re.findall(r"\d+", whole)}
    return found


@pytest.mark.parametrize("paper", PRINTED)
def test_every_table_and_figure_of_the_papers_is_listed(paper: str) -> None:
    parts = [one.part for one in CONTENTS if one.paper == paper]
    for kind, many in zip(("Table", "Figure"), PRINTED[paper], strict=True):
        assert set().union(*(numbers(part, kind) for part in parts)) == set(range(1, many + 1)), kind


@pytest.mark.parametrize(("found", "code"), [(0.95, 0), (0.5, 1)])
def test_a_page_that_says_something_else_fails_the_command(
    found: float, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(papers, "agreements", lambda: iter([Cell("page.md", "a cell", 0.95, found, 0.01)]))
    assert papers.main(["--quick"]) == code
    assert f"| 0.95 | {found:g} | 0.01 | {code == 0} |" in capsys.readouterr().out


@pytest.mark.slow
def test_pages_say_what_is_found_today(capsys: pytest.CaptureFixture[str]) -> None:
    """The whole of `python -m benchmarks.papers --quick`: some two minutes of CPU."""
    code = papers.main(["--quick"])
    told = capsys.readouterr().out
    assert code == 0, told
    assert {line.split()[1] for line in told.splitlines()[2:]} == {f"{name}.md" for name in NAMES}


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
