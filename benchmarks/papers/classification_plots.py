"""The plots of `classification`, as SVG."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.papers.classification_report import Figures

CURVES = {
    "5": "Adult, suppression, tree, ",
    "6a": "Adult, generalization, tree, ",
    "6b": "Adult, generalization, naive_bayes, ",
    "crx": "crx, 10 folds, ",
    "german": "german, 10 folds, ",
}


def draw(figures: Figures, out: Path) -> dict[str, str]:
    """Draw all figures; gives the file of each. The same figures give the same bytes."""
    mpl.rcParams["svg.hashsalt"] = "sfumato"
    found = {}
    for name, prefix in CURVES.items():
        figure, axes = _new("k", "error, %")
        _curves(axes, figures, prefix)
        found[name] = _save(figure, out, name)
    figure, axes = _new("AE of MultiQID, %", "AE of SingleQID, %")
    _pairs(axes, figures)
    found["8"] = _save(figure, out, "8")
    figure, axes = _new("k", "error, %")
    _races(axes, figures)
    found["10"] = _save(figure, out, "10")
    figure, axes = _new("rows, thousands", "seconds")
    rows = [timing.rows / 1000 for timing in figures.timings]
    axes.plot(rows, [timing.one for timing in figures.timings], marker="o", label="AllAttQID")
    axes.plot(rows, [timing.several for timing in figures.timings], marker="s", label="MultiQID")
    axes.set_ylim(bottom=0)
    found["11"] = _save(figure, out, "11")
    return found


def _new(x: str, y: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(alpha=0.3)
    return figure, axes


def _save(figure: Figure, out: Path, name: str) -> str:
    axes = figure.axes[0]
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize="small")
    file = f"classification-{name}.svg"
    figure.savefig(out / file, format="svg", metadata={"Date": None})
    return file


def _curves(axes: Axes, figures: Figures, prefix: str) -> None:
    found = {t.removeprefix(prefix): c for t, c in figures.curves.items() if t.startswith(prefix)}
    for name, curve in found.items():
        places = range(len(curve.ks))
        axes.plot(places, [100 * ae for ae in curve.ae], marker="o", markersize=3, label=f"AE, {name}")
        axes.set_xticks(places, [str(k) for k in curve.ks], fontsize="small")
    for name, curve in found.items():
        if name == "Top7":
            axes.axhline(100 * curve.be, color="black", linewidth=1, label="BE")
            axes.axhline(100 * curve.ue, color="black", linewidth=1, linestyle="--", label="UE, Top7")


def _pairs(axes: Axes, figures: Figures) -> None:
    several = [100 * pair.several for pair in figures.pairs]
    single = [100 * pair.single for pair in figures.pairs]
    axes.scatter(several, single, s=14)
    ends = [min(several + single), max(several + single)]
    axes.plot(ends, ends, color="black", linewidth=1)


def _races(axes: Axes, figures: Figures) -> None:
    whole = [race for race in figures.races if "30 s" not in race.masker]
    ks = sorted({race.k for race in whole})
    for masker in dict.fromkeys(race.masker for race in whole):
        errors = [100 * race.error for race in whole if race.masker == masker]
        axes.plot(range(len(ks)), errors, marker="o", markersize=3, label=masker)
    axes.set_xticks(range(len(ks)), [str(k) for k in ks])
    for value, style, label in zip(figures.baseline, ("-", "--"), ("BE", "UE"), strict=True):
        axes.axhline(100 * value, color="black", linewidth=1, linestyle=style, label=label)
