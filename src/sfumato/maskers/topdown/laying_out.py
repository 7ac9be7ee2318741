"""Laying out: a table's rows as positions on axes, with the people of populations on the same axes.

An axis of a k-map holds the values of the table and of the population together, so that everybody has a position.
Values that nobody of the table has are never offered nor named: the growers go by the table's histogram.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.counting import Positions
from sfumato.data.cut import Axis, NumberAxis, labels_of, make_axis, positions
from sfumato.data.encoding import encode_column
from sfumato.data.schema import Attribute, Category
from sfumato.data.table import Codes, Column, Table, decode
from sfumato.errors import TableError
from sfumato.privacy.requirements import Basic, KMap
from sfumato.privacy.requirements.population import read_population


@dataclass(frozen=True, eq=False)
class Layout:
    """Axes, the table's positions on them, and those of each population, by attribute and by requirement number."""

    axes: tuple[Axis, ...]
    positions: tuple[Positions, ...]
    populations: Mapping[int, Mapping[int, Positions]]


def lay_out(table: Table, requirements: Sequence[Basic], many: Mapping[str, int]) -> Layout:
    """Every quasi-identifying attribute that some requirement is about.

    `many`: by attribute, how many records share a value that is nobody's own.
    """
    names = [name for name in table.schema.quasi if any(name in part.on for part in requirements)]
    people = {at: _people(table, part) for at, part in enumerate(requirements) if isinstance(part, KMap)}
    found = [_lay_out(table, name, {at: of for at, of in people.items() if name in of}, many[name]) for name in names]
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
        raise TableError("population", f"{requirement} needs people whose {', '.join(requirement.on)} are known",
                         given="nobody without a missing value", remedy="give another population")  # fmt: skip
    return {name: Column(column.codes[kept], column.values) for name, column in columns.items()}


def _missing(column: Column) -> NDArray[np.bool_]:
    """(rows,): which miss a value; a number that is not a number is missing."""
    values = column.values.to_numpy(zero_copy_only=False)
    gone = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
    found: NDArray[np.bool_] = np.append(gone, True)[column.codes]
    return found


@dataclass(frozen=True, eq=False)
class _LaidOut:
    axis: Axis
    own: Positions
    others: Mapping[int, Positions]


def _lay_out(table: Table, name: str, people: Mapping[int, Mapping[str, Column]], many: int) -> _LaidOut:
    attribute, own = table.schema[name], table.column(name)
    if not people:
        axis = make_axis(name, attribute, own, many=many)
        return _LaidOut(axis, positions(axis, own), {})
    columns = [own, *(of[name] for of in people.values())]
    joint = _together(name, attribute, columns)
    axis = make_axis(name, attribute, joint, many=many)
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
        raise TableError("population", f"{name} is the same kind of value in the table and in the population",
                         given=" and ".join(str(array.type) for array in arrays),
                         remedy=f"give {name} the same type in both") from None  # fmt: skip
    found = encode_column(name, both.column(name), attribute)
    if not isinstance(found, Column):
        raise TypeError(f"{name} is set-valued")
    return found


def _split(codes: Codes, lengths: Sequence[int]) -> list[Positions]:
    ends = np.cumsum(lengths)
    return [codes[end - length : end] for end, length in zip(ends, lengths, strict=True)]
