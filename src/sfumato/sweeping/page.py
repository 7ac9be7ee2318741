"""What a sweep writes: one page and one CSV file, both for the holder's eyes."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from sfumato.release.report.markup import Cell, Html, paragraph, section, table, tag, text
from sfumato.release.report.plots import FAINT, HOW_TO_GET, INK, available, colour, logarithmic, picture
from sfumato.release.report.style import page
from sfumato.sweeping.frontier import Frontier, Outcome, advice
from sfumato.sweeping.points import Result

TITLE = "A sweep: structure kept against risk"
FIGURES = ("prosecutor.highest", "marketer", "information_kept", "columns.silent", "f_measure.cold.mean")


def csv_text(results: Sequence[Result], found: Frontier) -> str:
    """One line a setting, every score in a column of its own."""
    settings = list(dict.fromkeys(path for one in results for path in one.settings))
    scores = list(dict.fromkeys(name for one in results if one.refused is None for name in one.scores))
    marks = {one.name: "frontier" for one in found.best} | ({found.knee.name: "knee"} if found.knee else {})
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*settings, "mark", "smallest_group", "seconds", "refused", *scores])
    for one in results:
        told = [one.settings.get(path, "") for path in settings]
        made = [one.smallest_group, one.seconds, one.refused or ""]
        writer.writerow([*told, marks.get(one.name, ""), *made, *(one.scores.get(score, "") for score in scores)])
    return out.getvalue()


def html(results: Sequence[Result], found: Frontier) -> str:
    """The advice, the frontier as a picture, and every setting in a table."""
    edition = tag("p", text("For the holder: measured against the raw table"), class_="edition holder")
    verdict = paragraph(advice(found), "verdict")
    return page(TITLE, edition, tag("h1", text(TITLE)), verdict, _drawn(found), _listed(results, found))


def _drawn(found: Frontier) -> Html:
    if not found.outcomes:
        return text("")
    if not available():
        return paragraph(f"The picture needs the plotting library: {HOW_TO_GET}", "note")
    says = (
        f"Across, the highest chance to pick out a record; up, the structure kept: {found.kept_words}. The line is the "
        "frontier, the ring its knee; the dashed line is reached without the masked columns."
    )
    return section(
        "The frontier", picture(_draw(found), size=(8.6, 4.2), says=says, name="frontier"), anchor="frontier"
    )


def _draw(found: Frontier) -> Any:
    first = next(iter(found.outcomes[0].result.settings))
    series: dict[str, list[Outcome]] = {}
    for one in found.outcomes:
        others = [(path, value) for path, value in one.result.settings.items() if path != first]
        rest = ", ".join(f"{path.rpartition('.')[2]}={value}" for path, value in others)
        series.setdefault(rest, []).append(one)

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        for at, (name, ones) in enumerate(series.items()):
            axes.plot(
                [o.risk * 100 for o in ones],
                [o.kept for o in ones],
                linestyle="none",
                markersize=6,
                color=colour(at),
                label=name or None,
                alpha=0.85,
                marker="osD^vP"[at // 8 % 6],
            )
        axes.step(
            [o.risk * 100 for o in found.best], [o.kept for o in found.best], where="post", color=INK, linewidth=0.8
        )
        for one in found.best:
            value = one.result.settings.get(first, "")
            axes.annotate(
                f"{first.rpartition('.')[2]}={value}",
                (one.risk * 100, one.kept),
                xytext=(5, -11),
                textcoords="offset points",
                fontsize=8,
            )
        _marked(axes, found)
        logarithmic(axes, "x", "{x:g}")
        axes.set_xlabel("highest risk, in percent")
        axes.set_ylabel("structure kept")
        if len(series) > 1:
            figure.legend(fontsize=8, loc="outside upper left", ncols=3)

    return draw


def _marked(axes: Any, found: Frontier) -> None:
    """A ring around the knee, and a line at what no data would keep."""
    if found.knee is not None:
        axes.plot(
            [found.knee.risk * 100],
            [found.knee.kept],
            "o",
            markersize=15,
            markerfacecolor="none",
            markeredgecolor=INK,
            markeredgewidth=1.4,
        )
    if found.floor is not None:
        axes.axhline(found.floor, color=FAINT, linewidth=0.8, linestyle="dashed")


def _listed(results: Sequence[Result], found: Frontier) -> Html:
    settings = list(dict.fromkeys(path for one in results for path in one.settings))
    marks = {one.name: "on the frontier" for one in found.best} | ({found.knee.name: "the knee"} if found.knee else {})
    rows: list[list[Cell]] = []
    for one in results:
        told: list[Cell] = [one.settings.get(path, "") for path in settings]
        if one.refused is not None:
            continue
        figures: list[Cell] = [_figure(one, score) for score in (found.kept_by, *FIGURES)]
        rows.append([*told, marks.get(one.name, ""), *figures, one.smallest_group, f"{one.seconds or 0:.1f} s"])
    names = [path.rpartition(".")[2] if path.startswith("mask.") else path for path in settings]
    headings = [
        *names,
        "",
        "kept",
        "highest risk",
        "average risk",
        "detail kept",
        "columns that tell nothing",
        "F without centres",
        "smallest group",
        "time",
    ]
    words = paragraph(f"Kept: {found.kept_words}.")
    return section("Every setting", words, table(headings, rows), *_refused(results), anchor="settings")


def _figure(one: Result, score: str) -> Cell:
    """A score; columns are counted in whole numbers."""
    found = one.scores.get(score)
    return round(found) if found is not None and score.startswith("columns.") else found


def _refused(results: Sequence[Result]) -> list[Html]:
    """What cannot be published, and why."""
    rows = [(one.name, one.refused) for one in results if one.refused is not None]
    return [tag("h3", text("Cannot be published")), table(["setting", "why"], rows)] if rows else []
