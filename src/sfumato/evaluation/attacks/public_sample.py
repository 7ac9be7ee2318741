"""Attacks without a single known record: a public sample of similar people is enough to undo a linear map.

- *marginal matching*: each masked attribute is given the quantiles of the public one;
- *PCA*: the principal axes of the masked records are laid on those of the public sample;
- *ICA*: the same with independent components; both are then refined by matching nearest neighbours.

The public sample is played by a random half of the raw records; success is counted over the other half.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats
from sfumato.evaluation.attacks.inversion import MODELS, Both, Linear, Scene, cells_recovered
from sfumato.evaluation.attacks.results import AttackResult, average, percent
from sfumato.events import watched
from sfumato.randomness import Seeded

MOST = 4_000
"""At most this many records are public, and at most this many are attacked."""
MATCHED = 800
ROUNDS = 40
WITHIN = 0.1
"""A guess within this share of the spread counts: an approximate salary is a salary."""


@dataclass(frozen=True, eq=False)
class Halves:
    """Public raw records and, apart from them, the records under attack, in the attacker's scale."""

    public: Floats
    masked: Floats
    target: Both
    centre: Floats
    unit: Floats

    @classmethod
    def of(cls, scene: Scene, seed: int) -> Halves:
        """Split the records of a scene at random."""
        both = scene.both
        order = Seeded(seed).generator().permutation(both.rows)
        size = min(MOST, both.rows // 2)
        known, attacked = both.some(order[:size]), both.some(order[size : 2 * size])
        public = (known.raw - scene.centre) / scene.unit
        return cls(public, (attacked.masked - scene.centre) / scene.unit, attacked, scene.centre, scene.unit)

    def success(self, guess: Floats) -> NDArray[np.float64]:
        """(rows,): the share of each record's values that the guess has."""
        found = cells_recovered(self.target, guess * self.unit + self.centre, within=WITHIN)
        return np.asarray(found.mean(axis=1), dtype=np.float64)


def attack_with_sample(scene: Scene, *, seed: int = 0) -> tuple[AttackResult, ...]:
    """Marginal matching, PCA and ICA."""
    halves = Halves.of(scene, seed)
    guesses = {"marginal matching": match_marginals(halves)}
    if scene.both.dims > 1:
        model = "rotation" if scene.model == "rotation" else "affine"
        guesses["PCA"] = refine(halves, list(principal(halves)), model)
        guesses["ICA"] = refine(halves, list(independent(halves, seed)), model)
    return tuple(_result(name, halves, guess) for name, guess in guesses.items())


def match_marginals(halves: Halves) -> Floats:
    """Each masked value becomes the public value of the same rank; ranks may run either way, the mask decides."""
    found = np.empty_like(halves.masked)
    for at in range(found.shape[1]):
        column, public = halves.masked[:, at], np.sort(halves.public[:, at])
        column = column * _sign(_standard(column), _standard(public), doubt=4.0)
        ranks = np.searchsorted(np.sort(column), column, side="left") + np.searchsorted(
            np.sort(column), column, side="right"
        )
        found[:, at] = np.quantile(public, np.clip(ranks / (2 * len(column)), 0, 1), method="nearest")
    return found


def principal(halves: Halves) -> Iterator[Floats]:
    """Masked records with their principal axes laid on the public ones, every sign decided by skewness."""
    ours, theirs = _axes(halves.masked), _axes(halves.public)
    yield _laid(ours.scores, theirs)


@dataclass(frozen=True, eq=False)
class _Parts:
    """Standardised scores of records, and the linear map from scores back to them."""

    scores: Floats
    back: Floats
    mean: Floats


def _axes(vectors: Floats) -> _Parts:
    mean = vectors.mean(axis=0)
    values, axes = np.linalg.eigh(np.cov(vectors - mean, rowvar=False))
    scales = np.sqrt(np.maximum(values, 1e-18))
    return _Parts((vectors - mean) @ axes / scales, (axes * scales).T, mean)


def independent(halves: Halves, seed: int) -> Iterator[Floats]:
    """Masked records with their independent components laid on the public ones, in the likeliest ways."""
    ours, theirs = _components(halves.masked, seed), _components(halves.public, seed)
    pairing = _pairing(ours.scores, theirs.scores)
    if pairing is None:
        return
    matched = ours.scores[:, pairing]
    yield _laid(matched, theirs)
    for at in range(matched.shape[1]):  # the sign of a symmetric component is a guess: try the other one too
        yield _laid(matched, theirs, flipped=at)


def _components(vectors: Floats, seed: int) -> _Parts:
    mean = vectors.mean(axis=0)
    ica: Any = import_module("sklearn.decomposition").FastICA(whiten="unit-variance", random_state=seed, max_iter=400)
    with import_module("warnings").catch_warnings():
        import_module("warnings").simplefilter("ignore")  # an attack that does not converge simply works less well
        scores = np.asarray(ica.fit_transform(vectors), dtype=np.float64)
    return _Parts(scores, np.asarray(ica.mixing_, dtype=np.float64).T, mean)


def _pairing(ours: Floats, theirs: Floats) -> NDArray[np.int64] | None:
    """Which of our components is which of theirs: the most alike by their quantiles, up to the sign."""
    from scipy.optimize import linear_sum_assignment

    if ours.shape[1] != theirs.shape[1]:
        return None
    at = np.linspace(0.005, 0.995, 199)
    left, right = np.quantile(ours, at, axis=0), np.quantile(theirs, at, axis=0)
    plain = ((left[:, :, None] - right[:, None, :]) ** 2).sum(axis=0)
    mirrored = ((-left[::-1, :, None] - right[:, None, :]) ** 2).sum(axis=0)
    rows, columns = linear_sum_assignment(np.minimum(plain, mirrored))
    return np.asarray(rows[np.argsort(columns)], dtype=np.int64)


def _laid(scores: Floats, onto: _Parts, flipped: int | None = None) -> Floats:
    signs = np.array([_sign(scores[:, at], onto.scores[:, at]) for at in range(scores.shape[1])])
    if flipped is not None:
        signs[flipped] *= -1
    return np.asarray(scores * signs @ onto.back + onto.mean, dtype=np.float64)


def _sign(ours: Floats, theirs: Floats, *, doubt: float = 1.0) -> float:
    """-1 where the mirror image fits better, by a factor of `doubt` or more."""
    at = np.linspace(0.005, 0.995, 199)
    left, right = np.quantile(ours, at), np.quantile(theirs, at)
    return -1.0 if ((left - right) ** 2).sum() > doubt * ((-left[::-1] - right) ** 2).sum() else 1.0


def _standard(column: Floats) -> Floats:
    return np.asarray((column - column.mean()) / (column.std() or 1.0), dtype=np.float64)


def refine(halves: Halves, starts: list[Floats], model: str) -> Floats:
    """From each start, match guesses with their nearest public records and fit again; the closest end wins."""
    from scipy.spatial import KDTree

    scale = halves.public.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    tree = KDTree(halves.public / scale)
    ends = [_refined(halves, start, tree, scale, model) for start in starts]
    return min(ends, key=lambda end: end[0])[1] if ends else halves.masked


def _refined(halves: Halves, start: Floats, tree: Any, scale: Floats, model: str) -> tuple[float, Floats]:
    """The mean distance to the nearest public record at the end, and the guess."""
    rows = slice(0, MATCHED)
    masked, guess = halves.masked[rows], start[rows]
    found: Linear | None = None
    for _ in watched(range(ROUNDS)):
        near, at = tree.query(guess / scale)
        kept = near <= np.quantile(near, 0.7)  # those far from everybody say little
        fresh = MODELS[model].fit(masked[kept], halves.public[at[kept]])
        moved = fresh.guess(masked)
        done = found is not None and np.abs(moved - guess).max() < 1e-9
        found, guess = fresh, moved
        if done:
            break
    ends = [start] if found is None else [start, found.guess(halves.masked)]
    scored = [(float(tree.query(end[rows] / scale)[0].mean()), end) for end in ends]
    return min(scored, key=lambda pair: pair[0])


def _result(name: str, halves: Halves, guess: Floats) -> AttackResult:
    shares = halves.success(guess)
    success = average(shares)
    tells = f"{percent(success.value)} of all values can be guessed to within a tenth of their spread"
    return AttackResult(
        name,
        f"no record, but a public sample of {len(halves.public):,} similar people",
        success,
        "values guessed to within a tenth of their spread",
        f"Without knowing any of these people, {tells} by anyone who has similar data.",
        {"records": float((shares == 1).mean()), "public": len(halves.public)},
    )
