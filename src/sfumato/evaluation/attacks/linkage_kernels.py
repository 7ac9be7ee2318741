"""A compiled loop of the linkability attack: how many released rows cover both halves. Arrays in, arrays out.

It is a product of three sparse matrices, and to import scipy's takes longer than this;
`tests/unit/test_attacks_criteria.py` compares it with a loop over all pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from sfumato.arrays import Floats, Ints


class Lists(NamedTuple):
    """Several lists of numbers, one after the other: that of `at` is `items[begins[at]:begins[at + 1]]`."""

    begins: Ints
    items: Ints


@njit(cache=True, nogil=True)
def rows_in_both(ours: Lists, theirs: Lists, together: Lists, sizes: Ints, found: Floats) -> None:
    """Fill found (people, entries): the released rows that cover a person's half and an entry's.

    `ours`: for each person the groups by the first half that cover it. `theirs`: for each entry those by the second.
    `together`: for each group by the first half the groups by the second that it meets; `sizes`: the rows of each
    meeting, side by side with `together.items`.
    """
    met = np.zeros(together.items.max() + 1)  # every group is met by one
    for person in range(len(ours.begins) - 1):
        met[:] = 0.0
        for place in range(ours.begins[person], ours.begins[person + 1]):
            group = ours.items[place]
            for at in range(together.begins[group], together.begins[group + 1]):
                met[together.items[at]] += sizes[at]
        for entry in range(len(theirs.begins) - 1):
            covered = 0.0
            for place in range(theirs.begins[entry], theirs.begins[entry + 1]):
                covered += met[theirs.items[place]]
            found[person, entry] = covered
