"""Record linkage: an attacker who knows a person's values looks for the nearest masked record.

It needs nothing but distances, so it applies to every mask. `linked` is the attack on plain vectors;
`locate` finds the rows of three known people by their mutual distances alone, which an isometry leaves unchanged.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Table
from sfumato.evaluation.attacks.known_sample import Scene
from sfumato.evaluation.attacks.results import AttackResult, average, hits, percent
from sfumato.randomness import Seeded
from sfumato.structure.embedding import Embedding
from sfumato.structure.released import Masked

Vectors = NDArray[Any]
VICTIMS = 400
"""At most this many people are looked for."""
CELLS = 4_000_000
LOCATED_AMONG = 1_000
"""Mutual distances are looked for among this many released records."""


def linked(raw: Vectors, masked: Vectors, *, seed: int = 0) -> NDArray[np.float64]:
    """(people,): the chance to pick each person's own record among the masked records nearest to the raw one."""
    distinct, of_row, counts = np.unique(masked, axis=0, return_inverse=True, return_counts=True)
    people = Seeded(seed).generator().permutation(len(raw))[:VICTIMS]
    found = np.zeros(len(people))
    step = max(1, CELLS // max(1, distinct.size))
    for at in range(0, len(people), step):
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
    for trial in range(trials):
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
