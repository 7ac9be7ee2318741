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
            raise RecipeError("privacy", "a quasi-identifier is asked about once", given=str(requirement),
                              remedy="keep the stricter one (of two k the larger)")  # fmt: skip
        seen.add(_about(requirement))
