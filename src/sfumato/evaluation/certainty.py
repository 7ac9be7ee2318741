"""Of how many people a class or a secret becomes certain: their group shows one value, or nearly one.

k-anonymity does not forbid it, and masking that is guided by a class makes groups pure of it on purpose. So it is told
beside what the table tells without masking, where groups are those of the raw quasi-identifying values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data.grouping import group_numbers, pairs
from sfumato.data.masked import Masked
from sfumato.data.table import Column, Table
from sfumato.evaluation.scores import Score
from sfumato.events import watched
from sfumato.privacy.requirements import Requirement

NEARLY = 0.9
"""A value that so many of a group share is nearly certain."""
MANY = 0.25
"""A secret that is nearly certain of more of the records than this is given away."""
EXACT = (
    "only the exact number counts here, which few share. That none is certain does not say that none is nearly known: "
    "`sfumato attack` tells how often the right tenth of all numbers is guessed."
)
"""What is said of numbers whose certainty is told."""
ONE_BOUNDED = "one_value_bounded"
"""Under which it is told that the certainty of one value is bounded."""
OTHERS = "the recipe bounds one value of it; where it is certain, it is certain that it is another."
"""What is said of these."""
RAW = "raw"
"""What the table without masking is called among the others."""


@dataclass(frozen=True)
class Certain:
    """Shares of the records whose value follows from what is shown of them for certain, and nearly so."""

    certain: float
    nearly: float

    @classmethod
    def of(cls, groups: Ints, values: NDArray[np.integer[Any]]) -> Certain:
        """Of each record's group and value: by the share of the commonest value in its group."""
        cells = pairs(groups, values)
        sizes = np.bincount(cells.first, weights=cells.counts)
        most = np.zeros(len(sizes))
        np.maximum.at(most, cells.first, cells.counts)
        share = most / np.maximum(sizes, 1)
        return cls(float(sizes[share == 1].sum() / len(groups)), float(sizes[share >= NEARLY].sum() / len(groups)))


@dataclass(frozen=True)
class Told:
    """What is certain of one attribute in the masked table, and by their names in others beside it.

    `secret`: it is declared sensitive. `commonest`: the share of its commonest value, which anybody guesses without a
    release. `one_bounded`: a requirement bounds one of its values, so that it is the others that become certain.
    `bound`: the least confidence bound that is asked of every value.
    """

    name: str
    masked: Certain
    beside: Mapping[str, Certain]
    secret: bool = True
    commonest: float = 0.0
    one_bounded: bool = False
    bound: float | None = None

    def bounded(self, requirements: Iterable[Requirement]) -> Told:
        """With what is asked of it."""
        claims = [r.claim() for r in requirements]
        asked = [float(c["h"]) for c in claims if "h" in c and c["sensitive"] == self.name and c.get("value") is None]
        return replace(self, bound=min(asked, default=None))

    @property
    def given_away(self) -> bool:
        """Whether a secret is nearly certain of many records, and not of everybody without a release."""
        return self.secret and not self.one_bounded and self.masked.nearly > MANY and self.commonest < NEARLY

    def to_json(self) -> dict[str, Any]:
        """By plain names."""
        found = {"attribute": self.name, "certain": self.masked.certain, "nearly_certain": self.masked.nearly}
        found["given_away"] = self.given_away
        found |= {ONE_BOUNDED: True} if self.one_bounded else {}
        if self.given_away and self.bound is not None:
            found["bound"] = self.bound
        for name, one in self.beside.items():
            found |= {f"certain.{name}": one.certain, f"nearly_certain.{name}": one.nearly}
        return found

    def scores(self) -> list[Score]:
        """Those of the masked table follow from it; the others are for the holder."""
        sure = f"share of records whose {self.name} is certain: all of their group show one"
        nearly = f"share of records whose {self.name} at least {NEARLY:.0%} of their group share"
        found = [
            Score(f"certain.{self.name}", self.masked.certain, True, sure),
            Score(f"nearly_certain.{self.name}", self.masked.nearly, True, nearly),
        ]
        for name, one in self.beside.items():
            found.append(Score(f"certain.{self.name}.{name}", one.certain, False, f"{sure}; {_beside(name)}"))
            found.append(Score(f"nearly_certain.{self.name}.{name}", one.nearly, False, f"{nearly}; {_beside(name)}"))
        return found


def _beside(name: str) -> str:
    """What stands beside, in words."""
    return "without masking" if name == RAW else f"masked by {name}"


def one_value_bounded(requirements: Iterable[Requirement]) -> frozenset[str]:
    """Secrets of which a requirement bounds one value, such as the illness and not its absence."""
    return frozenset(
        need.sensitive for need in requirements if need.sensitive and need.claim().get("value") is not None
    )


def told(
    table: Table,
    masked: Masked,
    names: Iterable[str],
    *,
    others: Mapping[str, Masked] | None = None,
    requirements: Iterable[Requirement] = (),
) -> tuple[Told, ...]:
    """What groups of equal masked values tell of attributes that are released as they are."""
    shown = tuple(masked)
    able = [name for name in dict.fromkeys(names) if name not in masked and isinstance(table.columns.get(name), Column)]
    if not able or not shown:
        return ()
    groups = {
        "": masked.groups(shown),
        RAW: group_numbers((table.columns[name].marks for name in shown), table.rows),
        **{name: other.groups(tuple(other)) for name, other in (others or {}).items()},
    }
    bounded = one_value_bounded(requirements)
    return tuple(replace(_told(name, table, groups), one_bounded=name in bounded) for name in watched(able))


def _told(name: str, table: Table, groups: Mapping[str, Ints]) -> Told:
    values = table.column(name).marks
    found = {which: Certain.of(one, values) for which, one in groups.items()}
    secret, commonest = table.schema[name].role == "sensitive", float(np.bincount(values).max() / len(values))
    return Told(name, found.pop(""), found, secret, commonest)


def certainty_scores(found: Sequence[Told]) -> list[Score]:
    """All of them."""
    return [score for one in found for score in one.scores()]
