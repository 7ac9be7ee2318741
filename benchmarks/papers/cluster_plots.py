"""Paper 000, Figures 3, 4, 6 to 8 and 10 to 14 as SVG. Masked values stand at their expected positions everywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.papers.cluster_measuring import Row
from benchmarks.papers.cluster_rows import Series, pick, series
from benchmarks.papers.cluster_settings import METHODS
from benchmarks.papers.cluster_text import NAMES, datasets

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {"tradeoff": "#2458a6", "distortion": "#c8641e"}
WORDS = {"tradeoff": "guided", "distortion": "blind", "f": "F", "mp": "match point"}


def plot(folder: Path, rows: Sequence[Row]) -> Iterator[Path]:
    """Draw every figure for every table; tells what was written."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "sfumato", "svg.fonttype": "none", "font.size": 9})
    folder.mkdir(parents=True, exist_ok=True)
    for dataset in datasets(rows):
        mine = pick(rows, dataset=dataset)
        for name, figure in _figures(mine):
            path = folder / f"{dataset}_{name}.svg"
            figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
            yield path


def _figures(rows: Sequence[Row]) -> Iterator[tuple[str, Figure]]:
    for figure in ("f", "mp"):
        yield f"{figure}_by_threshold", by_threshold(rows, figure)
    yield "averages", averages(rows)
    yield "qid_size", qid_size(rows)
    yield "several_qids", several_qids(rows)
    yield "heterogeneous", heterogeneous(rows)


def by_threshold(rows: Sequence[Row], figure: str) -> Figure:
    """Figures 3c-e, 4c-e, 10c-e, 11c-e: lines from starting centres, points and bars for cold starts."""
    clusters = _numbers(rows)
    page, axes = _panels(len(METHODS), len(clusters))
    for row, method in enumerate(METHODS):
        for column, k in enumerate(clusters):
            case = {"experiment": "single", "method": method, "clusters": k}
            for mask in COLOURS:
                _threshold_line(axes[row][column], pick(rows, mask=mask, **case), figure)
            axes[row][column].set(title=f"{NAMES[method]}, {k} clusters", ylim=(0, 1.02), xlabel="h")
        axes[row][0].set_ylabel(WORDS[figure])
    axes[0][0].legend(loc="lower left", fontsize=7)
    return page


def _threshold_line(axes: Axes, rows: Sequence[Row], figure: str) -> None:
    mask = rows[0].setting.mask
    axes.plot(
        [row.setting.h for row in rows],
        [getattr(row, f"{figure}_start") for row in rows],
        color=COLOURS[mask],
        label=f"{WORDS[mask]}, starting centres",
    )
    many = [row for row in rows if row.setting.cold > 1]
    mean, best, worst = (
        np.array([getattr(row, f"{figure}_cold_{kind}") for row in many]) for kind in ("mean", "best", "worst")
    )
    axes.errorbar(
        [row.setting.h for row in many],
        mean,
        yerr=np.stack([mean - worst, best - mean]),
        fmt="o",
        markersize=3,
        linewidth=0.6,
        color=COLOURS[mask],
        alpha=0.7,
        label=f"{WORDS[mask]}, cold: mean, best, worst",
    )


def averages(rows: Sequence[Row]) -> Figure:
    """Figures 3a-b, 4a-b, 10a-b, 11a-b: means over h."""
    clusters = _numbers(rows)
    page, axes = _panels(2, len(METHODS))
    for row, figure in enumerate(("f", "mp")):
        for column, method in enumerate(METHODS):
            heights = {
                f"{WORDS[mask]}, {told}": _means(
                    rows, f"{figure}_{kind}", experiment="single", method=method, mask=mask
                )
                for kind, told in (("start", "starting centres"), ("cold_mean", "cold"))
                for mask in COLOURS
            }
            _bars(axes[row][column], [f"{k} clusters" for k in clusters], heights)
            axes[row][column].set(title=NAMES[method], ylabel=WORDS[figure])
    axes[0][0].legend(loc="lower left", fontsize=7)
    return page


