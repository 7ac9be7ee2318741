"""What a class's mean tells of a single member, for the holder's eyes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.maskers.centroids.coded import Coded
from sfumato.maskers.centroids.points import Ints


def largest_shares(columns: Mapping[str, Coded], classes: Ints, numbers: Sequence[str]) -> dict[str, float]:
    """By number: the largest part that one record has in the sum of its class, over all classes.

    A mean times k is a sum: near 1 it tells the one record that makes it up, and whoever knows all members
    but one can always work out the last. k-anonymity bounds who can be linked to a row, not that.

    >>> largest_shares({"gain": Coded.of([0.0, 9.0, 1.0, 5.0, 5.0])}, np.array([0, 0, 0, 1, 1]), ["gain"])
    {'gain': 0.9}
    """
    found = {}
    for name in numbers:
        sizes = np.abs(columns[name].numbers())
        totals = np.bincount(classes, weights=sizes)[classes]
        found[name] = float(np.divide(sizes, totals, out=np.zeros_like(sizes), where=totals > 0).max())
    return found
