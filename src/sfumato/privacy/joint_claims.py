"""What is claimed of a release beside earlier ones, in the certificate's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from sfumato.privacy.requirements import Basic, KAnonymity, Requirement
from sfumato.privacy.requirements.requirement import Usual, said


@dataclass(frozen=True)
class Certified:
    """An earlier release: the SHA-256 of its certificate.json, and when it was made."""

    sha256: str
    created: str


@dataclass(frozen=True)
class BCFAnonymity(Usual):
    """k people fit whatever an attacker finds who holds all releases of a growing table and cannot join their rows.

    >>> BCFAnonymity(KAnonymity(["age"], 5), (Certified("ab", "2026"),)).claim()["people"]
    'growing'
    """

    name: ClassVar[str] = "bcf_anonymity"
    people: ClassVar[Literal["same", "growing"]] = "growing"

    of: KAnonymity
    beside: tuple[Certified, ...]

    @property
    def on(self) -> tuple[str, ...]:
        """What the attacker knows of a target."""
        return self.of.on

    @property
    def sensitive(self) -> None:
        """Only records are counted."""
        return None

    def parts(self) -> tuple[Basic, ...]:
        """None that one release alone could show."""
        return ()

    def achieved(self, levels: Sequence[float]) -> int:
        """The anonymity of the worst target."""
        return int(min(levels))

    def claim(self) -> dict[str, Any]:
        """For the certificate."""
        return {
            "claim": self.name,
            "on": list(self.on),
            "k": self.of.k,
            "people": self.people,
            "with": [{"sha256": one.sha256, "created": one.created} for one in self.beside],
        }

    def attacker(self) -> str:
        """Whom it stops."""
        return (
            f"has all these releases, knows {said(self.on)} of a person and since which release the person is in "
            f"the table, and cannot join rows: cannot tell which of at least {self.of.k} people it is"
        )

    def sentence(self) -> str:
        """For people; the assumption is said with it."""
        return (
            f"beside {_earlier(self.beside)} of a growing table, at least {self.of.k} people fit whatever is known of "
            f"{said(self.on)}, provided that later releases contain the earlier people and that rows cannot be "
            "joined"
        )

    def __str__(self) -> str:
        return f"{self.of} beside {_earlier(self.beside)} of a growing table"


@dataclass(frozen=True)
class JointAnonymity(BCFAnonymity):
    """k records are alike in all releases of one table, even for an attacker who joins their rows."""

    name: ClassVar[str] = "joint_k_anonymity"
    people: ClassVar[Literal["same", "growing"]] = "same"

    def attacker(self) -> str:
        """Whom it stops."""
        return (
            f"has all these releases and can join their rows, and knows {said(self.on)} of a person: cannot tell "
            f"which of at least {self.of.k} records is theirs"
        )

    def sentence(self) -> str:
        """For people."""
        return (
            f"beside {_earlier(self.beside)} of the same people, even with their rows joined, at least {self.of.k} "
            f"records share every combination of values shown for {said(self.on)} in all of them"
        )

    def __str__(self) -> str:
        return f"{self.of} beside {_earlier(self.beside)} of the same people"


def promised_together(requirements: Sequence[Requirement]) -> tuple[KAnonymity, ...]:
    """Of requirements those that can be promised of several releases together: k-anonymity.

    >>> [str(one) for one in promised_together([KAnonymity(["age"], 5)])]
    ['5-anonymity on {age}']
    """
    return tuple(one for one in requirements if isinstance(one, KAnonymity))


def _earlier(beside: Sequence[Certified]) -> str:
    return "1 earlier release" if len(beside) == 1 else f"{len(beside)} earlier releases"
