"""What an attack found: who attacks, how often it works, and one sentence that anyone understands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluation.intervals import Estimate, share


@dataclass(frozen=True)
class AttackResult:
    """One attack on one release.

    `knowledge`: what the attacker is thought to know. `success`: a share with a 95 % interval, and `of` what it is
    a share. `sentence`: what that means, for people who sign releases. `details`: further figures.
    """

    attack: str
    knowledge: str
    success: Estimate
    of: str
    sentence: str
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain mappings."""
        return {
            "attack": self.attack,
            "knowledge": self.knowledge,
            "success": {"value": self.success.value, "low": self.success.low, "high": self.success.high},
            "of": self.of,
            "sentence": self.sentence,
            "details": dict(self.details),
        }


@dataclass(frozen=True)
class AttackReport:
    """All attacks that apply to one release, and why others do not. For the holder's eyes only."""

    mask: str
    rows: int
    results: tuple[AttackResult, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, attack: str) -> AttackResult:
        return next(result for result in self.results if result.attack == attack)

    def to_json(self) -> dict[str, Any]:
        """Plain mappings."""
        return {
            "mask": self.mask,
            "rows": self.rows,
            "results": [result.to_json() for result in self.results],
            "left_out": dict(self.left_out),
        }


def hits(found: NDArray[np.bool_]) -> Estimate:
    """The share of hits with Wilson's interval, kept within 0 and 1."""
    estimate = share(found)
    return Estimate(estimate.value, max(0.0, estimate.low), min(1.0, estimate.high))


def average(chances: NDArray[np.float64]) -> Estimate:
    """The mean of chances, each between 0 and 1, with a normal interval kept within 0 and 1.

    >>> average(np.array([0.5, 0.5])).value
    0.5
    """
    mean = float(chances.mean())
    reach = 1.959964 * float(chances.std(ddof=1)) / len(chances) ** 0.5 if len(chances) > 1 else 1.0
    return Estimate(mean, max(0.0, mean - reach), min(1.0, mean + reach))


def percent(value: float) -> str:
    """A share as people say it.

    >>> percent(0.973), percent(1.0), percent(0.0004)
    ('97 %', '100 %', 'under 0.1 %')
    """
    if 0 < value < 0.001:
        return "under 0.1 %"
    if 0.995 <= value < 1:
        return "over 99 %"
    return f"{100 * value:.1f} %" if 0 < value < 0.0995 else f"{100 * value:.0f} %"
