"""Linkability: two lists about the same people with no attribute in common, joined through the release.

Opinion 05/2014 calls it the ability to link two records about one person, in one database or in two. Here the attacker
has one list with some of the quasi-identifying values of everybody in the table and another with the rest. For one
entry of the first list he looks for its partner in the second: the released rows tell which halves occur together.
Without the release every entry of the second list is as good as another.

Giomi et al., "A unified framework for quantifying privacy risk in synthetic data" (2023), measure linkability with two
lists too; they look at the nearest rows for each half, here all rows that cover a half are weighed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.groups import group_numbers
from sfumato.evaluation.attacks.results import AttackResult, average, beside, certain, percent
from sfumato.evaluation.attacks.seeing import FEWEST, PAIRS, Case, Groups, Ints, Sight
from sfumato.randomness import Seeded

CRITERION = "linkability"
AMONG = 10
SHORT = 2_000
"""Where too many pairs of listed and shown halves had to be compared, the lists are about so many people at most."""


@dataclass(frozen=True, eq=False)
class Linked:
    """For each person: the chance to name the right partner, how many could be it, and whether the right one is."""

    chance: NDArray[np.float64]
    candidates: Ints
    right: NDArray[np.bool_]


def link_halves(case: Case) -> AttackResult:
    """Every second known attribute in one list, the others in the other."""
    first, second = case.known[::2], case.known[1::2]
    crowd = _crowd(case, second)
    found = linked_halves(case, first, second, crowd)
    success, n = average(found.chance), len(crowd)
    unique = float((found.right & (found.candidates == 1)).mean())
    among = float((found.right & (found.candidates <= AMONG)).mean())
    return AttackResult(
        "linkability of two halves",
        f"a list with {', '.join(first)} and a list with {', '.join(second)} of the same {n:,} people",
        success,
        "people of the first list whose entry in the second was named, ties broken at random",
        f"Whoever has {', '.join(first)} of {n:,} people in one list and {', '.join(second)} in another joins "
        f"{percent(success.value)} of them rightly through the release; for {percent(unique)} only one partner "
        f"is possible.",
        {"lists": n, "people": len(found.chance), "unique": unique, f"among_{AMONG}": among},
        CRITERION,
        beside("an entry of the second list at random", success, certain(1 / n)),
    )


def linked_halves(case: Case, first: tuple[str, ...], second: tuple[str, ...], crowd: Ints) -> Linked:
    """The attack itself. `crowd`: the rows of the raw table that both lists are about; some of them are looked for.

    Given the first half a, the partner b is one whose released look-alikes have the look of a most often:
    the rows that cover a and b, over the rows that cover b.
    """
    from scipy import sparse

    sight = Sight(case.seen, case.table)
    left, right = case.seen.groups(first), case.seen.groups(second)
    together: Any = sparse.coo_matrix(
        (np.ones(case.seen.rows), (left.of_row, right.of_row)), shape=(len(left.sizes), len(right.sizes))
    ).tocsr()
    entries = _distinct(case, second, crowd)
    wanted = case.drawn(crowd, left)
    ours = _covering(sight, left, wanted)
    theirs = _covering(sight, right, entries.rows)
    alike: Any = (ours @ together @ theirs.T).toarray()
    scores = alike / np.asarray(theirs @ right.sizes)
    return _judged(scores, entries.counts, entries.of_crowd[np.searchsorted(crowd, wanted)])


@dataclass(frozen=True, eq=False)
class _Entries:
    """Distinct entries of a list: a row that has each, how many people have it, and which one each person has."""

    rows: Ints
    counts: Ints
    of_crowd: Ints


def _distinct(case: Case, names: tuple[str, ...], crowd: Ints) -> _Entries:
    numbers = group_numbers([case.table.column(name).codes[crowd].astype(np.int64) for name in names], len(crowd))
    first = np.zeros(int(numbers.max()) + 1, dtype=np.int64)
    first[numbers[::-1]] = crowd[::-1]
    return _Entries(first, np.bincount(numbers), numbers)


def _covering(sight: Sight, groups: Groups, rows: Ints) -> Any:
    """(people, groups), sparse: 1 where a group covers the person's half or is nearest to it."""
    from scipy import sparse

    found = sight.near(groups, rows)
    at = np.repeat(np.arange(len(rows)), [len(one) for one in found])
    shape = (len(rows), len(groups.sizes))
    return sparse.coo_matrix((np.ones(len(at)), (at, np.concatenate(found))), shape=shape).tocsr()


def _judged(scores: NDArray[np.float64], counts: Ints, own: Ints) -> Linked:
    """scores (people, entries): the best entry is named; of equal ones any."""
    best = scores.max(axis=1, keepdims=True)
    named = (scores >= best * (1 - 1e-9)) & (best > 0)
    mine = np.arange(len(own)), own
    chance = np.where(named[mine], 1.0 / np.maximum(named @ counts, 1), 0.0)
    return Linked(chance, (scores > 0) @ counts, scores[mine] > 0)


def _crowd(case: Case, second: tuple[str, ...]) -> Ints:
    """The people that the lists are about: all, unless that takes too long."""
    everybody, groups = np.arange(case.table.rows), len(case.seen.groups(second).sizes)
    if len(_distinct(case, second, everybody).counts) * groups <= PAIRS:
        return everybody
    short = min(SHORT, max(FEWEST, PAIRS // groups))
    return np.sort(Seeded(case.seed).permutation(case.table.rows)[:short])
