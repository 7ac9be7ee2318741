"""Which rows miss a number, where an interval says no more than that some of its rows do.

A codebook tells the mean of those who have the number, and no share of those who miss it. That is found as the shares
of labels are (`likely_labels`): a number and a missing value are two labels, `[17-37) or missing` is a set of both.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data.shown import OR_MISSING, SUPPRESSED
from sfumato.people.likely_labels import leaves_sets, likely_labels
from sfumato.people.shown_columns import Labels
from sfumato.structure.released import Told

THERE = "there"


def likely_missing(told: Told, *, groups: Callable[[], Ints], clusters: Callable[[], Ints | None]) -> Labels | None:
    """The shares of numbers that are there and, last, of missing ones; None where no interval leaves it open, and
    nobody asks for groups and clusters."""
    shown = Told(told.codes, [_there_or_not(text) for text in told.shown], [{}] * len(told.shown))
    return likely_labels(shown, groups=groups(), clusters=clusters()) if leaves_sets(shown) else None


def drawn_missing(shares: Labels, chance: np.random.Generator) -> NDArray[np.bool_]:
    """(rows,): whether each row misses its number, drawn by these shares."""
    of_entry = shares.shares[:, -1] / np.maximum(shares.shares.sum(axis=1), 1e-12)
    return np.asarray(chance.random(len(shares.codes)) < of_entry[shares.codes])


def _there_or_not(text: str | None) -> str | None:
    """What a text says of whether there is a number; one that stands for anything says nothing.

    >>> [_there_or_not(text) for text in ("[17-37)", "[17-37) or missing", None, "*")]
    ['there', '{there} or missing', None, '*']
    """
    if text is None or text == SUPPRESSED:
        return text
    return f"{{{THERE}}}{OR_MISSING}" if text.endswith(OR_MISSING) else THERE
