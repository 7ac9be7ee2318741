"""One release as an attacker sees it, and its groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.groups import group_numbers

Ints = NDArray[np.int64]
Marks = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class View:
    """What one release shows.

    `shown`: of each masked column (rows,) a code for what a row shows. `covers`: of each masked column (codes, points)
    which points of the attribute's domain a code may stand for; the points are the same ones in all releases.
    `values` (rows,): what all releases show as it is, in one code, the same in all releases.
    """

    shown: Mapping[str, Ints]
    covers: Mapping[str, Marks]
    values: Ints

    @property
    def rows(self) -> int:
        """Records in the release."""
        return len(self.values)


@dataclass(frozen=True, eq=False)
class Groups:
    """The records of a release that look alike in everything: (groups,) how many, their value, what they show.

    `alike` (groups,) numbers what groups show on the attributes that the attacker knows.
    """

    counts: Ints
    values: Ints
    shown: Mapping[str, Ints]
    alike: Ints


def groups_of(view: View, on: Iterable[str]) -> Groups:
    """The groups of a release; `on` is what the attacker knows of a target."""
    numbers = group_numbers([*view.shown.values(), view.values], view.rows)
    first = np.unique(numbers, return_index=True)[1]
    known = [view.shown[name] for name in on if name in view.shown]
    alike = group_numbers(known, view.rows)
    shown = {name: codes[first] for name, codes in view.shown.items()}
    return Groups(np.bincount(numbers), view.values[first], shown, alike[first])
