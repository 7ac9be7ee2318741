"""An adversary with two neighbouring tables: does any event happen too much more often on one of them?

A mechanism is epsilon-private if no event's probability differs by more than a factor e^epsilon. Half of the runs
choose the most telling event, the other half measure it; a violation is a lower confidence bound above epsilon.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

CONFIDENCE = 1e-7  # how often a sound mechanism may be called a violation

Draws = Callable[[int], Sequence[Hashable]]
"""A mechanism prepared on one table: so many outputs, each drawn anew."""


@dataclass(frozen=True)
class Leak:
    """At least this much epsilon is lost, by seeing this set of outputs."""

    epsilon: float
    outputs: frozenset[Hashable]


def leak(one: Draws, other: Draws, *, runs: int) -> Leak:
    """A lower bound on the epsilon of a mechanism, from runs on two neighbouring tables."""
    both = one(runs), other(runs)
    best = Leak(0.0, frozenset())
    for first, second in (both, both[::-1]):
        half = runs // 2
        event = _telling(first[:half], second[:half])
        hits = [sum(output in event for output in outputs[half:]) for outputs in (first, second)]
        found = _bound(hits[0], hits[1], runs - half)
        best = max(best, Leak(found, event), key=lambda each: each.epsilon)
    return best


def _telling(first: Sequence[Hashable], second: Sequence[Hashable]) -> frozenset[Hashable]:
    """The outputs with the highest ratio, as many of them as give the best bound."""
    here, there = Counter(first), Counter(second)
    order = sorted(here, key=lambda output: here[output] / (there[output] + 1), reverse=True)
    best, event = -math.inf, frozenset(order[:1])
    for size in range(1, len(order) + 1):
        hits = sum(here[o] for o in order[:size]), sum(there[o] for o in order[:size])
        bound = _bound(hits[0], hits[1], len(first))
        if bound > best:
            best, event = bound, frozenset(order[:size])
    return event


def _bound(often: int, seldom: int, runs: int) -> float:
    """ln of (lower bound of one probability over upper bound of the other)."""
    from scipy.stats import beta

    if not often:
        return -math.inf
    low = float(beta.ppf(CONFIDENCE / 2, often, runs - often + 1))
    high = float(beta.ppf(1 - CONFIDENCE / 2, seldom + 1, runs - seldom)) if seldom < runs else 1.0
    return math.log(low / high) if low > 0 else -math.inf
