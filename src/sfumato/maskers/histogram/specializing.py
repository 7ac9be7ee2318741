"""The state of Algorithm 1 of 003: a partition of the records, one generalized value per attribute and part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.maskers.histogram.domains import Domain, ItemDomain, LabelDomain, NumberDomain
from sfumato.maskers.histogram.records import Ints, Records

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
        self.known: dict[str, list[Shown]] = {name: [top(domain)] for name, domain in records.domains.items()}
        self.shown: dict[str, Ints] = {name: np.zeros(1, dtype=np.int64) for name in records.domains}

    @property
    def parts(self) -> int:
        """How many there are."""
        return len(next(iter(self.shown.values())))

    def values(self) -> list[Value]:
        """The values that can be specialized, in a fixed order."""
        found: dict[Value, None] = {}
        for name in self.names:
            for at in np.unique(self.shown[name]):
                for value in specializable(self.records.domains[name], self.known[name][at]):
                    found.setdefault(Value(name, value))
        return list(found)

    def holding(self, value: Value) -> NDArray[np.bool_]:
        """(parts,): which parts show the value; of sets, which have it among their labels."""
        holds = [_holds(shown, value.shown) for shown in self.known[value.attribute]]
        return np.array(holds, dtype=np.bool_)[self.shown[value.attribute]]

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
        stay = np.array([part for part in range(self.parts) if part not in made], dtype=np.int64)
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
        if shown not in self.known[name]:
            self.known[name].append(shown)
        return self.known[name].index(shown)


def _holds(own: Shown, value: tuple[int, int] | str) -> bool:
    return value in own if isinstance(own, frozenset) else own == value


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


def specializable(domain: Domain, shown: Shown) -> list[tuple[int, int] | str]:
    """What of a shown value has children; labels of sets down to the public cut."""
    if isinstance(shown, tuple):
        return [shown] if shown[1] - shown[0] > 1 else []
    if isinstance(domain, ItemDomain) and isinstance(shown, frozenset):
        return [label for label in sorted(shown) if label not in domain.cut and domain.tree.children(label)]
    if isinstance(domain, LabelDomain) and isinstance(shown, str):
        return [shown] if domain.tree.children(shown) else []
    return []
