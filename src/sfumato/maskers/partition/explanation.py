"""Explaining: why a value of a partition looks as it does, and what stood in the way of the next cut.

Every group is looked at along every attribute: where would a cut leave the most even sides, and what do they lack? For
the holder's eyes: sides have fewer records than k.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sfumato.arrays import Ints
from sfumato.counting import Measure
from sfumato.data import calendar
from sfumato.data.axis import NumberAxis
from sfumato.errors import ReleaseError, did_you_mean, visible
from sfumato.events import checkpoint
from sfumato.maskers.partition.cells import Binned
from sfumato.maskers.partition.extents import label_names
from sfumato.maskers.recoding.intervals import plain_number
from sfumato.privacy.requirements import Basic

MOST = 60
"""Values of an attribute that are told about, those that most people show."""
FEW = 4
LEAST = 2
"""The least k that can be asked for."""


@dataclass(frozen=True)
class Why:
    """One shown value: how many rows show it (`people`) in how many groups, and of these the one nearest to a cut.

    `group`: its records. `side`: the smaller side of its most even cut along the attribute; 0 where there is none.
    `sides`: both in words. `short`: what else than records a side would lack.
    """

    attribute: str
    value: str
    people: int
    groups: int
    group: int
    side: int
    sides: tuple[str, str]
    k: int
    short: str = ""

    @property
    def shows(self) -> str:
        """Who shows it, as a sentence."""
        return f"{self.people:,} rows show it, in {self.groups:,} group{'' if self.groups == 1 else 's'}."

    @property
    def next(self) -> str:
        """The next cut and what blocked it, as a sentence."""
        if not self.side:
            return f"It is as fine as it can be: no cut along {self.attribute} is left in these groups."
        return f"The group that is nearest to a finer one has {self.group:,} rows. {self._cut}"

    @property
    def _cut(self) -> str:
        """The most even cut of a group, and what its sides lack."""
        first = f"Cut most evenly, into {self.sides[0]}, and {self.sides[1]}, "
        if self.side < self.k:
            return f"{first}one side would have {self.side:,}, and k is {self.k:,}."
        if self.short:
            return f"{first}one side would have {self.short}."
        return f"{first}both sides would keep every requirement: other cuts were worth more, or it was ended early."

    @property
    def of_this_group(self) -> str:
        """The same of a group by itself."""
        if not self.side:
            return f"No cut along {self.attribute} is left in its group: it is as fine as it can be."
        return " ".join(filter(None, (self._cut, self.remedy)))

    @property
    def remedy(self) -> str | None:
        """Which k would allow it, as a sentence; None where none is in the way."""
        if not self.side or self.side >= self.k:
            return "No k allows it: what is asked of sensitive values forbids it." if self.short else None
        if self.side < LEAST:
            return "No lower k allows it: one row would stand alone."
        return f"A k of {self.side} or less allows it there; a lower k changes all groups, so it has to be tried."


@dataclass(frozen=True, eq=False)
class Sensitive:
    """A requirement on a sensitive column, whose codes are those of the rows."""

    part: Basic
    measure: Measure
    codes: Ints
    values: int

    def short(self, rows: Ints) -> str:
        """What some rows lack together; nothing if they keep it."""
        level = float(self.measure(np.bincount(self.codes[rows], minlength=self.values)[None])[0])
        return "" if level >= self.part.threshold else self.part.falls_short(level)


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of a tree: (rows,) the leaf of each row, by attribute what each leaf shows, and what must hold."""

    leaf_of: Ints
    texts: Mapping[str, Sequence[str | None]]
    binned: Binned
    k: int
    sensitive: Sequence[Sensitive] = ()

    def whys(self) -> Iterator[Why]:
        """Every attribute's values, the most frequent first."""
        sizes = np.bincount(self.leaf_of)
        for a, axis in enumerate(self.binned.axes):
            checkpoint(a / len(self.binned.axes))
            bins = self.binned.cells.bins[:, a].astype(np.int64)
            cuts = _Cuts(self.leaf_of, bins, sizes, ordered=isinstance(axis, NumberAxis))
            held: dict[str, list[int]] = {}
            for leaf, text in enumerate(self.texts[axis.name]):
                held.setdefault("(missing)" if text is None else text, []).append(leaf)
            people = {text: int(sizes[leaves].sum()) for text, leaves in held.items()}
            for text in sorted(held, key=lambda one: (-people[one], one))[:MOST]:
                yield self._why(a, text, held[text], people[text], cuts)

    def of_row(self, row: int) -> Iterator[Why]:
        """The group of one row, along every attribute."""
        sizes, leaf = np.bincount(self.leaf_of), int(self.leaf_of[row])
        for a, axis in enumerate(self.binned.axes):
            bins = self.binned.cells.bins[:, a].astype(np.int64)
            cuts = _Cuts(self.leaf_of, bins, sizes, ordered=isinstance(axis, NumberAxis))
            yield self._why(a, self.texts[axis.name][leaf] or "(missing)", [leaf], int(sizes[leaf]), cuts)

    def _why(self, a: int, text: str, leaves: list[int], people: int, cuts: _Cuts) -> Why:
        best = max(leaves, key=lambda leaf: (cuts.best[leaf], -leaf))
        side, first = int(cuts.best[best]), cuts.first_side(best)
        sides, short = ("", ""), ""
        if side:
            rows = np.flatnonzero(self.leaf_of == best)
            there = np.isin(cuts.bins[rows], first)
            sides = self._words(a, np.unique(cuts.bins[rows[there]]), np.unique(cuts.bins[rows[~there]]))
            halves = (rows[there], rows[~there]) if side >= self.k else ()
            short = next((said for half in halves for one in self.sensitive if (said := one.short(half))), "")
        name, size = self.binned.axes[a].name, int(cuts.sizes[best])
        return Why(
            attribute=name,
            value=text,
            people=people,
            groups=len(leaves),
            group=size,
            side=side,
            sides=sides,
            k=self.k,
            short=short,
        )

    def _words(self, a: int, first: Ints, second: Ints) -> tuple[str, str]:
        """Two sides by their bins, in words."""
        axis, bin_of = self.binned.axes[a], self.binned.bin_of[a]
        if not isinstance(axis, NumberAxis):
            names = [*label_names(axis), "(missing)"]
            return _few([names[at] for at in np.flatnonzero(np.isin(bin_of, first))]), _few(
                [names[at] for at in np.flatnonzero(np.isin(bin_of, second))]
            )
        marks, at = self.binned.marks[a], int(np.flatnonzero(bin_of == second[0])[0])
        begins = None if marks is None or at >= len(marks.piece_of) else marks.begin(int(marks.piece_of[at]))
        if begins is None:
            return "numbers", "missing ones"
        unit = axis.attribute.calendar
        told = calendar.show(begins, unit) if unit else plain_number(begins)
        return f"those below {told}", "those above"


