"""Each masked attribute: its taxonomy with the cut on it, its intervals on a histogram, or how often values occur."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.axis import numbers_of
from sfumato.data.schema import Number
from sfumato.data.table import Column
from sfumato.data.taxonomy.bare_form import from_form
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.events import watched
from sfumato.maskers.recoding.intervals import interval_labels
from sfumato.maskers.recoding.rules import Discretize, Generalize, Rule
from sfumato.privacy.verify.texts.readme import explained
from sfumato.release.report.markup import Html, bar, folded, join, paragraph, section, some, table, tag, text
from sfumato.release.report.material import (
    MISSING,
    Frequency,
    Held,
    Released,
    different,
    frequencies,
    is_numeric,
    numbers,
)
from sfumato.release.report.plots import BLUE, FAINT, RED, Axis, Panel, bars, label, picture, stairs, uprights
from sfumato.structure.masked_positions import interval_ends

if TYPE_CHECKING:
    from sfumato.maskers.topdown.explanation import Story

MOST = 15
"""Values of a column that are listed; of more, the rest is folded."""


def attributes(released: Released, held: Held | None, stories: Mapping[str, Story]) -> Html:
    """One part for each masked attribute; with what the holder has, its raw side and why it looks like that."""
    quiet = [name for name in released.names if different(released.masked.shown(name)) <= 1]
    parts = {name: _attribute(released, held, stories, name) for name in watched(released.names)}
    folded_ = tag("summary", text(f"{some(len(quiet), 'attribute')} with one value for everybody: {', '.join(quiet)}"))
    silent = [tag("details", folded_, *(parts[name] for name in quiet))] if quiet else []
    told = [part for name, part in parts.items() if name not in quiet]
    return section("Each attribute", *told, *silent, anchor="attributes")


def _attribute(released: Released, held: Held | None, stories: Mapping[str, Story], name: str) -> Html:
    why = [_why(stories[name])] if name in stories else []
    head = [tag("h3", text(name)), paragraph(_says(released, name))]
    return join([*head, _looks(released, held, name), *why])


def _says(released: Released, name: str) -> str:
    rule = _rule(released, name)
    values = different(released.masked.shown(name))
    if rule is not None:
        return rule.sentence(values)
    return f"{some(values, 'different value')}; each is {shown_as(released.masked.treated[name])}."


def shown_as(word: str) -> str:
    """What a column shows, in words.

    >>> shown_as("suppress")
    'shown, or * where it was suppressed'
    """
    return explained(word, None, dotted=True).replace("`", "")


def _rule(released: Released, name: str) -> Rule | None:
    return released.mask.rules.get(name)


def _looks(released: Released, held: Held | None, name: str) -> Html:
    rule, column = _rule(released, name), released.masked.shown(name)
    if rule is not None and rule.kind in DRAWN:
        return DRAWN[rule.kind](rule, frequencies(column), held, name=name)
    if is_numeric(column):
        return numbers_picture(numbers(column), _raw_numbers(held, name), name=name)
    attribute = released.facts.schema[name]
    if isinstance(attribute, Number) and attribute.calendar is None:
        found = frequencies(column)
        drawn = overlaps_picture(found, _raw_numbers(held, name), name=name)
        if drawn is not None:
            return join([drawn, released.once(f"values of {name}", lambda: _listed(found, folded_only=True))])
    return released.once(f"values of {name}", lambda: _listed(frequencies(column)))


def _cut(rule: Generalize, found: Sequence[Frequency], held: Held | None, *, name: str) -> Html:
    """The tree with the cut on it."""
    return join([tree(rule, found, below=held is not None), _listed(found, folded_only=True)])


def _intervals(rule: Discretize, found: Sequence[Frequency], held: Held | None, *, name: str) -> Html:
    """The intervals on a histogram, where their ends are told."""
    drawn = intervals_picture(rule, found, _raw_numbers(held, name), name=name)
    nested = interval_tree(rule, found)
    if drawn is None and nested is None:
        return _listed(found)
    return join([one for one in (drawn, nested, _listed(found, folded_only=True)) if one is not None])


DRAWN: Mapping[str, Callable[..., Html]] = {Generalize.kind: _cut, Discretize.kind: _intervals}
"""The picture of each kind of rule; a rule without one has its values listed."""


def _raw_numbers(held: Held | None, name: str) -> NDArray[np.float64] | None:
    if held is None:
        return None
    attribute, column = held.table.schema[name], held.table.columns[name]
    if not isinstance(attribute, Number) or not isinstance(column, Column):
        return None
    table = np.append(numbers_of(column.values, attribute).astype(np.float64), np.nan)
    found: NDArray[np.float64] = table[column.codes]
    return found[np.isfinite(found)]


def _listed(found: Sequence[Frequency], *, folded_only: bool = False) -> Html:
    """How many rows show each value."""
    total = sum(one.count for one in found) or 1
    widest = max((one.count for one in found), default=1)
    rows: list[Any] = [(one.label, one.count, f"{one.count / total:.1%}", bar(one.count / widest)) for one in found]
    headings = ["value", "records", "share", ""]
    if folded_only:
        return folded(f"{some(len(rows), 'value')} in numbers", headings, rows, kind="listed")
    more = rows[MOST : 20 * MOST]
    rest = [folded(f"{len(rows) - MOST:,} more values", headings, more, kind="listed")] if more else []
    return join([table(headings, rows[:MOST], kind="listed"), *rest])


def _why(story: Story) -> Html:
    """Why it is not shown finer, and what k would do it. For the holder: groups below k."""
    lines = [story.next, *([story.remedy] if story.remedy else [])]
    more = [
        (o.blocked.value, ", ".join(o.blocked.children[:8]), ", ".join(o.on), o.short) for o in story.obstacles[1:40]
    ]
    headings = ["shown", "would become", "quasi-identifier", "where a group would have"]
    also = [folded(f"{some(len(more), 'other refinement')} blocked as well", headings, more)] if more else []
    return tag("div", *(paragraph(line) for line in lines), *also, class_="why" if story.obstacles else "why none")


Numbers = NDArray[np.float64]
BINS = 40


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts between edges; one edge more than counts."""

    edges: Numbers
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, values: Numbers, low: float, high: float) -> Histogram:
        """Equal parts of the range, of whole numbers as `edges_for` says."""
        counts, found = np.histogram(values, bins=edges_for(low, high, values))
        return cls(found, counts)

    def rows(self) -> list[tuple[str, str, int]]:
        """From, to and how many."""
        return [
            (f"{a:.6g}", f"{b:.6g}", int(n))
            for a, b, n in zip(self.edges[:-1], self.edges[1:], self.counts, strict=True)
        ]


