"""The state of Algorithm 1 of 003: a partition of the records, one generalized value per attribute and part."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.maskers.histogram.domains import Domain, ItemDomain, NumberDomain
from sfumato.maskers.histogram.records import Records

Shown = tuple[int, int] | str | frozenset[str] | None
"""An attribute's generalized value: bins from and up to, a label, a set of labels; None where missing."""


@dataclass(frozen=True)
class Value:
    """A value that may be specialized: an interval of bins, or a label with children."""

    attribute: str
    shown: tuple[int, int] | str


class State:
    """Owns the parts of the partition and which part each record is in; -1 for records whose part was pruned.

    `shown[name]` (parts,) says where in `known[name]` the value stands that a part's records show.
    """

    def __init__(self, records: Records, names: Sequence[str]) -> None:
        self.records, self.names = records, list(names)
        self.part_of: Ints = np.zeros(records.rows, dtype=np.int64)
        self.known: dict[str, list[Shown]] = {name: [] for name in records.domains}
        self._at: dict[str, dict[Shown, int]] = {name: {} for name in records.domains}
        self._having: dict[str, dict[tuple[int, int] | str, list[int]]] = {name: {} for name in records.domains}
        self.shown: dict[str, Ints] = {
            name: np.array([self._intern(name, top(domain))], dtype=np.int64)
            for name, domain in records.domains.items()
        }

    @property
    def parts(self) -> int:
        """How many there are."""
        return len(next(iter(self.shown.values())))

    def values(self) -> list[Value]:
        """The values that can be specialized, in a fixed order."""
        found: list[Value] = []
        for name in self.names:
            used = np.zeros(len(self.known[name]), dtype=np.bool_)
            used[self.shown[name]] = True
            for value, places in self._having[name].items():
                if divisible(self.records.domains[name], value) and used[places].any():
                    found.append(Value(name, value))
        return found

    def holding(self, value: Value) -> NDArray[np.bool_]:
        """(parts,): which parts show the value; of sets, which have it among their labels."""
        holds = np.zeros(len(self.known[value.attribute]), dtype=np.bool_)
        holds[self._having[value.attribute].get(value.shown, [])] = True
        return np.asarray(holds[self.shown[value.attribute]])

    def holders(self, value: Value) -> NDArray[np.bool_]:
        """(rows,): the records in such parts."""
        return np.append(self.holding(value), False)[self.part_of]

    def children(self, value: Value) -> Ints:
        """(rows,): for numbers the bin, for labels the place of the child, for sets a bit for each child they hold."""
        name = value.attribute
        domain = self.records.domains[name]
        if isinstance(domain, NumberDomain) or isinstance(value.shown, tuple):
            return self.records.cells[name]
        kids = domain.tree.children(value.shown)
        if isinstance(domain, ItemDomain):
            return _combination(self.records, domain, kids)
        at = np.full(domain.size, -1, dtype=np.int64)
        for place, label in enumerate(kids):
            at[slice(*domain.tree.leaf_range(label))] = place
        if domain.missing:
            at[-1] = len(kids)
        return np.asarray(at[self.records.cells[name]])

    def specialize(self, name: str, children: Ints, made: Mapping[int, Sequence[tuple[int, Shown]]]) -> None:
        """Replace parts by their children: `made[part]` lists (child, what it shows); other parts stay."""
        stay = np.setdiff1d(np.arange(self.parts), np.fromiter(made, dtype=np.int64, count=len(made)))
        new = [(part, child, self._intern(name, shown)) for part, kids in made.items() for child, shown in kids]
        parent, child, shown = np.array(new, dtype=np.int64).reshape(-1, 3).T
        self.part_of = self._moved(children, stay, parent, child)
        origin = np.append(stay, parent)
        self.shown = {other: at[origin] for other, at in self.shown.items()}
        self.shown[name][len(stay) :] = shown

    def _moved(self, children: Ints, stay: Ints, parent: Ints, child: Ints) -> Ints:
        """(rows,): the new part of each record; -1 where its child was not made."""
        width = int(max(children.max(initial=0), child.max(initial=0))) + 1
        keys = parent * width + child
        order = np.argsort(keys)
        wanted = self.part_of * width + children
        at = np.minimum(np.searchsorted(keys[order], wanted), max(len(keys) - 1, 0))
        made = len(stay) + order[at] if len(keys) else np.zeros_like(wanted)
        fits = (keys[order][at] == wanted) & (self.part_of >= 0) if len(keys) else np.zeros(len(wanted), dtype=np.bool_)
        same = np.full(self.parts + 1, -1, dtype=np.int64)
        same[stay] = np.arange(len(stay))
        return np.where(same[self.part_of] >= 0, same[self.part_of], np.where(fits, made, -1))

    def _intern(self, name: str, shown: Shown) -> int:
        at = self._at[name]
        if shown not in at:
            at[shown] = len(at)
            self.known[name].append(shown)
            for value in sorted(shown) if isinstance(shown, frozenset) else [] if shown is None else [shown]:
                self._having[name].setdefault(value, []).append(at[shown])
        return at[shown]


