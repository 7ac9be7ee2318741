"""What the compiled loops of k-means are given: where codes stand, records in codes, look-ups, and sums by cluster.

A record's vector is made of a small vector for each attribute, which depends on the attribute's code alone. So its
squared distance from a centre is a sum of look-ups, one an attribute, and a new centre follows from how many records of
its cluster hold each code. The centres stand side by side in lanes, `LANES` of them at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats, Ints

LANES = 8
"""Centres whose distances are added up at once."""
NOBODYS: Any = np.uint16(0xFFFF)
"""The label of a record that is in no cluster yet."""
Labels = NDArray[np.uint16]
"""(rows,): clusters from 0 on."""


class Ground(NamedTuple):
    """Where every code stands, the codes of all attributes in one row of numbers.

    - `first` (attributes + 1,): the number of each attribute's first code.
    - `places`: of each code its coordinates, one code after the other; `start` (attributes + 1,): where those of each
      attribute begin.
    - `columns`: which coordinates of the whole space they are; `wide` (attributes + 1,): where those of each attribute
      begin.
    - `numbers` (numbers,): the coordinate of each attribute that is held as a number and not in codes.
    - `members`: the coordinates in which each set stands, one set after the other, as places in `spread`; `ends`
      (sets + 1,): where those of each set begin; `share` (sets,): how far along each of them the set stands.
    - `spread`: the coordinates of the whole space in which sets stand.
    """

    first: NDArray[np.uint64]
    places: Floats
    start: Ints
    columns: Ints
    wide: Ints
    numbers: Ints
    members: NDArray[np.uint32]
    ends: Ints
    share: Floats
    spread: Ints


class Rows(NamedTuple):
    """Records: `codes` (rows, attributes) in the narrowest type, `numbers` (rows, numbers), `sets` (rows, set-valued
    attributes) with the number of each set, and `weights` (rows,), or none where each record counts once."""

    codes: NDArray[Any]
    numbers: NDArray[np.float32]
    sets: NDArray[np.uint32]
    weights: Floats

    def part(self, chosen: Any) -> Rows:
        """Some of them: a slice, or their places."""
        weights = self.weights[chosen] if len(self.weights) else self.weights
        return Rows(self.codes[chosen], self.numbers[chosen], self.sets[chosen], weights)


class LookUps(NamedTuple):
    """What a code, a number or a coordinate of a set adds to the distances from some centres, each in a lane.

    `codes` (codes, lanes): squared distances. `numbers` (numbers, lanes) and `members` (coordinates, lanes): the
    centres' own coordinates. `base` (lanes,): what every record begins with, the centres' squares where sets stand;
    infinite in a lane without a centre. `centres`: how many there are.
    """

    codes: Floats
    numbers: Floats
    members: Floats
    base: Floats
    centres: int


class Counts(NamedTuple):
    """Sums over records by cluster, from which its centre follows: `codes` (codes, clusters) how many hold each code,
    `numbers` (numbers, clusters) and `members` (coordinates, clusters) what they add up to, `sizes` (clusters,) how
    many there are; all of them by weight."""

    codes: Floats
    numbers: Floats
    members: Floats
    sizes: Floats
