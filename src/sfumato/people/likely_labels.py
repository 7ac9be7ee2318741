"""Which labels the rows have that show sets of them, as far as all rows of a release together tell.

A group of fewer than twice k rows shows {Dutch, Iranian} and no shares. Drawn evenly, rare labels come out far too
common. But where others of the release show one label, or smaller sets, it can be seen that most people are Dutch. The
shares of a column are found by expectation maximisation: the labels of each set by the shares of all rows, the shares
of all rows by the labels of each set, until both agree (Dempster, Laird and Rubin 1977). Two things are known beyond:

- a group shows what occurs in it: each label of a set has one row of the group at least. Without that the labels that
  stand in most sets would take everything. (Where sets are wider, as with `extent: cuts`, rare labels get too much.)
- groups are of similar people: where the release tells clusters, each has shares of its own, drawn towards all others'.

What a codebook tells stays as it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.people.shown_columns import Floats, Labels, LeftOpen
from sfumato.structure.released import Told

TOWARDS_ALL = 0.1
"""So much do the shares of all rows count within a cluster, as a part of its rows."""
ROUNDS, SETTLED = 300, 1e-7


def leaves_sets(told: Told) -> bool:
    """Whether there is anything to estimate: an entry with more than one label of which no share is told."""
    found = LeftOpen.of(told)
    return bool(((found.members.sum(axis=1) > 1) & (found.rest > 0)).any())


def likely_labels(told: Told, *, groups: Ints, clusters: Ints | None) -> Labels:
    """The labels of a column with the shares that each entry probably has, for each cluster apart.

    (rows,): the group and, where they are told, the cluster of each row. An entry is split by clusters.
    """
    of_row = np.zeros(len(told.codes), dtype=np.int64) if clusters is None else clusters.astype(np.int64)
    many = int(of_row.max(initial=0)) + 1
    pairs, codes = np.unique(told.codes.astype(np.int64) * many + of_row, return_inverse=True)
    once: Floats = (
        1.0 / np.bincount(groups)[groups]
    )  # a group has each of its labels once at least: so much of it in each row
    left = LeftOpen.of(told)
    entry = pairs // many
    rows = np.bincount(codes, minlength=len(pairs)).astype(np.float64)
    rest = left.rest[entry] * rows
    sure = np.bincount(codes, weights=once, minlength=len(pairs)).astype(np.float64)
    shares = likely_shares(left.told[entry] * rows[:, None], left.members[entry], rest, sure, pairs % many)
    return Labels(codes.astype(np.int64), left.labels, shares / np.maximum(rows, 1)[:, None])


def likely_shares(told: Floats, members: NDArray[np.bool_], rest: Floats, sure: Floats, cluster: Ints) -> Floats:
    """(entries, labels): how many rows of each entry probably have each label.

    `told` (entries, labels): the rows of which it is told. `members` (entries, labels): the labels among which the
    other `rest` (entries,) rows are, each with `sure` (entries,) of them at least; without any, among all.
    """
    anything = members.sum(axis=1) == 0
    least = members * np.minimum(sure, rest / np.maximum(members.sum(axis=1), 1))[:, None]
    among = members | anything[:, None]
    evenly = np.full(told.shape[1], 1 / told.shape[1])
    every = _agreed(told + least, among, rest - least.sum(axis=1), evenly, towards=0.0)
    if not cluster.any():
        return every
    usual, found = every.sum(axis=0) / max(every.sum(), 1e-300), np.empty_like(every)
    for one in np.unique(cluster).tolist():
        own = cluster == one
        rows = float(told[own].sum() + rest[own].sum())
        free = rest[own] - least[own].sum(axis=1)
        found[own] = _agreed(told[own] + least[own], among[own], free, usual, towards=TOWARDS_ALL * rows)
    return found


def _agreed(known: Floats, among: NDArray[np.bool_], free: Floats, usual: Floats, *, towards: float) -> Floats:
    """The labels of each entry by the shares of all, these by the labels of each entry, until they stay."""
    shares, sums = usual, known.sum(axis=0) + towards * usual
    for _ in range(ROUNDS):
        likely = among * shares
        of_all = likely.sum(axis=1)
        parts = np.where(of_all > 0, free / np.where(of_all > 0, of_all, 1), 0)
        total = sums + shares * (parts @ among)
        before, shares = shares, total / max(total.sum(), 1e-300)
        if np.abs(shares - before).sum() < SETTLED:
            break
    likely = among * shares
    of_all = likely.sum(axis=1, keepdims=True)
    evenly = among / np.maximum(among.sum(axis=1, keepdims=True), 1)
    found: Floats = known + free[:, None] * np.where(of_all > 0, likely / np.where(of_all > 0, of_all, 1), evenly)
    return found
