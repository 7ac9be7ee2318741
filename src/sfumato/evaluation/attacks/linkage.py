"""Linking records: a person's values with the masked record nearest to them, or two lists through the release.

*Record linkage* needs nothing but distances, so it applies to every mask. `linked` is the attack on plain vectors;
`locate` finds the rows of three known people by their mutual distances alone, which an isometry leaves unchanged.

*Linkability*, in opinion 05/2014, is the ability to link two records about one person, in one database or in two. Here
the attacker has one list with some of the quasi-identifying values of everybody in the table and another with the
rest, no attribute in both. For one entry of the first list he looks for its partner in the second: the released rows
tell which halves occur together. Without the release every entry of the second list is as good as another. Giomi et
al., "A unified framework for quantifying privacy risk in synthetic data" (2023), measure linkability with two lists
too; they look at the nearest rows for each half, here all rows that cover a half are weighed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data.grouping import first_rows, group_numbers
from sfumato.data.masked import Masked
from sfumato.data.table import Table
from sfumato.evaluation.attacks.attacker_view import FEWEST, PAIRS, Case, Groups, Sight
from sfumato.evaluation.attacks.linkage_kernels import Lists, rows_in_both
from sfumato.evaluation.attacks.results import AttackResult, average, beside, certain, hits, percent
from sfumato.events import awaited, checkpoint, watched
from sfumato.randomness import Seeded
from sfumato.structure.embedding import Embedding

if TYPE_CHECKING:
    from sfumato.evaluation.attacks.inversion import Scene

Vectors = NDArray[Any]
VICTIMS = 400
"""At most this many people are looked for."""
CELLS = 4_000_000
LOCATED_AMONG = 1_000
"""Mutual distances are looked for among this many released records."""
CRITERION = "linkability"
AMONG = 10
SHORT = 2_000
"""Where too many pairs of listed and shown halves had to be compared, the lists are about so many people at most."""


def linked(raw: Vectors, masked: Vectors, *, seed: int = 0) -> NDArray[np.float64]:
    """(people,): the chance to pick each person's own record among the masked records nearest to the raw one."""
    distinct, of_row, counts = np.unique(masked, axis=0, return_inverse=True, return_counts=True)
    people = Seeded(seed).generator().permutation(len(raw))[:VICTIMS]
    found = np.zeros(len(people))
    step = max(1, CELLS // max(1, distinct.size))
    for at in watched(range(0, len(people), step)):
        rows = people[at : at + step]
        far = ((raw[rows, None, :] - distinct[None, :, :]) ** 2).sum(axis=2)
        near = far <= far.min(axis=1, keepdims=True) * (1 + 1e-6) + 1e-12
        own = near[np.arange(len(rows)), of_row.ravel()[rows]]
        found[at : at + step] = np.where(own, 1.0 / (near * counts).sum(axis=1), 0.0)
    return found


def link_numbers(scene: Scene, *, seed: int = 0) -> AttackResult:
    """Linkage of transformed numbers: both sides standardised, nothing undone."""
    raw, masked = (_standard(part) for part in (scene.both.raw, scene.both.masked))
    return _result(linked(raw, masked, seed=seed), scene.both.names, scene.both.rows)


def link_masked(table: Table, masked: Masked, *, seed: int = 0) -> AttackResult:
    """Linkage of any masked columns, raw and masked records placed in one space."""
    embedding = Embedding.of(table, attributes=tuple(masked))
    raw = embedding.raw(table)
    shown = embedding.masked(table, masked)[:, : raw.shape[1]]
    return _result(linked(raw, shown, seed=seed), tuple(masked), table.rows)


def _standard(vectors: Vectors) -> Vectors:
    spread = vectors.std(axis=0)
    return np.asarray((vectors - vectors.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _result(chances: NDArray[np.float64], names: tuple[str, ...], rows: int) -> AttackResult:
    success = average(chances)
    return AttackResult(
        "record linkage",
        f"one person's {', '.join(names)}",
        success,
        "people whose own record was picked, ties broken at random",
        f"Of 100 people whose {', '.join(names)} an attacker knows, {_hundred(success.value)} can be found in the "
        f"release by looking for the nearest record.",
        {"people": len(chances), "by_chance": 1 / rows},
    )


def _hundred(share: float) -> str:
    count = round(100 * share)
    return str(count) if count or share == 0 else "fewer than 1"


def locate(scene: Scene, *, trials: int = 40, seed: int = 0) -> AttackResult:
    """Three known people are found by the three distances between them, without knowing which rows are theirs."""
    rng = Seeded(seed).generator()
    vectors = [(part - scene.centre) / scene.unit for part in (scene.both.raw, scene.both.masked)]
    found = np.zeros(trials, dtype=np.bool_)
    among = min(LOCATED_AMONG, scene.both.rows)
    for trial in watched(range(trials)):
        rows = rng.permutation(scene.both.rows)[:among]
        found[trial] = _located(vectors[0][rows[:3]], vectors[1][rows], slack=max(1e-7, 4 * scene.slack))
    success = hits(found)
    return AttackResult(
        "locating by distances",
        "three people's values, but not which rows are theirs",
        success,
        f"trials in which the three were found, and nobody else, among {among:,} records",
        f"Whoever knows three of these people finds their rows by the distances between them in "
        f"{percent(success.value)} of the cases, and can then go on as if the rows were named.",
        {"among": among},
    )


def _located(known: Vectors, masked: Vectors, *, slack: float) -> bool:
    """Whether the first three masked records are the only three with the known records' mutual distances."""
    ab, ac, bc = (float(np.linalg.norm(known[i] - known[j])) for i, j in ((0, 1), (0, 2), (1, 2)))
    far = np.sqrt(np.maximum(_squares(masked), 0.0))
    firsts, seconds = np.nonzero(np.abs(far - ab) <= slack)
    triples = set()
    for first, second in zip(firsts.tolist(), seconds.tolist(), strict=True):
        thirds = np.flatnonzero((np.abs(far[first] - ac) <= slack) & (np.abs(far[second] - bc) <= slack))
        triples |= {(first, second, third) for third in thirds.tolist() if len({first, second, third}) == 3}
        if len(triples) > 1:
            return False
    return triples == {(0, 1, 2)}


def _squares(vectors: Vectors) -> Vectors:
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(vectors, vectors, "sqeuclidean"))


@dataclass(frozen=True, eq=False)
class Linked:
    """For each person: the chance to name the right partner, how many could be it, and whether the right one is."""

    chance: NDArray[np.float64]
    candidates: Ints
    right: NDArray[np.bool_]


def link_halves(case: Case) -> AttackResult:
    """Every second known attribute in one list, the others in the other."""
    first, second = case.known[::2], case.known[1::2]
    everybody = _distinct(case, second, np.arange(case.table.rows))
    crowd = _crowd(case, second, len(everybody.rows))
    found = linked_halves(case, first, second, crowd, everybody if len(crowd) == case.table.rows else None)
    success, n = average(found.chance), len(crowd)
    unique = float((found.right & (found.candidates == 1)).mean())
    among = float((found.right & (found.candidates <= AMONG)).mean())
    return AttackResult(
        attack="linkability of two halves",
        knowledge=f"a list with {', '.join(first)} and a list with {', '.join(second)} of the same {n:,} people",
        success=success,
        of="people of the first list whose entry in the second was named, ties broken at random",
        sentence=f"Whoever has {', '.join(first)} of {n:,} people in one list and {', '.join(second)} in another joins "
        f"{percent(success.value)} of them rightly through the release; for {percent(unique)} only one partner "
        f"is possible.",
        details={"lists": n, "people": len(found.chance), "unique": unique, f"among_{AMONG}": among},
        criterion=CRITERION,
        baseline=beside("an entry of the second list at random", success, certain(1 / n)),
    )


def linked_halves(
    case: Case, first: tuple[str, ...], second: tuple[str, ...], crowd: Ints, listed: _Entries | None = None
) -> Linked:
    """The attack itself. `crowd`: the rows of the raw table that both lists are about; some of them are looked for.
    `listed`: what the second list holds, where that was counted already.

    Given the first half a, the partner b is one whose released look-alikes have the look of a most often:
    the rows that cover a and b, over the rows that cover b.
    """
    sight = case.sight
    both = case.seen.groups((*first, *second))
    left, right = case.seen.groups(first), case.seen.groups(second)
    by_first = np.argsort(left.of_row[both.first], kind="stable")
    together = _lists(
        np.bincount(left.of_row[both.first], minlength=len(left.sizes)), right.of_row[both.first][by_first]
    )
    checkpoint()
    entries = listed or _distinct(case, second, crowd)
    checkpoint()
    wanted = case.drawn(crowd, left)
    ours = _covering(sight, left, wanted)
    theirs = _covering(sight, right, entries.rows)
    scores = np.empty((len(wanted), len(entries.rows)))
    awaited(lambda: rows_in_both(ours, theirs, together, both.sizes[by_first], scores))
    scores /= np.add.reduceat(right.sizes[theirs.items], theirs.begins[:-1])  # of the rows that cover b, those of a
    checkpoint()
    return _judged(scores, entries.counts, entries.of_crowd[np.searchsorted(crowd, wanted)])


@dataclass(frozen=True, eq=False)
class _Entries:
    """Distinct entries of a list: a row that has each, how many people have it, and which one each person has."""

    rows: Ints
    counts: Ints
    of_crowd: Ints


def _distinct(case: Case, names: tuple[str, ...], crowd: Ints) -> _Entries:
    numbers = group_numbers([case.table.column(name).codes[crowd].astype(np.int64) for name in names], len(crowd))
    return _Entries(crowd[first_rows(numbers)], np.bincount(numbers), numbers)


def _covering(sight: Sight, groups: Groups, rows: Ints) -> Lists:
    """For each person the groups that cover their half, or are nearest to it: one at least."""
    found = sight.near(groups, rows)
    return _lists(np.array([len(one) for one in found]), np.concatenate(found))


def _lists(lengths: Ints, items: Ints) -> Lists:
    return Lists(np.concatenate([[0], np.cumsum(lengths)]), items.astype(np.int64))


def _judged(scores: NDArray[np.float64], counts: Ints, own: Ints) -> Linked:
    """scores (people, entries): the best entry is named; of equal ones any."""
    best = scores.max(axis=1, keepdims=True)
    named = (scores >= best * (1 - 1e-9)) & (best > 0)
    mine = np.arange(len(own)), own
    chance = np.where(named[mine], 1.0 / np.maximum(named @ counts, 1), 0.0)
    return Linked(chance, (scores > 0) @ counts, scores[mine] > 0)


def _crowd(case: Case, second: tuple[str, ...], entries: int) -> Ints:
    """The people that the lists are about: all, unless that takes too long. `entries`: how many differ of all."""
    groups = len(case.seen.groups(second).sizes)
    if entries * groups <= PAIRS:
        return np.arange(case.table.rows)
    short = min(SHORT, max(FEWEST, PAIRS // groups))
    return np.sort(Seeded(case.seed).permutation(case.table.rows)[:short])
