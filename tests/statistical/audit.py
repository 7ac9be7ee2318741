"""An adversary with two neighbouring tables: does any event happen too much more often on one of them?

A mechanism is epsilon-private if no event's probability differs by more than a factor e^epsilon. Half of the runs
choose the most telling event, the other half measure it; a violation is a lower confidence bound above epsilon.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

CONFIDENCE = 1e-7  # how often a sound mechanism may be called a violation

Outputs = Sequence[Hashable]
Draws = Callable[[int], Outputs]
"""A mechanism prepared on one table: so many outputs, each drawn anew."""


@dataclass(frozen=True)
class Leak:
    """At least this much epsilon is lost, by seeing this set of outputs."""

    epsilon: float
    outputs: frozenset[Hashable]


def leak(one: Outputs, other: Outputs) -> Leak:
    """A lower bound on the epsilon of a mechanism, from as many runs on each of two neighbouring tables."""
    best = Leak(0.0, frozenset())
    half = len(one) // 2
    for first, second in ((one, other), (other, one)):
        event = _telling(first[:half], second[:half])
        hits = [sum(output in event for output in outputs[half:]) for outputs in (first, second)]
        found = _bound(hits[0], hits[1], len(one) - half)
        best = max(best, Leak(found, event), key=lambda each: each.epsilon)
    return best


def _telling(first: Outputs, second: Outputs) -> frozenset[Hashable]:
    """The outputs with the highest ratio, as many of them as give the best bound."""
    here, there = Counter(first), Counter(second)
    order = sorted(here, key=lambda output: here[output] / (there[output] + 1), reverse=True)
    often, seldom = (list(accumulate(counts[output] for output in order)) for counts in (here, there))
    bounds = [_bound(hits, others, len(first)) for hits, others in zip(often, seldom, strict=True)]
    return frozenset(order[: int(np.argmax(bounds)) + 1])


def _bound(often: int, seldom: int, runs: int) -> float:
    """ln of (lower bound of one probability over upper bound of the other)."""
    from scipy.stats import beta

    if not often:
        return -math.inf
    low = float(beta.ppf(CONFIDENCE / 2, often, runs - often + 1))
    high = float(beta.ppf(1 - CONFIDENCE / 2, seldom + 1, runs - seldom)) if seldom < runs else 1.0
    return math.log(low / high) if low > 0 else -math.inf
