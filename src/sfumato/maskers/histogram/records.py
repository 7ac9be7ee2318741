"""Records as cells of their domains, and the boxes into which public splits divide them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data.domain import texts_of
from sfumato.data.grouping import different
from sfumato.data.schema import Number
from sfumato.data.table import Column, ItemColumn, Table
from sfumato.errors import TableError
from sfumato.events import checkpoint
from sfumato.maskers.histogram.domains import Domain, ItemDomain, LabelDomain, NumberDomain


@dataclass(frozen=True, eq=False)
class Sets:
    """Row i holds labels `items[offsets[i]:offsets[i + 1]]` of the cut, each once; `missing` marks rows without any."""

    offsets: Ints
    items: Ints
    missing: NDArray[np.bool_]

    @property
    def sizes(self) -> Ints:
        """(rows,): how many labels each row holds."""
        return np.diff(self.offsets)

    @cached_property
    def owners(self) -> Ints:
        """(items,): the row of each item."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.sizes)


@dataclass(frozen=True, eq=False)
class Records:
    """A table in cells. `cells` has every attribute with one value a row, `sets` the set-valued ones."""

    domains: Mapping[str, Domain]
    cells: Mapping[str, Ints]
    sets: Mapping[str, Sets]
    rows: int


def records_of(table: Table, domains: Mapping[str, Domain]) -> Records:
    """Every row in its cells. What the domains do not hold is refused."""
    _refuse_missing(table, domains)
    cells: dict[str, Ints] = {}
    sets: dict[str, Sets] = {}
    for name, domain in domains.items():
        column = table.columns[name]
        if isinstance(domain, ItemDomain):
            sets[name] = _sets(domain, column)
        else:
            cells[name] = _cells(domain, table.column(name), table.schema[name])
    return Records(domains, cells, sets, table.rows)


def _refuse_missing(table: Table, domains: Mapping[str, Domain]) -> None:
    """All columns at once, so that all can be mended at once."""
    names = [name for name, domain in domains.items() if table.columns[name].missing and not domain.missing]
    if names:
        it, dropped = "it" if len(names) == 1 else "them", ", ".join(f"{name}: drop" for name in names)
        raise TableError(
            ", ".join(names),
            "a value may be missing only where the recipe says so, because that is public too",
            given=f"rows where {'it is' if len(names) == 1 else 'they are'} missing",
            remedy=f"add {it} to what the mask says (mask: {{private_tree: {{may_miss: [{', '.join(names)}]}}}}, "
            f"likewise of dp_heter), or leave such rows out with missing: {{{dropped}}}",
        )


def _cells(domain: NumberDomain | LabelDomain, column: Column, attribute: Any) -> Ints:
    if isinstance(domain, NumberDomain):
        if not isinstance(attribute, Number):
            raise TypeError(f"{domain.name} is no number")
        numbers = domain.numbers(column.values, attribute)
        _refuse_decimals(domain, numbers, attribute)
        found = domain.places(numbers)
    else:
        at = {leaf: place for place, leaf in enumerate(domain.tree.leaves)}
        found = np.array([at[label] for label in texts_of(column.values)], dtype=np.int64)
    return np.append(found, domain.size - 1).astype(np.int64)[column.codes]


def _refuse_decimals(domain: NumberDomain, numbers: NDArray[np.float64], attribute: Number) -> None:
    """What the recipe does not say is not learned, nor are decimals lost without a word."""
    if domain.integer and attribute.integer is None and (numbers % 1 != 0).any():
        ends = f"[{domain.low:.1f}, {domain.high:.1f}]"
        raise TableError(
            domain.name,
            "a range with whole ends declares whole numbers; whether they are whole is not learned from the data",
            given="numbers with decimals too",
            remedy=f"say integer: false (or range: {ends}) to draw decimals, or round the column to draw whole numbers",
        )


def _sets(domain: ItemDomain, column: Column | ItemColumn) -> Sets:
    if not isinstance(column, ItemColumn):
        raise TypeError(f"{domain.name} is not set-valued")
    of = np.array([domain.of_leaf[label] for label in texts_of(column.values)] or [0], dtype=np.int64)
    rows = len(column.missing_rows)
    owners = np.repeat(np.arange(rows), np.diff(column.offsets))
    pairs = different(owners * domain.size + of[column.codes])
    owners, items = np.divmod(pairs, domain.size)
    ends = np.cumsum(np.bincount(owners, minlength=rows))
    place = np.arange(len(pairs)) - np.append(0, ends)[owners]
    kept = place < domain.most  # only where no largest set was declared; the labels of a cut bound it anyway
    counts = np.bincount(owners[kept], minlength=rows)
    return Sets(np.append(0, np.cumsum(counts)), items[kept], column.missing_rows)


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
    checkpoint()
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
