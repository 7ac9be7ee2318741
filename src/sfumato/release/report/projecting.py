"""Records in the plane: the two directions in which they differ most, and bubbles where many stand together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.structure.coded_points import AnyBlock, Placed, SetBlock

Points = NDArray[np.float64]
AT_ONCE = 1 << 13
"""Values or records that become vectors at once."""
MOST_PAIRS = 1_000_000
"""Pairs of values that are always counted; of more, only where records are more still."""
GRID = (44, 30)
"""Cells across and up; the records of a cell and a cluster make one bubble."""


@dataclass(frozen=True, eq=False)
class Plane:
    """A projection: `axes` (dims, 2) around `middle` (dims,)."""

    middle: Points
    axes: Points

    @classmethod
    def of(cls, placed: Placed, weights: Ints | None = None) -> Plane:
        """The two main directions of all records; the order of rows does not matter. `weights`: how many each is."""
        moments = _Moments.of(placed, weights)
        axes = np.linalg.eigh(moments.spread)[1][:, ::-1][:, :2]
        if axes.shape[1] < 2:
            axes = np.hstack([axes, np.zeros((len(axes), 2 - axes.shape[1]))])
        return cls(moments.middle, axes * _signs(axes))

    def points(self, placed: Placed) -> Points:
        """(rows, 2): each value's part is computed once; coordinates beyond the shared space do not count."""
        found = np.tile(-self.middle @ self.axes, (placed.rows, 1))
        at = 0
        for block in placed.blocks:
            axes = self.axes[at : at + block.dims]
            found += np.concatenate([block.at(some) @ axes for some in _some(block.values)])[block.codes]
            at += block.dims
        return found


@dataclass(frozen=True, eq=False)
class _Moments:
    """The mean of placed records and how their coordinates vary together."""

    middle: Points
    spread: Points

    @classmethod
    def of(cls, placed: Placed, weights: Ints | None) -> _Moments:
        """From counts of pairs of values: no vector is made of a record."""
        blocks, rows = placed.blocks, max(placed.rows if weights is None else int(weights.sum()), 1)
        means = [_sum(block, weights) / rows for block in blocks]
        squares = [[_together(a, b, weights) / rows for b in blocks[at:]] for at, a in enumerate(blocks)]
        whole = [[squares[min(a, b)][abs(a - b)] for b in range(len(blocks))] for a in range(len(blocks))]
        turned = [[part.T if b < a else part for b, part in enumerate(line)] for a, line in enumerate(whole)]
        middle = np.concatenate(means).astype(np.float64)
        return cls(middle, np.block(turned) - np.outer(middle, middle))


def _some(count: int) -> Iterator[Ints]:
    """Numbers from 0 on, some at a time: of sets there may be as many as records."""
    return (np.arange(at, min(at + AT_ONCE, count)) for at in range(0, max(count, 1), AT_ONCE))


def _sum(block: AnyBlock, weights: Ints | None) -> Points:
    """(dims,): the coordinates of all records, added up."""
    counts = np.bincount(block.codes, weights, block.values)
    found = np.zeros(block.dims)
    for some in _some(block.values):
        found += counts[some] @ block.at(some)
    return found


def _together(first: AnyBlock, second: AnyBlock, weights: Ints | None) -> Points:
    """(dims, dims): products of two attributes' coordinates, summed over all records."""
    many = first.values * second.values > max(MOST_PAIRS, 4 * len(first.codes))
    if isinstance(first, SetBlock) or isinstance(second, SetBlock) or many:
        found = np.zeros((first.dims, second.dims))
        for rows in _some(len(first.codes)):
            left = first.at(first.codes[rows]).astype(np.float64)
            left = left if weights is None else left * weights[rows][:, None]
            found += left.T @ second.at(second.codes[rows])
        return found
    width = second.values
    pairs = np.bincount(first.codes.astype(np.int64) * width + second.codes, weights, first.values * width)
    return first.positions.astype(np.float64).T @ (pairs.reshape(-1, width) @ second.positions.astype(np.float64))


def _signs(axes: Points) -> Points:
    """The largest part of each direction is positive, so that the same table gives the same picture."""
    largest = np.abs(axes).argmax(axis=0)
    return np.where(axes[largest, np.arange(axes.shape[1])] < 0, -1.0, 1.0)


@dataclass(frozen=True, eq=False)
class Frame:
    """The part of the plane that is drawn."""

    low: Points
    high: Points

    @classmethod
    def around(cls, *clouds: Points) -> Frame:
        """Everything, in both clouds."""
        every = np.vstack(clouds)
        low, high = every.min(axis=0), every.max(axis=0)
        margin = np.where(high > low, (high - low) * 0.04, 0.5)
        return cls(low - margin, high + margin)


@dataclass(frozen=True, eq=False)
class Bubbles:
    """Where records stand: the middle of each bubble, its cluster, and how many records it stands for."""

    points: Points
    clusters: Ints
    counts: Ints

    @classmethod
    def of(cls, points: Points, clusters: NDArray[Any], frame: Frame, weights: Ints | None = None) -> Bubbles:
        """Records of one cluster in one cell of the grid together, at their mean. `weights`: how many each is."""
        grid = np.array(GRID)
        cells = np.clip((points - frame.low) / (frame.high - frame.low) * grid, 0, grid - 1).astype(np.int64)
        keys = (clusters.astype(np.int64) * GRID[0] + cells[:, 0]) * GRID[1] + cells[:, 1]
        found, at = np.unique(keys, return_inverse=True)
        many = np.ones(len(points), dtype=np.int64) if weights is None else weights
        counts = np.bincount(at, many)
        means = np.stack([np.bincount(at, points[:, axis] * many) / counts for axis in (0, 1)], axis=1)
        return cls(means, found // (GRID[0] * GRID[1]), counts.astype(np.int64))
