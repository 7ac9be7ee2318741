"""What a report is made of: what everybody may see, and what only the holder may see, in two separate values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt
from numpy.typing import NDArray

from sfumato.data.groups import group_sizes
from sfumato.data.table import Table
from sfumato.maskers.masker import Columns
from sfumato.maskers.topdown.recoding import Recoding
from sfumato.privacy.verify import Verdict
from sfumato.release.certificate import Facts
from sfumato.structure.released import ReleasedValues, Shown, encoded
from sfumato.structure.space import Space
from sfumato.structure.structures import Found

MISSING = "(missing)"


@dataclass(frozen=True, eq=False)
class Released:
    """What is in the release folder. The public edition is made of this and of nothing else.

    `recoding`: of releases that have one. `space`: where it goes along.
    """

    facts: Facts
    shown: pa.Table
    recoding: Recoding | None
    space: Space | None

    @property
    def masked(self) -> tuple[str, ...]:
        """The masked columns, in the order of the table."""
        return tuple(name for name in self.shown.column_names if name in self.facts.masked)

    def sizes(self, on: tuple[str, ...]) -> NDArray[np.int64]:
        """(groups,): how many rows share each combination that is shown."""
        return group_sizes([Shown.of(self.shown.column(name)).codes for name in on], self.shown.num_rows)


@dataclass(frozen=True, eq=False)
class Held:
    """What only the holder has: the raw table and everything that was measured against it.

    `columns`: the masked columns in the order of the raw rows. `again`: the clusters found again in them.
    `generated`: the columns are rows of their own, drawn from noisy counts.
    """

    table: Table
    found: Found
    columns: Columns
    values: ReleasedValues
    generated: bool
    again: NDArray[Any] | None
    scores: Mapping[str, Any]
    history: Mapping[str, Any]
    timings: Mapping[str, float]
    verdict: Verdict

    @property
    def row_by_row(self) -> bool:
        """Whether each shown row is a raw record; generated rows are nobody's."""
        return all(len(column) == self.table.rows for column in self.columns.values()) and not self.generated


@dataclass(frozen=True)
class Frequency:
    """A value and how many rows show it."""

    label: str
    count: int


def frequencies(column: Any) -> list[Frequency]:
    """Every value of a column of labels, the most frequent first; of sets their items. Row order does not matter."""
    whole: Any = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pt.is_list(whole.type) or pt.is_large_list(whole.type):
        whole = whole.flatten()
    if not len(whole):
        return []
    shown = Shown.of(whole)
    counts = np.bincount(shown.codes, minlength=len(shown.labels) + 1).tolist()
    found = [Frequency(label, n) for label, n in zip((*shown.labels, MISSING), counts, strict=True) if n]
    return sorted(found, key=lambda one: (-one.count, one.label))


def is_numeric(column: Any) -> bool:
    """Whether a masked column holds numbers, not labels."""
    kind = column.type.value_type if pt.is_dictionary(column.type) else column.type
    return pt.is_integer(kind) or pt.is_floating(kind)


def numbers(column: Any) -> NDArray[np.float64]:
    """The numbers of a column, without the missing ones, in ascending order."""
    whole = encoded(column)
    values = np.append(whole.dictionary.cast(pa.float64()).to_numpy(zero_copy_only=False), np.nan)
    found = values[whole.indices.fill_null(len(whole.dictionary)).to_numpy(zero_copy_only=False)]
    return np.sort(found[np.isfinite(found)])
