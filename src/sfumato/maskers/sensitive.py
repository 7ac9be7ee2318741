"""What requirements are measured by: a table's sensitive columns; and whether the most masked table holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from sfumato.counting import Measure
from sfumato.data.encoding import encode_column
from sfumato.data.lookalikes import alike
from sfumato.data.table import Column, ItemColumn, Table, narrow
from sfumato.errors import Infeasible, SchemaError
from sfumato.privacy.requirements import Basic, Requirement, Sensitive

NOBODY = Sensitive((), np.zeros(0, dtype=np.int64))
"""For requirements that count records alone."""


def settled(table: Table, requirements: Sequence[Requirement]) -> Table:
    """The table with sensitive numbers that are the same held as one value: -0.0 is 0.0, and NaN is missing."""
    names = {r.sensitive for r in requirements if r.sensitive is not None and r.sensitive in table.columns}
    changed = {name: _settled(name, table) for name in names if _unsettled(table.columns[name].values)}
    return replace(table, columns={**table.columns, **changed}) if changed else table


def _unsettled(values: pa.Array[Any]) -> bool:
    if not pt.is_floating(values.type):
        return False
    found = values.to_numpy(zero_copy_only=False)
    return bool((np.isnan(found) | ((found == 0) & np.signbit(found))).any())


def _settled(name: str, table: Table) -> Column | ItemColumn:
    rows = table.columns[name].decode()
    found = rows.to_numpy(zero_copy_only=False) + rows.type.to_pandas_dtype()(0)  # missing is NaN; zero has no sign
    return encode_column(
        name, pa.chunked_array([pa.array(found, type=rows.type, from_pandas=True)]), table.schema[name]
    )


def counted(table: Table, requirements: Sequence[Requirement]) -> Table:
    """The table as requirements count it: sensitive labels that look alike are one value.

    For counting alone: what is released keeps its labels.
    """
    names = {r.sensitive for r in requirements if r.sensitive is not None and r.sensitive in table.columns}
    changed = {name: _joined(table.column(name)) for name in names if _look_alikes(table.columns[name])}
    return replace(table, columns={**table.columns, **changed}) if changed else table


def look_alikes(table: Table, requirements: Sequence[Requirement]) -> dict[str, int]:
    """How many sensitive labels look like another one, by attribute; only attributes that have any."""
    names = dict.fromkeys(r.sensitive for r in requirements if r.sensitive is not None and r.sensitive in table.columns)
    found = {name: sum(map(len, _look_alikes(table.columns[name]))) for name in names}
    return {name: number for name, number in found.items() if number}


def _look_alikes(column: Column | ItemColumn) -> list[list[int]]:
    texts = pt.is_string(column.values.type) or pt.is_large_string(column.values.type)
    return alike([str(label) for label in column.values.to_pylist()]) if texts and isinstance(column, Column) else []


def _joined(column: Column) -> Column:
    """The first of labels that look alike stands for all of them."""
    stands = np.arange(len(column.values) + 1)
    for first, *others in _look_alikes(column):
        stands[others] = first
    kept, codes = np.unique(stands, return_inverse=True)  # the last is missing, and stays the last
    return Column(narrow(codes[column.codes], len(kept) - 1), column.values.take(pa.array(kept[:-1], type=pa.int64())))


def sensitive_columns(table: Table, requirements: Sequence[Basic]) -> dict[str, Sensitive]:
    """Every sensitive column that some requirement counts by, in the order in which they are asked about."""
    names = dict.fromkeys(part.sensitive for part in requirements if part.sensitive is not None)
    return {name: _column(table, name) for name in names}


def _column(table: Table, name: str) -> Sensitive:
    found = Sensitive.of(table, name)
    if len(found.values) < 2:
        given = "an attribute missing in every row" if None in found.values else "a single value in the whole table"
        raise SchemaError(
            name,
            "a sensitive attribute has at least two values",
            given=given,
            remedy="leave it out of the requirements: what everybody has cannot be hidden",
        )
    return found


def measure_of(requirement: Basic, columns: Mapping[str, Sensitive]) -> Measure:
    """How private groups are under a requirement."""
    return requirement.measure(NOBODY if requirement.sensitive is None else columns[requirement.sensitive])


def check_top(table: Table, requirements: Sequence[Basic], *, people: Mapping[int, int] | None = None) -> None:
    """If even the most masked table fails a requirement, nothing can be published.

    `people`: how many people a population has, by the number of the requirement that asks about it.
    """
    columns = sensitive_columns(table, requirements)
    for number, part in enumerate(requirements):
        whole = np.array([table.rows, *([people[number]] if people and number in people else [])])
        counts = whole if part.sensitive is None else columns[part.sensitive].totals
        level = float(measure_of(part, columns)(counts[None, :])[0])
        if level < part.threshold:
            raise Infeasible(
                str(part),
                "even the most masked table must satisfy it",
                given=f"a table with {part.falls_short(level)}",
                remedy=part.remedy(level),
            )
