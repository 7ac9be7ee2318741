"""Candidates: for each kind of attribute, which values may be refined next, and what that gains.

A grower owns the cut of one attribute. Values are numbered as `sfumato.counting` asks: 0 is the top.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.data.axis import NumberAxis, TreeAxis, ValueAxis
from sfumato.maskers.topdown.refinement import Refinement
from sfumato.maskers.topdown.scores import gains, info_gain

Histogram = NDArray[np.int64]
"""(positions, classes)"""
Holds = Callable[[Refinement], NDArray[np.bool_]]
"""Asks at which boundaries of an interval every requirement would still hold."""


@dataclass(frozen=True)
class Candidate:
    """A refinement that may come next: its gain, how many records it makes more exact, how many hold the value.

    `beneficial`: more than one class among the records that hold the value (002 section 3.1.3).
    `freed`: by how much less of the attribute the records' values cover, added up over them; 1 is all of it.
    """

    refinement: Refinement
    gain: float
    records: int
    held: int
    beneficial: bool
    freed: float


class Grower(Protocol):
    """Owns the cut of one attribute."""

    def candidates(self) -> list[Candidate]:
        """Every value of the cut that can be refined, in value order."""

    def refine(self, step: Refinement) -> None:
        """Replace a value by its children."""

    def drop(self, refinement: Refinement) -> None:
        """Never offer this refinement again."""

    def same(self, step: Refinement) -> Refinement:
        """A step of another search over the same axis, in this grower's numbers."""


class Sums:
    """Owns running sums of a histogram, so that a range of positions is counted by one subtraction."""

    def __init__(self, histogram: Histogram) -> None:
        self._up_to = np.zeros((len(histogram) + 1, histogram.shape[1]), dtype=np.int64)
        np.cumsum(histogram, axis=0, out=self._up_to[1:])

    def of(self, first: int, end: int) -> NDArray[np.int64]:
        """(classes,) of the positions first..end-1."""
        found: NDArray[np.int64] = self._up_to[end] - self._up_to[first]
        return found


def counted(refinement: Refinement, children: NDArray[np.int64], falls: Sequence[float]) -> Candidate:
    """A refinement with what it gains, from (children, classes) records. `falls`: by how much less each covers."""
    held = children.sum(axis=0)
    total = int(held.sum())
    freed = float(children.sum(axis=1) @ np.array(falls))
    return Candidate(refinement, info_gain(children), total, total, int(np.count_nonzero(held)) > 1, freed)


def places_of(axis: TreeAxis | NumberAxis) -> NDArray[np.float64]:
    """(positions,): where each lies from 0 to 1, leaves evenly and numbers by size; missing ones nowhere."""
    if isinstance(axis, TreeAxis):
        return np.linspace(0.0, 1.0, len(axis.taxonomy.leaves))
    known = axis.numbers[np.isfinite(axis.numbers)].astype(np.float64)
    if len(known) < len(axis.numbers) or not len(known) or known[0] == known[-1]:
        return np.linspace(0.0, 1.0, len(axis.numbers))
    places: NDArray[np.float64] = (known - known[0]) / (known[-1] - known[0])
    return places


def falls(places: NDArray[np.float64], parts: Sequence[tuple[int, int]]) -> list[float]:
    """By how much less of an attribute each part covers than all of them together.

    >>> falls(np.array([0.0, 0.5, 1.0]), [(0, 2), (2, 3)]), falls(np.array([0.0, 1.0]), [(0, 2), (2, 3)])
    ([0.5, 1.0], [0.0, 1.0])
    """
    whole = _covered(places, parts[0][0], parts[-1][1])
    return [whole - _covered(places, first, end) for first, end in parts]


def freed(places: NDArray[np.float64], sums: Sums, parts: Sequence[tuple[int, int]]) -> float:
    """By how much less of an attribute records cover in all, once they are told apart by these parts."""
    held = np.array([sums.of(*part).sum() for part in parts])
    return float(held @ np.array(falls(places, parts)))


