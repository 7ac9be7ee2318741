"""The whole language between rules and engines: what is asked of the rows, what is answered, who answers.

An engine answers two questions about a table, and both answers are sums over its rows: `histogram`, how many records
of each class hold each position of an attribute, and `tuples`, how many records hold each combination of positions.
The answers for the parts of a table add up to the answer for the whole, however it was split. An engine decides
nothing: groups are made of tuples, and minima over groups are taken, by whoever asked.

Every attribute is an axis of positions 0..size-1 (leaves in tree order, labels in label order, numbers by rank).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]
Measure = Callable[[NDArray[np.int64]], NDArray[np.float64]]
"""(groups, values) of counts, no group empty, to (groups,): the larger, the more private."""


@dataclass(frozen=True)
class Needs:
    """What one requirement asks to be counted: the groups of records alike on these attributes.

    `by` is the number of the sensitive column by whose values each group is counted, `population` that of the
    population which is counted beside the table, as a second value. `measure` tells how private such a group is; it
    must be monotone: of the parts of a group at least one measures no more than the group. Without it a group
    measures how many records it has. Engines count and do not measure.
    """

    on: tuple[int, ...]
    by: int | None = None
    population: int | None = None
    measure: Measure | None = None


@dataclass(frozen=True, eq=False)
class Records:
    """A table in positions: one array (rows,) per attribute, its number of positions, and each row's class.

    `weights` (rows,) counts identical records; None means one each. `classes` (rows,) are 0..n_classes-1.
    `sensitive`: columns (rows,) of codes that requirements count by, each 0..size-1. `populations`: tables of other
    people on the same axes, for each the positions of the attributes that it has.
    """

    positions: tuple[Positions, ...]
    sizes: tuple[int, ...]
    classes: Positions
    n_classes: int
    weights: NDArray[np.int64] | None = None
    sensitive: tuple[Positions, ...] = ()
    sensitive_sizes: tuple[int, ...] = ()
    populations: tuple[Mapping[int, Positions], ...] = ()

    @property
    def rows(self) -> int:
        """Rows held, before weights."""
        return len(self.classes)


@dataclass(frozen=True, eq=False)
class Tuples:
    """How many records hold each combination of positions, on the attributes that a requirement names.

    `columns`: for each of them, in the order of `on`, the positions (tuples,). `counts` (tuples,): how many records; it
    is empty where every tuple stands for one. `codes` (tuples,): the value by which they are counted, where that is
    asked, of `values` many; of a population 0 is the table and 1 the population. A combination may be listed more than
    once: what counts is the sum. The arrays belong to whoever asked.
    """

    columns: tuple[Positions, ...]
    counts: NDArray[np.int64]
    codes: Positions | None = None
    values: int = 1

    def __len__(self) -> int:
        return len(self.columns[0])


def added(parts: Sequence[Tuples]) -> Tuples:
    """The tuples of a whole table from those of its parts.

    >>> one = Tuples((np.array([0, 1], dtype=np.uint8),), np.array([2, 3]))
    >>> two = Tuples((np.array([1], dtype=np.uint8),), np.empty(0, dtype=np.int64))
    >>> both = added([one, two])
    >>> both.columns[0].tolist(), both.counts.tolist()
    ([0, 1, 1], [2, 3, 1])
    """
    columns: list[Any] = [np.concatenate(column) for column in zip(*(part.columns for part in parts), strict=True)]
    counts = [part.counts if len(part.counts) else np.ones(len(part), dtype=np.int64) for part in parts]
    codes: Any = [part.codes for part in parts if part.codes is not None]
    return Tuples(tuple(columns), np.concatenate(counts), np.concatenate(codes) if codes else None, parts[0].values)


class Engine(Protocol):
    """Who counts. Both answers are sums over rows."""

    def histogram(self, records: Records, attribute: int) -> NDArray[np.int64]:
        """(positions, classes): how many records hold each position of an attribute, by class."""

    def tuples(self, records: Records, need: Needs) -> Tuples:
        """How many records hold each combination of positions on a requirement's attributes, by its values."""
