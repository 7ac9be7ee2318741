"""What a sweep writes: one page and one CSV file, both for the holder's eyes."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np

from sfumato.release.report.markup import Cell, Html, page, paragraph, section, table, tag, text
from sfumato.release.report.plots import (
    FAINT,
    INK,
    Axis,
    Mark,
    Panel,
    colour,
    dots,
    levels,
    picture,
    ring,
    shape,
    steps,
    words,
)
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
    says = (
        f"Across, the highest chance to pick out a record; up, what is kept: {found.kept_words}. The line is the "
        "frontier, the ring what is advised; the dotted line is reached without the masked columns."
    )
    first = next(iter(found.outcomes[0].result.settings))
    series = _series(found, first)
    risks = [max(one.risk * 100, 1e-3) for one in found.outcomes]
    kept = [*(one.kept for one in found.outcomes), *([] if found.floor is None else [found.floor])]
    margin = 0.08 * (max(kept) - min(kept)) or 0.05
    x = Axis(min(risks) / 1.2, max(risks) * 1.3, "highest risk, in percent", log=True)
    y = Axis(min(kept) - margin, max(kept) + margin, "kept")
    panel = Panel(x, y, [*_points(series), *_frontier(found, first)], height=300)
    legend = [(name, colour(at)) for at, name in enumerate(series)] if len(series) > 1 else []
    return section("The frontier", picture([panel], says=says, legend=legend), anchor="frontier")


def _series(found: Frontier, first: str) -> dict[str, list[Outcome]]:
    """Outcomes by all settings but the first one."""
    series: dict[str, list[Outcome]] = {}
    for one in found.outcomes:
        others = [(path, value) for path, value in one.result.settings.items() if path != first]
        rest = ", ".join(f"{path.rpartition('.')[2]}={value}" for path, value in others)
        series.setdefault(rest, []).append(one)
    return series


def _points(series: dict[str, list[Outcome]]) -> list[Mark]:
    return [
        dots(np.array([(one.risk * 100, one.kept) for one in ones]), 9, colour(at), shape=shape(at))
        for at, ones in enumerate(series.values())
    ]


def _frontier(found: Frontier, first: str) -> list[Mark]:
    """The line of the best with their settings, a ring around the knee, and what no data would keep."""
    short = first.rpartition(".")[2]
    points = [(one.risk * 100, one.kept) for one in found.best]
    named = words(points, [f"{short}={one.result.settings.get(first, '')}" for one in found.best], moved=(8, 16))
    line = [steps([risk for risk, _ in points], [kept for _, kept in points], INK)] if points else []
    knee = [] if found.knee is None else [ring((found.knee.risk * 100, found.knee.kept), 20)]
    floor = [] if found.floor is None else [levels(found.floor, FAINT)]
    return [*line, named, *knee, *floor]


def _listed(results: Sequence[Result], found: Frontier) -> Html:
    settings = list(dict.fromkeys(path for one in results for path in one.settings))
    marks = {one.name: "on the frontier" for one in found.best} | (
        {found.knee.name: found.ringed} if found.knee else {}
    )
    kept = {one.name: one.kept for one in found.outcomes}
    rows: list[list[Cell]] = []
    for one in results:
        chosen: list[Cell] = [one.settings.get(path, "") for path in settings]
        if one.refused is not None:
            continue
        figures: list[Cell] = [kept.get(one.name), *(_figure(one, score) for score in FIGURES)]
        rows.append([*chosen, marks.get(one.name, ""), *figures, one.smallest_group, f"{one.seconds or 0:.1f} s"])
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
    told = paragraph(f"Kept: {found.kept_words}.")
    return section("Every setting", told, table(headings, rows, kind="cards"), *_refused(results), anchor="settings")


def _figure(one: Result, score: str) -> Cell:
    """A score; columns are counted in whole numbers."""
    found = one.scores.get(score)
    return round(found) if found is not None and score.startswith("columns.") else found


def _refused(results: Sequence[Result]) -> list[Html]:
    """What cannot be published, and why."""
    rows = [(one.name, one.refused) for one in results if one.refused is not None]
    return [tag("h3", text("Cannot be published")), table(["setting", "why"], rows)] if rows else []
