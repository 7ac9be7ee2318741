"""A table as it will be written: each column in its canonical values, ascending, with the place of each row's value.

Rows are taken from it piece by piece, in whatever order; no piece is longer than it needs to be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.canonical import canonical
from sfumato.data.codes import is_list, pruned, rank, side_by_side, single, spread
from sfumato.data.table import AnyColumn, Column, ItemColumn

Rows = NDArray[np.int64]
Codes = NDArray[np.unsignedinteger[Any]]
NEAR = 2**21
"""Rows of a column in codes, up to which all of it stays near the processor."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """Columns in canonical values: flat ones in codes, lists as Arrow has them; and their types.

    A type is that of the whole column: some rows alone could make do with another.
    """

    columns: Mapping[str, Column | pa.Array[Any]]
    kinds: Mapping[str, pa.DataType]
    rows: int

    @classmethod
    def of(cls, table: pa.Table) -> Sheet:
        """From Arrow columns."""
        whole = side_by_side(lambda name: canonical(name, single(table.column(name))), table.column_names)
        arrays = dict(zip(table.column_names, whole, strict=True))
        columns = {name: array if is_list(array.type) else rank(array) for name, array in arrays.items()}
        return cls(columns, {name: array.type for name, array in arrays.items()}, table.num_rows)

    @classmethod
    def coded(cls, columns: Mapping[str, AnyColumn], rows: int) -> Sheet:
        """From columns in codes, without a value that no row shows: no row is spelled out."""
        found = dict(zip(columns, side_by_side(_coded, columns, columns.values()), strict=True))
        return cls({name: one[0] for name, one in found.items()}, {name: one[1] for name, one in found.items()}, rows)


def _coded(name: str, column: AnyColumn) -> tuple[Column | pa.Array[Any], pa.DataType]:
    if isinstance(column, ItemColumn):
        lists = canonical(name, column.decode())
        return lists, lists.type
    used = _in_use(column)
    array = canonical(name, used.values)
    distinct = rank(array)
    if _identity(distinct):
        return Column(used.codes, distinct.values), array.type
    return spread(used.codes, distinct), array.type


def _in_use(column: Column) -> Column:
    return column if column.counts[:-1].all() else pruned(column.codes, column.values)


def _identity(distinct: Column) -> bool:
    """Whether values stood in their canonical order already, each once."""
    return len(distinct.values) == len(distinct.codes) and bool((np.diff(distinct.codes.astype(np.int64)) == 1).all())


def regrouped(pieces: Iterable[Rows], size: int) -> Iterator[Rows]:
    """The same rows in pieces of this size, but for the last.

    >>> [piece.tolist() for piece in regrouped([np.array([3, 1]), np.array([2, 0, 4])], 2)]
    [[3, 1], [2, 0], [4]]
    """
    held: list[Rows] = []
    count = 0
    for piece in pieces:
        held.append(piece)
        count += len(piece)
        while count >= size:
            whole = np.concatenate(held)
            yield whole[:size]
            held, count = [whole[size:]], count - size
    if count:
        yield np.concatenate(held)


def taking(rows: Rows, total: int) -> Callable[[Codes], Codes]:
    """How to take these rows, each once, of columns of so many.

    A large column is gone through in its own order first: what comes next lies near then, and the few that are taken
    are put in theirs near the processor.

    >>> taking(np.array([2, 0]), 3)(np.array([7, 8, 9], dtype=np.uint8)).tolist()
    [9, 7]
    """
    if total <= NEAR:
        return lambda codes: codes[rows]
    there = np.zeros(total, dtype=np.bool_)
    there[rows] = True
    ascending = np.flatnonzero(there)
    places = np.empty(total, dtype=np.uint32)
    places[ascending] = np.arange(len(ascending), dtype=np.uint32)
    of_row = places[rows]
    return lambda codes: codes[ascending][of_row]


def in_order(rows: int, size: int) -> Iterator[Rows]:
    """All rows as they stand."""
    return (np.arange(begin, min(begin + size, rows)) for begin in range(0, rows, size))
