"""Rules of a recoding: what all values of one attribute become. Each tells everything that is asked of it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats, Ints, Marks
from sfumato.data import calendar
from sfumato.data.axis import MISSING, labels_of, numbers_of
from sfumato.data.masked import Masked
from sfumato.data.schema import Calendar, Number
from sfumato.data.taxonomy.bare_form import from_form, to_form
from sfumato.data.taxonomy.taxonomy import Taxonomy, pruned
from sfumato.errors import visible
from sfumato.maskers.recoding.drawing import SHOWN, drawn_tree
from sfumato.maskers.recoding.intervals import (
    Bound,
    Span,
    covers,
    exact_edges,
    interval_label,
    interval_labels,
    nested_form,
    outside,
    plain_number,
    spans_of,
)

SUPPRESSED = "*"
OTHER = "\0other"
"""A label that no release shows."""
Missing = Literal["none", "apart", "together"]
"""Of a number: no value was missing; missing is shown as missing; missing is hidden among all others."""


@dataclass(frozen=True, eq=False)
class Points:
    """Raw values of an attribute, enough that any two shown values with one in common have one of these in common.

    `numbers` and `labels`: for rules of either kind. `missing`: whether a label may be missing.
    """

    numbers: Floats
    labels: pa.Array[Any]
    missing: bool = True

    @classmethod
    def of(cls, rules: Sequence[Rule], domain: Sequence[str | None] | None = None) -> Points:
        """For some rules. `domain`: which labels there are, if that is known, None among them where one is missing."""
        numbers = sorted({-math.inf, *(end for rule in rules for end in rule.ends)})
        labels = sorted({label for rule in rules for label in rule.known})
        held = [*labels, OTHER, None] if domain is None else list(domain)
        named = pa.array([label for label in held if label is not None], type=pa.string())
        return cls(np.array(numbers), named, None in held)


class Rule:
    """What all values of one attribute become. What general code asks of a rule, with the usual answers.

    `kind`: in one word. `numeric`: its values are intervals of numbers. `tells_domain`: which labels there are can be
    read off it. `known`, `ends`: the labels that it names, the numbers where its intervals begin.
    """

    kind: ClassVar[str]
    numeric: ClassVar[bool] = False
    tells_domain: ClassVar[bool] = True

    @property
    def top(self) -> str:
        """What the most masked record shows."""
        raise NotImplementedError

    @property
    def shown(self) -> tuple[str | None, ...]:
        """Every value that may be shown."""
        raise NotImplementedError

    @property
    def values(self) -> tuple[str | None, ...]:
        """Every value that may be shown, be it of a record that was lifted to the top."""
        return self.shown if self.top in self.shown else (*self.shown, self.top)

    @property
    def known(self) -> frozenset[str]:
        """None: it has no labels."""
        return frozenset()

    @property
    def ends(self) -> frozenset[float]:
        """None: it has no intervals."""
        return frozenset()

    def places(self, values: pa.Array[Any]) -> Ints:
        """(values + 1,): which shown value each value becomes, missing last; -1 where it was never seen."""
        raise NotImplementedError

    def places_of(self, points: Points) -> Ints:
        """(points,): the same of points; -1 where nobody can be."""
        return self.places(points.labels)[: len(points.labels) + points.missing]

    def reach(self, points: Points) -> Marks:
        """(values, points): which points each of its `values` may stand for."""
        places = self.places_of(points)
        marks = np.zeros((len(self.values), len(places)), dtype=bool)
        inside = places >= 0
        marks[places[inside], np.flatnonzero(inside)] = True
        return marks

    def shown_in(self, masked: Masked, name: str) -> Collection[str | None]:
        """What some row of a masked table shows."""
        return masked.labels(name)

    def over(self, tree: Taxonomy | None) -> Rule | None:
        """The same over the whole tree of its attribute; None where it needs one, and this is not it."""
        return self

    def under(self, tree: Mapping[str, Any] | None) -> Rule:
        """The same with the tree of wider intervals that a release tells of, for rules that have one."""
        return self

    def released(self, shown: Collection[str | None], needed: Collection[str]) -> Rule:
        """What may be told of it beside a column that shows these; `needed`: labels that go along in any case."""
        raise NotImplementedError

    def tree_form(self) -> dict[str, Any] | None:
        """The tree that it cuts, as a release tells of it; None without one."""
        return None

    def sentence(self, values: int) -> str:
        """What it shows, in one sentence; `values`: how many different ones occur."""
        raise NotImplementedError

    def drawn(self) -> str:
        """Lines of text, indented by two: `●` marks what is shown, `○` what is above it."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """The public form."""
        raise NotImplementedError


@dataclass(frozen=True)
class Generalize(Rule):
    """A cut through a taxonomy; None stands for "missing", shown as such.

    `named`: the labels of the tree that have a name where it is released (None: all of them).

    >>> tree = Taxonomy.from_tree({"ANY": {"Low": ["a", "b"], "High": ["c", "d"]}})
    >>> print(Generalize(tree, ("Low", "c", "d")).drawn())
      ○ ANY
        ● Low  (a, b)
        ○ High
          ● c
          ● d
    """

    kind: ClassVar[str] = "generalize"

    taxonomy: Taxonomy
    cut: tuple[str | None, ...]
    named: frozenset[str] | None = field(default=None, compare=False, repr=False)

    @property
    def top(self) -> str:
        """What the most masked record shows."""
        return self.taxonomy.root

    @property
    def shown(self) -> tuple[str | None, ...]:
        """Every value that may be shown."""
        return self.cut

    def places(self, values: pa.Array[Any]) -> Ints:
        """(values + 1,): which shown value each value becomes, missing last; -1 where it was never seen."""
        at = {label: place for place, label in enumerate(self.cut)}
        whole = at.get(self.taxonomy.root, -1)
        under = {leaf: at[label] for label in self.cut if label for leaf in self.taxonomy.leaves_of(label)}
        return np.array([*(under.get(v, -1) for v in labels_of(values)), at.get(None, whole)], dtype=np.int64)

    def to_json(self) -> dict[str, Any]:
        """The public form; trees are kept in files of their own."""
        return {"kind": self.kind, "cut": list(self.cut)}

    @property
    def known(self) -> frozenset[str]:
        """The leaves of the tree."""
        return frozenset(self.taxonomy.leaves)

    def over(self, tree: Taxonomy | None) -> Generalize | None:
        """The cut over that tree, if its labels are there: a release tells of the tree what its rows show."""
        if tree is None or any(label is not None and label not in tree for label in self.cut):
            return None
        return replace(self, taxonomy=tree)

    def released(self, shown: Collection[str | None], needed: Collection[str]) -> Generalize:
        """The labels of the cut that some row shows, and the part of the tree that leads to them and to the needed."""
        cut = _in_order(label for label in self.cut if label in shown) or (self.top,)
        tree, at_cut = self.taxonomy, {label for label in cut if label is not None}
        above = {label for one in at_cut for label in tree.ancestors(one)}
        kept = {one for one in needed if one in tree and (one in above or not at_cut.isdisjoint(tree.ancestors(one)))}
        named = frozenset({*needed, *(label for label in shown if label is not None)})
        return Generalize(pruned(tree, at_cut | kept), cut, named)

    def tree_form(self) -> dict[str, Any]:
        """The tree; labels that nothing else in the release bears out have no name."""
        return to_form(self.taxonomy, self.named)

    def sentence(self, values: int) -> str:
        """How many labels, of how large a tree."""
        return f"{_some(values, 'label')} of a taxonomy with {len(self.taxonomy.leaves):,} leaves."

    def drawn(self) -> str:
        """The tree down to the cut; what is hidden below a label stands behind it."""
        return "\n".join(map(visible, drawn_tree(self.taxonomy, set(self.cut), self.top, 1, None in self.cut)))


@dataclass(frozen=True)
class Suppress(Rule):
    """The labels that are shown; all others are `*`, if there are others (`complete` says there are none)."""

    kind: ClassVar[str] = "suppress"
    tells_domain: ClassVar[bool] = False

    disclosed: tuple[str | None, ...]
    complete: bool = False

    @property
    def top(self) -> str:
        """What the most masked record shows."""
        return SUPPRESSED

    @property
    def shown(self) -> tuple[str | None, ...]:
        """Every value that may be shown."""
        return self.disclosed if self.complete else (*self.disclosed, SUPPRESSED)

    def places(self, values: pa.Array[Any]) -> Ints:
        """(values + 1,): which shown value each value becomes, missing last; -1 where it was never seen."""
        at = {label: place for place, label in enumerate(self.disclosed)}
        hidden = -1 if self.complete else len(self.disclosed)
        return np.array([*(at.get(v, hidden) for v in labels_of(values)), at.get(None, hidden)], dtype=np.int64)

    def to_json(self) -> dict[str, Any]:
        """The public form."""
        return {"kind": self.kind, "disclosed": list(self.disclosed), "complete": self.complete}

    @property
    def known(self) -> frozenset[str]:
        """The labels that it shows."""
        return frozenset(label for label in self.shown if label is not None)

    def released(self, shown: Collection[str | None], needed: Collection[str]) -> Suppress:
        """The labels that some row shows."""
        return replace(self, disclosed=_in_order(label for label in self.disclosed if label in shown))

    def sentence(self, values: int) -> str:
        """How many labels are not hidden."""
        return "Every label is shown." if self.complete else f"{_some(len(self.disclosed), 'label')}, all others as *."

    def drawn(self) -> str:
        """One line."""
        shown = ", ".join(MISSING if label is None else visible(label) for label in self.disclosed) or "nothing"
        return f"  {SHOWN} {shown}" + ("" if self.complete else "   all others: *")


@dataclass(frozen=True)
class Discretize(Rule):
    """Intervals between breaks. Without a declared range the outer ends stay open: they would tell extremes.

    `tree`: the wider intervals above those that are shown, given or grown, each from where to where, infinite at the
    outer ends. `told`: it goes along with a release.
    """

    kind: ClassVar[str] = "discretize"
    numeric: ClassVar[bool] = True

    range: tuple[Bound, Bound] | None
    breaks: tuple[float, ...]
    missing: Missing = "none"
    calendar: Calendar | None = None
    tree: tuple[Span, ...] | None = field(default=None, compare=False)
    told: bool = field(default=False, compare=False)

    @property
    def top(self) -> str:
        """What the most masked record shows."""
        return interval_labels(self.range, (), self.calendar)[0] if self.missing == "none" else SUPPRESSED

    @property
    def shown(self) -> tuple[str | None, ...]:
        """Every value that may be shown."""
        if self.missing == "together":
            return (SUPPRESSED,)
        return (
            *interval_labels(self.range, self.breaks, self.calendar),
            *([None] if self.missing == "apart" else []),
        )

    def places(self, values: pa.Array[Any]) -> Ints:
        """(values + 1,): which shown value each value becomes, missing last; -1 where it cannot be shown."""
        numbers = numbers_of(values, Number(calendar=self.calendar))
        found = np.searchsorted(exact_edges(self.breaks, numbers), numbers, side="right").astype(np.int64)
        gone = {"none": -1, "apart": len(self.breaks) + 1, "together": 0}[self.missing]
        if self.missing == "together":
            found[:] = 0
        found[np.isnan(numbers)] = gone
        found[outside(numbers, self.range, self.calendar)] = -1
        return np.append(found, gone)

    def to_json(self) -> dict[str, Any]:
        """The public form; breaks of dates and times in ISO text."""
        breaks = [calendar.show(b, self.calendar) if self.calendar else plain_number(b) for b in self.breaks]
        ends = None if self.range is None else [b if isinstance(b, str) else plain_number(b) for b in self.range]
        form: dict[str, Any] = {"kind": self.kind, "range": ends}
        form["breaks"] = breaks
        if self.missing != "none":
            form["missing"] = self.missing
        if self.calendar:
            form["calendar"] = self.calendar
        if self.tree is not None:
            form["tree"] = True
        return form

    def tree_form(self) -> dict[str, Any] | None:
        """The intervals that are shown, and the wider ones above them."""
        if self.tree is None or self.missing == "together":
            return None
        label = partial(interval_label, self.range, self.breaks, self.calendar)
        return nested_form(label, len(self.breaks) + 1, self._inner())

    def under(self, tree: Mapping[str, Any] | None) -> Discretize:
        """With the wider intervals that a release tells of."""
        return self if tree is None else replace(self, tree=spans_of(tree, self.breaks), told=True)

    def _inner(self) -> set[tuple[int, int]]:
        """The wider intervals by which of the shown ones they hold: the first, and one past the last."""
        at = {-math.inf: 0, math.inf: len(self.breaks) + 1} | {end: n for n, end in enumerate(self.breaks, start=1)}
        return {(at[low], at[high]) for low, high in self.tree or () if low in at and high in at}

    @property
    def ends(self) -> frozenset[float]:
        """The breaks, the lowest number of the declared range, and the first above it."""
        if self.range is None:
            return frozenset(map(float, self.breaks))
        low, high = covers(self.range, self.calendar)
        return frozenset({*map(float, self.breaks), float(low), float(np.nextafter(float(high), math.inf))})

    def places_of(self, points: Points) -> Ints:
        """(points + 1,): the interval of each number, missing last; -1 where nobody can be."""
        numbers = points.numbers
        if self.missing == "together":
            return np.zeros(len(numbers) + 1, dtype=np.int64)
        found = np.searchsorted(np.array(self.breaks, dtype=np.float64), numbers, side="right").astype(np.int64)
        if self.range is not None:
            low, high = covers(self.range, self.calendar)
            found[(numbers < float(low)) | (numbers > float(high))] = -1
        return np.append(found, len(self.breaks) + 1 if self.missing == "apart" else -1)

    def released(self, shown: Collection[str | None], needed: Collection[str]) -> Discretize:
        """The breaks that are an end of an interval which some row shows."""
        used = [label in shown for label in interval_labels(self.range, self.breaks, self.calendar)]
        sides = zip(self.breaks, used, used[1:], strict=False)  # the intervals before and after each break
        kept = tuple(at for at, below, above in sides if below or above)
        return replace(self, breaks=kept, tree=self.tree if self.told and self.missing != "together" else None)

    def sentence(self, values: int) -> str:
        """How many intervals, of which range."""
        within = f" of the declared range from {self.range[0]} to {self.range[1]}" if self.range else ""
        return f"{_some(len(self.breaks) + 1, 'interval')}{within}."

    def drawn(self) -> str:
        """The intervals in their order; as a tree where there are wider ones above them."""
        form = self.tree_form() if self.told else None
        if form is not None:
            nested = from_form(form)
            return "\n".join(drawn_tree(nested, set(nested.leaves), nested.root, 1, self.missing == "apart"))
        return "  " + " | ".join(MISSING if label is None else visible(label) for label in self.shown)


def _in_order(labels: Iterable[str | None]) -> tuple[str | None, ...]:
    """In the order of letters, missing last."""
    found = set(labels)
    return (*sorted(label for label in found if label is not None), *([None] if None in found else []))


def _some(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
