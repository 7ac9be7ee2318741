"""Plots: drawings as SVG inside the page, in colours that everybody can tell apart.

Ink takes the colour of the page's text, so that one picture is right on a light and on a dark screen and on paper.
Panels stand side by side where there is room, and below each other on a telephone; titles and legends are text of the
page, so that they are never cut off. A panel is drawn by marks, each a function of the rulers along its axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, log10

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Floats
from sfumato.errors import visible
from sfumato.events import checkpoint
from sfumato.release.report.markup import Html, join, tag, text

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
"""The palette of Okabe and Ito, without black."""
BLUE, RED = COLOURS[0], COLOURS[5]
INK, FAINT = "currentColor", "var(--faint)"
LONGEST_LABEL = 40
LETTER, HIGH, LINE = 7.0, 15.0, 34.0
FIRST_YEAR, LAST_YEAR = 1500, 2200
"""An axis whose numbers all lie between these is one of years."""
"""About how wide and high a letter is, and how far apart numbers stand beside an axis; nothing is measured."""
ABOVE, BELOW, RIGHT = 20.0, 42.0, 14.0
Mark = Callable[["Ruler", "Ruler"], Html]
SHAPES = {
    "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    "up": ((0, -1.2), (1.2, 1), (-1.2, 1)),
    "down": ((0, 1.2), (1.2, -1), (-1.2, -1)),
}
"""Marks beside the round one, by their corners."""


@dataclass(frozen=True)
class Panel:
    """One drawing: its axes, what stands between them, and its title."""

    x: Axis
    y: Axis
    marks: Sequence[Mark]
    title: str = ""
    width: float = 480.0
    height: float = 210.0

    def drawn(self, says: str) -> Html:
        """With its axes. `says`: for whoever cannot see it."""
        bottom = self.height - (BELOW if self.x.shown else 2.0)
        y = Ruler(self.y, bottom, ABOVE if self.y.shown and self.y.says else 6.0)
        beside = written(_high(y)) if self.y.shown else []
        left = 14 + LETTER * max(map(len, beside)) if beside else 2.0
        x = Ruler(self.x, left, self.width - (RIGHT if self.x.shown else 2.0))
        x = replace(x, end=x.end - _beyond(x, self.width)) if self.x.shown else x
        inside = [*(mark(x, y) for mark in self.marks), *_below(x, bottom), *_beside(y, left)]
        drawn = tag("svg", *inside, viewBox=f"0 0 {self.width:g} {self.height:g}", role="img", aria_label=says)
        title = [tag("p", text(self.title))] if self.title else []
        return tag("div", *title, drawn, class_="panel" if self.x.shown else "panel large")


def picture(panels: Sequence[Panel], *, says: str, legend: Iterable[tuple[str, str]] = ()) -> Html:
    """Panels with a caption. `legend`: names and their colours."""
    checkpoint()
    keys = [tag("span", text(name), style=f"--c:{colour}") for name, colour in legend]
    above = [tag("p", *keys, class_="legend")] if keys else []
    kind = "panels many" if len(panels) > 2 else "panels"
    drawn = tag("div", *(one.drawn(f"{one.title}: {says}" if one.title else says) for one in panels), class_=kind)
    return tag("figure", *above, drawn, tag("figcaption", text(says)))


def bars(edges: ArrayLike, heights: ArrayLike, colour: str, *, edge: bool = False) -> Mark:
    """Bars from edge to edge; `edge`: with a thin line around them."""

    def draw(x: Ruler, y: Ruler) -> Html:
        ends, tops, floor = x(edges), y(heights), float(y(y.axis.low))
        there = zip(ends[:-1], ends[1:], tops, strict=True)
        shapes = (f"M{a:.1f} {floor:.1f}V{top:.1f}H{b:.1f}V{floor:.1f}z" for a, b, top in there if top < floor)
        return _path(shapes, "bars edged" if edge else "bars", colour)

    return draw


def stairs(edges: ArrayLike, heights: ArrayLike, colour: str) -> Mark:
    """The outline of bars."""

    def draw(x: Ruler, y: Ruler) -> Html:
        ends, tops, floor = x(edges), y(heights), float(y(y.axis.low))
        along = "".join(f"V{top:.1f}H{end:.1f}" for end, top in zip(ends[1:], tops, strict=True))
        return _path([f"M{ends[0]:.1f} {floor:.1f}{along}V{floor:.1f}"], "line", colour)

    return draw


def steps(across: ArrayLike, up: ArrayLike, colour: str) -> Mark:
    """From point to point: across first, then up or down."""

    def draw(x: Ruler, y: Ruler) -> Html:
        at, height = x(across), y(up)
        along = "".join(f"H{a:.1f}V{b:.1f}" for a, b in zip(at[1:], height[1:], strict=True))
        return _path([f"M{at[0]:.1f} {height[0]:.1f}{along}"], "line", colour)

    return draw


def uprights(places: ArrayLike, colour: str, *, dotted: bool = False) -> Mark:
    """Lines from the lower to the upper end."""

    def draw(x: Ruler, y: Ruler) -> Html:
        lines = (f"M{at:.1f} {y.start:.1f}V{y.end:.1f}" for at in np.atleast_1d(x(places)))
        return _path(lines, "line dotted" if dotted else "line", colour)

    return draw


def levels(places: ArrayLike, colour: str) -> Mark:
    """Dotted lines from the left to the right."""

    def draw(x: Ruler, y: Ruler) -> Html:
        lines = (f"M{x.start:.1f} {at:.1f}H{x.end:.1f}" for at in np.atleast_1d(y(places)))
        return _path(lines, "line dotted", colour)

    return draw


def dots(points: Floats, size: float, colour: str, *, shape: str = "round") -> Mark:
    """Points as dots of one size, `points` (points, 2): a round one is a line of no length with a round end."""

    def draw(x: Ruler, y: Ruler) -> Html:
        places = np.stack([x(points[:, 0]), y(points[:, 1])], axis=1)
        if shape == "round":
            ends = (f"M{a:.1f} {b:.1f}h0" for a, b in places)
            return _path(ends, "dots", colour, stroke_width=f"{size:.1f}")
        corners = places[:, None, :] + np.array(SHAPES[shape]) * size / 2.3
        outlines = ("M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in one) + "z" for one in corners)
        return _path(outlines, "dots shaped", colour)

    return draw


def ring(point: tuple[float, float], size: float) -> Mark:
    """A circle around a point."""

    def draw(x: Ruler, y: Ruler) -> Html:
        middle = {"cx": f"{float(x(point[0])):.1f}", "cy": f"{float(y(point[1])):.1f}"}
        return tag("circle", **middle, r=f"{size / 2:.1f}", class_="line", style=f"--c:{INK}")

    return draw


def words(points: ArrayLike, says: Sequence[str], *, kind: str = "", moved: tuple[float, float] = (0, 0)) -> Mark:
    """Texts at `points` (points, 2), or moved from there; kind "mark" stands out, in the middle of its point.

    Where two would stand on each other, the lower one is moved down.
    """

    def draw(x: Ruler, y: Ruler) -> Html:
        there = np.asarray(points, dtype=np.float64).reshape(-1, 2)
        across, up = x(there[:, 0]) + moved[0], y(there[:, 1]) + moved[1]
        placed: list[tuple[float, float, int]] = []
        for at in np.lexsort((across, up)).tolist():
            low = float(up[at])
            for left, top, other in placed:
                wide = LETTER * max(len(says[at]), len(says[other])) + 4
                low = top + HIGH if abs(across[at] - left) < wide and abs(low - top) < HIGH else low
            placed.append((float(across[at]), low, at))
        return join(_text(says[at], left, top, kind) for left, top, at in placed)

    return draw


def _below(x: Ruler, bottom: float) -> list[Html]:
    """The axis at the bottom, its numbers, and what they are."""
    if not x.axis.shown:
        return []
    ticks = _fitting(x)
    line = [f"M{x.start:.1f} {bottom:.1f}H{x.end:.1f}", *(f"M{at:.1f} {bottom:.1f}v4" for at in x(ticks))]
    numbers = [
        _text(word, at, bottom + 17, "middle") for word, at in zip(written(ticks), x(ticks).tolist(), strict=True)
    ]
    middle = (x.start + x.end) / 2
    return [_path(line, "axis", FAINT), *numbers, _text(x.axis.says, middle, bottom + 34, "middle")]


def _high(y: Ruler) -> list[float]:
    """As many round numbers as have room above each other."""
    return y.axis.ticks(max(2, int(abs(y.start - y.end) / LINE)))


def _fitting(x: Ruler) -> list[float]:
    """As many round numbers as have room beside each other."""
    found: list[float] = []
    for most in (9, 7, 5, 3, 2):
        found = x.axis.ticks(most)
        widths = np.array([LETTER * len(word) for word in written(found)])
        if (np.diff(x(found)) > (widths[1:] + widths[:-1]) / 2 + LETTER).all():
            break
    return found


def _beyond(x: Ruler, width: float) -> float:
    """How far the last number below an axis would reach beyond the drawing."""
    ticks = _fitting(x)
    return max(0.0, float(x(ticks[-1])) + LETTER * len(written(ticks)[-1]) / 2 - width) if ticks else 0.0


def _beside(y: Ruler, left: float) -> list[Html]:
    """The axis to the left, its numbers, and above it what they are."""
    if not y.axis.shown:
        return []
    ticks = _high(y)
    line = [f"M{left:.1f} {y.start:.1f}V{y.end:.1f}", *(f"M{left:.1f} {at:.1f}h-4" for at in y(ticks))]
    numbers = [_text(word, left - 7, at + 4, "end") for word, at in zip(written(ticks), y(ticks).tolist(), strict=True)]
    return [_path(line, "axis", FAINT), *numbers, _text(y.axis.says, 0, y.end - 8, "")]


def _path(parts: Iterable[str], kind: str, colour: str, **how: str) -> Html:
    return tag("path", d="".join(parts), class_=kind, style=f"--c:{colour}", **how)


def _text(says: str, across: float, up: float, kind: str) -> Html:
    named = {"class_": kind} if kind else {}
    return tag("text", text(says), x=f"{across:.1f}", y=f"{up:.1f}", **named) if says else join([])


def label(name: str) -> str:
    """A name beside a drawing: one short line.

    >>> label("a" * 99)[:5]
    'aaaaa'
    """
    return visible(name, most=LONGEST_LABEL)


def colour(at: int) -> str:
    """The colour of the cluster with this number."""
    return COLOURS[at % len(COLOURS)]


def shape(at: int) -> str:
    """The shape of the cluster with this number: after each round of colours another one."""
    return ("round", *SHAPES)[at // len(COLOURS) % (len(SHAPES) + 1)]


STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
"""What two neighbouring marks may differ by, times a power of ten."""
DECADES = 10.0
"""From this ratio of its ends on, a logarithmic axis has marks at powers of ten, and from 60 on at these alone."""


@dataclass(frozen=True)
class Axis:
    """The numbers from `low` to `high`, and what they are.

    `whole`: only whole numbers are written beside it. `shown`: no axis is drawn where it is False.
    """

    low: float
    high: float
    says: str = ""
    log: bool = False
    whole: bool = False
    shown: bool = True

    def ticks(self, most: int) -> list[float]:
        """Round numbers on it, about `most` of them.

        >>> Axis(0, 190).ticks(5), Axis(50, 121, log=True).ticks(5), Axis(1, 4000, log=True).ticks(5)
        ([0.0, 50.0, 100.0, 150.0], [60.0, 80.0, 100.0, 120.0], [1.0, 10.0, 100.0, 1000.0])
        """
        if not self.log or self.high < DECADES * self.low:
            return self._linear(most)
        factors = (1.0, 2.0, 5.0) if self.high < 60 * self.low else (1.0,)
        powers = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        found = [factor * 10.0**power for power in powers for factor in factors]
        return [one for one in found if self.low <= one <= self.high]

    def _linear(self, most: int) -> list[float]:
        width = self.high - self.low
        power = 10.0 ** floor(log10(width / most))
        steps = [factor * power for factor in STEPS]
        if self.whole:
            steps = [step for step in steps if step >= 1 and step == round(step)] or [1.0]
        step = next((step for step in steps if width / step <= most), steps[-1])
        first = ceil(self.low / step - 1e-9)
        return [at * step for at in range(first, floor(self.high / step + 1e-9) + 1)]


@dataclass(frozen=True)
class Ruler:
    """An axis laid on paper: its lowest number stands at `start`, its highest at `end`."""

    axis: Axis
    start: float
    end: float

    def __call__(self, values: ArrayLike) -> Floats:
        """Where numbers stand.

        >>> Ruler(Axis(1, 100, log=True), 0, 10)([1, 10, 100]).tolist()
        [0.0, 5.0, 10.0]
        """
        low, high, at = self.axis.low, self.axis.high, np.asarray(values, dtype=np.float64)
        if self.axis.log:
            low, high, at = log10(low), log10(high), np.log10(np.maximum(at, low))
        return self.start + (at - low) / (high - low) * (self.end - self.start)


def written(ticks: Sequence[float]) -> list[str]:
    """Numbers beside an axis, with as many digits as they need to differ.

    >>> written([0.0, 0.5, 1.0]), written([0.0, 20000.0]), written([1e9, 2e9])
    (['0', '0.5', '1'], ['0', '20,000'], ['1e+09', '2e+09'])
    >>> written([1930.0, 1940.0]), written([0.0, 2000.0])
    (['1930', '1940'], ['0', '2,000'])
    """
    if ticks and all(FIRST_YEAR <= one <= LAST_YEAR and one == round(one) for one in ticks):
        return [f"{one:.0f}" for one in ticks]  # as years are written
    largest = max(map(abs, ticks), default=0.0)
    if largest >= 1e7 or 0 < largest < 1e-3:
        return [f"{one:.6g}" for one in ticks]
    return [f"{round(one, 6):,.6f}".rstrip("0").rstrip(".") for one in ticks]
