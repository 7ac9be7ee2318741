"""Earlier releases of the same people, with which a new one must be safe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from sfumato.errors import RecipeError, did_you_mean
from sfumato.maskers.masker import Masker
from sfumato.maskers.topdown.fit import TopDown
from sfumato.privacy.requirements import KAnonymity, KMap, Requirement

People = Literal["same", "growing"]


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """Releases that are out already, in the order of their time, and whose they are.

    `people`: "same" for versions of one table, made safe even for an attacker who can join their rows; "growing" for
    releases of a table to which people were added since, made safe for an attacker who cannot (BCF-anonymity).

    >>> Earlier(releases=["out/2024"], people="growing").releases
    ('out/2024',)
    """

    releases: tuple[str, ...]
    people: People

    def __post_init__(self) -> None:
        given: object = self.releases
        names = (given,) if isinstance(given, str | Path) else tuple(self.releases)
        object.__setattr__(self, "releases", tuple(str(name) for name in names))
        if not self.releases or len(set(self.releases)) < len(self.releases):
            raise RecipeError("earlier", "it names at least one release, each once",
                              given="none" if not self.releases else "one of them twice",
                              remedy="write releases: [FOLDER, ...], or leave it out")  # fmt: skip
        if self.people not in get_args(People):
            raise RecipeError("earlier", "the people are the same, or their table is growing", given=repr(self.people),
                              remedy=did_you_mean(str(self.people), get_args(People)))  # fmt: skip


def check_earlier(mask: Masker, privacy: Sequence[Requirement]) -> None:
    """Only a search that knows of the earlier releases can be safe with them."""
    if not isinstance(mask, TopDown) or mask.suppress:
        raise RecipeError("earlier", "top-down refinement without lifted records is what can be held beside them",
                          given=type(mask).__name__ + (" with suppress" if isinstance(mask, TopDown) else ""),
                          remedy="use mask: top_down, without suppress")  # fmt: skip
    if not any(isinstance(requirement, KAnonymity) for requirement in privacy):
        raise RecipeError("earlier", "what is promised of several releases is k-anonymity", given="no k_anonymity",
                          remedy="add {k_anonymity: 10, on: [...]} to privacy")  # fmt: skip
    if any(isinstance(requirement, KMap) for requirement in privacy):
        raise RecipeError("earlier", "a population is not counted by what earlier releases show", given="k_map",
                          remedy="leave out one of both")  # fmt: skip
