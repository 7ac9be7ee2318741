"""Of how many people a class or a secret becomes certain: their group shows one value, or nearly one.

Of a set it is an item: one that all of the group have, or nearly all. That they have none is not counted.

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
from sfumato.data.table import AnyColumn, Column, Table
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
NO_SECRET = "no_secret"
"""Under which it is told that a column is nearly certain of many records, and is not declared a secret."""
OF_ITEMS = "items"
"""Under which it is told that a column holds sets, of which an item is certain."""
SETS = "of a set an item counts that all of the group have, or nine in ten of it; that a group has none does not count."
"""What is said of these."""
RAW = "raw"
"""What the table without masking is called among the others."""


@dataclass(frozen=True, eq=False)
class Held:
    """What records hold: each its one value; of sets every item, and in `rows` whose it is."""

    values: NDArray[np.integer[Any]]
    rows: Ints | None = None

    @classmethod
    def of(cls, column: AnyColumn) -> Held:
        """Of a column that is released as it is. Nothing is held by an empty set and by a missing one."""
        if isinstance(column, Column):
            return cls(column.marks)
        return cls(column.codes.astype(np.int64), np.repeat(np.arange(len(column)), np.diff(column.offsets)))


@dataclass(frozen=True)
class Certain:
    """Shares of the records whose value follows from what is shown of them for certain, and nearly so."""

    certain: float
    nearly: float

    @classmethod
    def of(cls, groups: Ints, held: Held) -> Certain:
        """Of each record's group and what it holds: by the share of it that holds the commonest value or item."""
        cells = pairs(groups if held.rows is None else groups[held.rows], held.values)
        sizes = np.bincount(groups).astype(np.float64)
        most = np.zeros(len(sizes))
        np.maximum.at(most, cells.first, cells.counts)
        share = most / np.maximum(sizes, 1)
        return cls(float(sizes[share == 1].sum() / len(groups)), float(sizes[share >= NEARLY].sum() / len(groups)))


@dataclass(frozen=True)
class Told:
    """What is certain of one attribute in the masked table, and by their names in others beside it.

    `secret`: it is declared sensitive. `commonest`: the share of its commonest value, which anybody guesses without a
    release. `one_bounded`: a requirement bounds one of its values, so that it is the others that become certain.
    `bound`: the least share that is asked of every value, or of every item. `of_items`: it is a set, and an item of it
    is what becomes certain.
    """

    name: str
    masked: Certain
    beside: Mapping[str, Certain]
    secret: bool = True
    commonest: float = 0.0
    one_bounded: bool = False
    bound: float | None = None
    of_items: bool = False

    def bounded(self, requirements: Iterable[Requirement]) -> Told:
        """With what is asked of it."""
        claims = [claim for need in requirements if (claim := need.claim()).get("sensitive") == self.name]
        asked = [float(c["h"]) for c in claims if "h" in c and c.get("value") is None]
        if self.of_items:  # other requirements count whole sets
            asked = [float(c["c"]) for c in claims if c.get("kind") == "items" and c.get("c") is not None]
        return replace(self, bound=min(asked, default=None))

    @property
    def given_away(self) -> bool:
        """Whether a secret is nearly certain of many records, and not of everybody without a release."""
        return self.secret and self._often

    @property
    def _often(self) -> bool:
        return not self.one_bounded and self.masked.nearly > MANY and self.commonest < NEARLY

    def to_json(self) -> dict[str, Any]:
        """By plain names."""
        found = {"attribute": self.name, "certain": self.masked.certain, "nearly_certain": self.masked.nearly}
        found["given_away"] = self.given_away
        found |= {NO_SECRET: True} if self._often and not self.secret else {}
        found |= {ONE_BOUNDED: True} if self.one_bounded else {}
        found |= {OF_ITEMS: True} if self.of_items else {}
        if self.given_away and self.bound is not None:
            found["bound"] = self.bound
        for name, one in self.beside.items():
            found |= {f"certain.{name}": one.certain, f"nearly_certain.{name}": one.nearly}
        return found

    def scores(self) -> list[Score]:
        """Those of the masked table follow from it; the others are for the holder."""
        sure = f"share of records whose {self.name} is certain: all of their group show one"
        nearly = f"share of records whose {self.name} at least {NEARLY:.0%} of their group share"
        if self.of_items:
            sure = f"share of records of whose {self.name} an item is certain: all of their group have it"
            nearly = f"share of records of whose {self.name} at least {NEARLY:.0%} of their group have the same item"
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
    able = [name for name in dict.fromkeys(names) if name not in masked and name in table.columns]
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
    held = Held.of(table.columns[name])
    found = {which: Certain.of(one, held) for which, one in groups.items()}
    secret = table.schema[name].role == "sensitive"
    commonest = float(np.bincount(held.values).max(initial=0) / table.rows)
    return Told(name, found.pop(""), found, secret, commonest, of_items=held.rows is not None)


def certainty_scores(found: Sequence[Told]) -> list[Score]:
    """All of them."""
    return [score for one in found for score in one.scores()]
