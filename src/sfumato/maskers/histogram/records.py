"""Records in the cells of public domains: for each row a cell of every attribute, for item sets several labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.cut import numbers_of
from sfumato.data.schema import Number
from sfumato.data.table import Column, ItemColumn, Table
from sfumato.errors import TableError
from sfumato.maskers.histogram.domains import Domain, ItemDomain, LabelDomain, NumberDomain

Ints = NDArray[np.int64]


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

    @property
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
    cells: dict[str, Ints] = {}
    sets: dict[str, Sets] = {}
    for name, domain in domains.items():
        column = table.columns[name]
        _refuse_missing(name, domain, column.missing)
        if isinstance(domain, ItemDomain):
            sets[name] = _sets(domain, column)
        else:
            cells[name] = _cells(domain, table.column(name), table.schema[name])
    return Records(domains, cells, sets, table.rows)


def _refuse_missing(name: str, domain: Domain, missing: int) -> None:
    if missing and not domain.missing:
        raise TableError(name, "a value may be missing only where the recipe says so, because that is public too",
                         given="rows where it is missing",
                         remedy=f"add it to the mask's may_miss: [{name}], or leave such rows out with "
                                f"missing: {{{name}: drop}}")  # fmt: skip


def _cells(domain: NumberDomain | LabelDomain, column: Column, attribute: Any) -> Ints:
    if isinstance(domain, NumberDomain):
        if not isinstance(attribute, Number):
            raise TypeError(f"{domain.name} is no number")
        numbers = numbers_of(column.values, attribute).astype(np.float64)
        found = np.searchsorted(np.array(domain.edges[1:-1]), numbers, side="right")
    else:
        at = {leaf: place for place, leaf in enumerate(domain.tree.leaves)}
        found = np.array([at[str(label)] for label in column.values.to_pylist()], dtype=np.int64)
    return np.append(found, domain.size - 1).astype(np.int64)[column.codes]


def _sets(domain: ItemDomain, column: Column | ItemColumn) -> Sets:
    if not isinstance(column, ItemColumn):
        raise TypeError(f"{domain.name} is not set-valued")
    of = np.array([domain.of_leaf[str(label)] for label in column.values.to_pylist()] or [0], dtype=np.int64)
    rows = len(column.missing_rows)
    owners = np.repeat(np.arange(rows), np.diff(column.offsets))
    pairs = np.unique(owners * domain.size + of[column.codes])
    owners, items = np.divmod(pairs, domain.size)
    place = np.arange(len(pairs)) - np.searchsorted(owners, owners)
    kept = place < domain.most  # only where no largest set was declared; the labels of a cut bound it anyway
    counts = np.bincount(owners[kept], minlength=rows)
    return Sets(np.append(0, np.cumsum(counts)), items[kept], column.missing_rows)
