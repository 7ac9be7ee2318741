"""Holding: what every region must satisfy, asked of many ways to cut at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.counting import Measure
from sfumato.data.table import Table
from sfumato.maskers.sensitive import measure_of, sensitive_columns
from sfumato.privacy.requirements import Basic, KAnonymity

Histogram = NDArray[np.int64]
"""(positions, classes) or (positions, sensitive values): a region's records."""
Ways = Callable[[Histogram], NDArray[np.int64]]
"""Adds a histogram up to (ways, children, columns): the children of each way to cut."""


@dataclass(frozen=True, eq=False)
class Counted:
    """A region's records along one attribute: by class, and by each sensitive column that is asked about."""

    classes: Histogram
    sensitive: Mapping[str, Histogram]


@dataclass(frozen=True)
class Measured:
    """A requirement on a sensitive column."""

    sensitive: str
    measure: Measure
    threshold: float


@dataclass(frozen=True)
class Holding:
    """Every region has at least `least` records, and reaches the threshold of every measure."""

    least: int
    measured: tuple[Measured, ...] = ()

    @classmethod
    def of(cls, table: Table, requirements: Sequence[Basic]) -> Holding:
        """All requirements, whatever they are on: a region looks alike on every attribute."""
        columns = sensitive_columns(table, requirements)
        measured = (
            Measured(part.sensitive, measure_of(part, columns), part.threshold)
            for part in requirements
            if part.sensitive is not None
        )
        return cls(max((part.k for part in requirements if isinstance(part, KAnonymity)), default=1), tuple(measured))

    def able(self, counted: Counted, ways: Ways) -> NDArray[np.int64]:
        """The numbers of the ways whose children all hold, or are empty."""
        sizes = ways(counted.classes).sum(axis=2)
        found = np.flatnonzero(((sizes >= self.least) | (sizes == 0)).all(axis=1))
        for need in self.measured:
            found = found[_reach(ways(counted.sensitive[need.sensitive])[found], need)]
        return found


def _reach(children: NDArray[np.int64], need: Measured) -> NDArray[np.bool_]:
    """(ways,): whether every child that holds records measures enough; children are (ways, children, values)."""
    flat = children.reshape(-1, children.shape[2])
    full = flat.any(axis=1)
    holds = np.ones(len(flat), dtype=bool)
    holds[full] = need.measure(flat[full]) >= need.threshold
    return np.asarray(holds.reshape(children.shape[:2]).all(axis=1), dtype=bool)
