"""A masked table as a value: what is shown of each row, in the same coded columns as the raw table's."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.grouping import first_rows, group_numbers
from sfumato.data.table import AnyColumn, Array, Table, column_of
from sfumato.display import Card, Grid

Came = Literal["recoded", "moved", "generated"]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Distinct:
    """What rows show, each combination once, and `counts` (combinations,): how many rows show it."""

    masked: Masked
    counts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Masked(Mapping[str, AnyColumn]):
    """The masked columns by name, and beside them what is released as it is.

    `treated`: of each masked column what was done to it, in one word. `came`: where the rows came from. "recoded": each
    is a raw record, shown coarser or as a centre; "moved": all of them stand elsewhere; "generated": they are nobody's.
    `lifted` (rows,): records shown at the top of every masked column. `released`: every released column in order, be it
    masked or not; empty until it is set over its table.

    >>> ages = Masked.of({"age": pa.array(["[0-9]", "[0-9]", None])})
    >>> ages.sizes(["age"]).tolist()
    [2, 1]
    """

    columns: Mapping[str, AnyColumn]
    rows: int
    treated: Mapping[str, str] = field(default_factory=dict)
    came: Came = "recoded"
    lifted: NDArray[np.bool_] | None = None
    released: Mapping[str, AnyColumn] = field(default_factory=dict)
    _groups: dict[tuple[str, ...], NDArray[np.int64]] = field(default_factory=dict, repr=False)
    _once: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, arrays: Mapping[str, Array], **more: Any) -> Masked:
        """From Arrow arrays, each encoded once."""
        return cls.made({name: column_of(array) for name, array in arrays.items()}, **more)

    @classmethod
    def made(cls, columns: Mapping[str, AnyColumn], *, word: str = "", **more: Any) -> Masked:
        """From columns; `word` is what was done to all of them."""
        rows = more.pop("rows", None)
        count = len(next(iter(columns.values()))) if rows is None else rows
        treated = more.pop("treated", None) or dict.fromkeys(columns, word)
        return cls(dict(columns), count, treated, **more)

    def __getitem__(self, name: str) -> AnyColumn:
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()

    def _card(self) -> Card:
        """What was done to each column, and how many values it shows; no row of it."""
        counts = {name: len(np.unique(self.shown(name).keys)) for name in self.names}
        rows = [[name, self.treated.get(name, "") or "as it is", counts[name]] for name in self.names]
        lifted = 0 if self.lifted is None else int(self.lifted.sum())
        lines = [f"rows are {self.came}", *([f"{lifted:,} of them show nothing"] if lifted else [])]
        return Card(f"Masked table of {self.rows:,} rows", lines, [Grid(("column", "masked", "values shown"), rows)])

    @property
    def row_by_row(self) -> bool:
        """Whether each row is that of a raw record, in the order of the raw table."""
        return self.came != "generated"

    @property
    def of_records(self) -> bool:
        """Whether what a row shows speaks of its own record, coarser or as a centre: none was moved or made up."""
        return self.came == "recoded"

    @property
    def names(self) -> tuple[str, ...]:
        """Every released column, masked or not, in the order of release."""
        return tuple(self.released or self.columns)

    def shown(self, name: str) -> AnyColumn:
        """A released column, masked or not."""
        return self.columns[name] if name in self.columns else self.released[name]

    def over(self, table: Table) -> Masked:
        """Beside the columns of a table that are released as they are. Rows that were generated have no raw neighbour:
        all of their columns were generated."""
        raw = table.columns if self.row_by_row else {}
        whole = {name: self.columns[name] if name in self.columns else raw[name] for name in table.schema.kept}
        return replace(self, released=whole, _groups={}, _once={})

    def once(self, key: Hashable, made: Callable[[], T]) -> T:
        """What follows from the table as it is shown: made once, and kept with it."""
        if key not in self._once:
            self._once[key] = made()
        found: T = self._once[key]
        return found

    def groups(self, on: Sequence[str]) -> NDArray[np.int64]:
        """(rows,): which rows show the same on some columns, numbered from 0 without gaps. Counted once, and kept."""
        key = tuple(dict.fromkeys(on))
        if key not in self._groups:
            self._groups[key] = self._counted(key)
        return self._groups[key]

    def _counted(self, key: tuple[str, ...]) -> NDArray[np.int64]:
        """From groups that are kept, where they are finer or the first part of the key: the numbers are the same."""
        finer = [kept for kept in self._groups if {*key} <= {*kept}]
        if finer:
            of_row = self._groups[min(finer, key=len)]
            first = first_rows(of_row)
            return group_numbers([self.shown(name).marks[first] for name in key], len(first))[of_row]
        begun = max((kept for kept in self._groups if key[: len(kept)] == kept), key=len, default=())
        parts = [self._groups[begun]] if begun else []
        return group_numbers([*parts, *(self.shown(name).marks for name in key[len(begun) :])], self.rows)

    def distinct(self, on: Sequence[str]) -> Distinct:
        """Each combination of some columns once, and how many rows show it."""
        of_row = self.groups(on)
        first = first_rows(of_row)
        some = {name: self.shown(name).take(first) for name in dict.fromkeys(on)}
        return Distinct(
            replace(self, columns=some, rows=len(first), lifted=None, released={}, _groups={}, _once={}),
            np.bincount(of_row),
        )

    def labels(self, name: str) -> set[str | None]:
        """The different labels of a released column; None where one is missing."""
        column = self.shown(name)
        labels = (*column.labels, None)
        return {labels[key] for key in np.flatnonzero(column.counts)}

    def sizes(self, on: Sequence[str]) -> NDArray[np.int64]:
        """(groups,): how many rows each group has."""
        return np.bincount(self.groups(on))

    def to_arrow(self) -> pa.Table:
        """Everything that is released."""
        return pa.table({name: self.shown(name).to_arrow() for name in self.names})
