"""What every region must keep: at least so many records, and what requirements on sensitive columns ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints, Marks
from sfumato.counting import Measure
from sfumato.data.table import Table
from sfumato.maskers.sensitive import measure_of, sensitive_columns
from sfumato.privacy.requirements import Basic, KAnonymity


@dataclass(frozen=True)
class Measured:
    """A requirement on a sensitive column."""

    sensitive: str
    measure: Measure
    threshold: float

    def kept_by(self, groups: Ints) -> Marks:
        """(groups,): which measure enough, of (groups, values) of counts; a group without records keeps everything."""
        full = groups.any(axis=1)
        found = np.ones(len(groups), dtype=bool)
        found[full] = self.measure(groups[full]) >= self.threshold
        return found


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


def reach(children: NDArray[np.int64], need: Measured) -> NDArray[np.bool_]:
    """(ways,): whether every child that holds records measures enough; children are (ways, children, values)."""
    kept = need.kept_by(children.reshape(-1, children.shape[2]))
    return np.asarray(kept.reshape(children.shape[:2]).all(axis=1), dtype=bool)
