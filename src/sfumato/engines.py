"""Who counts: the two questions of `sfumato.counting`, answered by numpy over whole columns, or in dicts and loops.

The reference is the oracle: slow and obviously right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.counting import Engine, Needs, Positions, Records, Tuples
from sfumato.errors import RecipeError, did_you_mean
from sfumato.events import checkpoint

MOST_CELLS = 1 << 22
"""Combinations of positions up to which counting cells is cheaper than listing those that there are."""
MOST_KEYS = 1 << 63
"""Combinations up to which a whole number stands for each."""
BLOCK = 1 << 20
"""Rows whose combinations are listed in one go."""
FEW = 4
"""So many rows a combination at least, in every block, or rows are carried as they are."""
Weights = NDArray[np.int64]


class LocalEngine:
    """Counts in numpy. Tuples are listed once where the quasi-identifier is short enough for that to pay."""

    def histogram(self, records: Records, attribute: int) -> NDArray[np.int64]:
        """(positions, classes) by one count over position and class together."""
        column, classes, n = records.positions[attribute], records.classes, records.n_classes
        flat = np.zeros(records.sizes[attribute] * n, dtype=np.int64)
        for begin in range(0, records.rows, BLOCK):
            some = slice(begin, begin + BLOCK)
            weights = None if records.weights is None else records.weights[some]
            cell = column[some].astype(np.int64) * n + classes[some]
            flat += np.bincount(cell, weights=weights, minlength=len(flat)).astype(np.int64)
        return flat.reshape(-1, n)

    def tuples(self, records: Records, need: Needs) -> Tuples:
        """The rows seen through the attributes of a requirement, and the value that it counts by, alone.

        >>> codes = np.array([0, 1, 1], dtype=np.uint8)
        >>> same = LocalEngine().tuples(Records((codes,), (2,), np.zeros(3, dtype=np.uint8), 1), Needs((0,)))
        >>> same.columns[0].tolist(), same.counts.tolist()
        ([0, 1], [1, 2])
        """
        sizes = [records.sizes[attribute] for attribute in need.on]
        columns = [records.positions[attribute] for attribute in need.on]
        if need.population is not None:
            return _with_population(records, need, columns, sizes)
        if need.by is None:
            return _counted(columns, sizes, records.weights)
        values = records.sensitive_sizes[need.by]
        codes = records.sensitive[need.by]
        return _last_as_codes(_counted([*columns, codes], [*sizes, values], records.weights), values)


def _with_population(records: Records, need: Needs, columns: Sequence[Positions], sizes: Sequence[int]) -> Tuples:
    """The rows of the table, which count by 0, and those of the population, by 1."""
    others = [records.populations[need.population or 0][attribute] for attribute in need.on]
    more = len(others[0])
    both: list[Any] = [np.concatenate(pair) for pair in zip(columns, others, strict=True)]
    codes = np.repeat(np.array([0, 1], dtype=np.uint8), [records.rows, more])
    own = np.ones(records.rows, dtype=np.int64) if records.weights is None else records.weights
    weights = np.concatenate([own, np.ones(more, dtype=np.int64)])
    return _last_as_codes(_counted([*both, codes], [*sizes, 2], weights), 2)


def _last_as_codes(tuples: Tuples, values: int) -> Tuples:
    return Tuples(tuples.columns[:-1], tuples.counts, tuples.columns[-1], values)


def _counted(columns: Sequence[Positions], sizes: Sequence[int], weights: Weights | None) -> Tuples:
    if prod(sizes) > MOST_CELLS:
        found = _listed(columns, sizes) if weights is None and prod(sizes) <= MOST_KEYS else None
        return _carried(columns, weights) if found is None else found
    held = np.bincount(_cells(columns, sizes), weights=weights, minlength=prod(sizes)).astype(np.int64)
    cells = np.flatnonzero(held)
    return Tuples(_columns_of(cells, columns, sizes), held[cells])


def _carried(columns: Sequence[Positions], weights: Weights | None) -> Tuples:
    """Row by row, as they are."""
    kept = np.empty(0, dtype=np.int64) if weights is None else weights.copy()
    return Tuples(tuple(column.copy() for column in columns), kept)


def _listed(columns: Sequence[Positions], sizes: Sequence[int]) -> Tuples | None:
    """Each combination that there is once; None where rows are too different for that to pay, found out in a block."""
    cells, held = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    for begin in range(0, len(columns[0]), BLOCK):
        checkpoint()
        some = _cells([column[begin : begin + BLOCK] for column in columns], sizes)
        found, counts = np.unique(some, return_counts=True)
        if FEW * len(found) > len(some):
            return None
        cells, at = np.unique(np.concatenate([cells, found]), return_inverse=True)
        held = np.bincount(at, weights=np.concatenate([held, counts])).astype(np.int64)
    return Tuples(_columns_of(cells, columns, sizes), held)


def _cells(columns: Sequence[Positions], sizes: Sequence[int]) -> NDArray[np.int64]:
    """(rows,): a number for each combination of positions."""
    cells = np.zeros(len(columns[0]), dtype=np.int64)
    for column, size in zip(columns, sizes, strict=True):
        cells *= size
        cells += column
    return cells


def _columns_of(cells: NDArray[np.int64], columns: Sequence[Positions], sizes: Sequence[int]) -> tuple[Positions, ...]:
    found: list[Positions] = []
    for column, size in zip(reversed(columns), reversed(sizes), strict=True):
        cells, position = np.divmod(cells, size)
        narrow: Any = position.astype(column.dtype)
        found.append(narrow)
    return tuple(reversed(found))


class ReferenceEngine:
    """Counts in plain Python."""

    def histogram(self, records: Records, attribute: int) -> NDArray[np.int64]:
        """(positions, classes) by adding up rows."""
        counts = np.zeros((records.sizes[attribute], records.n_classes), dtype=np.int64)
        column, classes = records.positions[attribute].tolist(), records.classes.tolist()
        for position, label, weight in zip(column, classes, _weights(records), strict=True):
            counts[position, label] += weight
        return counts

    def tuples(self, records: Records, need: Needs) -> Tuples:
        """Each combination once, by adding up rows."""
        held: Counter[tuple[int, ...]] = Counter()
        for combination, weight in _people(records, need):
            held[combination] += weight
        listed = sorted(held)
        columns: list[Any] = [
            np.array([combination[at] for combination in listed], dtype=records.positions[attribute].dtype)
            for at, attribute in enumerate(need.on)
        ]
        counts = np.array([held[combination] for combination in listed], dtype=np.int64)
        if need.by is None and need.population is None:
            return Tuples(tuple(columns), counts)
        values = 2 if need.population is not None else records.sensitive_sizes[need.by or 0]
        codes = np.array([combination[-1] for combination in listed], dtype=np.uint32)
        return Tuples(tuple(columns), counts, codes, values)


def _weights(records: Records) -> list[int]:
    return [1] * records.rows if records.weights is None else records.weights.tolist()


def _people(records: Records, need: Needs) -> Iterator[tuple[tuple[int, ...], int]]:
    """Everybody who is counted: the positions and the value, and how many such records there are."""
    columns = [records.positions[attribute].tolist() for attribute in need.on]
    codes = [0] * records.rows if need.by is None else records.sensitive[need.by].tolist()
    for *combination, weight in zip(*columns, codes, _weights(records), strict=True):
        yield tuple(combination), weight
    if need.population is not None:
        others = records.populations[need.population]
        for positions in zip(*(others[attribute].tolist() for attribute in need.on), strict=True):
            yield (*positions, 1), 1


ENGINES: Mapping[str, Callable[[], Engine]] = {"local": LocalEngine, "reference": ReferenceEngine}
"""One entry an engine, by its name."""


def engine_named(name: str) -> Engine:
    """A new engine by its name.

    >>> type(engine_named("reference")).__name__
    'ReferenceEngine'
    """
    if name not in ENGINES:
        raise RecipeError(
            "engine",
            "it is one of " + ", ".join(ENGINES),
            given=repr(name),
            remedy=did_you_mean(name, ENGINES),
        )
    return ENGINES[name]()
