"""Clusters matched one to one, so that the pairs share as much as they can."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints


def matched(shared: NDArray[np.integer]) -> Ints:
    """(rows,): the column that each row of `shared` (rows, columns) is matched with, -1 where columns are too few. What
    the pairs share, added up, is the most that is possible.

    The Hungarian method. To import scipy's takes longer than this.

    >>> matched(np.array([[9, 8], [8, 1]])).tolist()
    [1, 0]
    """
    if shared.shape[0] > shared.shape[1]:
        found = np.full(len(shared), -1, dtype=np.int64)
        found[matched(shared.T)] = np.arange(shared.shape[1])
        return found
    costs = shared.max(initial=0) - shared.astype(np.int64)
    holder = np.full(shared.shape[1] + 1, -1)  # the last column is nobody's: a new row begins there
    prices = np.zeros(len(holder), dtype=np.int64)
    charges = np.zeros(len(costs), dtype=np.int64)
    for row in range(len(costs)):
        holder[-1] = row
        _make_room(costs, holder, charges, prices)
    found = np.empty(len(costs), dtype=np.int64)
    for column in np.flatnonzero(holder[:-1] >= 0):
        found[holder[column]] = column
    return found


def _make_room(costs: Ints, holder: Ints, charges: Ints, prices: Ints) -> None:
    """Give the row at the last column a column of its own: rows along the cheapest path to a free one each move on.

    `charges` (rows,) and `prices` (columns,) keep costs less both at least 0, and 0 where a row has its column.
    """
    nobodys = len(holder) - 1
    at, seen = nobodys, np.zeros(len(holder), dtype=bool)
    cheapest, before = np.full(nobodys, np.iinfo(np.int64).max), np.full(nobodys, nobodys)
    while holder[at] >= 0:
        seen[at] = True
        beyond = costs[holder[at]] - charges[holder[at]] - prices[:-1]
        better = ~seen[:-1] & (beyond < cheapest)
        cheapest[better], before[better] = beyond[better], at
        open_ = np.flatnonzero(~seen[:-1])
        at = int(open_[cheapest[open_].argmin()])
        step = cheapest[at]
        charges[holder[seen]] += step
        prices[seen] -= step
        cheapest[open_] -= step
    while at != nobodys:
        holder[at] = holder[before[at]]
        at = int(before[at])
