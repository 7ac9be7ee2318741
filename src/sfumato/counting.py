"""The whole language between rules and engines: what is asked, what is answered, who answers.

An engine opens a table once and then answers two questions: `counts(candidates)`, in one batch a round,
and `refine(step)`. It decides nothing. Rules and scores see Counts and nothing else.

Every attribute is an axis of positions 0..size-1 (leaves in tree order, labels in label order, numbers by
rank). A value is known to an engine by its number: at the start all positions of an attribute hold value 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]
Measure = Callable[[NDArray[np.int64]], NDArray[np.float64]]
"""(groups, values) of counts, no group empty, to (groups,): the larger, the more private."""

UNTOUCHED = np.iinfo(np.int64).max
"""The count of a requirement that a refinement does not touch."""


@dataclass(frozen=True)
class Refinement:
    """One value replaced by its children.

    `parts` are position ranges (first, one past last), one for each child. With `rest`, the value's positions
    outside the parts stay together under the old number, as when one value is disclosed from the suppressed.
    """

    attribute: int
    value: int
    parts: tuple[tuple[int, int], ...]
    children: tuple[int, ...]
    rest: bool = False


@dataclass(frozen=True)
class Needs:
    """What one requirement asks to be counted: the groups of records alike on these attributes.

    `by` is the number of the sensitive column by whose values each group is counted, `population` that of the
    population which is counted beside the table, as a second value. `measure` tells how private such a group is; it
    must be monotone: of the parts of a group at least one measures no more than the group. Without it a group
    measures how many records it has.
    """

    on: tuple[int, ...]
    by: int | None = None
    population: int | None = None
    measure: Measure | None = None


@dataclass(frozen=True, eq=False)
class Records:
    """A table in positions: one array (rows,) per attribute, its number of positions, and each row's class.

    `weights` (rows,) counts identical records; None means one each. `classes` (rows,) are 0..n_classes-1.
    `sensitive`: columns (rows,) of codes that requirements count by, each 0..size-1. `populations`: tables of other
    people on the same axes, for each the positions of the attributes that it has.
    """

    positions: tuple[Positions, ...]
    sizes: tuple[int, ...]
    classes: Positions
    n_classes: int
    weights: NDArray[np.int64] | None = None
    sensitive: tuple[Positions, ...] = ()
    sensitive_sizes: tuple[int, ...] = ()
    populations: tuple[Mapping[int, Positions], ...] = ()

    @property
    def rows(self) -> int:
        """Rows held, before weights."""
        return len(self.classes)


@dataclass(frozen=True, eq=False)
class Counts:
    """What an engine answers for a batch of candidates.

    `anonymity` (needs,): the records of the smallest group now. `smallest` (candidates, needs): those of the smallest
    non-empty group among the groups that a candidate would make; UNTOUCHED where the requirement lacks the candidate's
    attribute. `level` (needs,) and `worst` (candidates, needs): the same in each requirement's own measure, infinite
    where untouched; where there is no measure, the same numbers. `worst` may also know a group that has been torn
    apart since: one of its parts measures no more, so that `levels_after` is exact all the same.
    """

    anonymity: NDArray[np.int64]
    smallest: NDArray[np.int64]
    level: NDArray[np.float64]
    worst: NDArray[np.float64]

    @classmethod
    def of_sizes(cls, anonymity: NDArray[np.int64], smallest: NDArray[np.int64]) -> Counts:
        """Counts where no requirement has a measure."""
        return cls(anonymity, smallest, anonymity.astype(np.float64), levels_of(smallest))

    def after(self) -> NDArray[np.int64]:
        """(candidates, needs): the anonymity after each candidate, A_x(QID) of 002 section 4.4.2.

        A child group is never larger than its parent, so the smaller of both is exact.
        """
        return np.minimum(self.smallest, self.anonymity[None, :])

    def levels_after(self) -> NDArray[np.float64]:
        """(candidates, needs): what the least private group measures after each candidate."""
        return np.minimum(self.worst, self.level[None, :])


def levels_of(sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Group sizes as levels: the same numbers, infinite where untouched."""
    return np.where(sizes == UNTOUCHED, np.inf, sizes.astype(np.float64))


class Session(Protocol):
    """One opened table in its present state of refinement."""

    def histogram(self, attribute: int) -> NDArray[np.int64]:
        """(positions, classes): how many records hold each position, by class. Never changes."""

    def counts(self, candidates: Sequence[Refinement]) -> Counts:
        """What each candidate would do to the groups. A candidate left out once may not come back."""

    def splits(self, interval: Refinement, thresholds: Sequence[float]) -> NDArray[np.bool_]:
        """(positions of the interval - 1,): at which boundaries every requirement would still hold."""

    def refine(self, step: Refinement) -> None:
        """Replace the value by its children, for good."""


class Engine(Protocol):
    """Who counts."""

    def open(self, records: Records, needs: Sequence[Needs]) -> Session:
        """Take up a table in its most masked state."""
