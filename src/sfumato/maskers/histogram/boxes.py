"""Boxes: the parts into which a tree of public splits divides the records, and the splits that a box allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.maskers.histogram.domains import Domain, ItemDomain, LabelDomain, NumberDomain
from sfumato.maskers.histogram.records import Records

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Split:
    """A public question: is the attribute's cell one of these? Of sets: do they hold a label at or below this node?"""

    attribute: str
    tests: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Box:
    """What the records of one part have in common: their allowed cells, and the nodes that their sets hold or lack."""

    allowed: Mapping[str, Bools]
    held: Mapping[str, tuple[int, ...]]
    lacked: Mapping[str, tuple[int, ...]]

    @classmethod
    def whole(cls, domains: Mapping[str, Domain]) -> Box:
        """All records."""
        cells = {n: np.ones(d.size, dtype=np.bool_) for n, d in domains.items() if not isinstance(d, ItemDomain)}
        return cls(cells, {}, {})

    @property
    def empty(self) -> bool:
        """Whether no record can be in it."""
        return any(not cells.any() for cells in self.allowed.values())

    def divided(self, split: Split) -> tuple[Box, Box]:
        """Those who answer yes, and those who answer no."""
        name = split.attribute
        if name not in self.allowed:
            yes = replace(self, held={**self.held, name: (*self.held.get(name, ()), *split.tests)})
            return yes, replace(self, lacked={**self.lacked, name: (*self.lacked.get(name, ()), *split.tests)})
        chosen = np.zeros_like(self.allowed[name])
        chosen[list(split.tests)] = True
        both = (self.allowed[name] & chosen, self.allowed[name] & ~chosen)
        yes, no = (replace(self, allowed={**self.allowed, name: cells}) for cells in both)
        return yes, no


def splits(domains: Mapping[str, Domain], names: Sequence[str]) -> list[Split]:
    """Every split of the named attributes, by declarations alone: an inner edge of a range, a label of a taxonomy."""
    return [split for name in names for split in _splits(domains[name])]


def few_splits(domains: Mapping[str, Domain], names: Sequence[str], most: int) -> list[Split]:
    """About `most` of the splits, as many for each attribute: those that divide its cells most evenly."""
    each = max(1, most // max(1, len(names)))
    found: list[Split] = []
    for name in names:
        offered, half = _splits(domains[name]), domains[name].size / 2
        found += sorted(offered, key=lambda split: abs(_weight(domains[name], split) - half))[:each]
    return found


def _weight(domain: Domain, split: Split) -> float:
    """How many of a domain's cells answer yes."""
    if isinstance(domain, ItemDomain):
        return sum(split.tests[0] in path for path in domain.paths)
    return len(split.tests)


def _splits(domain: Domain) -> list[Split]:
    if isinstance(domain, ItemDomain):
        return [Split(domain.name, (node,)) for node in range(len(domain.nodes) + domain.missing)]
    groups = _below(domain) if isinstance(domain, NumberDomain) else _under(domain)
    groups += [[domain.size - 1]] if domain.missing else []
    found = dict.fromkeys(tuple(group) for group in groups if 0 < len(group) < domain.size)
    return [Split(domain.name, tests) for tests in found]


def _below(domain: NumberDomain) -> list[list[int]]:
    """The bins below each inner edge."""
    return [list(range(end)) for end in range(1, len(domain.edges) - 1)]


def _under(domain: LabelDomain) -> list[list[int]]:
    """The leaves under each label below the root."""
    return [list(range(*domain.tree.leaf_range(label))) for label in domain.tree.labels[1:]]


def answers(records: Records, split: Split) -> Bools:
    """(rows,): who answers yes."""
    name = split.attribute
    if name in records.cells:
        yes = np.zeros(records.domains[name].size, dtype=np.bool_)
        yes[list(split.tests)] = True
        return yes[records.cells[name]]
    domain, sets = records.domains[name], records.sets[name]
    if not isinstance(domain, ItemDomain):
        raise TypeError(f"{name} is not set-valued")
    (node,) = split.tests
    if node == len(domain.nodes):
        return sets.missing.copy()
    below = np.array([node in path for path in domain.paths])
    found = np.zeros(records.rows, dtype=np.bool_)
    found[sets.owners[below[sets.items]]] = True
    return found