def _combination(records: Records, domain: ItemDomain, kids: Sequence[str]) -> Ints:
    """(rows,): the children under which a record's labels lie, as bits; a missing set has none, as an empty one."""
    sets = records.sets[domain.name]
    bit = np.zeros(domain.size, dtype=np.int64)
    for place, label in enumerate(kids):
        bit[[at for at, cut in enumerate(domain.cut) if label == cut or label in domain.tree.ancestors(cut)]] = (
            1 << place
        )
    found = np.zeros(records.rows, dtype=np.int64)
    held = np.flatnonzero(sets.sizes)
    if len(held):
        found[held] = np.bitwise_or.reduceat(bit[sets.items], sets.offsets[held])
    return found


def top(domain: Domain) -> Shown:
    """The most general value."""
    if isinstance(domain, NumberDomain):
        return (0, len(domain.edges) - 1)
    return frozenset({domain.tree.root}) if isinstance(domain, ItemDomain) else domain.tree.root


def divisible(domain: Domain, value: tuple[int, int] | str) -> bool:
    """Whether a value has children; labels of sets down to the public cut."""
    if isinstance(value, tuple):
        return value[1] - value[0] > 1
    if isinstance(domain, NumberDomain) or (isinstance(domain, ItemDomain) and value in domain.cut):
        return False
    return bool(domain.tree.children(value))


GRAIN = 2**20
"""Utilities are rounded down to whole multiples of 1 / GRAIN."""


def entropy(classes: NDArray[np.int64] | Sequence[int]) -> float:
    """003 Eq. 3, from the number of records of each class; 0 where there are none.

    >>> round(entropy([4, 6]), 4)
    0.971
    """
    counts = np.asarray(classes, dtype=np.float64)
    total = counts.sum()
    shares = counts[counts > 0] / total if total else counts[:0]
    return float(-(shares * np.log2(shares)).sum())


def gain(children: Iterable[NDArray[np.int64] | Sequence[int]]) -> float:
    """003 Eq. 4, from the class counts of each child: how much their union's entropy exceeds their own.

    >>> round(gain([[3, 2], [1, 4]]), 4)
    0.1245
    """
    parts = [np.asarray(child, dtype=np.int64) for child in children]
    whole = np.sum(parts, axis=0)
    total = int(whole.sum())
    if not total:
        return 0.0
    return entropy(whole) - sum(int(part.sum()) / total * entropy(part) for part in parts)


def whole(utility: float) -> int:
    """A utility in whole grains; it lies between 0 and log2 of the number of classes."""
    return math.floor(max(utility, 0.0) * GRAIN)


def reach(classes: int) -> int:
    """How much a utility in whole grains can change, whatever changes in the table: its full range.

    The labels come from clustering the raw table, and one record can change every one of them. So nothing smaller than
    the range from 0 to log2 |classes| bounds the change (PAPERS.md, 003-4). `classes` is the declared number: how many
    there are in the table is a fact about its records.
    """
    return math.ceil(math.log2(max(classes, 2)) * GRAIN) + 1
