"""Re-identification risk from group sizes: prosecutor, journalist, marketer.

The *prosecutor* knows that the person is in the table: the risk of a record is 1 over its group's size. The
*journalist* does not, and has to find the person in a population: 1 over the size of the group there. Without a
population the table is all there is, and both risks are the same: an upper bound of the journalist's. The *marketer*
wants many records, not a certain one: the share he can expect to match is the average risk, groups over records.

`exposures` tells it of each quasi-identifier that is asked for, and of all of them at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data.masked import Masked
from sfumato.data.table import AnyColumn, Column
from sfumato.errors import TableError
from sfumato.evaluation.scores import Score
from sfumato.events import watched

Sizes = NDArray[Any]
LEVELS = (2, 5, 10, 20, 50)
"""Records are counted whose risk is above 1 over each of these."""
MOST = 6


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
        return {
            "highest": self.highest,
            "average": self.average,
            "above": {f"1/{level}": share for level, share in self.above.items()},
        }


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
            "on": list(self.on),
            "claimed": self.claimed,
            "groups": self.groups,
            "smallest": self.smallest,
            "prosecutor": self.prosecutor.to_json(),
            "journalist": {**self.journalist.to_json(), "upper_bound": self.bound},
            "marketer": self.marketer,
        }


def exposure(on: tuple[str, ...], sizes: Sizes, *, claimed: bool = True, population: Sizes | None = None) -> Exposure:
    """The risk of one quasi-identifier. `population`: the size of each group there, in the same order.

    >>> found = exposure(("age",), np.array([4, 6]))
    >>> found.prosecutor.highest, found.prosecutor.above[5], found.marketer, found.bound
    (0.25, 0.4, 0.2, True)
    """
    _check(sizes, population)
    around = sizes if population is None else population
    known = Risk.of(sizes, sizes)
    return Exposure(
        on=on,
        claimed=claimed,
        groups=len(sizes),
        smallest=int(sizes.min()),
        prosecutor=known,
        journalist=Risk.of(sizes, around),
        marketer=_average(sizes, around),
        bound=population is None,
    )


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
        raise TableError(
            "risk",
            "a group has at least one record",
            given="none, or an empty group",
            remedy="give the sizes of the groups that occur",
        )
    if population is not None and (len(population) != len(sizes) or (population < sizes).any()):
        raise TableError(
            "risk",
            "the population's groups hold those of the table",
            given="fewer, or smaller ones",
            remedy="give a population in which everybody of the table is",
        )


@dataclass(frozen=True, eq=False)
class Population:
    """Everybody among whom people of the table may be looked for, masked as the table was.

    `lifted` (rows of the table,): records that are shown at the top of every column, which may be anybody.
    """

    masked: Masked
    lifted: NDArray[np.bool_] | None = None


def exposures(
    masked: Masked, asked: Sequence[Sequence[str]], *, population: Population | None = None
) -> tuple[Exposure, ...]:
    """What the group sizes of a masked table tell. `asked`: the quasi-identifiers of its requirements.

    Of more than MOST quasi-identifiers those with the smallest groups are told.
    """
    claimed = {frozenset(on) for on in asked}
    found = []
    for on in watched(quasi_identifiers(asked, masked)):
        around = None if population is None else sizes_in(population, masked, on)
        found.append(exposure(on, masked.sizes(on), claimed=frozenset(on) in claimed, population=around))
    worst = sorted(found, key=lambda one: one.smallest)[:MOST]
    return tuple(one for one in found if one in worst or not one.claimed)


def exposures_by(label: str, masked: Masked, asked: Sequence[Sequence[str]]) -> tuple[Exposure, ...]:
    """The same against somebody who also knows a label that goes along, of whatever is asked without it."""
    known = [(*on, label) for on in quasi_identifiers(asked, masked) if label not in on]
    found = [exposure(on, masked.sizes(on), claimed=False) for on in watched(known)]
    return tuple(sorted(found, key=lambda one: one.smallest)[:MOST])


def quasi_identifiers(asked: Sequence[Sequence[str]], masked: Masked) -> tuple[tuple[str, ...], ...]:
    """Each that is asked for once, then all their attributes together; set-valued attributes are not compared."""
    flat = {name for name, column in masked.items() if isinstance(column, Column)}
    able = tuple(dict.fromkeys(tuple(on) for on in asked if flat.issuperset(on)))
    union = tuple(dict.fromkeys(chain.from_iterable(able))) or tuple(name for name in masked if name in flat)
    return able if not union or any({*on} == {*union} for on in able) else (*able, union)


def sizes_in(population: Population, masked: Masked, on: tuple[str, ...]) -> Ints:
    """(groups,): how many people of the population show what each group of the masked table shows."""
    here, rows = masked.groups(on), masked.rows
    both = Masked.of({name: _stacked(masked[name], population.masked[name]) for name in on}).groups(on)
    people, strangers = both[:rows], both[rows:]
    counts = np.bincount(strangers, minlength=int(both.max(initial=-1)) + 1)
    if population.lifted is not None:
        counts[people[population.lifted]] = len(strangers)
    found = np.zeros(int(here.max(initial=-1)) + 1, dtype=np.int64)
    found[here] = counts[people]
    return found


def _stacked(first: AnyColumn, second: AnyColumn) -> pa.Array[Any]:
    return pa.concat_arrays([one.decode().cast(pa.string()) for one in (first, second)])
