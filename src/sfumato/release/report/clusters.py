"""The clusters: where they stand before and after in one projection, and where each one's records went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.evaluation.clusters import contingency
from sfumato.evaluation.matching import matched as one_to_one
from sfumato.randomness import Seeded
from sfumato.release.report.markup import Cell, Html, folded, join, made, paragraph, section, table, tag, text
from sfumato.release.report.material import Held, Released
from sfumato.release.report.plots import Axis, Mark, Panel, colour, dots, picture, shape, words
from sfumato.structure.coded_points import AnyBlock, Placed, SetBlock
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
        *_labelled(released),
        _dots(drawn),
    ]
    return section("The clusters", *parts, anchor="clusters")


def _labelled(released: Released) -> list[Html]:
    """Where labels go along: how many records of each nearest centre show each of them."""
    told, space = released.facts.labels.get("labels"), released.space
    if told is None or space is None:
        return []
    shown, nearest = released.masked.shown(told["column"]), space.nearest(released.masked)
    size = len(space.centres)
    counts = np.bincount(shown.keys * size + nearest, minlength=(len(shown.labels) + 1) * size).reshape(-1, size)
    rows: list[tuple[Cell, ...]] = [
        (text, *some) for text, some in zip(shown.labels, counts.tolist(), strict=False) if any(some)
    ]
    headings = ["label", *(f"nearest to centre {at}" for at in range(size))]
    says = "The labels that go along, beside the clusters that recipients find: records that show a label."
    return [paragraph(says), table(headings, sorted(rows, key=str), kind="cards")]


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
    width = int(again.max()) + 1
    shared = np.bincount(raw.astype(np.int64) * width + again, minlength=(int(raw.max()) + 1) * width)
    whole = shared.reshape(-1, width)
    names = one_to_one(whole.T)
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
    marks, places, found = [], [], np.unique(bubbles.clusters).tolist()
    for cluster in found:
        mine = bubbles.clusters == cluster
        for size in np.unique(sizes[mine]).tolist():
            chosen = bubbles.points[mine & (sizes == size)]
            marks.append(dots(chosen, size, colour(cluster), shape=shape(cluster)))
        places.append(bubbles.points[mine][np.argmax(bubbles.counts[mine])])  # the middle may be nobody's, or another's
    return [*marks, words(places, [str(cluster) for cluster in found], kind="mark")]


def _cluster_table(counts: NDArray[Any]) -> Html:
    return table(["cluster", "records"], [(f"{at}", int(count)) for at, count in enumerate(counts)])


def _dots(bubbles: Bubbles, title: str = "") -> Html:
    rows = [
        (f"{cluster}", f"{x:.3f}", f"{y:.3f}", int(count))
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
    headings = ["raw cluster", "records", *(f"found as {at}" for at in found)]
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


Points = NDArray[np.float64]
AT_ONCE = 1 << 13
"""Values or records that become vectors at once."""
MOST_PAIRS = 1_000_000
"""Pairs of values that are always counted; of more, only where records are more still."""
GRID = (44, 30)
"""Cells across and up; the records of a cell and a cluster make one bubble."""


@dataclass(frozen=True, eq=False)
class Plane:
    """A projection: `axes` (dims, 2) around `middle` (dims,)."""

    middle: Points
    axes: Points

    @classmethod
    def of(cls, placed: Placed, weights: Ints | None = None) -> Plane:
        """The two main directions of all records; the order of rows does not matter. `weights`: how many each is."""
        moments = _Moments.of(placed, weights)
        axes = np.linalg.eigh(moments.spread)[1][:, ::-1][:, :2]
        if axes.shape[1] < 2:
            axes = np.hstack([axes, np.zeros((len(axes), 2 - axes.shape[1]))])
        return cls(moments.middle, axes * _signs(axes))

    def points(self, placed: Placed) -> Points:
        """(rows, 2): each value's part is computed once; coordinates beyond the shared space do not count."""
        found = np.tile(-self.middle @ self.axes, (placed.rows, 1))
        at = 0
        for block in placed.blocks:
            axes = self.axes[at : at + block.dims]
            found += np.concatenate([block.at(some) @ axes for some in _some(block.values)])[block.codes]
            at += block.dims
        return found


