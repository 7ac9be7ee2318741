"""The one door to private data: every noisy answer goes through `Mechanisms`, which first takes its price.

The noise is OpenDP's: discrete Laplace on whole numbers, and report-noisy-max with exponential noise, which is
permute-and-flip. Nothing here adds floating-point noise. The scale of each mechanism is the smallest float for which
OpenDP itself says that the price is not exceeded.

`noise_of(Seeded(n))` gives repeatable noise for tests. Whoever knows the seed undoes it: what is made with it is
NOT PRIVATE, and says so wherever it shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np

from sfumato.arrays import Ints
from sfumato.events import awaited
from sfumato.privacy.budget import BudgetError, Composition, Event, Spending
from sfumato.randomness import Randomness, Seeded

LAPLACE = "discrete Laplace"
SELECTION = "permute-and-flip"
SPARSE = "discrete Laplace, thresholded; empty cells sampled"
SLACK = Fraction(1, 2**20)
"""Part of a sparse histogram's price that covers the rounding of a probability to a float."""
DRAWN_AT_ONCE = 32
SMALLEST = 2.0**-60
"""Seeded noise for a smaller epsilon would not fit in 64 bits: all of it would be cut to one number."""


class Noise(Protocol):
    """Where noise comes from."""

    @property
    def private(self) -> bool:
        """Whether nobody can predict it."""

    def laplace(self, values: Ints, *, epsilon: Fraction, sensitivity: int) -> Ints:
        """Whole numbers with discrete Laplace noise for an L1 sensitivity."""

    def noisy_max(self, scores: Sequence[int], *, epsilon: Fraction, sensitivity: int, monotone: bool) -> int:
        """The place of a high score. `monotone`: one more record moves no two scores in opposite directions."""


@dataclass(frozen=True)
class OpenDPNoise:
    """Vetted noise from a secure generator."""

    @property
    def private(self) -> bool:
        """Always."""
        return True

    def laplace(self, values: Ints, *, epsilon: Fraction, sensitivity: int) -> Ints:
        """Discrete Laplace noise on every entry."""
        found = _laplace(epsilon, sensitivity)([int(value) for value in values])
        return np.array(found, dtype=np.int64)

    def noisy_max(self, scores: Sequence[int], *, epsilon: Fraction, sensitivity: int, monotone: bool) -> int:
        """Report noisy max."""
        return int(_noisy_max(epsilon, sensitivity, monotone)([int(score) for score in scores]))


@lru_cache(maxsize=256)
def _laplace(epsilon: Fraction, sensitivity: int) -> Callable[[list[int]], list[int]]:
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T=dp.i64)), dp.l1_distance(T=dp.i64)
    found: Callable[[list[int]], list[int]] = _calibrated(
        lambda scale: dp.m.make_laplace(*space, scale=scale), epsilon, sensitivity
    )
    return found


@lru_cache(maxsize=256)
def _noisy_max(epsilon: Fraction, sensitivity: int, monotone: bool) -> Callable[[list[int]], int]:
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T=dp.i64)), dp.linf_distance(T=dp.i64, monotonic=monotone)
    found: Callable[[list[int]], int] = _calibrated(
        lambda scale: dp.m.make_noisy_max(*space, dp.max_divergence(), scale=scale), epsilon, sensitivity
    )
    return found


def _calibrated(make: Callable[[float], Any], epsilon: Fraction, sensitivity: int) -> Any:
    """The mechanism with the smallest scale that OpenDP says costs no more than epsilon."""
    cost = Fraction(make(1.0).map(sensitivity))
    scale = float(cost / epsilon)
    while Fraction(make(scale).map(sensitivity)) > epsilon:
        scale = math.nextafter(scale, math.inf)
    return make(scale)


@cache
def _opendp() -> Any:
    """The library, loaded where it is first needed; that takes longer than a second, in which a run can be ended."""
    dp = awaited(lambda: import_module("opendp.prelude"))
    dp.enable_features("contrib")
    return dp


class SeededNoise:
    """Owns a repeatable generator. NOT PRIVATE: for tests and for measuring utility only."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    @property
    def private(self) -> bool:
        """Never."""
        return False

    def laplace(self, values: Ints, *, epsilon: Fraction, sensitivity: int) -> Ints:
        """The same distribution from a repeatable generator: the difference of two geometric numbers."""
        stop = max(-math.expm1(-float(epsilon) / sensitivity), SMALLEST)
        draws = self._generator.geometric(stop, size=(2, len(values)))
        found: Ints = np.asarray(values, dtype=np.int64) + draws[0] - draws[1]
        return found

    def noisy_max(self, scores: Sequence[int], *, epsilon: Fraction, sensitivity: int, monotone: bool) -> int:
        """The same distribution up to floating-point rounding."""
        scale = sensitivity * (1 if monotone else 2) / float(epsilon)
        return int(np.argmax(np.asarray(scores, dtype=float) + self._generator.exponential(scale, len(scores))))


def noise_of(chance: Randomness) -> Noise:
    """OpenDP's noise, or for a seed repeatable noise that is not private; certificates of both name its version."""
    if find_spec("opendp") is None:
        raise BudgetError(
            "budget", "its noise is OpenDP's", given="opendp is not installed", remedy="pip install 'sfumato[dp]'"
        )
    return SeededNoise(chance.seed) if isinstance(chance, Seeded) else OpenDPNoise()