def _covered(places: NDArray[np.float64], first: int, end: int) -> float:
    if first >= len(places):
        return 0.0  # the missing ones alone
    return 1.0 if end > len(places) else float(places[end - 1] - places[first])


class TreeGrower:
    """Owns a cut through a taxonomy. Value numbers are nodes in depth-first order; missing comes last."""

    def __init__(self, attribute: int, axis: TreeAxis, histogram: Histogram) -> None:
        self._attribute, self._axis, self._sums = attribute, axis, Sums(histogram)
        self._number = {label: number for number, label in enumerate(axis.taxonomy.labels)}
        self._places = places_of(axis)
        self.cut: set[int] = {0}
        self._open = {0: self._make(0)}

    def _make(self, node: int) -> Candidate:
        tree = self._axis.taxonomy
        below = tree.children(tree.labels[node])
        parts = [tree.leaf_range(label) for label in below]
        children = [self._number[label] for label in below]
        if node == 0 and self._axis.missing:
            parts.append((len(tree.leaves), len(tree.leaves) + 1))
            children.append(len(tree.labels))
        refinement = Refinement(self._attribute, node, tuple(parts), tuple(children))
        return counted(refinement, np.array([self._sums.of(*part) for part in parts]), falls(self._places, parts))

    def candidates(self) -> list[Candidate]:
        """Inner nodes of the cut, in tree order."""
        return [self._open[node] for node in sorted(self._open)]

    def refine(self, step: Refinement) -> None:
        """Replace a node by its children."""
        del self._open[step.value]
        self.cut.remove(step.value)
        self.cut.update(step.children)
        labels = self._axis.taxonomy.labels
        for child in step.children:
            if child < len(labels) and not self._axis.taxonomy.is_leaf(labels[child]):
                self._open[child] = self._make(child)

    def drop(self, refinement: Refinement) -> None:
        """The node stays as it is."""
        del self._open[refinement.value]

    def same(self, step: Refinement) -> Refinement:
        """Numbers are nodes: the same in every search."""
        return step


class ValueGrower:
    """Owns the set of disclosed labels. Number 0 is the suppressed value, p + 1 the disclosed position p.

    Labels that nobody has, but people of a population or records that were lifted, stay suppressed.
    """

    def __init__(self, attribute: int, axis: ValueAxis, histogram: Histogram) -> None:
        self._attribute, self._axis, self._histogram = attribute, axis, histogram
        self.suppressed = set(range(axis.size))
        self._open = set(np.flatnonzero(histogram.any(axis=1)).tolist())

    def candidates(self) -> list[Candidate]:
        """Each suppressed label that may be disclosed; gains are relative to what is still suppressed (Eq. 5)."""
        asked = sorted(self._open)
        if not asked:
            return []
        held = self._histogram[sorted(self.suppressed)].sum(axis=0)
        shown = self._histogram[asked]
        split = np.stack([shown, held - shown], axis=1)
        total, mixed = int(held.sum()), int(np.count_nonzero(held)) > 1
        return [
            Candidate(self._disclose(position), float(gain), int(count), total, mixed, float(count))
            for position, gain, count in zip(asked, gains(held, split), shown.sum(axis=1), strict=True)
        ]

    def _disclose(self, position: int) -> Refinement:
        return Refinement(self._attribute, 0, ((position, position + 1),), (position + 1,), rest=True)

    def refine(self, step: Refinement) -> None:
        """Disclose a label; the last one left is then disclosed as well (PAPERS.md, 002-6), if anybody has it."""
        position = step.parts[0][0]
        self.suppressed.remove(position)
        self._open.discard(position)
        if len(self.suppressed) == 1 and self._histogram[list(self.suppressed)].any():
            self.suppressed.clear()
            self._open.clear()

    def drop(self, refinement: Refinement) -> None:
        """The label stays suppressed."""
        self._open.discard(refinement.parts[0][0])

    def same(self, step: Refinement) -> Refinement:
        """Numbers are positions: the same in every search."""
        return step


