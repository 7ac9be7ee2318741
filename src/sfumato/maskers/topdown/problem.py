"""One table with its requirements, ready to be searched.

Laying out: a table's rows are positions on axes, with the people of populations on the same axes. An axis of a k-map
holds the values of the table and of the population together, so that everybody has a position. Values that nobody of
the table has are never offered nor named: the growers go by the table's histogram.

Beside earlier releases the groups that they show are one more attribute, fully refined from the start. So every group
that is counted is one that an attacker sees who joins all releases row by row, and the search goes on only as long as
these keep every requirement. The attribute is never scored and never shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.counting import Engine, Needs, Positions, Records
from sfumato.data.axis import NumberAxis, labels_of, make_axis, positions
from sfumato.data.detail import Wish
from sfumato.data.encoding import encode_column
from sfumato.data.schema import Attribute, Category, ItemSet
from sfumato.data.table import Codes, Column, ItemColumn, Table, decode, narrow
from sfumato.errors import Infeasible, RecipeError, TableError
from sfumato.maskers.masker import Fixed, Labels
from sfumato.maskers.sensitive import check_top, measure_of, sensitive_columns
from sfumato.maskers.topdown.growers import AnyAxis
from sfumato.maskers.topdown.item_sets import SetAxis, lay_out_sets
from sfumato.maskers.topdown.refinement import Refinement, Session
from sfumato.maskers.topdown.search import Rules, Search
from sfumato.privacy.requirements import Basic, KAnonymity, KMap, Requirement, codes_of, largest_k
from sfumato.privacy.requirements.anonymity import read_population


@dataclass(frozen=True, eq=False)
class Layout:
    """Axes, the table's positions on them, and those of each population, by attribute and by requirement number."""

    axes: tuple[AnyAxis, ...]
    positions: tuple[Positions, ...]
    populations: Mapping[int, Mapping[int, Positions]]


def lay_out(table: Table, rules: Rules) -> Layout:
    """Every quasi-identifying attribute that some requirement is about."""
    requirements, many = rules.requirements, rules.many or largest_k(rules.requirements)
    names = [name for name in table.schema.quasi if any(name in part.on for part in requirements)]
    people = {at: _people(table, part) for at, part in enumerate(requirements) if isinstance(part, KMap)}
    near = {name: {at: of for at, of in people.items() if name in of} for name in names}
    found = [one for name in names for one in _laid_out(table, name, near[name], many[name], rules.detail.get(name))]
    populations = {
        number: {at: one.others[number] for at, one in enumerate(found) if number in one.others} for number in people
    }
    return Layout(tuple(one.axis for one in found), tuple(one.own for one in found), populations)


def _people(table: Table, requirement: KMap) -> dict[str, Column]:
    """The columns of a population, without people who miss what nobody of the table misses: they fit nobody."""
    population = read_population(requirement, table.schema)
    columns = {name: population.column(name) for name in requirement.on}
    kept = np.ones(population.rows, dtype=bool)
    for name, column in columns.items():
        if not _missing(table.column(name)).any():
            kept &= ~_missing(column)
    if not kept.any():
        raise TableError(
            "population",
            f"{requirement} needs people whose {', '.join(requirement.on)} are known",
            given="nobody without a missing value",
            remedy="give another population",
        )
    return {name: Column(column.codes[kept], column.values) for name, column in columns.items()}


def _missing(column: Column) -> NDArray[np.bool_]:
    """(rows,): which miss a value; a number that is not a number is missing."""
    values = column.values.to_numpy(zero_copy_only=False)
    gone = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
    found: NDArray[np.bool_] = np.append(gone, True)[column.codes]
    return found


@dataclass(frozen=True, eq=False)
class _LaidOut:
    axis: AnyAxis
    own: Positions
    others: Mapping[int, Positions]


