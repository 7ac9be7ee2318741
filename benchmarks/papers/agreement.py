"""Do the pages of results say what is found today? A cell of each page, measured again, with how far it may be off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import sfumato as sf
from benchmarks.papers import classification, cluster_more, gdtm, wfcmeans
from benchmarks.papers.cluster_published import published
from benchmarks.papers.cluster_settings import Setting
from benchmarks.papers.dpheter import Case, tables
from benchmarks.papers.gdtm_graph import by_graph
from sfumato.evaluation.clusters import misclassification
from sfumato.maskers.partition.fit import Partition
from sfumato.structure.structures import Clusters, find

PAGES = Path(__file__).parents[2] / "docs" / "results"
ROUNDING = 0.006
"""Figures that repeat may be off by what their last digit hides."""


@dataclass(frozen=True)
class Cell:
    """What a page says in one place, what is found now, and by how much they may differ."""

    page: str
    what: str
    told: float
    found: float
    allowed: float

    @property
    def agrees(self) -> bool:
        """Whether the page may stay as it is."""
        return abs(self.told - self.found) <= self.allowed


def printed(page: str, heading: str, first: list[str]) -> dict[str, str]:
    """The line of a table below a heading that begins with these cells, by the names of its columns."""
    _, _, text = (PAGES / page).read_text(encoding="utf-8").partition(f"\n{heading}\n")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    line = next(row for row in rows if row[: len(first)] == first)
    return dict(zip(rows[0], line, strict=True))


def first_number(text: str) -> float:
    """The first number of a cell.

    >>> first_number("**0.96 ± 0.07**")
    0.96
    """
    return float(text.strip("*").split()[0])


def clusters_of_adult() -> Iterator[Cell]:
    """000: Adult's six clusters as publish keeps them."""
    row = published(
        Setting(experiment="published", dataset="adult", method="kmeans", clusters=6, h=20, mask="partition")
    )
    page = printed("cluster_anonymity.md", "### As published", ["Adult", "k-means", "6", "20"])
    for what, found in (("F from centres: Partition", row.f_start), ("NCP: Partition", row.penalty)):
        yield Cell("cluster_anonymity.md", f"Adult, 6-means, h = 20, {what}", float(page[what]), found, ROUNDING)


def clusters_at_a_large_threshold() -> Iterator[Cell]:
    """000, section 5.1.4: h = 5000."""
    found = cluster_more.measured(cluster_more.people(), cluster_more.schema(), 5000)
    page = printed("cluster_more.md", "## Large thresholds, low trees, no trees", ["h = 5000"])
    for what in ("F", "match point"):
        yield Cell("cluster_more.md", f"h = 5000, {what}", float(page[what]), found[what], ROUNDING)


def errors_of_figure_6a() -> Iterator[Cell]:
    """002: a tree learned from what Partition shows."""
    top, name = classification.ADULT_TOP[:7], "Top7, Partition"
    found = classification.curve(classification.adult(), top, (300,), title=name, by="tree", masker=Partition())
    page = printed("classification.md", "## Figure 6a: Adult, generalization, tree", [name])
    for what, value in (("BE", found.be), ("k=300", found.ae[0])):
        yield Cell("classification.md", f"Figure 6a, {name}, {what}", float(page[what]), 100 * value, ROUNDING)


def errors_of_iris() -> Iterator[Cell]:
    """001: the error of the nearest neighbour after masking in threes."""
    now = [line.strip("|").split("|") for line in wfcmeans.table_1("iris")]
    found = {row[1].strip(): row[3] for row in now}
    for method in ("original table", "WF-C-means", "MDAV", "ours"):
        page = printed("wfcmeans.md", "## Table 1: 1-NN error in %, k = 3", ["iris", method])
        told = first_number(page["classes on raw values"])
        yield Cell("wfcmeans.md", f"Table 1, iris, {method}", told, first_number(found[method]), ROUNDING)


def sec_of_scaling() -> Iterator[Cell]:
    """004: Sec without noise follows from the factors."""
    page = printed("gdtm.md", "## Table 2: Sec of age; salary in %, rho = 0 %", ["SDP"])
    found = gdtm.secs(0.0, 1)["SDP"][4]
    yield Cell("gdtm.md", "Table 2, SDP, K = 4, age", float(page["K = 4"].split(";")[0]), found[0], ROUNDING)


def misclassified_by_the_graph() -> Iterator[Cell]:
    """004: without noise nothing is left to chance."""
    data = gdtm.points(6)
    shown = gdtm.masked(gdtm.encoded(data), gdtm.methods(0.0, 0)["SDP"])
    found = 100 * misclassification(by_graph(data, 6, 0), by_graph(shown, 6, 0))
    page = printed("gdtm.md", "## Table 1: misclassified points in %, graph of neighbours, rho = 0 %", ["SDP"])
    yield Cell("gdtm.md", "Table 1, graph of neighbours, SDP, K = 6", first_number(page["K = 6"]), found, ROUNDING)


RUNS = 3
SPREAD = 0.12
"""The page's mean is of ten runs; the mean of three may be so far from it."""


def generated_adult() -> Iterator[Cell]:
    """003: what our tree keeps at epsilon = 1."""
    table, structure = tables(quick=False)["adult"], Clusters("kmeans", k=5, n_init=10)
    case = Case("adult", table, structure, find(structure, table))
    found = [next(case.figures("tree", "1", case.run(sf.PrivateTree(), "1", seed).masked)).f for seed in range(RUNS)]
    page = printed("dpheter.md", "<!-- table: figures 4 to 15 -->", ["adult", "kmeans 5", "1"])
    yield Cell(
        "dpheter.md", "Adult, 5-means, epsilon 1, tree", first_number(page["tree"]), float(np.mean(found)), SPREAD
    )


CELLS: dict[str, tuple[Callable[[], Iterator[Cell]], ...]] = {
    "000": (clusters_of_adult, clusters_at_a_large_threshold),
    "002": (errors_of_figure_6a,),
    "001": (errors_of_iris,),
    "003": (generated_adult,),
    "004": (sec_of_scaling, misclassified_by_the_graph),
}


def agreements() -> Iterator[Cell]:
    """Paper by paper."""
    for measures in CELLS.values():
        for measure in measures:
            yield from measure()
