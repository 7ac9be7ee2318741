"""Requirements that are counted together: the same rows, torn apart once, measured in several ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.counting import Measure, Needs


@dataclass(frozen=True)
class Shared:
    """What is counted for some requirements: `asked` are their numbers, each with its measure.

    Where all of them count records alone there are no measures.
    """

    need: Needs
    asked: list[int]
    measures: list[Measure]


def share(needs: Sequence[Needs]) -> list[Shared]:
    """Requirements that count the same attributes by the same values, in the order in which they are first met.

    Those that count records alone go with any other on the same attributes, as group sizes are counted anyway.

    >>> three = share([Needs((0, 1)), Needs((1, 0), by=0, measure=records), Needs((1,))])
    >>> [one.asked for one in three]
    [[1, 0], [2]]
    """
    found: dict[Needs, Shared] = {}
    for number, need in sorted(enumerate(needs), key=lambda one: one[1].measure is None):
        same = replace(need, on=tuple(sorted(need.on)), measure=None)
        if need.measure is None:
            alone = Needs(same.on)
            same = next((other for other in found if replace(other, by=None) == alone), alone)
        one = found.setdefault(same, Shared(same, [], []))
        one.asked.append(number)
        if need.measure is not None or one.measures:
            one.measures.append(need.measure or records)
    return list(found.values())


def records(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """How many records a group has."""
    return np.asarray(counts.sum(axis=1), dtype=np.float64)