class _Cuts:
    """Owns how evenly every group could be cut along one attribute: numbers in their order, labels the commonest first.

    `best` (leaves,): the records of the smaller side of the most even cut.
    """

    def __init__(self, leaf_of: Ints, bins: Ints, sizes: Ints, *, ordered: bool) -> None:
        self.bins, self.sizes = bins, sizes
        width = int(bins.max()) + 1
        keys, counts = np.unique(leaf_of * width + bins, return_counts=True)
        leaf, bin_ = np.divmod(keys, width)
        order = np.lexsort((bin_, leaf)) if ordered else np.lexsort((bin_, -counts, leaf))
        self._leaf, self._bin, counts = leaf[order], bin_[order], counts[order]
        below = np.cumsum(counts) - (np.cumsum(sizes) - sizes)[self._leaf]
        self._smaller = np.minimum(below, sizes[self._leaf] - below)
        self._starts = np.searchsorted(self._leaf, np.arange(len(sizes) + 1))
        self.best = np.maximum.reduceat(self._smaller, self._starts[:-1])

    def first_side(self, leaf: int) -> Ints:
        """The bins of the first side of a group's most even cut."""
        lo, hi = self._starts[leaf], self._starts[leaf + 1]
        found: Ints = self._bin[lo : lo + int(np.argmax(self._smaller[lo:hi])) + 1]
        return found


def _few(labels: Sequence[str]) -> str:
    more = f" and {len(labels) - FEW} more" if len(labels) > FEW else ""
    return ", ".join(labels[:FEW]) + more


def whys_to_json(found: Sequence[Why]) -> list[dict[str, Any]]:
    """Plain mappings."""
    return [asdict(one) for one in found]


def whys(form: Mapping[str, Any]) -> list[Why]:
    """What was found out of each value, from a history that was explained."""
    return [Why(**{**one, "sides": tuple(one["sides"])}) for one in form.get("values", ())]


def explain(form: Mapping[str, Any], attribute: str | None = None, *, value: str | None = None) -> str:
    """The values of one attribute, or of all of them; or one value, as it is shown.

    Values for which the same stands in the way are told together.
    """
    found = whys(form)
    names = list(dict.fromkeys(one.attribute for one in found))
    if attribute is not None and attribute not in names:
        raise ReleaseError(
            attribute,
            "only attributes in a requirement are masked",
            given=repr(attribute),
            remedy=did_you_mean(attribute, names),
        )
    found = [one for one in found if attribute in (None, one.attribute) and value in (None, one.value)]
    if value is not None and not found:
        raise ReleaseError(
            value,
            "a value that many people show is explained, written as the table shows it",
            given="no such value among those",
            remedy=f"leave it out to see them: the {MOST} of each attribute that most people show",
        )
    parts = {name: [one for one in found if one.attribute == name] for name in names}
    return "\n\n".join("\n".join([name, *map(_text, _alike(some))]) for name, some in parts.items() if some)


def _alike(found: Sequence[Why]) -> list[list[Why]]:
    """Values of one attribute by what stands in their way, those that most people show first."""
    held: dict[tuple[int, str, int], list[Why]] = {}
    for one in found:
        held.setdefault((min(one.side, one.k), one.short, one.k), []).append(one)
    return sorted(held.values(), key=lambda some: -sum(one.people for one in some))


def _text(some: Sequence[Why]) -> str:
    first = some[0]
    if len(some) == 1:
        return visible(f"  {first.value}: {' '.join(filter(None, (first.shows, first.next, first.remedy)))}")
    people, groups = sum(one.people for one in some), sum(one.groups for one in some)
    shows = f"{people:,} rows show them, in {groups:,} groups."
    which = f"{len(some)} values ({_few([one.value for one in some])})"
    each = f"So with each, as with {first.value}: {first.next}" if first.side else first.next
    return visible(f"  {which}: {' '.join(filter(None, (shows, each, first.remedy)))}")
