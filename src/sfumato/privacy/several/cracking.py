"""The three correspondence attacks on two releases, as Fung et al. (EDBT 2008) define them.

R1 was published of the people T1, R2 of T1 and newcomers T2. Two records are comparable if they may be the same
person's: equal values, and what they show overlaps. A target's groups qid1 in R1 and qid2 in R2 overlap; g1 and g2 are
their records with one value.

- Forward, for a target of T1 in R1: only as many records of g1 as g2 has can have gone to qid2, so
  |g1| - min(|g1|, |g2|) of g1 are cracked: they are not the target's.
- Cross, for a target of T1 in R2: likewise |g2| - min(|g1|, |g2|) of g2.
- Backward, for a newcomer in R2: with G1 the records of R1 comparable to g2, and G2 those of R2 comparable to G1, at
  least |G1| - (|G2| - |g2|) of g2 are people of T1.

Where all records are cracked there is no target: such pairs and groups are passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.privacy.several.views import Ints, Marks, View, groups_of

NOBODY = int(np.iinfo(np.int64).max)
"""What an attack leaves when there is no target for it, such as newcomers where none came."""


@dataclass(frozen=True)
class Cracked:
    """The anonymity that each attack leaves: the smallest group less its cracked records, over all matching pairs."""

    forward: int
    cross: int
    backward: int

    @property
    def anonymity(self) -> int:
        """BCF-anonymity: the smallest of the three."""
        return min(self.forward, self.cross, self.backward)


def cracked(earlier: View, later: View, on: Sequence[str]) -> Cracked:
    """What the three attacks leave of two releases, of which `on` is the quasi-identifier."""
    n_values = 1 + int(max(earlier.values.max(), later.values.max()))
    first, second = _Qids.of(earlier, on, n_values), _Qids.of(later, on, n_values)
    match = np.ones((len(first.counts), len(second.counts)), dtype=bool)
    for name in on:
        if name in earlier.shown and name in later.shown:
            both = earlier.covers[name].astype(np.float32) @ later.covers[name].astype(np.float32).T > 0
            match &= both[np.ix_(first.codes[name], second.codes[name])]
    pairs = np.argwhere(match)
    kept = [np.minimum(first.counts[a], second.counts[b]) for a, b in pairs]
    forward = [_left(first.counts[a], first.counts[a] - both) for (a, _), both in zip(pairs, kept, strict=True)]
    cross = [_left(second.counts[b], second.counts[b] - both) for (_, b), both in zip(pairs, kept, strict=True)]
    cracks = _backward(first.counts, second.counts, match)
    backward = [_left(group, crack) for group, crack in zip(second.counts, cracks, strict=True)]
    return Cracked(_smallest(forward), _smallest(cross), _smallest(backward))


def _left(group: Ints, cracks: Ints) -> int:
    """The group less its cracked records, summed over its values."""
    return int(group.sum() - cracks.sum())


def _smallest(left: Sequence[int]) -> int:
    """Over all that holds a target; with none, nothing is cracked of nobody."""
    return min((size for size in left if size > 0), default=NOBODY)


def _backward(first: Ints, second: Ints, match: Marks) -> Ints:
    """(groups, values): how many records of R2 must be people of T1."""
    cracks = np.zeros_like(second)
    for value in range(second.shape[1]):
        comparable = match & (first[:, value] > 0)[:, None] & (second[:, value] > 0)[None, :]
        for b in range(len(second)):
            origins = comparable[:, b]
            reach = comparable[origins].any(axis=0)
            others = second[reach, value].sum() - second[b, value]
            if origins.any():
                cracks[b, value] = max(0, first[origins, value].sum() - others)
    return cracks


@dataclass(frozen=True, eq=False)
class _Qids:
    """(groups, values): the records of each group by value; of each attribute what the groups show."""

    counts: Ints
    codes: dict[str, Ints]

    @classmethod
    def of(cls, view: View, on: Sequence[str], n_values: int) -> _Qids:
        groups = groups_of(view, on)
        counts = np.zeros((int(groups.alike.max()) + 1, n_values), dtype=np.int64)
        np.add.at(counts, (groups.alike, groups.values), groups.counts)
        first = np.unique(groups.alike, return_index=True)[1]
        return cls(counts, {name: groups.shown[name][first] for name in on if name in groups.shown})
