"""k-anonymity, and k-map: how many records, or people, share what is shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from sfumato.counting import Measure
from sfumato.privacy.requirements.requirement import (
    Basic,
    Floats,
    Ints,
    Sensitive,
    at_least_two,
    listed,
    plural,
    said,
)


@dataclass(frozen=True, init=False)
class KAnonymity:
    """Every combination of masked values on these attributes is shared by at least k records.

    002, Definition 1: A(QID) >= k. Refining a value can only lower A(QID), so once broken it stays broken.

    >>> KAnonymity(on=["age", "sex"], k=5).holds(4)
    False
    """

    name: ClassVar[str] = "k_anonymity"

    on: tuple[str, ...]
    k: int

    def __init__(self, on: Iterable[str], k: int) -> None:
        object.__setattr__(self, "on", listed("k-anonymity", on))
        object.__setattr__(self, "k", at_least_two("k-anonymity", k))

    @property
    def sensitive(self) -> None:
        """Only records are counted."""
        return None

    @property
    def threshold(self) -> float:
        """k."""
        return float(self.k)

    def measure(self, sensitive: Sensitive) -> Measure:
        """How many records a group has."""
        del sensitive
        return _records

    def falls_short(self, level: float) -> str:
        """Records."""
        return f"{plural(int(level), 'record', 'records')}, and k is {self.k}"

    def remedy(self, level: float) -> str:
        """No more than there are."""
        return f"ask for k of at most {int(level)}" if level >= 2 else "there is nobody to hide among"

    def holds(self, smallest: int) -> bool:
        """Whether groups of this size and larger are allowed."""
        return smallest >= self.k

    def parts(self) -> tuple[Basic, ...]:
        """Itself."""
        return (self,)

    def claim(self) -> dict[str, Any]:
        """For the certificate."""
        return {"claim": self.name, "on": list(self.on), "k": self.k}

    def achieved(self, worst: Sequence[float]) -> int:
        """The smallest group."""
        return int(worst[0])

    def attacker(self) -> str:
        """Against whom."""
        return (
            f"knows that a person is in the table, and {said(self.on)} of that person: cannot tell which of at least "
            f"{self.k} records is theirs"
        )

    def sentence(self) -> str:
        """For people."""
        return f"at least {self.k} records share every combination of values shown for {said(self.on)}"

    def __str__(self) -> str:
        return f"{self.k}-anonymity on {{{', '.join(self.on)}}}"


@dataclass(frozen=True, init=False)
class KMap:
    """Every combination of masked values that is shown is shared by at least k people of a population table.

    Sweeney's k-map, 2002: the attacker does not know who of the population is in the table. `population` is a path or a
    table with the attributes `on`, of whom the table's people are some. A part of a group has no more people, so once
    broken it stays broken.

    >>> KMap(on=["age", "sex"], k=5, population="voters.csv").k
    5
    """

    name: ClassVar[str] = "k_map"

    on: tuple[str, ...]
    k: int
    population: object = field(compare=False)

    def __init__(self, on: Iterable[str], k: int, population: object) -> None:
        object.__setattr__(self, "on", listed("k-map", on))
        object.__setattr__(self, "k", at_least_two("k-map", k))
        object.__setattr__(self, "population", population)

    @property
    def sensitive(self) -> None:
        """Only records are counted."""
        return None

    @property
    def threshold(self) -> float:
        """k."""
        return float(self.k)

    def measure(self, sensitive: Sensitive) -> Measure:
        """How many people of the population a group has; counts are (groups, 2): of the table, of the population."""
        del sensitive
        return _people

    def falls_short(self, level: float) -> str:
        """People of the population."""
        return f"{plural(int(level), 'person', 'people')} of the population, and k is {self.k}"

    def remedy(self, level: float) -> str:
        """No more than there are."""
        return f"ask for k of at most {int(level)}, or give a larger population" if level >= 2 else "give more people"

    def parts(self) -> tuple[Basic, ...]:
        """Itself."""
        return (self,)

    def claim(self) -> dict[str, Any]:
        """For the certificate."""
        return {"claim": self.name, "on": list(self.on), "k": self.k}

    def achieved(self, worst: Sequence[float]) -> dict[str, float]:
        """The fewest people that a shown combination fits."""
        return {"k": int(worst[0])}

    def attacker(self) -> str:
        """Against whom."""
        return (
            f"knows the whole population with {said(self.on)}, but not who of them is in the table: cannot tell which "
            f"of at least {self.k} people a record is about"
        )

    def sentence(self) -> str:
        """For people."""
        return f"every combination of values shown for {said(self.on)} fits at least {self.k} people of the population"

    def __str__(self) -> str:
        return f"{self.k}-map on {{{', '.join(self.on)}}}"


def _records(counts: Ints) -> Floats:
    return np.asarray(counts.sum(axis=1), dtype=np.float64)


def _people(counts: Ints) -> Floats:
    """A group that nobody of the table is in is not shown, and tells nothing."""
    return np.asarray(np.where(counts[:, 0] > 0, counts[:, 1], np.inf), dtype=np.float64)
