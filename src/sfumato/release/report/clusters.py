"""The clusters: where they stand before and after in one projection, and where each one's records went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluation.clusters import contingency
from sfumato.randomness import Seeded
from sfumato.release.report.axes import Axis
from sfumato.release.report.markup import Cell, Html, folded, join, made, paragraph, section, table, tag, text
from sfumato.release.report.material import Held, Released
from sfumato.release.report.plots import Mark, Panel, colour, dots, picture, shape, words
from sfumato.release.report.projecting import Bubbles, Frame, Plane
from sfumato.structure.structures import Found

SAMPLE = 20_000
"""Records that are drawn of a larger raw table."""


def public_clusters(released: Released) -> Html | None:
    """The released records in the space that goes along, by the nearest released centre."""
    space = released.space
    if space is None or not len(space.centres) or not released.masked.rows:
        return None
    shown = released.masked.distinct([*space.attributes, *(space.book.columns if space.book else ())])
    placed = space.place(shown.masked)
    points, labels = Plane.of(placed, shown.counts).points(placed), placed.nearest(space.start())
    drawn = Bubbles.of(points, labels, Frame.around(points), shown.counts)
    says = (
        "The released records by the nearest of the released centres, seen along their two main directions. A larger "
        "dot stands for more records."
    )
    parts = [
        _draw([("as it is shown", drawn)], says),
        _cluster_table(np.bincount(labels, shown.counts, len(space.centres))),
        _dots(drawn),
    ]
    return section("The clusters", *parts, anchor="clusters")


def raw_clusters(found: Found) -> Html | None:
    """The clusters of a raw table before anything is masked, along its two main directions. For the holder."""
    if found.placed is None:
        return None
    rows = _sample(len(found.labels))
    points = Plane.of(found.placed).points(found.placed.take(rows))
    drawn = Bubbles.of(points, found.labels[rows], Frame.around(points))
    says = "The records along their two main directions, by cluster. A larger dot stands for more records."
    if len(rows) < len(found.labels):
        says += f" {len(rows):,} records are drawn."
    sizes = np.bincount(found.labels, minlength=found.n)
    named = [(name, int(size)) for name, size in zip(found.names, sizes, strict=True)]
    return join([_draw([("as they are", drawn)], says), table(["cluster", "records"], named)])


def holders_clusters(held: Held) -> Html | None:
    """Before and after, side by side, in one projection and in the same colours; then where the records went."""
    found = held.found
    if found.placed is None or found.embedding is None:
        return None
    if not held.masked.row_by_row:
        return _generated(held)
    if held.again is None:
        return None
    rows = _sample(held.table.rows)
    before = found.placed.take(rows)
    after = found.embedding.place_masked(held.table, held.masked, released=held.values).take(rows)
    plane = Plane.of(before)
    clouds = [plane.points(before), plane.points(after)]
    frame = Frame.around(*clouds)
    names = matched(found.labels, held.again)
    panels = [
        ("before", Bubbles.of(clouds[0], found.labels[rows], frame)),
        ("after", Bubbles.of(clouds[1], names[held.again][rows], frame)),
    ]
    says = (
        "The raw clusters, and those found again in the masked table, in the projection of the raw records and in "
        "the same colours. A larger dot stands for more records."
    )
    if len(rows) < held.table.rows:
        says += f" {len(rows):,} records are drawn."
    parts = [_draw(panels, says), *(_dots(b, title) for title, b in panels), _moved(held, names)]
    return section("The clusters before and after", *parts, anchor="clusters")


def _generated(held: Held) -> Html | None:
    """Raw records, and generated rows by the nearest raw centre, in one projection."""
    found, count = held.found, held.masked.rows
    if found.placed is None or found.embedding is None or found.centres is None or not count:
        return None
    rows, drawn = _sample(held.table.rows), _sample(count)
    before = found.placed.take(rows)
    after = found.embedding.place_shown(held.masked).take(drawn)
    plane = Plane.of(before)
    clouds = [plane.points(before), plane.points(after)]
    frame = Frame.around(*clouds)
    panels = [
        ("raw records", Bubbles.of(clouds[0], found.labels[rows], frame)),
        ("generated rows", Bubbles.of(clouds[1], after.nearest(found.centres), frame)),
    ]
    says = "The raw clusters, and the generated rows by the nearest raw centre, in the projection of the raw records."
    parts = [_draw(panels, says), *(_dots(b, title) for title, b in panels)]
    return section("The clusters before and after", *parts, anchor="clusters")


def matched(raw: NDArray[Any], again: NDArray[Any]) -> NDArray[np.int64]:
    """(clusters found again,): the raw cluster that each is drawn as, so that colours agree; others get new numbers."""
    from scipy.optimize import linear_sum_assignment

    width = int(again.max()) + 1
    shared = np.bincount(raw.astype(np.int64) * width + again, minlength=(int(raw.max()) + 1) * width)
    whole = shared.reshape(-1, width)
    rows, columns = linear_sum_assignment(whole, maximize=True)
    names = np.full(width, -1, dtype=np.int64)
    names[columns] = rows
    names[names < 0] = len(whole) + np.arange(int((names < 0).sum()))
    return names


def _sample(rows: int) -> NDArray[np.int64]:
    if rows <= SAMPLE:
        return np.arange(rows)
    return np.sort(Seeded(0).generator().choice(rows, SAMPLE, replace=False))


def _draw(panels: Sequence[tuple[str, Bubbles]], says: str) -> Html:
    """All panels in one scale, with dots of one measure."""
    largest = max(int(bubbles.counts.max()) for _, bubbles in panels)
    frame = Frame.around(*(bubbles.points for _, bubbles in panels))
    x, y = (Axis(frame.low[at], frame.high[at], shown=False) for at in (0, 1))
    width, height = (480, 380) if len(panels) > 1 else (600, 380)
    drawn = [Panel(x, y, _scatter(one, largest), title=title, width=width, height=height) for title, one in panels]
    return picture(drawn, says=says)


def _scatter(bubbles: Bubbles, largest: int) -> list[Mark]:
    """One path per cluster and size of dot, which keeps the drawing small; the clusters' numbers above all of them."""
    sizes = np.ceil(np.sqrt(bubbles.counts / largest) * 8) * 2.4 + 1.8
    marks, middles, found = [], [], np.unique(bubbles.clusters).tolist()
    for cluster in found:
        mine = bubbles.clusters == cluster
        for size in np.unique(sizes[mine]).tolist():
            chosen = bubbles.points[mine & (sizes == size)]
            marks.append(dots(chosen, size, colour(cluster), shape=shape(cluster)))
        middles.append(np.average(bubbles.points[mine], axis=0, weights=bubbles.counts[mine]))
    return [*marks, words(middles, [str(cluster + 1) for cluster in found], kind="mark")]


