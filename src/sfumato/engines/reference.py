"""The oracle: dicts and loops, recounted from the rows at every question. Slow and obviously right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.counting import UNTOUCHED, Counts, Needs, Records, Refinement

Group = tuple[int, ...]


class ReferenceSession:
    """Owns for every attribute a list: which value each position holds now."""

    def __init__(self, records: Records, needs: Sequence[Needs]) -> None:
        self._rows = list(zip(*(column.tolist() for column in records.positions), strict=True))
        self._classes = records.classes.tolist()
        self._weights = [1] * len(self._rows) if records.weights is None else records.weights.tolist()
        self._sizes, self._n_classes = records.sizes, records.n_classes
        self._needs = needs
        self._value_at = [[0] * size for size in records.sizes]

    def histogram(self, attribute: int) -> NDArray[np.int64]:
        """(positions, classes) by adding up rows."""
        found = np.zeros((self._sizes[attribute], self._n_classes), dtype=np.int64)
        for row, label, weight in zip(self._rows, self._classes, self._weights, strict=True):
            found[row[attribute], label] += weight
        return found

    def counts(self, candidates: Sequence[Refinement]) -> Counts:
        """Refine on paper, group, and look for the smallest new group."""
        anonymity = [min(self._groups(need, self._value_at).values()) for need in self._needs]
        smallest = [[self._smallest(candidate, need) for need in self._needs] for candidate in candidates]
        return Counts(
            np.array(anonymity, dtype=np.int64),
            np.array(smallest, dtype=np.int64).reshape(len(candidates), len(self._needs)),
        )

    def splits(self, interval: Refinement, thresholds: Sequence[int]) -> NDArray[np.bool_]:
        """Try every boundary."""
        first, end = interval.parts[0][0], interval.parts[-1][1]
        return np.array(
            [self._split_holds(interval, (first, at, end), thresholds) for at in range(first + 1, end)],
            dtype=bool,
        )

    def refine(self, step: Refinement) -> None:
        """Write the children over the value's positions."""
        self._value_at[step.attribute] = self._refined(step)

    def _split_holds(self, interval: Refinement, cut: tuple[int, int, int], thresholds: Sequence[int]) -> bool:
        first, at, end = cut
        tried = Refinement(interval.attribute, interval.value, ((first, at), (at, end)), interval.children)
        return all(
            self._smallest(tried, need) >= threshold for need, threshold in zip(self._needs, thresholds, strict=True)
        )

    def _refined(self, step: Refinement) -> list[int]:
        held = list(self._value_at[step.attribute])
        for (first, end), child in zip(step.parts, step.children, strict=False):
            for position in range(first, end):
                if held[position] == step.value:
                    held[position] = child
        return held

    def _groups(self, need: Needs, value_at: Sequence[Sequence[int]]) -> Counter[Group]:
        groups: Counter[Group] = Counter()
        for row, weight in zip(self._rows, self._weights, strict=True):
            groups[tuple(value_at[attribute][row[attribute]] for attribute in need.on)] += weight
        return groups

    def _smallest(self, candidate: Refinement, need: Needs) -> int:
        if candidate.attribute not in need.on:
            return int(UNTOUCHED)
        tried = list(self._value_at)
        tried[candidate.attribute] = self._refined(candidate)
        at = need.on.index(candidate.attribute)
        new = {*candidate.children, *([candidate.value] if candidate.rest else [])}
        sizes = [size for group, size in self._groups(need, tried).items() if group[at] in new]
        return min(sizes, default=int(UNTOUCHED))


class ReferenceEngine:
    """Counts in plain Python."""

    def open(self, records: Records, needs: Sequence[Needs]) -> ReferenceSession:
        """Take up a table in its most masked state."""
        return ReferenceSession(records, needs)