def qid_size(rows: Sequence[Row]) -> Figure:
    """Figures 6 and 12: means over h from Top3 to Top9, six clusters, from starting centres."""
    page, axes = _panels(2, len(METHODS))
    sizes = sorted({row.setting.qid for row in rows if row.setting.experiment == "size"} | {"Top9"})
    for row, figure in enumerate(("f", "mp")):
        for column, method in enumerate(METHODS):
            for mask, colour in COLOURS.items():
                mean = [
                    series(
                        pick(rows, experiment="single" if qid == "Top9" else "size", qid=qid),
                        f"{figure}_start",
                        method=method,
                        clusters=6,
                        mask=mask,
                    ).mean()
                    for qid in sizes
                ]
                axes[row][column].plot(sizes, mean, color=colour, marker="o", markersize=3, label=WORDS[mask])
            axes[row][column].set(title=NAMES[method], ylabel=WORDS[figure], ylim=(0, 1.02))
    axes[0][0].legend(loc="lower left", fontsize=7)
    return page


def several_qids(rows: Sequence[Row]) -> Figure:
    """Figures 7 and 13: means over the random requirements, six clusters, from starting centres."""
    page, axes = _panels(2, len(METHODS))
    thresholds = sorted({row.setting.h for row in rows if row.setting.experiment == "multi"})
    for row, figure in enumerate(("f", "mp")):
        for column, method in enumerate(METHODS):
            heights = {
                told: [_mean(rows, method, h, f"{figure}_start", kind) for h in thresholds]
                for kind, told in (("multi", "several QIDs"), ("union", "their union"))
            }
            _bars(axes[row][column], [f"h = {h}" for h in thresholds], heights)
            axes[row][column].set(title=NAMES[method], ylabel=WORDS[figure])
    axes[0][0].legend(loc="lower left", fontsize=7)
    return page


def heterogeneous(rows: Sequence[Row]) -> Figure:
    """Figures 8 and 14: one clusterer before and the other after masking, cold; and without any masking."""
    clusters = _numbers(rows)
    page, axes = _panels(1, 2)
    for column, figure in enumerate(("f", "mp")):
        heights = {
            f"{NAMES[one]} to {NAMES[other]}, {told}": _means(
                rows, f"{figure}_cold_mean", experiment="heterogeneous", method=one, mask=mask
            )
            for one, other in (METHODS, METHODS[::-1])
            for mask, told in (("raw", "raw"), ("tradeoff", "masked"))
        }
        _bars(axes[0][column], [f"{k} clusters" for k in clusters], heights)
        axes[0][column].set_ylabel(WORDS[figure])
    axes[0][0].legend(loc="lower left", fontsize=7)
    return page


def _means(rows: Sequence[Row], figure: str, **wanted: str) -> list[float]:
    """Over the thresholds, for each number of clusters."""
    return [float(series(rows, figure, clusters=k, **wanted).mean()) for k in _numbers(rows)]


def _mean(rows: Sequence[Row], method: str, h: int, figure: str, kind: str) -> float:
    both = pick(rows, experiment="multi", method=method, h=h, mask="tradeoff")
    return float(np.mean([getattr(row, figure) for row in both if row.setting.qid.startswith(kind)]))


def _panels(rows: int, columns: int) -> tuple[Figure, Sequence[Sequence[Axes]]]:
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    page = Figure(figsize=(3.2 * columns, 2.5 * rows), layout="constrained")
    FigureCanvasSVG(page)
    return page, page.subplots(rows, columns, squeeze=False).tolist()


def _bars(axes: Axes, groups: Sequence[str], heights: Mapping[str, Sequence[float]]) -> None:
    width = 0.8 / len(heights)
    colours = ["#2458a6", "#c8641e", "#9db7dc", "#ecc4a3"]
    at: Series = np.arange(len(groups), dtype=np.float64)
    for place, (label, values) in enumerate(heights.items()):
        axes.bar(at + (place - (len(heights) - 1) / 2) * width, values, width, label=label, color=colours[place])
    axes.set_xticks(at, groups)
    axes.set_ylim(0, 1.02)


def _numbers(rows: Sequence[Row]) -> list[int]:
    return sorted({row.setting.clusters for row in rows if row.setting.experiment == "single"})
