"""k-anonymity and k-map: how many records, or people, share what is shown; and what follows from other requirements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.calls import constructed
from sfumato.counting import Measure
from sfumato.data.encoding import encode
from sfumato.data.reading import read_arrow
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import RecipeError, SfumatoError, TableError, did_you_mean
from sfumato.privacy.requirements.requirement import (
    Basic,
    Requirement,
    Sensitive,
    Usual,
    at_least_two,
    listed,
    plural,
    said,
)


class _AtLeastK(Usual):
    """A requirement of so many in every group."""

    main: ClassVar[str | None] = "k"
    k: int

    @property
    def sensitive(self) -> None:
        """Only records are counted."""
        return None

    @property
    def threshold(self) -> float:
        """k."""
        return float(self.k)


@constructed
@dataclass(frozen=True, init=False)
class KAnonymity(_AtLeastK):
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

    @property
    def group_size(self) -> int:
        """k."""
        return self.k

    def holds(self, smallest: int) -> bool:
        """Whether groups of this size and larger are allowed."""
        return smallest >= self.k

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


@constructed
@dataclass(frozen=True, init=False)
class KMap(_AtLeastK):
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

    def others(self, schema: Schema) -> Table:
        """The population's rows; columns that are not asked about are left out."""
        return read_population(self, schema)

    def also(self, people: Table) -> dict[str, Any]:
        """The hash of the population's file, where it is one."""
        from sfumato.privacy.verify.files.regular_files import sha256_of

        source = self.population
        return {"population": sha256_of(source, most=None, follow=True)} if isinstance(source, str | Path) else {}

    def __str__(self) -> str:
        return f"{self.k}-map on {{{', '.join(self.on)}}}"


def _records(counts: Ints) -> Floats:
    return np.asarray(counts.sum(axis=1), dtype=np.float64)


def _people(counts: Ints) -> Floats:
    """A group that nobody of the table is in is not shown, and tells nothing."""
    return np.asarray(np.where(counts[:, 0] > 0, counts[:, 1], np.inf), dtype=np.float64)


# The population of a k-map: the attributes of a quasi-identifier, of everybody that a record may be about.
def read_population(requirement: KMap, schema: Schema) -> Table:
    """The population's rows in codes of their own; columns that are not asked about are left out."""
    found = read_arrow(requirement.population)
    for name in requirement.on:
        if name not in found.column_names:
            raise TableError(
                "population",
                f"{requirement} needs the column {name!r} in it",
                given="none of that name",
                remedy=did_you_mean(name, found.column_names),
            )
    try:
        return encode(found.select(list(requirement.on)), Schema({name: schema[name] for name in requirement.on}))
    except SfumatoError as error:  # it knows the column, not whose
        raise type(error)(
            f"{error.thing} of the population",
            error.rule,
            given=error.given,
            remedy=f"{error.remedy} (it is the population that must be mended, or its declaration)",
        ) from None


# How many records are many: no value of fewer is an interval's end, no aggregate over fewer is released.
FEW = 5
"""Aggregates over fewer records than this are not released, whatever is required."""


def largest_k(requirements: Sequence[Requirement]) -> dict[str, int]:
    """For each attribute the largest k that is asked of it: no aggregate over fewer records is released,
    and no interval ends on a value that fewer records hold.

    Where no group size is asked, it is `FEW`; a k of 1 asks for none.
    """
    found: dict[str, int] = {}
    parts = [part for requirement in requirements for part in requirement.parts()]
    for size in (part for part in parts if isinstance(part, KAnonymity) and part.k > 1):
        for name in size.on:
            found[name] = max(found.get(name, 1), size.k)
    return {name: FEW for part in parts for name in part.on} | found


@dataclass(frozen=True)
class Covered:
    """A requirement that another one already implies."""

    requirement: Requirement
    by: Requirement


@dataclass(frozen=True)
class Demands:
    """What must really be searched for, and what was dropped because it follows."""

    kept: tuple[Requirement, ...]
    covered: tuple[Covered, ...]


def without_covered(requirements: Sequence[Requirement]) -> Demands:
    """Drop k-anonymity that follows from k-anonymity on more attributes (000, Observation 3.1).

    >>> both = without_covered([KAnonymity(["age"], 5), KAnonymity(["age", "sex"], 10)])
    >>> both.kept, str(both.covered[0].requirement)
    ((KAnonymity(on=('age', 'sex'), k=10),), '5-anonymity on {age}')
    """
    _refuse_repeats(requirements)
    covered = [(r, by) for r in requirements for by in requirements if r is not by and _covers(by, r)]
    found = {id(r): Covered(r, by) for r, by in covered}
    return Demands(tuple(r for r in requirements if id(r) not in found), tuple(found.values()))


def basic(requirements: Sequence[Requirement]) -> tuple[Basic, ...]:
    """What requirements stand for together, of two parts alike the stricter, without k-anonymity that
    follows from another's.

    >>> from sfumato.privacy.requirements.confidence import AlphaK
    >>> len(basic([KAnonymity(["age"], 5), AlphaK(["age"], "disease", alpha=0.5, k=10)]))
    2
    """
    parts: dict[object, Basic] = {}
    for part in (part for requirement in requirements for part in requirement.parts()):
        same = _about(part)
        if same not in parts or part.threshold > parts[same].threshold:
            parts[same] = part
    found = tuple(parts.values())
    return tuple(part for part in found if not any(_covers(by, part) for by in found))


def _about(requirement: Requirement) -> object:
    """What two requirements have in common of which one is the stricter."""
    claim = requirement.claim()
    about: list[str] = [name for name in ("kind", "value", "distance", "order") if name in claim]
    about += ["l"] if claim.get("kind") == "recursive" else []
    return requirement.name, frozenset(requirement.on), requirement.sensitive, *(repr(claim[name]) for name in about)


def _covers(by: Requirement, requirement: Requirement) -> bool:
    if not isinstance(by, KAnonymity) or not isinstance(requirement, KAnonymity):
        return False
    return set(requirement.on) < set(by.on) and requirement.k <= by.k


def _refuse_repeats(requirements: Sequence[Requirement]) -> None:
    seen: set[object] = set()
    for requirement in requirements:
        if _about(requirement) in seen:
            raise RecipeError(
                "privacy",
                "a quasi-identifier is asked about once",
                given=str(requirement),
                remedy="keep the stricter one (of two k the larger)",
            )
        seen.add(_about(requirement))
