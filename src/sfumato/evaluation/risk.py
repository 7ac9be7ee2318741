"""Re-identification risk from group sizes: prosecutor, journalist, marketer.

The *prosecutor* knows that the person is in the table: the risk of a record is 1 over its group's size. The
*journalist* does not, and has to find the person in a population: 1 over the size of the group there. Without a
population the table is all there is, and both risks are the same: an upper bound of the journalist's. The *marketer*
wants many records, not a certain one: the share he can expect to match is the average risk, groups over records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import TableError
from sfumato.evaluation.scores import Score

Sizes = NDArray[Any]
LEVELS = (2, 5, 10, 20, 50)
"""Records are counted whose risk is above 1 over each of these."""


@dataclass(frozen=True)
class Risk:
    """One attacker's chance to pick out the right record: the highest, on average, and who is above 1/n.

    `above`: for each n of LEVELS the share of records whose chance is larger than 1/n.
    """

    highest: float
    average: float
    above: Mapping[int, float]

    @classmethod
    def of(cls, sizes: Sizes, around: Sizes) -> Risk:
        """Records in groups of `sizes` that are looked for in groups of size `around`."""
        above = {level: float(sizes[around < level].sum() / sizes.sum()) for level in LEVELS}
        return cls(float(1.0 / around.min()), _average(sizes, around), above)

    def to_json(self) -> dict[str, Any]:
        """Plain mapping."""
        return {"highest": self.highest, "average": self.average,
                "above": {f"1/{level}": share for level, share in self.above.items()}}  # fmt: skip


@dataclass(frozen=True)
class Exposure:
    """What group sizes tell about one quasi-identifier.

    `claimed`: a requirement asks for it; otherwise nothing is claimed of these attributes together. `bound`: no
    population was given, so the journalist's risk is the prosecutor's, an upper bound.
    """

    on: tuple[str, ...]
    claimed: bool
    groups: int
    smallest: int
    prosecutor: Risk
    journalist: Risk
    marketer: float
    bound: bool

    def to_json(self) -> dict[str, Any]:
        """Plain mapping."""
        return {
            "on": list(self.on), "claimed": self.claimed, "groups": self.groups, "smallest": self.smallest,
            "prosecutor": self.prosecutor.to_json(),
            "journalist": {**self.journalist.to_json(), "upper_bound": self.bound},
            "marketer": self.marketer,
        }  # fmt: skip


def exposure(on: tuple[str, ...], sizes: Sizes, *, claimed: bool = True, population: Sizes | None = None) -> Exposure:
    """The risk of one quasi-identifier. `population`: the size of each group there, in the same order.

    >>> found = exposure(("age",), np.array([4, 6]))
    >>> found.prosecutor.highest, found.prosecutor.above[5], found.marketer, found.bound
    (0.25, 0.4, 0.2, True)
    """
    _check(sizes, population)
    around = sizes if population is None else population
    known = Risk.of(sizes, sizes)
    return Exposure(on, claimed, len(sizes), int(sizes.min()), known, Risk.of(sizes, around),
                    _average(sizes, around), bound=population is None)  # fmt: skip


def risks(sizes: Sizes, *, threshold: float = 0.2, population: Sizes | None = None) -> tuple[Score, ...]:
    """All risk figures of a masked table with these group sizes.

    `threshold`: above which a record counts as at risk. `population`: the size of each group there, in the same
    order. The figures follow from the masked table; the journalist's from the population as well.

    >>> {score.name: round(score.value, 3) for score in risks(np.array([4, 6]))}
    {'prosecutor.highest': 0.25, 'prosecutor.average': 0.2, 'prosecutor.at_risk': 0.4, \
'journalist.highest': 0.25, 'journalist.average': 0.2, 'journalist.at_risk': 0.4, 'marketer': 0.2}
    """
    _check(sizes, population)
    around = sizes if population is None else population
    known = "the person is known to be in the table"
    searched = "no population is given, so as the prosecutor" if population is None else "found in the population"
    marketer = _average(sizes, around)
    return (
        *_figures("prosecutor", known, sizes, sizes, threshold),
        *_figures("journalist", searched, sizes, around, threshold),
        Score("marketer", marketer, True, "share of all records that can be expected to be matched rightly"),
    )


def _figures(who: str, why: str, sizes: Sizes, around: Sizes, threshold: float) -> tuple[Score, ...]:
    """Risks of records in groups of `sizes` that are looked for in groups of size `around`."""
    exposed = sizes[1.0 / around > threshold].sum() / sizes.sum()
    return (
        Score(f"{who}.highest", float(1.0 / around.min()), True, f"chance to pick out the most exposed: {why}"),
        Score(f"{who}.average", _average(sizes, around), True, f"chance to pick out a record, on average: {why}"),
        Score(f"{who}.at_risk", float(exposed), True, f"share of records with a chance above {threshold}: {why}"),
    )


def _average(sizes: Sizes, around: Sizes) -> float:
    return float((sizes / around).sum() / sizes.sum())


def _check(sizes: Sizes, population: Sizes | None) -> None:
    if not len(sizes) or int(np.min(sizes)) < 1:
        raise TableError("risk", "a group has at least one record", given="none, or an empty group",
                         remedy="give the sizes of the groups that occur")  # fmt: skip
    if population is not None and (len(population) != len(sizes) or (population < sizes).any()):
        raise TableError("risk", "the population's groups hold those of the table", given="fewer, or smaller ones",
                         remedy="give a population in which everybody of the table is")  # fmt: skip
