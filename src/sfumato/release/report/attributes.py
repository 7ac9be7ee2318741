"""Each masked attribute: its taxonomy with the cut on it, its intervals on a histogram, or how often values occur."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.axis import numbers_of
from sfumato.data.schema import Number
from sfumato.data.table import Column
from sfumato.events import watched
from sfumato.maskers.recoding.rules import Discretize, Generalize, Rule
from sfumato.maskers.topdown.explanation import Story
from sfumato.release.report.histograms import intervals_picture, numbers_picture
from sfumato.release.report.markup import Html, bar, folded, join, paragraph, section, some, table, tag, text
from sfumato.release.report.material import Frequency, Held, Released, different, frequencies, is_numeric, numbers
from sfumato.release.report.trees import tree

MOST = 15
"""Values of a column that are listed; of more, the rest is folded."""


def attributes(released: Released, held: Held | None, stories: Mapping[str, Story]) -> Html:
    """One part for each masked attribute; with what the holder has, its raw side and why it looks like that."""
    parts = []
    for name in watched(released.names):
        inside = _looks(released, held, name)
        why = [_why(stories[name])] if name in stories else []
        parts += [tag("h3", text(name)), paragraph(_says(released, name)), inside, *why]
    return section("Each attribute", *parts, anchor="attributes")


def _says(released: Released, name: str) -> str:
    rule = _rule(released, name)
    values = different(released.masked.shown(name))
    if rule is not None:
        return rule.sentence(values)
    return f"{some(values, 'different value')} ({released.masked.treated[name]})."


def _rule(released: Released, name: str) -> Rule | None:
    return released.mask.rules.get(name)


def _looks(released: Released, held: Held | None, name: str) -> Html:
    rule, column = _rule(released, name), released.masked.shown(name)
    if rule is not None and rule.kind in DRAWN:
        return DRAWN[rule.kind](rule, frequencies(column), held, name=name)
    if is_numeric(column):
        return numbers_picture(numbers(column), _raw_numbers(held, name), name=name)
    return released.once(f"values of {name}", lambda: _listed(frequencies(column)))


def _cut(rule: Generalize, found: Sequence[Frequency], held: Held | None, *, name: str) -> Html:
    """The tree with the cut on it."""
    return join([tree(rule, found, below=held is not None), _listed(found, folded_only=True)])


def _intervals(rule: Discretize, found: Sequence[Frequency], held: Held | None, *, name: str) -> Html:
    """The intervals on a histogram, where their ends are told."""
    drawn = intervals_picture(rule, found, _raw_numbers(held, name), name=name)
    return _listed(found) if drawn is None else join([drawn, _listed(found, folded_only=True)])


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
