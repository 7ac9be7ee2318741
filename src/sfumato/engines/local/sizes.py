"""Group sizes: the smallest group now, and the smallest that each possible refinement would make."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.counting import UNTOUCHED
from sfumato.engines.local import kernels
from sfumato.engines.local.attributes import AttributeState
from sfumato.engines.local.rows import Chosen, Inside, Rows

Ints = NDArray[np.int64]


class Sizes:
    """Owns running minima of group sizes. They only fall, so they are exact."""

    def __init__(self, on: Sequence[int]) -> None:
        self.anonymity = int(UNTOUCHED)
        self._smallest = {attribute: np.full(1, UNTOUCHED, dtype=np.int64) for attribute in on}

    def take_note(self, rows: Rows, chosen: Chosen) -> None:
        """Groups that are there now."""
        self.anonymity = min(self.anonymity, int(self._totals(rows, chosen).min()))

    def count(self, rows: Rows, attribute: int, state: AttributeState, chosen: Chosen) -> None:
        """What refining an attribute would make of the chosen groups."""
        column = rows.columns[attribute]
        smallest = self.room(attribute, len(state.value_at) if state.disclosing else len(chosen.asked))
        if state.disclosing:
            kernels.smallest_disclosed(column, rows.weights, state.value_at, chosen.starts, chosen.ends, smallest)
        else:
            kernels.smallest_children(column, rows.weights, state.value_at, state.child_at, chosen.asked,
                                      chosen.starts, chosen.ends, smallest)  # fmt: skip

    def forget(self, attribute: int, value: int) -> None:
        """The value's children changed: what was counted for it is void."""
        self.room(attribute, value + 1)[value] = UNTOUCHED

    def smallest(self, attribute: int, at: int) -> int:
        """The smallest group that refining a value, or disclosing a position, would make."""
        return int(self.room(attribute, at + 1)[at])

    def room(self, attribute: int, wanted: int) -> Ints:
        """The minima of an attribute, at least so many of them."""
        held = self._smallest[attribute]
        if len(held) < wanted:
            more = np.full(wanted + len(held), UNTOUCHED, dtype=np.int64)
            more[: len(held)] = held
            self._smallest[attribute] = held = more
        return held

    def mark_bad(self, change: Ints, inside: Inside, thresholds: Sequence[float]) -> None:
        """Mark boundaries that would leave one group with too few records on a side.

        A split at p leaves fewer than the threshold, but not nobody, below it exactly for
        lowest < p <= (position of the threshold-th lowest record); and likewise from above.
        """
        for threshold in thresholds:
            _mark_bad(change, inside.positions, inside.weights, threshold)

    def _totals(self, rows: Rows, chosen: Chosen) -> Ints:
        if not len(rows.weights):
            return chosen.ends - chosen.starts
        totals = np.empty(len(chosen.starts), dtype=np.int64)
        kernels.add_weights(rows.weights, chosen.starts, chosen.ends, totals)
        return totals


def _mark_bad(change: Ints, positions: Ints, weights: Ints, threshold: float) -> None:
    order = np.argsort(positions, kind="stable")
    positions, weights = positions[order], weights[order]
    below = np.cumsum(weights)
    if below[-1] < threshold:  # the whole group is lifted or empty: no boundary can mend it
        change[positions[0] + 1] += 1
        change[positions[-1] + 1] -= 1
        return
    enough = positions[np.searchsorted(below, threshold)]
    enough_above = positions[np.searchsorted(below, below[-1] - threshold, side="right")]
    change[positions[0] + 1] += 1
    change[enough + 1] -= 1
    change[enough_above + 1] += 1
    change[positions[-1] + 1] -= 1
