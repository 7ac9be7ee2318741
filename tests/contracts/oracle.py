"""Groups in dicts and loops, recounted from the rows at every question: what the compiled groups are compared with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from sfumato.counting import Engine, Needs, Records
from sfumato.maskers.topdown.refinement import UNTOUCHED, Minima, Refinement

Group = tuple[int, ...]
Groups = dict[Group, list[int]]
"""The records of each group by value; by one value where nothing else is asked."""


class OracleSession:
    """Owns for every attribute a list: which value each position holds now."""

    def __init__(self, records: Records, needs: Sequence[Needs]) -> None:
        self._records, self._needs = records, needs
        self._rows = list(zip(*(column.tolist() for column in records.positions), strict=True))
        self._weights = [1] * len(self._rows) if records.weights is None else records.weights.tolist()
        self._value_at = [[0] * size for size in records.sizes]

    def minima(self, candidates: Sequence[Refinement]) -> Minima:
        """Refine on paper, group, and look for the smallest and the least private new group."""
        now = [self._groups(need, self._value_at) for need in self._needs]
        made = [[self._made(candidate, need) for need in self._needs] for candidate in candidates]
        shape = (len(candidates), len(self._needs))
        return Minima(
            np.array([self._smallest(n, g) for n, g in zip(self._needs, now, strict=True)], dtype=np.int64),
            np.array(
                [[self._smallest(n, g) for n, g in zip(self._needs, row, strict=True)] for row in made], dtype=np.int64
            ).reshape(shape),
            np.array([self._worst(n, g) for n, g in zip(self._needs, now, strict=True)]),
            np.array([[self._worst(n, g) for n, g in zip(self._needs, row, strict=True)] for row in made]).reshape(
                shape
            ),
        )

    def splits(self, interval: Refinement, thresholds: Sequence[float]) -> NDArray[np.bool_]:
        """Try every boundary."""
        first, end = interval.parts[0][0], interval.parts[-1][1]
        return np.array(
            [self._split_holds(interval, (first, at, end), thresholds) for at in range(first + 1, end)],
            dtype=bool,
        )

    def refine(self, step: Refinement) -> None:
        """Write the children over the value's positions."""
        self._value_at[step.attribute] = self._refined(step)

    def _split_holds(self, interval: Refinement, cut: tuple[int, int, int], thresholds: Sequence[float]) -> bool:
        first, at, end = cut
        tried = Refinement(interval.attribute, interval.value, ((first, at), (at, end)), interval.children)
        return all(
            self._worst(need, self._made(tried, need)) >= threshold
            for need, threshold in zip(self._needs, thresholds, strict=True)
        )

    def _refined(self, step: Refinement) -> list[int]:
        held = list(self._value_at[step.attribute])
        for (first, end), child in zip(step.parts, step.children, strict=False):
            for position in range(first, end):
                if held[position] == step.value:
                    held[position] = child
        return held

    def _people(self, need: Needs) -> Iterator[tuple[Mapping[int, int], int, int]]:
        """Everybody who is counted: the positions by attribute, the value, and how many such records there are."""
        codes = [0] * len(self._rows) if need.by is None else self._records.sensitive[need.by].tolist()
        for row, code, weight in zip(self._rows, codes, self._weights, strict=True):
            yield dict(enumerate(row)), code, weight
        if need.population is not None:
            columns = self._records.populations[need.population]
            for other in zip(*(columns[attribute].tolist() for attribute in need.on), strict=True):
                yield dict(zip(need.on, other, strict=True)), 1, 1

    def _groups(self, need: Needs, value_at: Sequence[Sequence[int]]) -> Groups:
        values = 2 if need.population is not None else 1 if need.by is None else self._records.sensitive_sizes[need.by]
        groups: Groups = {}
        for positions, code, weight in self._people(need):
            group = tuple(value_at[attribute][positions[attribute]] for attribute in need.on)
            groups.setdefault(group, [0] * values)[code] += weight
        return groups

    def _made(self, candidate: Refinement, need: Needs) -> Groups:
        """The groups that a candidate would make."""
        if candidate.attribute not in need.on:
            return {}
        tried = list(self._value_at)
        tried[candidate.attribute] = self._refined(candidate)
        at = need.on.index(candidate.attribute)
        new = {*candidate.children, *([candidate.value] if candidate.rest else [])}
        return {group: counts for group, counts in self._groups(need, tried).items() if group[at] in new}

    def _smallest(self, need: Needs, groups: Groups) -> int:
        """Records of the smallest group that anybody of the table is in."""
        sizes = [counts[0] if need.population is not None else sum(counts) for counts in groups.values()]
        return min((size for size in sizes if size), default=int(UNTOUCHED))

    def _worst(self, need: Needs, groups: Groups) -> float:
        if need.measure is None:
            smallest = self._smallest(need, groups)
            return float("inf") if smallest == UNTOUCHED else float(smallest)
        found = (need.measure(np.array([counts], dtype=np.int64)) for counts in groups.values())
        return min((float(level[0]) for level in found), default=float("inf"))


def open_oracle(
    engine: Engine, records: Records, needs: Sequence[Needs], *, waiting: Sequence[int] = ()
) -> OracleSession:
    """In place of `open_groups`; the engine is not asked."""
    return OracleSession(records, needs)


@contextmanager
def by_the_oracle() -> Iterator[None]:
    """Searches in here keep their groups in dicts and loops."""
    with patch("sfumato.maskers.topdown.groups.open_groups", open_oracle):
        yield
