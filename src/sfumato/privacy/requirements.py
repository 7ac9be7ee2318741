"""Requirements: properties that the masked table must have, as pure functions of counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sfumato.errors import RecipeError


@dataclass(frozen=True, init=False)
class KAnonymity:
    """Every combination of masked values on these attributes is shared by at least k records.

    002, Definition 1: A(QID) >= k. Refining a value can only lower A(QID), so once broken it stays broken.

    >>> KAnonymity(on=["age", "sex"], k=5).holds(4)
    False
    """

    on: tuple[str, ...]
    k: int

    def __init__(self, on: Iterable[str], k: int) -> None:
        names = (on,) if isinstance(on, str) else tuple(on)
        _check(names, k)
        object.__setattr__(self, "on", names)
        object.__setattr__(self, "k", k)

    def holds(self, smallest: int) -> bool:
        """Whether groups of this size and larger are allowed."""
        return smallest >= self.k

    def __str__(self) -> str:
        return f"{self.k}-anonymity on {{{', '.join(self.on)}}}"


Requirement = KAnonymity


def _check(names: tuple[str, ...], k: int) -> None:
    if not names:
        raise RecipeError("k-anonymity", "it is asked on at least one attribute", given="none",
                          remedy="list the quasi-identifying attributes in on=[...]")  # fmt: skip
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise RecipeError("k-anonymity", "an attribute stands in a quasi-identifier once",
                          given=", ".join(twice) + " twice", remedy="list it once")  # fmt: skip
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise RecipeError("k-anonymity", "k is a whole number of at least 1", given=repr(k),
                          remedy="give for example k=10")  # fmt: skip


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
    """Drop what follows from another requirement (000, Observation 3.1).

    >>> both = without_covered([KAnonymity(["age"], 5), KAnonymity(["age", "sex"], 10)])
    >>> both.kept, str(both.covered[0].requirement)
    ((KAnonymity(on=('age', 'sex'), k=10),), '5-anonymity on {age}')
    """
    _refuse_repeats(requirements)
    covered = {r: by for r in requirements for by in requirements if r is not by and _covers(by, r)}
    return Demands(
        tuple(r for r in requirements if r not in covered), tuple(Covered(r, by) for r, by in covered.items())
    )


def _covers(by: Requirement, requirement: Requirement) -> bool:
    return set(requirement.on) < set(by.on) and requirement.k <= by.k


def _refuse_repeats(requirements: Sequence[Requirement]) -> None:
    seen: set[frozenset[str]] = set()
    for requirement in requirements:
        if frozenset(requirement.on) in seen:
            raise RecipeError("privacy", "a quasi-identifier is asked about once", given=str(requirement),
                              remedy="keep the one with the larger k")  # fmt: skip
        seen.add(frozenset(requirement.on))
