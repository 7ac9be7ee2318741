"""Names in the user's labels for what the search knows by number, and the recoding at its end."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.counting import Refinement
from sfumato.data.cut import MISSING, Axis, NumberAxis, TreeAxis, ValueAxis
from sfumato.maskers.topdown.candidates import Grower, NumberGrower, TreeGrower, ValueGrower
from sfumato.maskers.topdown.intervals import interval_labels
from sfumato.maskers.topdown.recoding import SUPPRESSED, Discretize, Generalize, Missing, Rule, Suppress


@dataclass(frozen=True)
class Names:
    """A refinement in labels."""

    value: str
    children: tuple[str, ...]


def names(axis: Axis, step: Refinement) -> Names:
    """What is refined, and into what."""
    if isinstance(axis, TreeAxis):
        labels = (*axis.taxonomy.labels, MISSING)
        return Names(labels[step.value], tuple(labels[child] for child in step.children))
    if isinstance(axis, ValueAxis):
        return Names(SUPPRESSED, ((*axis.labels, MISSING)[step.parts[0][0]], SUPPRESSED))
    if step.parts[-1][1] > len(axis.numbers):
        return Names(SUPPRESSED, (_interval(axis, *step.parts[0]), MISSING))
    whole = _interval(axis, step.parts[0][0], step.parts[-1][1])
    return Names(whole, tuple(_interval(axis, *part) for part in step.parts))


def _interval(axis: NumberAxis, first: int, end: int) -> str:
    breaks = [axis.end(at) for at in (first, end) if 0 < at < len(axis.numbers)]
    labels = interval_labels(axis.attribute.range, breaks, axis.attribute.calendar)
    return labels[0 if first == 0 else 1]


def rule(axis: Axis, grower: Grower) -> Rule:
    """What is shown of an attribute at the end of the search."""
    if isinstance(axis, TreeAxis) and isinstance(grower, TreeGrower):
        labels = (*axis.taxonomy.labels, None)
        return Generalize(axis.taxonomy, tuple(labels[node] for node in sorted(grower.cut)))
    if isinstance(axis, ValueAxis) and isinstance(grower, ValueGrower):
        open_labels = (*axis.labels, *([None] if axis.missing else []))
        disclosed = tuple(label for at, label in enumerate(open_labels) if at not in grower.suppressed)
        return Suppress(disclosed, complete=not grower.suppressed)
    if isinstance(axis, NumberAxis) and isinstance(grower, NumberGrower):
        return _discretize(axis, grower)
    raise TypeError(f"{type(axis).__name__} does not go with {type(grower).__name__}")


def _discretize(axis: NumberAxis, grower: NumberGrower) -> Discretize:
    breaks = tuple(axis.end(at) for at in sorted(grower.breaks))
    missing: Missing = "none" if not axis.missing else "apart" if grower.missing_apart else "together"
    return Discretize(axis.attribute.range, breaks, missing, axis.attribute.calendar)
