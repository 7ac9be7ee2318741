"""Which requirements follow from others, so that they are searched for once and told as such."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.errors import RecipeError
from sfumato.privacy.requirements.anonymity import KAnonymity
from sfumato.privacy.requirements.requirement import Basic, Requirement


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
    """What requirements stand for together, each part once, without k-anonymity that follows from another's.

    >>> from sfumato.privacy.requirements.confidence import AlphaK
    >>> len(basic([KAnonymity(["age"], 5), AlphaK(["age"], "disease", alpha=0.5, k=10)]))
    2
    """
    parts: list[Basic] = []
    for part in (part for requirement in requirements for part in requirement.parts()):
        if part not in parts:
            parts.append(part)
    return tuple(
        part for part in parts if not any(_covers(by, part) or _stricter(by, part) for by in parts if by is not part)
    )


def _covers(by: Requirement, requirement: Requirement) -> bool:
    if not isinstance(by, KAnonymity) or not isinstance(requirement, KAnonymity):
        return False
    return set(requirement.on) < set(by.on) and requirement.k <= by.k


def _stricter(by: Requirement, requirement: Requirement) -> bool:
    if not isinstance(by, KAnonymity) or not isinstance(requirement, KAnonymity):
        return False
    return set(requirement.on) == set(by.on) and requirement.k < by.k


def _refuse_repeats(requirements: Sequence[Requirement]) -> None:
    seen: set[tuple[object, ...]] = set()
    for requirement in requirements:
        about = {name: value for name, value in requirement.claim().items() if name in ("kind", "value", "distance")}
        key = (requirement.name, frozenset(requirement.on), requirement.sensitive, *about.items())
        if key in seen:
            raise RecipeError("privacy", "a quasi-identifier is asked about once", given=str(requirement),
                              remedy="keep the stricter one (of two k the larger)")  # fmt: skip
        seen.add(key)
