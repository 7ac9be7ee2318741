"""How many records are many: no value of fewer is an interval's end, no aggregate over fewer is released."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.privacy.requirements.anonymity import KAnonymity
from sfumato.privacy.requirements.requirement import Requirement

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
