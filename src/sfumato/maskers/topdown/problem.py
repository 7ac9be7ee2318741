"""One table with its requirements, ready to be searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.counting import Engine, Needs, Records, Session
from sfumato.data.cut import Axis
from sfumato.data.table import Table
from sfumato.errors import RecipeError
from sfumato.maskers.masker import Fixed, Labels
from sfumato.maskers.sensitive import check_top, measure_of, sensitive_columns
from sfumato.maskers.topdown.laying_out import Layout, lay_out
from sfumato.maskers.topdown.search import Rules, Search
from sfumato.maskers.topdown.together import refuse_broken, set_apart, with_fixed
from sfumato.privacy.requirements import Basic, KAnonymity, largest_k


@dataclass(frozen=True, eq=False)
class Problem:
    """One table with its requirements, ready to be searched, from scratch or without some records.

    `needs` are what the requirements ask to be counted, one each. `beside`: the records have one more attribute for
    each requirement, the groups of earlier releases.
    """

    axes: Sequence[Axis]
    records: Records
    needs: Sequence[Needs]
    rules: Rules
    engine: Engine
    beside: bool = False

    @property
    def requirements(self) -> tuple[Basic, ...]:
        """What must hold."""
        return self.rules.requirements

    def open(self, without: NDArray[np.bool_] | None) -> Search:
        """A search at the top, over all records or over those not left out."""
        records = self.records if without is None else _kept(self.records, ~without)
        if self.beside:
            refuse_broken(self._opened(records), self.requirements, self.rules.thresholds)
        return Search(self._opened(records), self.axes, self.rules)

    def _opened(self, records: Records) -> Session:
        session = self.engine.open(records, self.needs)
        set_apart(session, records, len(self.axes))
        return session


def make_problem(table: Table, labels: Labels, rules: Rules, engine: Engine, *, fixed: Fixed | None = None) -> Problem:
    """Lay a table out, and refuse what even its most masked state does not hold.

    `fixed`: the groups of earlier releases of the same rows.
    """
    layout = lay_out(table, rules.requirements, rules.many or largest_k(rules.requirements))
    people = {number: len(next(iter(columns.values()))) for number, columns in layout.populations.items()}
    check_top(table, rules.requirements, people=people)
    if fixed and people:
        raise RecipeError("k-map", "nobody but the table's people are in its earlier releases",
                          given="a population beside earlier releases", remedy="ask for k-anonymity")  # fmt: skip
    records = with_fixed(_records(table, layout, labels, rules.requirements), rules.requirements, fixed or {})
    needs = _needs(table, layout, rules.requirements)
    if fixed:
        needs = [replace(need, on=(*need.on, len(layout.axes) + number)) for number, need in enumerate(needs)]
    return Problem(layout.axes, records, needs, rules, engine, bool(fixed))


def _records(table: Table, layout: Layout, labels: Labels, requirements: Sequence[Basic]) -> Records:
    """A table's rows as positions on the axes, with their classes and their sensitive values."""
    columns = sensitive_columns(table, requirements)
    return Records(
        layout.positions, tuple(axis.size for axis in layout.axes), labels.classes, labels.n,
        sensitive=tuple(table.column(name).codes for name in columns),
        sensitive_sizes=tuple(len(column.values) for column in columns.values()),
        populations=tuple(layout.populations.values()),
    )  # fmt: skip


def _needs(table: Table, layout: Layout, requirements: Sequence[Basic]) -> list[Needs]:
    at = {axis.name: number for number, axis in enumerate(layout.axes)}
    columns = sensitive_columns(table, requirements)
    names, populations = list(columns), list(layout.populations)
    found = []
    for number, part in enumerate(requirements):
        need = Needs(tuple(at[name] for name in part.on))
        if not isinstance(part, KAnonymity):
            by = None if part.sensitive is None else names.index(part.sensitive)
            population = populations.index(number) if number in populations else None
            need = replace(need, by=by, population=population, measure=measure_of(part, columns))
        found.append(need)
    return found


def _kept(records: Records, kept: NDArray[np.bool_]) -> Records:
    weights = None if records.weights is None else records.weights[kept]
    return replace(records, positions=tuple(p[kept] for p in records.positions), classes=records.classes[kept],
                   weights=weights, sensitive=tuple(codes[kept] for codes in records.sensitive))  # fmt: skip