def edges_for(low: float, high: float, values: Numbers | None) -> Numbers:
    """Where the bars of a picture begin, and the last one ends: of whole numbers one by one where they are few, else so
    many in each as in any other; of all others equal parts of the range.

    >>> edges_for(0, 3, np.array([0.0, 2.0])).tolist(), edges_for(0, 90, np.array([7.0]))[:3].tolist()
    ([0.0, 1.0, 2.0, 3.0, 4.0], [0.0, 3.0, 6.0])
    """
    if values is None or not len(values) or not (values == np.round(values)).all():
        return np.linspace(low, high if high > low else low + 1.0, BINS + 1)
    first, numbers_ = np.floor(low), np.floor(high) - np.floor(low) + 1
    step = 1.0 if numbers_ <= 2 * BINS else np.ceil(numbers_ / BINS)
    edges: Numbers = first + step * np.arange(np.ceil(numbers_ / step) + 1)
    return edges


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


def overlaps_picture(found: Sequence[Frequency], raw: Numbers | None, *, name: str) -> Html | None:
    """Intervals that may overlap: the records of each spread over its width, all added up; for the holder with the raw
    numbers. None where no ends are told."""
    read = [(interval_ends(one.label), one.count) for one in found]
    told = [(one.low, one.high, count) for one, count in read if one and one.low is not None and one.high is not None]
    if not told:
        return None
    ends, counts = np.array([one[:2] for one in told], dtype=np.float64), np.array([count for *_, count in told])
    every = np.concatenate([ends.ravel(), raw if raw is not None else np.zeros(0)])
    low, high = float(every.min()), float(every.max())
    edges = edges_for(low, high, raw)
    first, width = ends[:, :1], np.maximum(ends[:, 1:] - ends[:, :1], (edges[1] - edges[0]) * 1e-6)
    first = np.minimum(first, edges[-1] - width)  # the greatest number, shown alone, stands within the last bar
    inside = np.clip(np.minimum(first + width, edges[1:]) - np.maximum(first, edges[:-1]), 0.0, None) / width
    spread = np.round(counts @ inside).astype(np.int64)
    behind = None if raw is None else Histogram(edges, np.histogram(raw, bins=edges)[0])
    marks = [bars(edges, spread, BLUE), *([] if behind is None else [stairs(edges, behind.counts, RED)])]
    highest = max(int(spread.max()), 0 if behind is None else int(behind.counts.max()))
    untold = "" if len(told) == len(found) else ", where both ends are told"
    says = f"{name}: blue, what is shown, the records of each interval spread over its width{untold}"
    says += "." if behind is None else "; the red line, the raw numbers."
    drawn = picture([Panel(_across(edges, name), _up(highest, "records"), marks)], says=says)
    tables = [_table("What is shown, in numbers", Histogram(edges, spread))]
    return join([drawn, *tables, *([] if behind is None else [_table("The raw numbers", behind)])])