class NumberGrower:
    """Owns the intervals of a number. Each is split where that gains most (002 section 3.1.3)."""

    def __init__(self, attribute: int, axis: NumberAxis, histogram: Histogram, holds: Holds | None) -> None:
        self._attribute, self._axis, self._sums, self._holds = attribute, axis, Sums(histogram), holds
        self._histogram = histogram
        self._places = places_of(axis)
        self._count = len(axis.numbers)
        self._number = {(0, axis.size): 0}
        self.breaks: set[int] = set()
        self.joined: set[tuple[int, int]] = set()
        self.missing_apart = False
        self._open: dict[int, Candidate] = {}
        if axis.missing:
            self._open[0] = replace(self._into(0, self._count, axis.size), freed=self._freed_behind(axis))
        else:
            self._offer(0, self._count)

    def _freed_behind(self, axis: NumberAxis) -> float:
        """What setting missing values apart frees, with the first split, which waits for it."""
        missing = float(self._sums.of(self._count, axis.size).sum())
        at = best_split(self._histogram[: self._count], axis.separable[1 : self._count])
        return missing + (0.0 if at is None else freed(self._places, self._sums, ((0, at), (at, self._count))))

    def _number_of(self, first: int, end: int) -> int:
        return self._number.setdefault((first, end), len(self._number))

    def _refinement(self, first: int, at: int, end: int) -> Refinement:
        children = (self._number_of(first, at), self._number_of(at, end))
        return Refinement(self._attribute, self._number_of(first, end), ((first, at), (at, end)), children)

    def _into(self, first: int, at: int, end: int) -> Candidate:
        children = np.array([self._sums.of(first, at), self._sums.of(at, end)])
        return counted(self._refinement(first, at, end), children, falls(self._places, ((first, at), (at, end))))

    def _offer(self, first: int, end: int, allowed: NDArray[np.bool_] | None = None) -> None:
        separable = self._axis.separable[first + 1 : end]
        found = best_split(self._histogram[first:end], separable if allowed is None else allowed & separable)
        if found is not None:
            self._open[self._number_of(first, end)] = self._into(first, first + found, end)

    def candidates(self) -> list[Candidate]:
        """The intervals that can be split, from low to high."""
        return sorted(self._open.values(), key=lambda candidate: candidate.refinement.parts[0][0])

    def refine(self, step: Refinement) -> None:
        """Replace an interval by its two halves, or set the missing values apart."""
        self._open.pop(step.value, None)
        (first, at), (_, end) = step.parts
        self._offer(first, at)
        if end > self._count:
            self.missing_apart = True
        else:
            self.breaks.add(at)
            self.joined.add((first, end))
            self._offer(at, end)

    def drop(self, refinement: Refinement) -> None:
        """The interval stays whole, unless another boundary may be tried (split="best_valid")."""
        del self._open[refinement.value]
        first, end = refinement.parts[0][0], refinement.parts[-1][1]
        if self._holds is not None and end <= self._count:
            self._offer(first, end, self._holds(refinement))

    def same(self, step: Refinement) -> Refinement:
        """Numbers are given in the order in which intervals were met."""
        return self._refinement(step.parts[0][0], step.parts[1][0], step.parts[1][1])


def best_split(histogram: Histogram, allowed: NDArray[np.bool_] | None = None) -> int | None:
    """The boundary with the largest gain, the lowest on a tie (PAPERS.md, 002-2); None if there is none.

    Where all records have one label no boundary gains anything, and the one that halves the records best is taken.

    >>> best_split(np.array([[0, 3], [0, 4], [3, 1], [9, 0]])), best_split(np.array([[1], [2], [3], [9]]))
    (2, 3)
    """
    occurs = histogram.any(axis=1)
    boundary = np.flatnonzero(occurs)[1:]
    if allowed is not None:
        boundary = boundary[allowed[boundary - 1]]
    if len(boundary) == 0:
        return None
    below = np.cumsum(histogram, axis=0)
    left = below[boundary - 1]
    if histogram.shape[1] == 1:
        return int(boundary[np.argmin(np.abs(2 * left[:, 0] - below[-1, 0]))])
    found = gains(below[-1], np.stack([left, below[-1] - left], axis=1))
    return int(boundary[np.argmax(found)])