@dataclass(frozen=True, eq=False)
class _Moments:
    """The mean of placed records and how their coordinates vary together."""

    middle: Points
    spread: Points

    @classmethod
    def of(cls, placed: Placed, weights: Ints | None) -> _Moments:
        """From counts of pairs of values: no vector is made of a record."""
        blocks, rows = placed.blocks, max(placed.rows if weights is None else int(weights.sum()), 1)
        means = [_sum(block, weights) / rows for block in blocks]
        squares = [[_together(a, b, weights) / rows for b in blocks[at:]] for at, a in enumerate(blocks)]
        whole = [[squares[min(a, b)][abs(a - b)] for b in range(len(blocks))] for a in range(len(blocks))]
        turned = [[part.T if b < a else part for b, part in enumerate(line)] for a, line in enumerate(whole)]
        middle = np.concatenate(means).astype(np.float64)
        return cls(middle, np.block(turned) - np.outer(middle, middle))


def _some(count: int) -> Iterator[Ints]:
    """Numbers from 0 on, some at a time: of sets there may be as many as records."""
    return (np.arange(at, min(at + AT_ONCE, count)) for at in range(0, max(count, 1), AT_ONCE))


def _sum(block: AnyBlock, weights: Ints | None) -> Points:
    """(dims,): the coordinates of all records, added up."""
    counts = np.bincount(block.codes, weights, block.values)
    found = np.zeros(block.dims)
    for some in _some(block.values):
        found += counts[some] @ block.at(some)
    return found


def _together(first: AnyBlock, second: AnyBlock, weights: Ints | None) -> Points:
    """(dims, dims): products of two attributes' coordinates, summed over all records."""
    many = first.values * second.values > max(MOST_PAIRS, 4 * len(first.codes))
    if isinstance(first, SetBlock) or isinstance(second, SetBlock) or many:
        found = np.zeros((first.dims, second.dims))
        for rows in _some(len(first.codes)):
            left = first.at(first.codes[rows]).astype(np.float64)
            left = left if weights is None else left * weights[rows][:, None]
            found += left.T @ second.at(second.codes[rows])
        return found
    width = second.values
    pairs = np.bincount(first.codes.astype(np.int64) * width + second.codes, weights, first.values * width)
    return first.positions.astype(np.float64).T @ (pairs.reshape(-1, width) @ second.positions.astype(np.float64))


def _signs(axes: Points) -> Points:
    """The largest part of each direction is positive, so that the same table gives the same picture."""
    largest = np.abs(axes).argmax(axis=0)
    return np.where(axes[largest, np.arange(axes.shape[1])] < 0, -1.0, 1.0)


@dataclass(frozen=True, eq=False)
class Frame:
    """The part of the plane that is drawn."""

    low: Points
    high: Points

    @classmethod
    def around(cls, *clouds: Points) -> Frame:
        """Everything, in both clouds."""
        every = np.vstack(clouds)
        low, high = every.min(axis=0), every.max(axis=0)
        margin = np.where(high > low, (high - low) * 0.04, 0.5)
        return cls(low - margin, high + margin)


@dataclass(frozen=True, eq=False)
class Bubbles:
    """Where records stand: the middle of each bubble, its cluster, and how many records it stands for."""

    points: Points
    clusters: Ints
    counts: Ints

    @classmethod
    def of(cls, points: Points, clusters: NDArray[Any], frame: Frame, weights: Ints | None = None) -> Bubbles:
        """Records of one cluster in one cell of the grid together, at their mean. `weights`: how many each is."""
        grid = np.array(GRID)
        cells = np.clip((points - frame.low) / (frame.high - frame.low) * grid, 0, grid - 1).astype(np.int64)
        keys = (clusters.astype(np.int64) * GRID[0] + cells[:, 0]) * GRID[1] + cells[:, 1]
        found, at = np.unique(keys, return_inverse=True)
        many = np.ones(len(points), dtype=np.int64) if weights is None else weights
        counts = np.bincount(at, many)
        means = np.stack([np.bincount(at, points[:, axis] * many) / counts for axis in (0, 1)], axis=1)
        return cls(means, found // (GRID[0] * GRID[1]), counts.astype(np.int64))
