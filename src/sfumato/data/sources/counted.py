"""What comes up from an engine that counts: values of single columns with counts, then tuples of places with counts.

`receive` is the one door through which it comes: the first job gives one column at a time, the second one whole numbers
alone. No identifier is among them; both together are the rows without identifiers, in no order. Of identifiers two
numbers are asked: how many rows have one, and how many of these share it with another row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

from sfumato.data.sources.scratch import Tuples
from sfumato.data.sources.source import Repeats
from sfumato.errors import TableError
from sfumato.events import watched

Job = Literal["columns", "values", "tuples", "recount", "repeats"]
NUMBERS_ALONE: tuple[Job, ...] = ("tuples", "repeats")
"""Jobs from which whole numbers come up, and nothing else."""


def receive(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Everything that an engine sends, as it arrives; `job` says what it was asked for."""
    for batch in watched(batches):
        if job in NUMBERS_ALONE and not all(pt.is_integer(kind) for kind in batch.schema.types):
            raise AssertionError("only whole numbers come up from the second job, and of identifiers")
        yield batch


@dataclass(frozen=True, eq=False)
class Values:
    """One column as the first job counted it: `counts` (values + 1,) says how many rows have each, the last none."""

    values: pa.Array[Any]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, batches: Iterable[pa.RecordBatch]) -> Values:
        """Batches of two columns: values, at most one of them null, and how many rows have each.

        >>> batch = pa.record_batch({"v": ["f", None], "n": [2, 1]})
        >>> Values.of([batch]).counts.tolist()
        [2, 1]
        """
        found = list(batches)
        if not found:
            return cls(pa.array([], pa.string()), np.zeros(1, dtype=np.int64))
        table = pa.Table.from_batches(found)
        values, counts = table.column(0).combine_chunks(), table.column(1).to_numpy().astype(np.int64)
        gone = pc.is_null(values).to_numpy(zero_copy_only=False)
        return cls(values.drop_null(), np.append(counts[~gone], counts[gone].sum()))

    @property
    def rows(self) -> int:
        """Rows in all."""
        return int(self.counts.sum())


def checked(values: Mapping[str, Values], batches: Iterable[Tuples], called: str) -> Iterator[Tuples]:
    """The tuples of the second job; in the end each value has the rows that the first one counted."""
    totals = {name: np.zeros(len(column.counts), dtype=np.int64) for name, column in values.items()}
    for batch in batches:
        for name, total in totals.items():
            _add(total, batch.codes[name], batch.weights, called)
        yield batch
    if any((totals[name] != column.counts).any() for name, column in values.items()):
        raise changed(called)


def _add(total: NDArray[np.int64], codes: NDArray[Any], weights: NDArray[Any] | None, called: str) -> None:
    if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < len(total):
        raise changed(called)
    total += np.bincount(codes, weights, minlength=len(total)).astype(np.int64)


def changed(called: str) -> TableError:
    """The two jobs did not count the same rows."""
    return TableError(
        called,
        "the table is the same from the first count to the last",
        given="one that changed while it was counted, or a query that gives something else each time",
        remedy="copy it to a table that nobody changes and try again; nothing was written",
    )


def places(batch: pa.RecordBatch, values: Mapping[str, Values]) -> Tuples:
    """A batch of the second job: a column of places for each attribute, null where missing, and last the weights."""
    codes = {
        name: batch.column(at).fill_null(len(column.values)).to_numpy(zero_copy_only=False)
        for at, (name, column) in enumerate(values.items())
    }
    return Tuples(codes, batch.column(len(values)).to_numpy(zero_copy_only=False).astype(np.int64))


@dataclass(frozen=True)
class Recount:
    """What an engine counted: rows in all, groups alike on some columns, and rows of the smallest of them."""

    on: tuple[str, ...]
    rows: int
    groups: int
    smallest: int


def repeats(batches: Iterable[pa.RecordBatch]) -> Repeats:
    """The answer of an engine, received: one row of two numbers, null where there is no row."""
    (row,) = pa.Table.from_batches(batches).to_pylist()
    return Repeats(int(row["rows"] or 0), int(row["shared"] or 0))