def _laid_out(
    table: Table, name: str, people: Mapping[int, Mapping[str, Column]], many: int, wish: Wish | None
) -> list[_LaidOut]:
    """An attribute on its axis; a set-valued one on several."""
    attribute, column = table.schema[name], table.columns[name]
    if not isinstance(attribute, ItemSet) or not isinstance(column, ItemColumn):
        return [_lay_out(table, name, people, many, wish)]
    found = lay_out_sets(name, attribute, column)
    return [_LaidOut(axis, own, {}) for axis, own in zip(found.axes, found.positions, strict=True)]


def _lay_out(
    table: Table, name: str, people: Mapping[int, Mapping[str, Column]], many: int, wish: Wish | None
) -> _LaidOut:
    attribute, own = table.schema[name], table.column(name)
    if not people:
        axis = make_axis(name, attribute, own, many=many, wish=wish)
        return _LaidOut(axis, positions(axis, own), {})
    columns = [own, *(of[name] for of in people.values())]
    joint = _together(name, attribute, columns)
    axis = make_axis(name, attribute, joint, many=many, wish=wish)
    parts = _split(positions(axis, joint), [len(column.codes) for column in columns])
    if isinstance(axis, NumberAxis):  # many records of the table, not many people of the population
        axis = replace(axis, held=np.bincount(parts[0], minlength=axis.size)[: len(axis.numbers)])
    return _LaidOut(axis, parts[0], dict(zip(people, parts[1:], strict=True)))


def _together(name: str, attribute: Attribute, columns: Sequence[Column]) -> Column:
    """One column of all rows, coded over the union of the values."""
    arrays: list[pa.Array[Any]] = [column.decode() for column in columns]
    if isinstance(attribute, Category) and len({array.type for array in arrays}) > 1:
        arrays = [decode(column.codes, pa.array(labels_of(column.values), pa.string())) for column in columns]
    try:
        both = pa.concat_tables([pa.table({name: array}) for array in arrays], promote_options="permissive")
    except pa.ArrowException:
        raise TableError(
            "population",
            f"{name} is the same kind of value in the table and in the population",
            given=" and ".join(str(array.type) for array in arrays),
            remedy=f"give {name} the same type in both",
        ) from None
    found = encode_column(name, both.column(name), attribute)
    if not isinstance(found, Column):
        raise TypeError(f"{name} is set-valued")
    return found


def _split(codes: Codes, lengths: Sequence[int]) -> list[Positions]:
    ends = np.cumsum(lengths)
    return [codes[end - length : end] for end, length in zip(ends, lengths, strict=True)]


MOST = 4096
"""Parts that one refinement makes at most."""


def with_fixed(records: Records, requirements: Sequence[Requirement], fixed: Fixed) -> Records:
    """The records with one more attribute for each requirement, after all others."""
    if not fixed:
        return records
    groups = [fixed[frozenset(requirement.on)] for requirement in requirements]
    sizes = tuple(int(of.max()) + 1 for of in groups)
    more = tuple(narrow(of, size) for of, size in zip(groups, sizes, strict=True))
    return replace(records, positions=(*records.positions, *more), sizes=(*records.sizes, *sizes))


def set_apart(session: Session, records: Records, first: int) -> None:
    """Refine the attributes from `first` on into all their positions."""
    for attribute in range(first, len(records.sizes)):
        for step in _steps(attribute, records.sizes[attribute]):
            session.refine(step)


def _steps(attribute: int, size: int) -> Iterator[Refinement]:
    """Into runs of positions, then each run into its positions.

    >>> [step.parts for step in _steps(0, 3)]
    [((0, 1), (1, 2), (2, 3))]
    """
    runs = [(first, min(first + MOST, size)) for first in range(0, size, MOST)]
    if len(runs) > 1:
        yield Refinement(attribute, 0, tuple(runs), tuple(range(1, len(runs) + 1)))
    number = len(runs) + 1
    for value, (first, end) in enumerate(runs, start=1):
        parts = tuple((at, at + 1) for at in range(first, end))
        yield Refinement(attribute, value if len(runs) > 1 else 0, parts, tuple(range(number, number + len(parts))))
        number += len(parts)


