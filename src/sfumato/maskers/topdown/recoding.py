"""Recoding: the final cut with its trees. Frozen, in labels, plain JSON, applicable to any table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data import calendar
from sfumato.data.cut import Numbers, labels_of, numbers_of
from sfumato.data.schema import Calendar, Number
from sfumato.data.table import Column, Table
from sfumato.data.taxonomy import Taxonomy
from sfumato.errors import RecipeError, TableError
from sfumato.maskers.topdown.intervals import Bound, covers, interval_labels, plain_number

SUPPRESSED = "*"
Missing = Literal["none", "apart", "together"]
"""Of a number: no value was missing; missing is shown as missing; missing is hidden among all others."""


@dataclass(frozen=True)
class Generalize:
    """A cut through a taxonomy; None stands for "missing", shown as such."""

    taxonomy: Taxonomy
    cut: tuple[str | None, ...]

    @property
    def top(self) -> str:
        """What the most masked record shows."""
        return self.taxonomy.root

    @property
    def shown(self) -> tuple[str | None, ...]:
        """Every value that may be shown."""
        return self.cut

    def places(self, values: pa.Array[Any]) -> NDArray[np.int64]:
        """(values + 1,): which shown value each value becomes, missing last; -1 where it was never seen."""
        at = {label: place for place, label in enumerate(self.cut)}
        whole = at.get(self.taxonomy.root, -1)
        under = {leaf: at[label] for label in self.cut if label for leaf in self.taxonomy.leaves_of(label)}
        return np.array([*(under.get(v, -1) for v in labels_of(values)), at.get(None, whole)], dtype=np.int64)

    def to_json(self) -> dict[str, Any]:
        """The public form; trees are kept in files of their own."""
        return {"kind": "generalize", "cut": list(self.cut)}


@dataclass(frozen=True)
class Suppress:
    """The labels that are shown; all others are `*`, if there are others (`complete` says there are none)."""

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

    def places(self, values: pa.Array[Any]) -> NDArray[np.int64]:
        """(values + 1,): which shown value each value becomes, missing last; -1 where it was never seen."""
        at = {label: place for place, label in enumerate(self.disclosed)}
        hidden = -1 if self.complete else len(self.disclosed)
        return np.array([*(at.get(v, hidden) for v in labels_of(values)), at.get(None, hidden)], dtype=np.int64)

    def to_json(self) -> dict[str, Any]:
        """The public form."""
        return {"kind": "suppress", "disclosed": list(self.disclosed), "complete": self.complete}


@dataclass(frozen=True)
class Discretize:
    """Intervals between breaks. Without a declared range the outer ends stay open: they would tell extremes."""

    range: tuple[Bound, Bound] | None
    breaks: tuple[float, ...]
    missing: Missing = "none"
    calendar: Calendar | None = None

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

    def places(self, values: pa.Array[Any]) -> NDArray[np.int64]:
        """(values + 1,): which shown value each value becomes, missing last; -1 where it cannot be shown."""
        if self.missing == "together":
            return np.zeros(len(values) + 1, dtype=np.int64)
        numbers = numbers_of(values, Number(calendar=self.calendar))
        found = np.searchsorted(_edges(self.breaks, numbers), numbers, side="right").astype(np.int64)
        outside = np.isnan(numbers)
        if self.range is not None:
            low, high = covers(self.range, self.calendar)
            outside |= (numbers < low) | (numbers > high)
        apart = len(self.breaks) + 1 if self.missing == "apart" else -1
        found = np.where(outside, np.where(np.isnan(numbers), apart, -1), found)
        return np.append(found, apart)

    def to_json(self) -> dict[str, Any]:
        """The public form; breaks of dates and times in ISO text."""
        breaks = [calendar.show(b, self.calendar) if self.calendar else plain_number(b) for b in self.breaks]
        ends = None if self.range is None else [b if isinstance(b, str) else plain_number(b) for b in self.range]
        form: dict[str, Any] = {"kind": "discretize", "range": ends}
        form["breaks"] = breaks
        if self.missing != "none":
            form["missing"] = self.missing
        if self.calendar:
            form["calendar"] = self.calendar
        return form


def _edges(breaks: tuple[float, ...], numbers: Numbers) -> Numbers:
    """Breaks of the kind of the numbers: large whole numbers compared with a break such as 36.5 would be rounded."""
    if numbers.dtype.kind == "f":
        return np.array(breaks, dtype=np.float64)
    limits = np.iinfo(numbers.dtype)
    whole = [math.ceil(number) for number in breaks]
    inside = all(limits.min <= number <= limits.max for number in whole)
    return np.array(whole, dtype=numbers.dtype if inside else object)


Rule = Generalize | Suppress | Discretize


def tree_file(name: str) -> str:
    """Where a release keeps an attribute's taxonomy; what a file name cannot hold is written as in an address.

    >>> tree_file("education"), tree_file("km/h")
    ('taxonomies/education.json', 'taxonomies/km%2Fh.json')
    """
    return f"taxonomies/{quote(name, safe=' ')}.json"


@dataclass(frozen=True)
class Recoding:
    """What top-down refinement learned: for each attribute, what is shown.

    `lifted` says whether some records were lifted to the top of every attribute (suppress=...).
    """

    attributes: Mapping[str, Rule]
    lifted: bool = False

    def files(self) -> dict[str, Any]:
        """recoding.json, and the taxonomies it cuts."""
        trees = {name: rule.taxonomy for name, rule in self.attributes.items() if isinstance(rule, Generalize)}
        return {
            "recoding.json": self.to_json(),
            **{tree_file(name): tree.to_tree() for name, tree in trees.items()},
        }

    def apply(
        self, table: Table, *, unseen: str = "refuse", lifted: NDArray[np.bool_] | None = None
    ) -> dict[str, pa.Array[Any]]:
        """Masked columns, dictionary-encoded. Unseen values are refused, or shown as the top value."""
        return {
            name: _masked(name, rule, table.column(name), unseen=unseen, lifted=lifted)
            for name, rule in self.attributes.items()
        }

    def to_json(self) -> dict[str, Any]:
        """The content of recoding.json."""
        form: dict[str, Any] = {"attributes": {name: rule.to_json() for name, rule in self.attributes.items()}}
        if self.lifted:
            form["lifted"] = True
        return form

    @classmethod
    def read(cls, files: Mapping[str, Any]) -> Recoding:
        """From the JSON files of a release, by name."""
        form = files["recoding.json"]
        generalized = [name for name, part in form["attributes"].items() if part["kind"] == "generalize"]
        trees = {name: Taxonomy.from_tree(files[tree_file(name)]) for name in generalized if tree_file(name) in files}
        return cls.from_json(form, trees)

    @classmethod
    def from_json(cls, form: Mapping[str, Any], taxonomies: Mapping[str, Taxonomy]) -> Recoding:
        """Read recoding.json, with the taxonomies that lie beside it."""
        rules = {name: _rule(name, part, taxonomies) for name, part in form["attributes"].items()}
        return cls(rules, bool(form.get("lifted", False)))

    def __str__(self) -> str:
        from sfumato.maskers.topdown.drawing import draw

        return "\n".join(f"{name}\n{draw(rule)}" for name, rule in self.attributes.items())


def _rule(name: str, form: Mapping[str, Any], taxonomies: Mapping[str, Taxonomy]) -> Rule:
    kind = form.get("kind")
    if kind == "generalize":
        if name not in taxonomies:
            raise RecipeError(name, "a generalized attribute comes with its taxonomy", given="none",
                              remedy="restore the release's taxonomies/ folder")  # fmt: skip
        return Generalize(taxonomies[name], tuple(form["cut"]))
    if kind == "suppress":
        return Suppress(tuple(form["disclosed"]), bool(form.get("complete", False)))
    if kind == "discretize":
        unit = form.get("calendar")
        breaks = tuple(calendar.parse(b) if unit else b for b in form["breaks"])
        ends = tuple(form["range"]) if form["range"] else None
        return Discretize(ends, breaks, form.get("missing", "none"), unit)
    raise RecipeError(name, "a recoding generalizes, suppresses or discretizes", given=repr(kind),
                      remedy="restore recoding.json from the release")  # fmt: skip


def _masked(name: str, rule: Rule, column: Column, *, unseen: str, lifted: NDArray[np.bool_] | None) -> pa.Array[Any]:
    places = rule.places(column.values)
    used = np.bincount(column.codes, minlength=len(places)) > 0
    if unseen == "refuse" and bool((used & (places < 0)).any()):
        raise TableError(name, "every value has a place in the recoding",
                         given="values that were not there when the recoding was learned",
                         remedy="say unseen='suppress' to show them as the top value")  # fmt: skip
    shown = [*rule.shown, *([] if rule.top in rule.shown else [rule.top])]
    top = shown.index(rule.top)
    places = np.where(places < 0, top, places)
    occurs = set(places[used].tolist()) | ({top} if lifted is not None and lifted.any() else set())
    return _dictionary(column, places, shown, occurs=occurs, lifted=None if lifted is None else (lifted, top))


def _dictionary(
    column: Column,
    places: NDArray[np.int64],
    shown: list[str | None],
    *,
    occurs: set[int],
    lifted: tuple[NDArray[np.bool_], int] | None,
) -> pa.Array[Any]:
    """Text by position, its dictionary holding only what occurs; null for missing."""
    kept = [place for place, label in enumerate(shown) if place in occurs and label is not None]
    index = np.full(len(shown), -1, dtype=np.int16 if len(shown) < 2**15 else np.int32)
    index[kept] = np.arange(len(kept))
    codes: NDArray[Any] = index[places][column.codes]
    if lifted is not None:
        codes = np.where(lifted[0], index[lifted[1]], codes)
    hidden = codes < 0 if None in shown else None
    labels = pa.array([shown[place] for place in kept], type=pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=hidden), labels)
