"""Compiled loop of the growth of a tree: arrays in, one changed in place. `Patterns` is its slow twin."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sfumato.arrays import Ints


class Valued(NamedTuple):
    """Rows by the columns in which they have something: 1 in each of `cells` (rows, attributes); `parts` in `columns`,
    from ends[row] on. `lengths` (rows,): their squared lengths."""

    cells: NDArray[np.int32]
    ends: NDArray[np.int32] | NDArray[np.int64]
    columns: NDArray[np.int32]
    parts: NDArray[np.int32]
    lengths: Ints


@njit(cache=True, nogil=True)
def add_meetings(rows: Ints, valued: Valued, found: Ints) -> None:
    """Add each of these rows to the last line of `found` (columns + 1, columns + 2), and to that of every column in
    which it has something: what it has in each column, its squared length, and 1."""
    single, most = valued.cells.shape[1], 0
    for row in rows:
        most = max(most, valued.ends[row + 1] - valued.ends[row])
    at, much = np.zeros(single + most, dtype=np.int64), np.ones(single + most, dtype=np.int64)
    for row in rows:
        count = single
        for a in range(single):
            at[a] = valued.cells[row, a]
        for m in range(valued.ends[row], valued.ends[row + 1]):
            at[count], much[count] = valued.columns[m], valued.parts[m]
            count += 1
        for one in range(count + 1):
            line = found[at[one] if one < count else len(found) - 1]
            for other in range(count):
                line[at[other]] += much[other]
            line[-2] += valued.lengths[row]
            line[-1] += 1
