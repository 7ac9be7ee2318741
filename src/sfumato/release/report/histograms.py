"""Numbers: the intervals that are shown, on a histogram."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.maskers.recoding.intervals import interval_labels
from sfumato.maskers.recoding.rules import Discretize
from sfumato.release.report.axes import Axis
from sfumato.release.report.markup import Html, folded, join
from sfumato.release.report.material import Frequency
from sfumato.release.report.plots import BLUE, FAINT, RED, Panel, bars, label, picture, stairs, uprights

Numbers = NDArray[np.float64]
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


def intervals_picture(rule: Discretize, found: Sequence[Frequency], raw: Numbers | None, *, name: str) -> Html | None:
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
    marks, high = [bars(ends, heights, BLUE), uprights(rule.breaks, FAINT, dotted=True)], heights.max(initial=0.0)
    if behind is not None:
        raw_heights = behind.counts / np.diff(behind.edges)
        marks, high = [*marks, stairs(behind.edges, raw_heights, RED)], max(high, raw_heights.max())
    across = _across(ends if behind is None else np.append(ends, behind.edges[-1]), name)
    panel = Panel(across, _up(high, "records per unit"), marks)
    says = f"{name}: blue, what is shown, the records of an interval spread over its width; dotted, the breaks"
    says += "." if behind is None else "; the red line, the raw numbers."
    drawn = picture([panel], says=says)
    return drawn if behind is None else join([drawn, _table("The raw numbers", behind)])


def numbers_picture(shown: Numbers, raw: Numbers | None, *, name: str) -> Html:
    """Masked numbers as a histogram; for the holder with the raw ones."""
    ends = [*shown[[0, -1]], *([] if raw is None or not len(raw) else [raw.min(), raw.max()])] if len(shown) else [0, 1]
    low, high = float(min(ends)), float(max(ends))
    high = high if high > low else low + 1.0
    edges = np.linspace(low, high, BINS + 1)
    front = Histogram(edges, np.histogram(shown, bins=edges)[0])
    behind = None if raw is None else Histogram(edges, np.histogram(raw, bins=edges)[0])
    marks = [bars(edges, front.counts, BLUE), *([] if behind is None else [stairs(edges, behind.counts, RED)])]
    highest = max(int(one.counts.max()) for one in (front, behind) if one is not None)
    panel = Panel(_across(edges, name), _up(highest, "records"), marks)
    says = f"{name}: blue, what is shown" + ("." if behind is None else "; the red line, the raw numbers.")
    drawn = [picture([panel], says=says), _table("What is shown, in numbers", front)]
    return join([*drawn, *([] if behind is None else [_table("The raw numbers", behind)])])


def _across(edges: Numbers, name: str) -> Axis:
    margin = 0.01 * float(edges[-1] - edges[0])
    return Axis(float(edges[0]) - margin, float(edges[-1]) + margin, label(name))


def _up(highest: float, counted: str) -> Axis:
    return Axis(0.0, 1.05 * float(highest) or 1.0, counted)


def _table(summary: str, histogram: Histogram) -> Html:
    return folded(summary, ["from", "to", "records"], histogram.rows())
