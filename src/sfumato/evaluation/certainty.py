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
    release. `bound`: the least confidence bound that is asked of it; `one_value`: that is of one value alone.
    """

    name: str
    masked: Certain
    beside: Mapping[str, Certain]
    secret: bool = True
    commonest: float = 0.0
    bound: float | None = None
    one_value: bool = False

    def bounded(self, requirements: Iterable[Requirement]) -> Told:
        """With what is asked of it; a bound of every value counts before those of single ones."""
        claims = [r.claim() for r in requirements]
        asked = [
            (c.get("value") is not None, float(c["h"])) for c in claims if "h" in c and c["sensitive"] == self.name
        ]
        one_value, bound = min(asked, default=(False, None))
        return replace(self, bound=bound, one_value=one_value)

    @property
    def given_away(self) -> bool:
        """Whether a secret is nearly certain of many records, and not of everybody without a release."""
        return self.secret and self.masked.nearly > MANY and self.commonest < NEARLY

    def to_json(self) -> dict[str, Any]:
        """By plain names."""
        found = {"attribute": self.name, "certain": self.masked.certain, "nearly_certain": self.masked.nearly}
        found["given_away"] = self.given_away
        if self.given_away and self.bound is not None:
            found |= {"bound": self.bound, "bound_of_one_value": self.one_value}
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


def told(
    table: Table, masked: Masked, names: Iterable[str], *, others: Mapping[str, Masked] | None = None
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
    return tuple(_told(name, table, groups) for name in watched(able))


def _told(name: str, table: Table, groups: Mapping[str, Ints]) -> Told:
    values = table.column(name).marks
    found = {which: Certain.of(one, values) for which, one in groups.items()}
    secret, commonest = table.schema[name].role == "sensitive", float(np.bincount(values).max() / len(values))
    return Told(name, found.pop(""), found, secret, commonest)


def certainty_scores(found: Sequence[Told]) -> list[Score]:
    """All of them."""
    return [score for one in found for score in one.scores()]