@dataclass(frozen=True, eq=False)
class Question:
    """A choice on one part of the records: scores in whole numbers, and how much one record can move them."""

    scores: Sequence[int]
    sensitivity: int


class Mechanisms:
    """Owns the spending of one run and the noise it draws. Whatever looks at private data does it here."""

    def __init__(self, spending: Spending, noise: Noise) -> None:
        self.spending, self.noise = spending, noise
        self._spare: dict[Fraction, list[int]] = {}

    def counts(self, purpose: str, values: Ints, *, epsilon: Fraction, sensitivity: int = 1, parts: int = 1) -> Ints:
        """Noisy counts. One record changes the values, taken together, by at most `sensitivity`.

        `parts` tells over how many disjoint parts of the records the values run. It is released, as the purpose and the
        price are: it must be a public number, or follow from noisy answers.
        """
        flat = np.asarray(values, dtype=np.int64).ravel()
        self._spend(LAPLACE, purpose, epsilon, parts=parts)
        return self.noise.laplace(flat, epsilon=epsilon, sensitivity=sensitivity).reshape(np.shape(values))

    def choose(self, purpose: str, questions: Sequence[Question], *, epsilon: Fraction, monotone: bool) -> list[int]:
        """One choice for each of some disjoint parts of the records."""
        self._spend(SELECTION, purpose, epsilon, parts=len(questions))
        return [
            self.noise.noisy_max(q.scores, epsilon=epsilon, sensitivity=q.sensitivity, monotone=monotone)
            for q in questions
        ]

    def sparse_counts(
        self, purpose: str, filled: Sequence[Mapping[int, int]], *, cells: int, least: int, epsilon: Fraction
    ) -> list[dict[int, int]]:
        """For each of some disjoint parts the cells whose noisy count is at least `least`, empty cells among them.

        `filled` holds the counts of the cells that have records; the others, of `cells` in each part, count 0.
        They are not skipped: each passes with its exact probability, found by drawing the gap to the next one that
        does (PAPERS.md, 003-2).
        """
        if least < 1:
            raise ValueError("a threshold is at least 1")
        self._spend(SPARSE, purpose, epsilon, parts=len(filled))
        price = epsilon * (1 - SLACK)
        return [self._sparse(part, cells=cells, least=least, epsilon=price) for part in filled]

    def _sparse(self, filled: Mapping[int, int], *, cells: int, least: int, epsilon: Fraction) -> dict[int, int]:
        keys = list(filled)
        noisy = self.noise.laplace(
            np.array([filled[key] for key in keys], dtype=np.int64), epsilon=epsilon, sensitivity=1
        )
        found = {key: int(count) for key, count in zip(keys, noisy.tolist(), strict=True) if count >= least}
        decay = float(epsilon)
        passes = math.exp(-decay * least) / (1 + math.exp(-decay))  # P(noise >= least), least >= 1
        at = -1
        while (at := at + self._gap(passes)) < cells:
            if at not in filled:
                found[at] = least - 1 + self._positive(epsilon)
        return found

    def _gap(self, chance: float) -> int:
        """How many cells on the next one passes: geometric, as positive discrete Laplace noise is."""
        return self._positive(Fraction(-math.log1p(-chance))) if chance > 0 else 2**62

    def _positive(self, decay: Fraction) -> int:
        """Discrete Laplace noise given that it is positive: k with probability in proportion to exp(-decay k).

        Noise is drawn some at a time; what is positive and not needed yet is kept for the next call.
        """
        spare = self._spare.setdefault(decay, [])
        while not spare:
            drawn = self.noise.laplace(np.zeros(DRAWN_AT_ONCE, dtype=np.int64), epsilon=decay, sensitivity=1)
            spare += drawn[drawn > 0].tolist()
        return spare.pop()

    def _spend(self, mechanism: str, purpose: str, epsilon: Fraction, *, parts: int) -> None:
        how: Composition = "parallel" if parts > 1 else "sequential"
        self.spending.spend(Event(mechanism, purpose, epsilon, how, parts))