def _cluster_table(counts: NDArray[Any]) -> Html:
    return table(["cluster", "records"], [(f"{at + 1}", int(count)) for at, count in enumerate(counts)])


def _dots(bubbles: Bubbles, title: str = "") -> Html:
    rows = [
        (f"{cluster + 1}", f"{x:.3f}", f"{y:.3f}", int(count))
        for cluster, (x, y), count in zip(bubbles.clusters.tolist(), bubbles.points, bubbles.counts, strict=True)
    ]
    words = f"The dots in numbers{', ' + title if title else ''}"
    return folded(words, ["cluster", "across", "up", "records"], rows)


def _moved(held: Held, names: NDArray[np.int64]) -> Html:
    """Where each raw cluster's records went: a table whose cells are the darker the more of the cluster is there."""
    if held.again is None:
        return text("")
    shared = contingency(held.found.labels, names[held.again])
    found = np.unique(names[held.again])
    headings = ["raw cluster", "records", *(f"found as {at + 1}" for at in found)]
    rows: list[Sequence[Cell]] = []
    for at, counts in zip(np.unique(held.found.labels), shared, strict=True):
        total = int(counts.sum())
        rows.append([held.found.names[int(at)], total, *(_heat(int(n), total) for n in counts)])
    told = paragraph(
        "Where each raw cluster's records went; the last figure of a cell is its share of it, an empty one has none."
    )
    return join([tag("h3", text("Where the records went")), told, table(headings, rows, kind="cards")])


def _heat(count: int, total: int) -> Cell:
    if not count:
        return None
    share = count / total
    return made(tag("span", text(f"{count:,} · {share:.0%}"), class_="heat", style=f"--h:{share:.2f}"))
