"""The mean of intervals of which a release tells none: as numbers lie inside them in the groups of which it tells one.

The middle of [0-50000) is 25,000, and hardly anybody owes as much. Where groups beside it tell that theirs in [0-6000)
have a mean of 900, most numbers inside are small. Every told interval is taken as numbers are drawn from it
(`Numbers.drawn`): so many of its rows below its mean, and so many above, that the mean is where it is, and evenly on
either side. All of these together are how numbers lie; the mean of an interval is that of the part which is inside it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sfumato.people.shown_columns import Floats, Numbers


def with_likely_means(found: Numbers) -> Numbers:
    """The same with the likely mean of each interval of which none is told; middles where nothing is told inside it."""
    return replace(found, mean=likely_means(found)) if (~found.told).any() and found.told.any() else found


def likely_means(found: Numbers) -> Floats:
    """(entries,): the mean that is told, or else the likely one."""
    known = np.isfinite(found.low)
    asked = known & ~found.told & (found.high > found.low)
    rows = np.bincount(found.codes, minlength=len(found.low)).astype(np.float64)
    told = known & (found.told | (found.high <= found.low)) & (rows > 0)
    low, high, mean = found.low[told], found.high[told], found.mean[told].clip(found.low[told], found.high[told])
    below = rows[told] * np.where(high > low, (high - mean) / np.where(high > low, high - low, 1), 1)
    starts, ends = np.concatenate([low, mean]), np.concatenate([mean, high])
    edges = np.unique(np.concatenate([starts, ends, found.low[asked], found.high[asked]]))
    bins = _bins(edges, starts, ends, np.concatenate([below, rows[told] - below]))
    first, last = np.searchsorted(edges, found.low[asked]), np.searchsorted(edges, found.high[asked])
    inside, sums = (_upto(of)[last] - _upto(of)[first] for of in bins)
    made = found.mean.copy()
    some = inside > 1e-9 * max(float(rows.sum()), 1)
    likely = sums / np.where(some, inside, 1)
    made[asked] = np.where(some, likely.clip(found.low[asked], found.high[asked]), found.mean[asked])
    return made


class Bins(NamedTuple):
    """(edges,): how many rows lie from each edge to before the next one, and the sum of their numbers."""

    rows: Floats
    sums: Floats


def _bins(edges: Floats, starts: Floats, ends: Floats, rows: Floats) -> Bins:
    """The rows of all pieces between the edges, at which every piece begins and ends.

    Rows of a piece lie evenly between its ends; those of one without length stand at the edge itself.
    """
    at, to, long = np.searchsorted(edges, starts), np.searchsorted(edges, ends), ends > starts
    each = np.where(long, rows / np.where(long, ends - starts, 1), 0)
    steps = np.bincount(at, weights=each, minlength=len(edges)) - np.bincount(to, weights=each, minlength=len(edges))
    width = np.append(np.diff(edges), 0)
    spread = np.maximum(np.cumsum(steps), 0) * width
    points = np.bincount(at[~long], weights=rows[~long], minlength=len(edges))
    return Bins(spread + points, spread * (edges + width / 2) + points * edges)


def _upto(bins: Floats) -> Floats:
    """(edges,): the sum of the bins before each edge."""
    found: Floats = np.append(0, np.cumsum(bins)[:-1])
    return found
