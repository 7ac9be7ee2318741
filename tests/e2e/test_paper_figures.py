"""The pages of results say what the benchmarks find today."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.papers.classification import ADULT_TOP, adult, curve
from benchmarks.papers.cluster_published import published
from benchmarks.papers.cluster_settings import Setting
from benchmarks.papers.cluster_text import number

from sfumato.errors import DatasetError
from sfumato.maskers.masker import Masker
from sfumato.maskers.partition.fit import Partition
from sfumato.maskers.topdown.masker import TopDown

PAGES = Path(__file__).parents[2] / "docs" / "results"


def printed(page: str, heading: str, first: list[str]) -> dict[str, str]:
    """The line of a table below a heading that begins with these cells, by the names of its columns."""
    _, _, text = (PAGES / page).read_text(encoding="utf-8").partition(f"\n{heading}\n")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    line = next(row for row in rows if row[: len(first)] == first)
    return dict(zip(rows[0], line, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "masker"), [("Top7", TopDown(beneficial_only=True)), ("Top7, Partition", Partition())]
)
def test_errors_of_figure_6a(name: str, masker: Masker) -> None:
    found = curve(adult(), ADULT_TOP[:7], (300,), title=name, by="tree", masker=masker)
    page = printed("classification.md", "## Figure 6a: Adult, generalization, tree", [name])
    assert (f"{100 * found.be:.2f}", f"{100 * found.ae[0]:.2f}") == (page["BE"], page["k=300"])


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
