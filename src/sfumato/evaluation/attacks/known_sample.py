"""Known-sample regression: whoever knows a few records and finds them in the release solves for the key (004-7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluation.attacks.fitting import MODELS, Linear, Method, fit
from sfumato.evaluation.attacks.numbers import Both, Floats, cells_recovered
from sfumato.evaluation.attacks.results import AttackResult, hits, percent
from sfumato.randomness import Seeded

MOST_KNOWN = 20
CHECKED = 500
"""The attacker's guesses are checked on at most this many records."""
ENOUGH, OFTEN = 0.99, 0.95
"""Broken: at least this share of the untouched records is recovered, in at least this share of the trials."""


@dataclass(frozen=True, eq=False)
class Scene:
    """One masked table under attack: `model` is what the attacker takes the transformation for.

    `centre` and `unit` (attributes,): the scale he works in. `fair` (rows,): records without noise of their own,
    over which success is counted; nobody could get the others from the key. `blur` (attributes,): how far even the
    key misses the raw numbers, because the release is rounded; 0 where it is not.
    """

    both: Both
    model: str
    centre: Floats
    unit: Floats
    fair: NDArray[np.bool_]
    blur: Floats

    @classmethod
    def of(cls, both: Both, model: str, fair: NDArray[np.bool_] | None = None, blur: Floats | None = None) -> Scene:
        """Numbers in units of their spread, about their own origin."""
        everyone = np.ones(both.rows, dtype=np.bool_)
        none = np.zeros(both.dims)
        return cls(both, model, none, both.spread, everyone if fair is None else fair, none if blur is None else blur)

    @property
    def slack(self) -> float:
        """How near a record must come to agree with a model, in the attacker's scale."""
        return max(1e-6, 2 * float((self.blur / self.unit).max()))

    def learn(self, known: NDArray[np.int64], method: Method) -> Linear:
        """The attacker's model from the known records."""
        masked, raw = self.both.masked[known], self.both.raw[known]
        scaled = [(part - self.centre) / self.unit for part in (masked, raw)]
        return fit(MODELS[self.model], scaled[0], scaled[1], method=method, tolerance=self.slack)

    def recovered(self, found: Linear, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(rows,): the records of which every value is recovered."""
        there = self.both.some(rows)
        guess = found.guess((there.masked - self.centre) / self.unit) * self.unit + self.centre
        return np.asarray(cells_recovered(there, guess, blur=self.blur).all(axis=1), dtype=np.bool_)


@dataclass(frozen=True)
class Curve:
    """Success by the number of known records: `broken[m - 1]` of the trials, `rows[m - 1]` of the records on average.

    `needed`: the least number that breaks the mask, None if not even the last does.
    """

    method: Method
    broken: tuple[float, ...]
    rows: tuple[float, ...]
    trials: int

    @property
    def needed(self) -> int | None:
        """The least number of known records that is enough, and stays enough."""
        enough = [share >= OFTEN for share in self.broken]
        return next((m + 1 for m in range(len(enough)) if all(enough[m:])), None)

    @property
    def mostly(self) -> int | None:
        """The least number with which at least 95 of 100 records are recovered on average."""
        return next((m + 1 for m, share in enumerate(self.rows) if share >= OFTEN), None)


def curve(scene: Scene, method: Method, *, most: int = MOST_KNOWN, trials: int = 40, seed: int = 0) -> Curve:
    """Try 1, 2, ... known records, drawn at random from all, those with noise too."""
    rng = Seeded(seed).generator()
    fair = np.flatnonzero(scene.fair)
    shares = np.zeros((trials, most))
    for trial in range(trials):
        order = rng.permutation(scene.both.rows)[:most]
        checked = rng.choice(fair, min(CHECKED, len(fair)), replace=False)
        for m in range(1, min(most, len(order)) + 1):
            shares[trial, m - 1] = scene.recovered(scene.learn(order[:m], method), checked).mean()
    broken = (shares >= ENOUGH).mean(axis=0)
    return Curve(method, tuple(broken.tolist()), tuple(shares.mean(axis=0).tolist()), trials)


def attack_with_known(
    scene: Scene,
    *,
    methods: Sequence[Method] = get_args(Method),
    most: int = MOST_KNOWN,
    trials: int = 40,
    seed: int = 0,
) -> tuple[AttackResult, ...]:
    """Known-sample regression, once with each method of fitting."""
    return tuple(_result(scene, curve(scene, method, most=most, trials=trials, seed=seed)) for method in methods)


def _result(scene: Scene, found: Curve) -> AttackResult:
    needed, last = found.needed, len(found.broken)
    at = (needed or last) - 1
    success = hits(np.arange(found.trials) < round(found.broken[at] * found.trials))
    knows = f"{at + 1} records with all of {', '.join(scene.both.names)}, and which released rows are theirs"
    return AttackResult(
        f"known records, {found.method}, {scene.model}",
        f"{knows}; takes the mask for {_article(scene.model)}",
        success,
        f"trials in which at least {percent(ENOUGH)} of the records without noise were recovered",
        _sentence(scene, found),
        {
            "needed": needed,
            "mostly": found.mostly,
            "broken": list(found.broken),
            "rows": list(found.rows),
            "trials": found.trials,
        },
    )


def _article(model: str) -> str:
    return {"affine": "some linear map"}.get(model, model)


def _sentence(scene: Scene, found: Curve) -> str:
    names = " and ".join([", ".join(scene.both.names[:-1]), scene.both.names[-1]] if scene.both.dims > 1
                         else scene.both.names)  # fmt: skip
    enough = found.needed or found.mostly
    if enough is None:
        return (f"Knowing up to {len(found.rows)} of these people, this attack recovers {names} of at most "
                f"{percent(max(found.rows))} of the others.")  # fmt: skip
    people = "one of these people" if enough == 1 else f"{enough} of these people"
    everyone = "everybody" if found.needed else "at least 95 in 100 people"
    whose = everyone if scene.fair.all() else f"{everyone} whose record got no noise of its own"
    exactly = "" if not scene.blur.any() else ", as exactly as the rounding of the release allows"
    return f"Anyone who knows {people} can recover {names} of {whose}{exactly}."