def numbers_picture(shown: Numbers, raw: Numbers | None, *, name: str) -> Html:
    """Masked numbers as a histogram; for the holder with the raw ones."""
    ends = [*shown[[0, -1]], *([] if raw is None or not len(raw) else [raw.min(), raw.max()])] if len(shown) else [0, 1]
    low, high = float(min(ends)), float(max(ends))
    edges = edges_for(low, high, shown if raw is None else raw)
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


NODES = 250
"""Nodes that are drawn; of larger cuts the list of values tells the rest."""
FEW = 6


def tree(rule: Generalize, found: Sequence[Frequency], *, below: bool) -> Html:
    """The tree down to the cut, with how many records show each value; `below` names what is hidden under it."""
    counts = {one.label: one.count for one in found}
    left = [NODES]
    root = _node(rule.taxonomy, rule.taxonomy.root, frozenset(rule.cut), counts, below=below, left=left)
    lines = [root]
    if None in rule.cut and MISSING in counts:
        lines.append(tag("li", _shown(MISSING, counts[MISSING])))
    cropped = [paragraph(f"Only the first {NODES} nodes are drawn.", "note")] if left[0] < 0 else []
    return join([tag("ul", *lines, class_="tree"), *cropped])


def interval_tree(rule: Discretize, found: Sequence[Frequency]) -> Html | None:
    """The shown intervals below the wider ones that they were cut from (000 Figure 5, 002 Figure 7), where told."""
    form = rule.tree_form()
    if form is None or not rule.breaks:
        return None
    nested = from_form(form)
    cut = Generalize(nested, (*nested.leaves, *([None] if rule.missing == "apart" else [])))
    return tree(cut, found, below=False)


def _node(
    of: Taxonomy, label: str, cut: frozenset[str | None], counts: Mapping[str, int], *, below: bool, left: list[int]
) -> Html:
    left[0] -= 1
    if left[0] < 0:
        return text("")
    if label in cut:
        hidden = [] if of.is_leaf(label) else [_hidden(of.leaves_of(label), below)]
        return tag("li", _shown(label, counts.get(label, 0)), *hidden)
    children = [_node(of, child, cut, counts, below=below, left=left) for child in of.children(label)]
    # A record can still show a label above the cut: lifted ones show the root.
    lifted = [_count(counts[label])] if label in counts else []
    return tag("li", tag("span", text(label), class_="above"), *lifted, tag("ul", *children))


def _shown(label: str, count: int) -> Html:
    return join([tag("span", text(label), class_="shown"), _count(count)])


def _count(count: int) -> Html:
    return tag("span", text(f"{count:,}"), class_="count")


def _hidden(leaves: Sequence[str], named: bool) -> Html:
    more = f" and {len(leaves) - FEW} more" if len(leaves) > FEW else ""
    words = f" ({', '.join(leaves[:FEW])}{more})" if named else f" ({len(leaves)} leaves below)"
    return tag("span", text(words), class_="count")
