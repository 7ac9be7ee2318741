"""What a certificate says of a release under differential privacy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato.privacy.budget import UNIT, Event
from sfumato.privacy.mechanisms import Mechanisms
from sfumato.privacy.verify.deployment import Deployed, deployment

NOT_PRIVATE = "NOT PRIVATE"


@dataclass(frozen=True)
class Differential:
    """Epsilon and the events it went to. `private`: the noise came from a secure generator."""

    epsilon: Fraction
    events: Sequence[Event]
    private: bool

    @classmethod
    def of(cls, mechanisms: Mechanisms) -> Differential:
        """What a run spent."""
        spending = mechanisms.spending
        return cls(spending.budget.epsilon, spending.events, mechanisms.noise.private)

    def to_json(self) -> dict[str, Any]:
        """The certificate's part of its own."""
        return {
            "epsilon": str(self.epsilon),
            "delta": "0",
            "unit": UNIT,
            "private": self.private,
            **({} if self.private else {"warning": NOT_PRIVATE}),
            "events": [event.to_json() for event in self.events],
        }

    def deployment(
        self, *, mask: str, columns: Mapping[str, str], created: str, versions: Mapping[str, str]
    ) -> dict[str, Any]:
        """The fields of OpenDP's deployments registry."""
        events = [event.to_json() for event in self.events]
        return deployment(Deployed(self.epsilon, self.private, events, mask, columns, created, versions))
