"""Numbers: the intervals that are shown, on a histogram."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.maskers.recoding.intervals import interval_labels
from sfumato.maskers.recoding.rules import Discretize
from sfumato.release.report.markup import Html, folded, join
from sfumato.release.report.material import Frequency
from sfumato.release.report.plots import BLUE, FAINT, RED, label, picture

Numbers = NDArray[np.float64]
SIZE = (8.6, 2.3)
BINS = 40


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts between edges; one edge more than counts."""

    edges: Numbers
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, values: Numbers, low: float, high: float) -> Histogram:
        """Whole numbers one by one where they are few, else equal parts of the range."""
        whole = bool((values == np.round(values)).all()) and high - low < 2 * BINS
        edges = np.arange(low, high + 2) if whole else np.linspace(low, high, BINS + 1)
        counts, found = np.histogram(values, bins=edges)
        return cls(found, counts)

    def rows(self) -> list[tuple[str, str, int]]:
        """From, to and how many."""
        return [
            (f"{a:.6g}", f"{b:.6g}", int(n))
            for a, b, n in zip(self.edges[:-1], self.edges[1:], self.counts, strict=True)
        ]


def intervals_picture(
    rule: Discretize, found: Sequence[Frequency], raw: Numbers | None, *, name: str, mark: str
) -> Html | None:
    """The shown intervals as wide as they are, their area the records in them; for the holder over the raw numbers.

    None for dates and for ranges that nobody declared: the ends of those are not told.
    """
    if rule.range is None or rule.calendar is not None or not rule.breaks:
        return None
    ends = np.array([float(rule.range[0]), *rule.breaks, float(rule.range[1])])
    counts = {one.label: one.count for one in found}
    heights = np.array([counts.get(label, 0) for label in interval_labels(rule.range, rule.breaks, None)]) / np.maximum(
        np.diff(ends), 1e-12
    )
    behind = None if raw is None or not len(raw) else Histogram.of(raw, ends[0], ends[-1])

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        axes.bar(ends[:-1], heights, np.diff(ends), align="edge", color=BLUE, alpha=0.55, linewidth=0)
        if behind is not None:
            axes.stairs(behind.counts / np.diff(behind.edges), behind.edges, color=RED, linewidth=1.1)
        axes.vlines(rule.breaks, 0, 1, transform=axes.get_xaxis_transform(), color=FAINT, linewidth=0.6, linestyle=":")
        _label(axes, name, "records per unit")

    says = f"{name}: blue, what is shown, the records of an interval spread over its width; dotted, the breaks"
    says += "." if behind is None else "; the red line, the raw numbers."
    drawn = picture(draw, size=SIZE, says=says, name=mark, margins=True)
    return drawn if behind is None else join([drawn, _table("The raw numbers", behind)])


def numbers_picture(shown: Numbers, raw: Numbers | None, *, name: str, mark: str) -> Html:
    """Masked numbers as a histogram; for the holder with the raw ones."""
    ends = [*shown[[0, -1]], *([] if raw is None or not len(raw) else [raw.min(), raw.max()])] if len(shown) else [0, 1]
    low, high = float(min(ends)), float(max(ends))
    high = high if high > low else low + 1.0
    edges = np.linspace(low, high, BINS + 1)
    front = Histogram(edges, np.histogram(shown, bins=edges)[0])
    behind = None if raw is None else Histogram(edges, np.histogram(raw, bins=edges)[0])

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        axes.stairs(front.counts, edges, fill=True, color=BLUE, alpha=0.55)
        if behind is not None:
            axes.stairs(behind.counts, edges, color=RED, linewidth=1.1)
        _label(axes, name, "records")

    says = f"{name}: blue, what is shown" + ("." if behind is None else "; the red line, the raw numbers.")
    drawn = [picture(draw, size=SIZE, says=says, name=mark, margins=True), _table("What is shown, in numbers", front)]
    return join([*drawn, *([] if behind is None else [_table("The raw numbers", behind)])])


def _label(axes: Any, name: str, counted: str) -> None:
    axes.set_xlabel(label(name))
    axes.set_ylabel(counted)
    axes.margins(x=0.01)


def _table(summary: str, histogram: Histogram) -> Html:
    return folded(summary, ["from", "to", "records"], histogram.rows())
