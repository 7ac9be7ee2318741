"""Several releases of a table that grows: what is left of anonymity when they are held side by side.

Fung, Wang, Fu and Pei, "Anonymity for continuous data publishing", EDBT 2008. The attacker has every release, knows the
target's quasi-identifier and since which release the target is in the table, and cannot join rows; what is not masked
(sensitive and plain columns) stays the same from release to release.

`cracked` is the paper's forward, cross and backward attacks on two releases. They look at one pair of groups at a
time; `anonymity` looks at all groups of all releases at once, so it never finds more anonymity than they do, and it is
what is promised.

All worlds that agree with a row of releases, and how many people a target could be in the one that hides it best.

A world says of every person with which release it came and in which group of that and each later release it is. It
agrees with the releases if every group has its records, and what a person shows in all its groups overlaps. Among the
people who came with the target and share its groups in every release, as far as the attacker knows them, the target
cannot be told apart; the others are cracked. So the anonymity of a target is

    sum over values of the largest number of such people in any world that agrees,

whichever release is cracked: a target of T1 makes it the forward and the cross attack, a newcomer the backward attack.
An attacker who lacks a release, or does not know when the target came, has more worlds and more people to choose from.

With two releases this is a transportation problem, so linear programming is exact. With more it is an integer program.

The three correspondence attacks on two releases, as Fung et al. (EDBT 2008) define them.

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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NoReturn

import numpy as np

from sfumato.arrays import Ints, Marks
from sfumato.data.grouping import group_numbers
from sfumato.errors import ReleaseError
from sfumato.events import checkpoint


@dataclass(frozen=True, eq=False)
class View:
    """What one release shows.

    `shown`: of each masked column (rows,) a code for what a row shows. `covers`: of each masked column (codes, points)
    which points of the attribute's domain a code may stand for; the points are the same ones in all releases.
    `values` (rows,): what all releases show as it is, in one code, the same in all releases.
    """

    shown: Mapping[str, Ints]
    covers: Mapping[str, Marks]
    values: Ints

    @property
    def rows(self) -> int:
        """Records in the release."""
        return len(self.values)


@dataclass(frozen=True, eq=False)
class Groups:
    """The records of a release that look alike in everything: (groups,) how many, their value, what they show.

    `alike` (groups,) numbers what groups show on the attributes that the attacker knows.
    """

    counts: Ints
    values: Ints
    shown: Mapping[str, Ints]
    alike: Ints


def groups_of(view: View, on: Iterable[str]) -> Groups:
    """The groups of a release; `on` is what the attacker knows of a target."""
    numbers = group_numbers([*view.shown.values(), view.values], view.rows)
    first = np.unique(numbers, return_index=True)[1]
    known = [view.shown[name] for name in on if name in view.shown]
    alike = group_numbers(known, view.rows)
    shown = {name: codes[first] for name, codes in view.shown.items()}
    return Groups(np.bincount(numbers), view.values[first], shown, alike[first])


MOST = 400_000
"""Ways through the groups beyond which nothing is computed."""


def anonymity(views: Sequence[View], on: Sequence[str], *, enough: int | None = None) -> int:
    """The anonymity of the worst target, who is known by `on`. The releases stand in the order of their time.

    With `enough` it is only found out whether this holds: the answer is `enough`, or the anonymity of some target with
    less.
    """
    groups = [groups_of(view, on) for view in views]
    ways = _ways(views, groups)
    return _smallest(_System(groups, ways), enough)


@dataclass(frozen=True, eq=False)
class _Ways:
    """(ways, releases): the group that people on a way are in, -1 before they came."""

    paths: Ints

    def classes(self, groups: Sequence[Groups]) -> Ints:
        """(ways,): which ways the attacker cannot tell apart for a target."""
        known = [np.append(of.alike, -1)[self.paths[:, at]] for at, of in enumerate(groups)]
        return np.unique(np.stack(known, axis=1), axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _ways(views: Sequence[View], groups: Sequence[Groups]) -> _Ways:
    """Every way that somebody could have gone."""
    n = 1 + max(int(of.values.max()) for of in groups)
    totals = np.stack([np.bincount(of.values, of.counts, minlength=n) for of in groups]).astype(np.int64)
    came = np.diff(totals, axis=0, prepend=0)
    if (came < 0).any():
        _refuse("fewer records with some value than an earlier one")
    found, count = [], 0
    with_value = [_split(of.values, n) for of in groups]
    for value, arrival in zip(*np.nonzero(came.T), strict=True):
        checkpoint()
        found.append(_from(views, groups, [of[value] for of in with_value], int(arrival)))
        count += len(found[-1])
        _limit(count)
    return _Ways(np.concatenate(found))


def _from(views: Sequence[View], groups: Sequence[Groups], members: Sequence[Ints], arrival: int) -> Ints:
    """The ways of people with one value who came with one release."""
    paths = np.full((len(members[arrival]), len(views)), -1, dtype=np.int64)
    paths[:, arrival] = members[arrival]
    names = sorted({name for view in views for name in view.shown})
    open_to: dict[str, Marks] = {}
    for name in names:
        open_to[name] = _covered(views[arrival], groups[arrival], members[arrival], name, views)
    for at in range(arrival + 1, len(views)):
        fits = np.ones((len(paths), len(members[at])), dtype=bool)
        here = {name: _covered(views[at], groups[at], members[at], name, views) for name in names}
        for name in names:
            fits &= open_to[name].astype(np.float32) @ here[name].astype(np.float32).T > 0
        before, after = np.nonzero(fits)
        _limit(len(before))
        paths = paths[before]
        paths[:, at] = members[at][after]
        open_to = {name: open_to[name][before] & here[name][after] for name in names}
    return paths


def _covered(view: View, groups: Groups, members: Ints, name: str, views: Sequence[View]) -> Marks:
    """(members, points): where people of these groups may be; everywhere if the release lacks the attribute."""
    if name in view.covers:
        found: Marks = view.covers[name][groups.shown[name][members]]
        return found
    points = next(other.covers[name].shape[1] for other in views if name in other.covers)
    return np.ones((len(members), points), dtype=bool)


UNHELD = "groups that cannot all hold the earlier people"


class _System:
    """Owns the equations that every world satisfies, in blocks that have nothing to do with each other.

    A cell is what a class of ways has in one block; the largest cells of different blocks go together.
    """

    def __init__(self, groups: Sequence[Groups], ways: _Ways) -> None:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        starts = np.cumsum([0, *(len(of.counts) for of in groups)])
        at, release = np.nonzero(ways.paths >= 0)
        row = ways.paths[at, release] + starts[release]
        self._records = np.concatenate([of.counts for of in groups])
        size = len(self._records)
        self._matrix = csr_array((np.ones(len(row)), (row, at)), shape=(size, len(ways.paths)))
        if (np.diff(self._matrix.indptr) == 0).any():
            _refuse("a group that nobody can be in")
        first = row[np.unique(at, return_index=True)[1]]
        joined = csr_array((np.ones(len(row)), (row, first[at])), shape=(size, size))
        self._block_of_row = connected_components(joined, directed=False)[1].astype(np.int64)
        self._rows_of_block = _members(self._block_of_row)
        block = self._block_of_row[first]
        self._ways_of_block = _members(block)
        self._integral = int(len(groups) > 2)
        cells = np.stack([ways.classes(groups), block], axis=1)
        kinds, self.cell_of_way = np.unique(cells, axis=0, return_inverse=True)
        self.class_of_cell, self.block_of_cell = kinds[:, 0], kinds[:, 1]
        room = np.minimum.reduceat(self._records[row], np.unique(at, return_index=True)[1])
        self.at_most = np.bincount(self.cell_of_way, room).astype(np.int64)

    def most(self, cell: int) -> tuple[Ints, Ints]:
        """A world of the cell's block in which it has the most people: the block's cells, and the people in each."""
        block = self.block_of_cell[cell]
        ways, rows = self._ways_of_block[block], self._rows_of_block[block]
        if len(ways) == 1:  # everybody goes it: where unmasked values tell people apart, nearly all blocks are such
            if len(set(self._records[rows])) > 1:
                _refuse(UNHELD)
            return np.array([cell]), self._records[rows[:1]]
        cost = -(self.cell_of_way[ways] == cell).astype(float)
        solve: Any = import_module("scipy.optimize").linprog
        found = solve(cost, A_eq=self._matrix[rows][:, ways], b_eq=self._records[rows], integrality=self._integral)
        if found.status != 0:
            _refuse(UNHELD if found.status == 2 else "too many to compute")
        cells, of_way = np.unique(self.cell_of_way[ways], return_inverse=True)
        return cells, np.rint(np.bincount(of_way, found.x)).astype(np.int64)


def _split(numbers: Ints, n: int) -> list[Ints]:
    """Of each of n numbers where it stands, in ascending order; also of those that do not occur."""
    return np.split(np.argsort(numbers, kind="stable"), np.cumsum(np.bincount(numbers, minlength=n))[:-1])


def _members(numbers: Ints) -> list[Ints]:
    """Of each number where it stands."""
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)


def _smallest(system: _System, enough: int | None) -> int:
    """The smallest anonymity of all classes that anybody can be in.

    A world in which a class has many people shows that its anonymity is at least that: only classes for which no world
    that was seen shows enough are computed.
    """
    cells_of = _members(system.class_of_cell)
    seen = np.zeros(len(system.at_most), dtype=np.int64)
    best = enough if enough is not None else int(np.iinfo(np.int64).max)
    promise = np.bincount(system.class_of_cell, system.at_most)
    for number in np.argsort(promise, kind="stable"):
        cells = cells_of[number]
        for cell in cells:
            checkpoint()
            if seen[cells].sum() >= best:
                break
            there, people = system.most(int(cell))
            seen[there] = np.maximum(seen[there], people)
        if 0 < seen[cells].sum() < best:
            best = int(seen[cells].sum())
            if enough is not None:
                break
    return best


def _limit(count: int) -> None:
    if count > MOST:
        raise ReleaseError(
            "several releases",
            f"at most {MOST:,} ways through their groups can be computed",
            given="more",
            remedy="ask for a larger k, or for fewer attributes",
        )


def _refuse(given: str) -> NoReturn:
    raise ReleaseError(
        "several releases",
        f"people left, values changed, or the releases stand in another order: {given}",
        given="people: growing, by which a later release must contain all people of the earlier ones, with the same "
        "unmasked values",
        remedy="give releases of one growing table in the order of their time; where people left or values changed, "
        "publish under a budget, or do not publish the later one",
    )


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
    return Cracked(_smallest_left(forward), _smallest_left(cross), _smallest_left(backward))


def _left(group: Ints, cracks: Ints) -> int:
    """The group less its cracked records, summed over its values."""
    return int(group.sum() - cracks.sum())


def _smallest_left(left: Sequence[int]) -> int:
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
