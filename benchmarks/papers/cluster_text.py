"""Results of paper 000's test cases as text: pairs of figures, named cases, tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from benchmarks.papers.cluster_measuring import Row
from benchmarks.papers.cluster_rows import Series, p_value, series, tally

NAMES = {"adult": "Adult", "crx": "CRX", "kmeans": "k-means", "bisecting": "bisecting"}
Cells = Sequence[object]
Case = dict[str, Any]
"""Table, clusterer and number of clusters."""


class Pair:
    """A figure of guided and of blind masking, paired over the thresholds."""

    def __init__(self, ours: Series, theirs: Series) -> None:
        self.ours, self.theirs = ours, theirs

    @classmethod
    def of(cls, rows: Sequence[Row], case: Case, figure: str) -> Pair:
        wanted = {"experiment": "single", **case}
        return cls(*(series(rows, figure, mask=mask, **wanted) for mask in ("tradeoff", "distortion")))

    def levels(self) -> tuple[str, str]:
        return number(self.ours.mean()), number(self.theirs.mean())

    def benefit(self) -> str:
        return f"{100 * (self.ours.mean() / self.theirs.mean() - 1):.0f} %"

    def p(self) -> str:
        return p_text(p_value(self.ours, self.theirs))

    def tally(self) -> str:
        return tally(self.ours, self.theirs)


def cases(rows: Sequence[Row]) -> list[Case]:
    """Tables, clusterers and numbers of clusters that were run."""
    found = [row.setting for row in rows if row.setting.experiment == "single"]
    kinds = dict.fromkeys((s.dataset, s.method, s.clusters) for s in found)
    return [{"dataset": dataset, "method": method, "clusters": clusters} for dataset, method, clusters in kinds]


def first_of(rows: Sequence[Row], case: Case) -> Case:
    """The first case of the same table."""
    return next(other for other in cases(rows) if other["dataset"] == case["dataset"])


def number(value: float) -> str:
    """Three digits, or nothing."""
    return "" if np.isnan(value) else f"{value:.3f}"


def markdown(heads: Cells, lines: Iterable[Cells]) -> str:
    """A table in Markdown."""
    body = [heads, ["---"] * len(heads), *lines]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in body)


def p_text(value: float) -> str:
    """A probability."""
    return f"{value:.2f}" if value >= 0.01 else f"{value:.0e}"


def named(case: Case) -> tuple[object, ...]:
    """The first cells of a line."""
    return NAMES[str(case["dataset"])], NAMES[str(case["method"])], case["clusters"]


def datasets(rows: Sequence[Row]) -> list[str]:
    """The tables that were run."""
    return list(dict.fromkeys(row.setting.dataset for row in rows))


def cold_spread(rows: Sequence[Row], case: Case, mask: str) -> tuple[str, str]:
    """The best and the worst of all cold starts."""
    best, worst = (series(rows, f"f_cold_{kind}", experiment="single", mask=mask, **case) for kind in ("best", "worst"))
    return number(best.max()), number(worst.min())
