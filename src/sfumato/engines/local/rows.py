"""Rows in group order, as the tallies see them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.counting import Positions

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one requirement: positions by attribute, and weights, which are empty where every row counts one.

    `codes`: the value by which each row is counted; empty where only records are counted.
    """

    columns: dict[int, Positions]
    weights: Ints
    codes: Positions


@dataclass(frozen=True, eq=False)
class Chosen:
    """Groups to look at, rows starts[s]..ends[s], and which values of an attribute are asked about."""

    starts: Ints
    ends: Ints
    asked: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Inside:
    """One group on one attribute: positions counted from the first of an interval, weights, and codes."""

    positions: Ints
    weights: Ints
    codes: Positions