def refuse_broken(session: Session, requirements: Sequence[Requirement], thresholds: Sequence[float]) -> None:
    """If the earlier releases alone break a requirement, nothing can be added to them.

    The session is used up by the question.
    """
    now = session.minima([]).level
    for requirement, threshold, left in zip(requirements, thresholds, now, strict=True):
        if left < threshold:
            raise Infeasible(
                str(requirement),
                "the earlier releases, joined row by row, must satisfy it",
                given="groups that break it before anything new is shown",
                remedy="ask for less than they keep together, or take one of them back",
            )


@dataclass(frozen=True, eq=False)
class Problem:
    """One table with its requirements, ready to be searched, from scratch or without some records.

    `needs` are what the requirements ask to be counted, one each. `beside`: the records have one more attribute for
    each requirement, the groups of earlier releases.
    """

    axes: Sequence[AnyAxis]
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
        counted = [self.engine.histogram(records, attribute) for attribute in range(len(self.axes))]
        return Search(self._opened(records), self.axes, self.rules, counted=counted)

    def _opened(self, records: Records) -> Session:
        from sfumato.maskers.topdown.groups import open_groups

        later = [at for at, axis in enumerate(self.axes) if isinstance(axis, SetAxis)]
        session: Session = open_groups(self.engine, records, self.needs, waiting=later)
        set_apart(session, records, len(self.axes))
        return session


def make_problem(table: Table, labels: Labels, rules: Rules, engine: Engine, *, fixed: Fixed | None = None) -> Problem:
    """Lay a table out, and refuse what even its most masked state does not hold.

    `fixed`: the groups of earlier releases of the same rows.
    """
    layout = lay_out(table, rules)
    people = {number: len(next(iter(columns.values()))) for number, columns in layout.populations.items()}
    check_top(table, rules.requirements, people=people)
    if fixed and people:
        raise RecipeError(
            "k-map",
            "nobody but the table's people are in its earlier releases",
            given="a population beside earlier releases",
            remedy="ask for k-anonymity",
        )
    records = with_fixed(_records(table, layout, labels, rules.requirements), rules.requirements, fixed or {})
    needs = _needs(table, layout, rules.requirements)
    if fixed:
        needs = [replace(need, on=(*need.on, len(layout.axes) + number)) for number, need in enumerate(needs)]
    return Problem(layout.axes, records, needs, rules, engine, bool(fixed))


def _records(table: Table, layout: Layout, labels: Labels, requirements: Sequence[Basic]) -> Records:
    """A table's rows as positions on the axes, with their classes and their sensitive values."""
    columns = sensitive_columns(table, requirements)
    return Records(
        layout.positions,
        tuple(axis.size for axis in layout.axes),
        labels.classes,
        labels.n,
        sensitive=tuple(codes_of(table, name) for name in columns),
        sensitive_sizes=tuple(len(column.values) for column in columns.values()),
        populations=tuple(layout.populations.values()),
    )


def _needs(table: Table, layout: Layout, requirements: Sequence[Basic]) -> list[Needs]:
    at: dict[str, list[int]] = {}
    for number, axis in enumerate(layout.axes):
        at.setdefault(axis.name, []).append(number)
    columns = sensitive_columns(table, requirements)
    names, populations = list(columns), list(layout.populations)
    found = []
    for number, part in enumerate(requirements):
        need = Needs(tuple(number for name in part.on for number in at[name]))
        if not isinstance(part, KAnonymity):
            by = None if part.sensitive is None else names.index(part.sensitive)
            population = populations.index(number) if number in populations else None
            need = replace(need, by=by, population=population, measure=measure_of(part, columns))
        found.append(need)
    return found


def _kept(records: Records, kept: NDArray[np.bool_]) -> Records:
    weights = None if records.weights is None else records.weights[kept]
    return replace(
        records,
        positions=tuple(p[kept] for p in records.positions),
        classes=records.classes[kept],
        weights=weights,
        sensitive=tuple(codes[kept] for codes in records.sensitive),
    )
