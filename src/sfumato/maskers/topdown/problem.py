"""One table with its requirements, ready to be searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.counting import Engine, Needs, Records, Session
from sfumato.data.cut import Axis, positions
from sfumato.data.table import Table
from sfumato.maskers.masker import Labels
from sfumato.maskers.topdown.search import Rules, Search
from sfumato.maskers.topdown.together import refuse_broken, set_apart
from sfumato.privacy.requirements import Basic


@dataclass(frozen=True, eq=False)
class Problem:
    """One table with its requirements, ready to be searched, from scratch or without some records.

    `beside`: the records have one more attribute for each requirement, the groups of earlier releases.
    """

    axes: Sequence[Axis]
    records: Records
    rules: Rules
    engine: Engine
    beside: bool = False

    @property
    def requirements(self) -> tuple[Basic, ...]:
        """What must hold."""
        return self.rules.requirements

    def open(self, without: NDArray[np.bool_] | None) -> Search:
        """A search at the top, over all records or over those not left out."""
        at = {axis.name: number for number, axis in enumerate(self.axes)}
        needs = [
            Needs((*(at[name] for name in requirement.on), *([len(at) + number] if self.beside else [])))
            for number, requirement in enumerate(self.requirements)
        ]
        records = self.records if without is None else _kept(self.records, ~without)
        if self.beside:
            refuse_broken(self._opened(records, needs), self.requirements, self.rules.thresholds)
        return Search(self._opened(records, needs), self.axes, self.rules)

    def _opened(self, records: Records, needs: Sequence[Needs]) -> Session:
        session = self.engine.open(records, needs)
        set_apart(session, records, len(self.axes))
        return session


def make_records(table: Table, axes: Sequence[Axis], labels: Labels) -> Records:
    """A table's rows as positions on the axes, with their classes."""
    return Records(
        tuple(positions(axis, table.column(axis.name)) for axis in axes),
        tuple(axis.size for axis in axes), labels.classes, labels.n,
    )  # fmt: skip


def _kept(records: Records, kept: NDArray[np.bool_]) -> Records:
    weights = None if records.weights is None else records.weights[kept]
    return Records(tuple(p[kept] for p in records.positions), records.sizes, records.classes[kept],
                   records.n_classes, weights)  # fmt: skip
