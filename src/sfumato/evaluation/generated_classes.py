"""Classes of a generated table: a classifier learns from generated rows, and is asked about raw rows.

The generated rows were made from all raw rows, but under a budget, which bounds what each of them leaves in it: so
raw rows may be asked about. All of it compares with the raw table, and is for the holder's eyes only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.calendar import is_calendar_type
from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.schema import Category, ItemSet, Number, Schema
from sfumato.data.table import Table
from sfumato.errors import TableError
from sfumato.evaluation.classes import Alike, alike_error, class_codes, report, wrong
from sfumato.evaluation.scores import LARGEST, SMALLEST, Score
from sfumato.evaluation.training import Part, raw_features, split, usable

TREE = "tree"


@dataclass(frozen=True, eq=False)
class Both:
    """Raw rows and generated ones in one table, whose codes are of both; `raw`: how many of the first are raw."""

    rows: Table
    raw: int


def generated_class_scores(table: Table, masked: Masked, column: str) -> list[Score]:
    """The errors of `classes`, on raw rows held out; none where there is too little to compare.

    AE: learned from generated rows. UE: nothing is left without the generated columns but the commonest class.
    """
    below = _below(table, masked, column)
    both, known = below.rows, below.raw
    if not all(SMALLEST <= rows <= LARGEST for rows in (known, both.rows - known)):
        return []
    try:
        classes = class_codes(both, column)
    except TableError:  # one class: under a budget nothing is refused for what the records are
        return []
    features = raw_features(both, usable(both, column, None))
    raw = split(classes[:known])
    made = [Part(np.arange(known, both.rows), raw[0].test)]
    commonest = wrong([], classes, raw, TREE)
    alike = Alike(*(alike_error([features], classes, parts, TREE) for parts in (raw, made)))
    found = report(
        TREE,
        raw=wrong(features, classes, raw, TREE),
        masked=wrong(features, classes, made, TREE),
        removed=commonest,
        commonest=commonest,
        alike=alike,
    )
    return [replace(score, publishable=False) for score in found.scores()]


def _below(table: Table, masked: Masked, column: str) -> Both:
    """Raw rows, and below them the generated ones, of either those with a class."""
    kinds: dict[str, type[Number | Category]] = {
        name: Number if isinstance(table.schema[name], Number) else Category
        for name in masked.names
        if name in table.columns and not isinstance(table.schema[name], ItemSet)
    }
    if column not in kinds:
        return Both(table, 0)
    parts = [_with_class(each.to_arrow(), kinds, column) for each in (table, masked)]
    schema = Schema({name: kind() for name, kind in kinds.items()})
    return Both(encode(pa.concat_tables(parts), schema), parts[0].num_rows)


def _with_class(rows: pa.Table, kinds: Mapping[str, type[Number | Category]], column: str) -> pa.Table:
    plain = {
        n: _number(rows.column(n)) if kind is Number else rows.column(n).cast(pa.string()) for n, kind in kinds.items()
    }
    return pa.table(plain).filter(pc.is_valid(plain[column]))


def _number(column: Any) -> Any:
    """Numbers as such, dates and times as microseconds."""
    if is_calendar_type(column.type):
        column = column.cast(pa.timestamp("us", tz=getattr(column.type, "tz", None)), safe=False).cast(pa.int64())
    return column.cast(pa.float64())
