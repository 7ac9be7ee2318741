"""Rows that miss a value in a column with a wish: whether it is they who stand in the way of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from sfumato.data.encoding import encode
from sfumato.errors import SfumatoError
from sfumato.maskers.masker import Labels, Task
from sfumato.privacy.requirements import largest_k


@dataclass(frozen=True)
class Dropped:
    """The rows that would be left out. `names`: columns in which they miss a value; `rows`: of few, in words alone.

    `helps`: without them the wishes were found to be kept.
    """

    names: tuple[str, ...]
    rows: str
    helps: bool

    @property
    def setting(self) -> str:
        """What to write in the recipe."""
        return f"missing: {{{', '.join(f'{name}: drop' for name in self.names)}}}"


def dropped(task: Task, keeps: Callable[[Task], bool]) -> Dropped | None:
    """What leaving them out would do; None where no column with a wish misses a value, or all rows would go.

    Rows that stand beside earlier releases of the same rows are left as they are.
    """
    columns = {name: task.table.columns[name] for name in task.detail if task.table.columns[name].missing}
    if not columns or task.fixed:
        return None
    there = np.logical_and.reduce([column.marks != column.missing_code for column in columns.values()])
    if not there.any():
        return None
    few = max(largest_k(task.requirements).values(), default=0)
    gone = int((~there).sum())
    rows = f"the {gone:,} rows" if gone >= few else f"the rows, fewer than {few},"
    table = encode(task.table.to_arrow().filter(pa.array(there)), task.table.schema, origin=task.table.origin)
    labels = Labels(task.labels.classes[there], task.labels.n, task.labels.most, task.labels.told_in_part)
    try:
        helps = keeps(replace(task, table=table, labels=labels, objective=None))
    except SfumatoError:  # too few are left for anything
        helps = False
    return Dropped(tuple(columns), rows, helps)
