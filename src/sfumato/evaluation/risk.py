"""Re-identification risk from group sizes: prosecutor, journalist, marketer.

The *prosecutor* knows that the person is in the table: the risk of a record is 1 over its group's size. The
*journalist* does not, and has to find the person in a population: 1 over the size of the group there. Without a
population the table is all there is, and both risks are the same. The *marketer* wants many records, not a certain
one: the share he can expect to match is the average risk.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import TableError
from sfumato.evaluation.scores import Score

Sizes = NDArray[Any]


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
                         remedy="give for each group how many share its values in the population")  # fmt: skip
