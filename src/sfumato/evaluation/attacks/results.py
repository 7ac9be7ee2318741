"""What an attack found: who attacks, how often it works, and one sentence that anyone understands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.display import Card, Grid
from sfumato.evaluation.risk import Exposure
from sfumato.evaluation.scores import Estimate, share


@dataclass(frozen=True)
class Beside:
    """What an attack is compared with: how often guessing succeeds without the release, and how it guesses.

    `excess`: the attack's success less that of the guessing, with a 95 % interval.
    """

    how: str
    success: Estimate
    excess: Estimate

    def to_json(self) -> dict[str, Any]:
        """Plain mappings."""
        return {"how": self.how, "success": _form(self.success), "excess": _form(self.excess)}


@dataclass(frozen=True)
class AttackResult:
    """One attack on one release.

    `knowledge`: what the attacker is thought to know. `success`: a share with a 95 % interval, and `of` what it is
    a share. `sentence`: what that means, for people who sign releases. `details`: further figures. `criterion`: which
    of the three of opinion 05/2014 it measures, if any; such an attack has a `baseline`.
    """

    attack: str
    knowledge: str
    success: Estimate
    of: str
    sentence: str
    details: Mapping[str, Any] = field(default_factory=dict)
    criterion: str | None = None
    baseline: Beside | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain mappings."""
        return {
            "attack": self.attack,
            "knowledge": self.knowledge,
            "success": _form(self.success),
            "of": self.of,
            "sentence": self.sentence,
            "details": dict(self.details),
            **({} if self.criterion is None else {"criterion": self.criterion}),
            **({} if self.baseline is None else {"baseline": self.baseline.to_json()}),
        }


def _form(estimate: Estimate) -> dict[str, float]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


@dataclass(frozen=True)
class Measured:
    """What the attacks found, which were left out and why, and the risk from group sizes."""

    results: tuple[AttackResult, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    risk: tuple[Exposure, ...] = ()


@dataclass(frozen=True, repr=False)
class AttackReport:
    """All attacks that apply to one release, and why others do not. For the holder's eyes only.

    `risk`: what group sizes alone tell, for each quasi-identifier that was asked for and for all at once.
    """

    mask: str
    rows: int
    results: tuple[AttackResult, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    risk: tuple[Exposure, ...] = ()

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()

    def _card(self) -> Card:
        """What each attack came to, in a sentence; results and risk have the figures."""
        lines = [one.sentence for one in self.results]
        risks = [[", ".join(one.on), one.smallest, one.prosecutor.highest, one.marketer] for one in self.risk]
        heads = ("who knows", "smallest group", "highest risk", "average")
        left = [Grid(("left out", "why"), [[*pair] for pair in self.left_out.items()])] if self.left_out else []
        grids = [*([Grid(heads, risks, "The chance to pick out a person's record, from group sizes")] if risks else [])]
        return Card(f"Attacks on {self.rows:,} rows masked by {self.mask}, for your eyes only", lines, [*grids, *left])

    def __getitem__(self, attack: str) -> AttackResult:
        return next(result for result in self.results if result.attack == attack)

    def to_json(self) -> dict[str, Any]:
        """Plain mappings."""
        return {
            "mask": self.mask,
            "rows": self.rows,
            "risk": [exposure.to_json() for exposure in self.risk],
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


def beside(how: str, ours: Estimate, theirs: Estimate) -> Beside:
    """A baseline from trials of its own: the difference has Newcombe's interval (1998, method 10).

    >>> beside("at random", Estimate(0.5, 0.4, 0.6), Estimate(0.5, 0.4, 0.6)).excess.value
    0.0
    """
    apart = ours.value - theirs.value
    below = sqrt((ours.value - ours.low) ** 2 + (theirs.high - theirs.value) ** 2)
    above = sqrt((ours.high - ours.value) ** 2 + (theirs.value - theirs.low) ** 2)
    return Beside(how, theirs, Estimate(apart, apart - below, apart + above))


def certain(value: float) -> Estimate:
    """A share that is known, not measured."""
    return Estimate(value, value, value)


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
