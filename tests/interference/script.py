"""Scripted answers: what a masker is told follows from what it asks, and from no record."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from sfumato.arrays import Ints
from sfumato.privacy.budget import Spending
from sfumato.privacy.mechanisms import Mechanisms, Question

Face = tuple[object, ...]
"""A question without the records: its purpose, its shape, its price and the scale of its noise."""


class Script:
    """Owns the faces of all questions so far. An answer follows from them and from a seed, never from values."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.asked: list[Face] = []

    @property
    def private(self) -> bool:
        """Never: rows are then drawn from a repeatable generator as well."""
        return False

    def note(self, *face: object) -> np.random.Generator:
        """Remember a question; the chance that answers it."""
        self.asked.append(face)
        digest = hashlib.sha256(repr((self.seed, len(self.asked), face)).encode()).digest()
        return np.random.default_rng(int.from_bytes(digest[:8]))

    def laplace(self, values: Ints, *, epsilon: Fraction, sensitivity: int) -> Ints:
        """As many counts as are asked for, some of them negative."""
        chance = self.note("laplace", len(values), epsilon, sensitivity)
        return np.rint(chance.normal(1.0, 1.0, len(values)) * sensitivity).astype(np.int64)

    def noisy_max(self, scores: Sequence[int], *, epsilon: Fraction, sensitivity: int, monotone: bool) -> int:
        """Any of the places."""
        return int(self.note("noisy max", len(scores), epsilon, sensitivity, monotone).integers(len(scores)))


class Scripted(Mechanisms):
    """Owns a spending and a script. Everything but the answers is as in the door to private data itself."""

    def __init__(self, spending: Spending, script: Script) -> None:
        super().__init__(spending, script)
        self.script = script

    def counts(self, purpose: str, values: Ints, *, epsilon: Fraction, sensitivity: int = 1, parts: int = 1) -> Ints:
        """Remembered with its purpose."""
        self.script.note("counts", purpose, np.shape(values), epsilon, sensitivity, parts)
        return super().counts(purpose, values, epsilon=epsilon, sensitivity=sensitivity, parts=parts)

    def choose(self, purpose: str, questions: Sequence[Question], *, epsilon: Fraction, monotone: bool) -> list[int]:
        """Remembered with its purpose."""
        shapes = tuple((len(question.scores), question.sensitivity) for question in questions)
        self.script.note("choose", purpose, shapes, epsilon, monotone)
        return super().choose(purpose, questions, epsilon=epsilon, monotone=monotone)

    def sparse_counts(
        self, purpose: str, filled: Sequence[Mapping[int, int]], *, cells: int, least: int, epsilon: Fraction
    ) -> list[dict[int, int]]:
        """Remembered with its purpose; how many cells are filled is no part of the face."""
        self.script.note("sparse counts", purpose, len(filled), cells, least, epsilon)
        return super().sparse_counts(purpose, filled, cells=cells, least=least, epsilon=epsilon)

    def _sparse(self, filled: Mapping[int, int], *, cells: int, least: int, epsilon: Fraction) -> dict[int, int]:
        """Any few cells, whichever have records."""
        chance = self.script.note("a part", cells, least, epsilon)
        some = chance.integers(cells, size=int(chance.integers(4)))
        return {int(cell): least + int(chance.integers(3)) for cell in some}
