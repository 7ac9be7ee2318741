"""Searching beside earlier releases: the groups that they show are one more attribute, fully refined from the start.

So every group that is counted is one that an attacker sees who joins all releases row by row, and the search goes on
only as long as these keep every requirement. The attribute is never scored and never shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sfumato.counting import Records, Refinement, Session
from sfumato.data.table import narrow
from sfumato.errors import Infeasible
from sfumato.maskers.masker import Fixed
from sfumato.privacy.requirements import Requirement

MOST = 4096
"""Parts that one refinement makes at most."""


def with_fixed(records: Records, requirements: Sequence[Requirement], fixed: Fixed) -> Records:
    """The records with one more attribute for each requirement, after all others."""
    if not fixed:
        return records
    groups = [fixed[frozenset(requirement.on)] for requirement in requirements]
    sizes = tuple(int(of.max()) + 1 for of in groups)
    more = tuple(narrow(of, size) for of, size in zip(groups, sizes, strict=True))
    return replace(records, positions=(*records.positions, *more), sizes=(*records.sizes, *sizes))


def set_apart(session: Session, records: Records, first: int) -> None:
    """Refine the attributes from `first` on into all their positions."""
    for attribute in range(first, len(records.sizes)):
        for step in _steps(attribute, records.sizes[attribute]):
            session.refine(step)


def _steps(attribute: int, size: int) -> Iterator[Refinement]:
    """Into runs of positions, then each run into its positions.

    >>> [step.parts for step in _steps(0, 3)]
    [((0, 1), (1, 2), (2, 3))]
    """
    runs = [(first, min(first + MOST, size)) for first in range(0, size, MOST)]
    if len(runs) > 1:
        yield Refinement(attribute, 0, tuple(runs), tuple(range(1, len(runs) + 1)))
    number = len(runs) + 1
    for value, (first, end) in enumerate(runs, start=1):
        parts = tuple((at, at + 1) for at in range(first, end))
        yield Refinement(attribute, value if len(runs) > 1 else 0, parts, tuple(range(number, number + len(parts))))
        number += len(parts)


def refuse_broken(session: Session, requirements: Sequence[Requirement], thresholds: Sequence[float]) -> None:
    """If the earlier releases alone break a requirement, nothing can be added to them.

    The session is used up by the question.
    """
    now = session.counts([]).level
    for requirement, threshold, left in zip(requirements, thresholds, now, strict=True):
        if left < threshold:
            raise Infeasible(str(requirement), "the earlier releases, joined row by row, must satisfy it",
                             given="groups that break it before anything new is shown",
                             remedy="ask for less than they keep together, or take one of them back")  # fmt: skip
