"""OpenDP's own noise, drawn a thousand numbers to a call: a call from Python costs more than the noise itself."""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np

from sfumato.arrays import Ints
from sfumato.privacy.mechanisms import OpenDPNoise, _noisy_max

AT_ONCE = 1000


class ManyAtOnce:
    """Owns numbers that OpenDP has drawn and nobody has used. Every number is used once.

    Counts: noise on a whole number is that number plus noise on 0. Choices: the very mechanism that the library uses,
    composed a thousand times with itself by OpenDP, which draws each time anew.
    """

    def __init__(self) -> None:
        self._noise: dict[tuple[Fraction, int], list[int]] = {}
        self._choices: dict[object, list[int]] = {}
        self._composed: dict[object, Any] = {}

    @property
    def private(self) -> bool:
        """As OpenDP's."""
        return True

    def laplace(self, values: Ints, *, epsilon: Fraction, sensitivity: int) -> Ints:
        """Discrete Laplace noise on every entry."""
        left = self._noise.setdefault((epsilon, sensitivity), [])
        while len(left) < len(values):
            zeros = np.zeros(max(AT_ONCE, len(values)), dtype=np.int64)
            left += OpenDPNoise().laplace(zeros, epsilon=epsilon, sensitivity=sensitivity).tolist()
        drawn = left[len(left) - len(values) :]
        del left[len(left) - len(values) :]
        return np.asarray(values, dtype=np.int64) + np.array(drawn, dtype=np.int64)

    def noisy_max(self, scores: Any, *, epsilon: Fraction, sensitivity: int, monotone: bool) -> int:
        """Report noisy max."""
        asked = tuple(int(score) for score in scores)
        left = self._choices.setdefault((asked, epsilon, sensitivity, monotone), [])
        if not left:
            left += self._thousand(epsilon, sensitivity, monotone)(list(asked))
        return int(left.pop())

    def _thousand(self, epsilon: Fraction, sensitivity: int, monotone: bool) -> Any:
        key = (epsilon, sensitivity, monotone)
        if key not in self._composed:
            make = import_module("opendp.combinators").make_composition
            self._composed[key] = make([_noisy_max(epsilon, sensitivity, monotone)] * AT_ONCE)
        return self._composed[key]


class Kept(ManyAtOnce):
    """Owns noise that is used once for each of several tables: each is compared with one that had other noise.

    What is found of one of them tells nothing new of the next, but holds for each as if the noise were its own.
    """

    def __init__(self, kept: dict[tuple[Fraction, int], Ints] | None = None) -> None:
        super().__init__()
        self._kept = {} if kept is None else kept
        self._used: dict[tuple[Fraction, int], int] = {}

    def again(self) -> Kept:
        """The same noise from the first number on."""
        return Kept(self._kept)

    def laplace(self, values: Ints, *, epsilon: Fraction, sensitivity: int) -> Ints:
        """Discrete Laplace noise on every entry."""
        key, many = (epsilon, sensitivity), len(values)
        at = self._used.get(key, 0)
        kept = self._kept.get(key, np.empty(0, dtype=np.int64))
        if len(kept) < at + many:
            zeros = np.zeros(max(100 * AT_ONCE, many), dtype=np.int64)
            more = OpenDPNoise().laplace(zeros, epsilon=epsilon, sensitivity=sensitivity)
            kept = self._kept[key] = np.concatenate([kept, more])
        self._used[key] = at + many
        return np.asarray(values, dtype=np.int64) + kept[at : at + many]
