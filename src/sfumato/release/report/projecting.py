"""Records in the plane: the two directions in which they differ most, and bubbles where many stand together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Points = NDArray[np.float64]
Ints = NDArray[np.int64]
CHUNK = 100_000
GRID = (44, 30)
"""Cells across and up; the records of a cell and a cluster make one bubble."""


@dataclass(frozen=True, eq=False)
class Plane:
    """A projection: `axes` (dims, 2) around `middle` (dims,)."""

    middle: Points
    axes: Points

    @classmethod
    def of(cls, parts: Iterator[Vectors]) -> Plane:
        """The two main directions of all records, counted part by part; the order of rows does not matter."""
        rows, sums, squares = 0, np.zeros(0), np.zeros((0, 0))
        for part in parts:
            wide = part.astype(np.float64)
            rows += len(wide)
            sums = wide.sum(axis=0) + (sums if sums.size else 0.0)
            squares = wide.T @ wide + (squares if squares.size else 0.0)
        middle = sums / max(rows, 1)
        spread = squares / max(rows, 1) - np.outer(middle, middle)
        axes = np.linalg.eigh(spread)[1][:, ::-1][:, :2]
        if axes.shape[1] < 2:
            axes = np.hstack([axes, np.zeros((len(axes), 2 - axes.shape[1]))])
        return cls(middle, axes * _signs(axes))

    def points(self, vectors: Vectors) -> Points:
        """(rows, 2); coordinates beyond the plane's own space do not count."""
        return (vectors[:, : len(self.middle)] - self.middle) @ self.axes


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
    def of(cls, points: Points, clusters: NDArray[Any], frame: Frame) -> Bubbles:
        """Records of one cluster in one cell of the grid together, at their mean."""
        grid = np.array(GRID)
        cells = np.clip((points - frame.low) / (frame.high - frame.low) * grid, 0, grid - 1).astype(np.int64)
        keys = (clusters.astype(np.int64) * GRID[0] + cells[:, 0]) * GRID[1] + cells[:, 1]
        found, at, counts = np.unique(keys, return_inverse=True, return_counts=True)
        means = np.stack([np.bincount(at, points[:, axis]) / counts for axis in (0, 1)], axis=1)
        return cls(means, found // (GRID[0] * GRID[1]), counts)


def chunks(rows: int) -> Iterator[slice]:
    """Slices that together cover all rows."""
    return (slice(start, start + CHUNK) for start in range(0, rows, CHUNK))
