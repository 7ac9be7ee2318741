"""Undoing a transformation from known records: models of what was done, fitted by least squares or by consensus.

A model maps masked vectors back to raw ones. Vectors are given in the attacker's scale (each attribute in units of
its spread), so that one distance fits all. Fits take a stack of samples at once: (..., records, attributes).
`Both` has the raw and masked vectors of the same records, `cells_recovered` says what counts as recovered.

Known-sample regression: whoever knows a few records and finds them in the release solves for the key (004-7).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats, Ints
from sfumato.data.masked import Masked
from sfumato.data.table import Table
from sfumato.evaluation.attacks.results import AttackResult, hits, percent
from sfumato.events import checkpoint, watched
from sfumato.maskers.geometric.operations import is_whole, numbers_in, of_arrow
from sfumato.randomness import Seeded

Fit = Callable[[Floats, Floats], "Linear"]
Method = Literal["least squares", "robust"]
SUBSETS = 120
"""Consensus tries all minimal subsets of the known records, or a sample of this many."""


@dataclass(frozen=True, eq=False)
class Both:
    """(rows, attributes) of the same records, raw and masked.

    `wholes` (attributes,): which of them are whole numbers. `spread` (attributes,): the standard deviation of the
    raw numbers of all records, 1 where there is none.
    """

    names: tuple[str, ...]
    raw: Floats
    masked: Floats
    wholes: NDArray[np.bool_]
    spread: Floats

    @classmethod
    def of(cls, table: Table, shown: Masked, names: Sequence[str]) -> Both:
        """The named attributes of a table and of its masked columns; records that miss one are left out."""
        raw = np.column_stack([numbers_in(table, name) for name in names])
        masked = np.column_stack([of_arrow(shown[name].decode()) for name in names])
        known = np.isfinite(raw).all(axis=1) & np.isfinite(masked).all(axis=1)
        wholes = np.array([is_whole(table, name) for name in names])
        return cls(tuple(names), raw[known], masked[known], wholes, _spread(raw[known]))

    @property
    def rows(self) -> int:
        """How many records."""
        return len(self.raw)

    @property
    def dims(self) -> int:
        """How many attributes."""
        return len(self.names)

    def some(self, rows: NDArray[Any]) -> Both:
        """Only these records."""
        return Both(self.names, self.raw[rows], self.masked[rows], self.wholes, self.spread)


def _spread(raw: Floats) -> Floats:
    found = raw.std(axis=0) if len(raw) else np.ones(raw.shape[1])
    return np.where(found > 0, found, 1.0)


def cells_recovered(
    both: Both, guess: Floats, *, within: float = 0.01, blur: Floats | float = 0.0
) -> NDArray[np.bool_]:
    """(rows, attributes): guesses within this share of the spread, or that round to the right whole number.

    `blur` (attributes,): how far even the key misses, because the release is rounded; twice that is allowed too.
    """
    tolerance = np.maximum(np.maximum(within * both.spread, np.where(both.wholes, 0.5, 0.0)), 2 * np.asarray(blur))
    return np.asarray(np.abs(guess - both.raw) <= tolerance, dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class Linear:
    """masked @ matrix + offset: where the raw records are thought to have been."""

    matrix: Floats
    offset: Floats

    def guess(self, masked: Floats) -> Floats:
        """(..., rows, attributes): the attacker's guess of the raw vectors."""
        return np.asarray(masked @ self.matrix + self.offset[..., None, :], dtype=np.float64)


@dataclass(frozen=True)
class Model:
    """What the attacker takes the transformation for, and the least number of records that determines it.

    `apart`: each attribute was changed on its own, so consensus is sought for each on its own.
    """

    name: str
    fit: Fit
    least: Callable[[int], int]
    apart: bool = False


def fit_translation(masked: Floats, raw: Floats) -> Linear:
    """Every attribute was moved."""
    offset = (raw - masked).mean(axis=-2)
    return Linear(_diagonal(np.ones_like(offset)), offset)


def fit_scaling(masked: Floats, raw: Floats) -> Linear:
    """Every attribute was multiplied; one that is 0 in all known records is left as it is."""
    factors = _ratio((masked * raw).sum(axis=-2), (masked**2).sum(axis=-2))
    return Linear(_diagonal(factors), np.zeros_like(factors))


def fit_rotation(masked: Floats, raw: Floats) -> Linear:
    """All was rotated about the origin: orthogonal Procrustes without reflections (Kabsch)."""
    left, _, right = np.linalg.svd(np.swapaxes(masked, -1, -2) @ raw)
    left = np.array(left)
    left[..., -1] *= np.where(np.linalg.det(left @ right) < 0, -1.0, 1.0)[..., None]
    return Linear(left @ right, np.zeros(left.shape[:-1]))


def fit_diagonal(masked: Floats, raw: Floats) -> Linear:
    """Every attribute was multiplied and moved; with a single known value it is taken as moved."""
    centre, target = masked.mean(axis=-2, keepdims=True), raw.mean(axis=-2, keepdims=True)
    both = ((masked - centre) * (raw - target)).sum(axis=-2)
    factors = _ratio(both, ((masked - centre) ** 2).sum(axis=-2))
    return Linear(_diagonal(factors), target[..., 0, :] - centre[..., 0, :] * factors)


def fit_affine(masked: Floats, raw: Floats) -> Linear:
    """Any linear map and a move: the least-squares solution of least norm."""
    rows = np.concatenate([masked, np.ones((*masked.shape[:-1], 1))], axis=-1)
    found = np.linalg.pinv(rows, rcond=1e-13) @ raw
    return Linear(np.asarray(found[..., :-1, :]), np.asarray(found[..., -1, :]))


def _diagonal(factors: Floats) -> Floats:
    """(..., d, d) with the factors (..., d) on the diagonal."""
    return np.asarray(factors[..., None] * np.eye(factors.shape[-1]), dtype=np.float64)


def _ratio(above: Floats, below: Floats) -> Floats:
    """1 where nothing is known."""
    known = below > 1e-18
    return np.where(known, above / np.where(known, below, 1.0), 1.0)


MODELS = {
    "translation": Model("translation", fit_translation, lambda d: 1, apart=True),
    "scaling": Model("scaling", fit_scaling, lambda d: 1, apart=True),
    "rotation": Model("rotation", fit_rotation, lambda d: max(1, d - 1)),
    "moved and scaled": Model("moved and scaled", fit_diagonal, lambda d: 2, apart=True),
    "affine": Model("affine", fit_affine, lambda d: d + 1),
}


def fit(model: Model, masked: Floats, raw: Floats, *, method: Method, tolerance: float = 1e-6) -> Linear:
    """The model of the known records; "robust" trusts the largest group of records that agree.

    `tolerance`: how near a record must come to agree, in the attacker's scale.
    """
    if method == "least squares" or len(masked) <= model.least(masked.shape[1]):
        return model.fit(masked, raw)
    if not model.apart:
        return _consensus(model, masked, raw, tolerance)
    parts = [_consensus(model, masked[:, [at]], raw[:, [at]], tolerance) for at in range(masked.shape[1])]
    return Linear(np.diag([part.matrix[0, 0] for part in parts]), np.array([part.offset[0] for part in parts]))


def _consensus(model: Model, masked: Floats, raw: Floats, tolerance: float) -> Linear:
    """The model that most of the known records agree with, of those that minimal subsets of them determine."""
    subsets = _subsets(len(masked), model.least(masked.shape[1]))
    found = model.fit(masked[subsets], raw[subsets])
    near = np.asarray((np.abs(found.guess(masked) - raw) <= tolerance).all(axis=-1))
    best = int(near.sum(axis=1).argmax())
    trusted = np.union1d(np.flatnonzero(near[best]), subsets[best])
    return model.fit(masked[trusted], raw[trusted])


def _subsets(n: int, size: int) -> Ints:
    """(subsets, size): all subsets of the known records, or a repeatable sample of them."""
    if comb(n, size) <= SUBSETS:
        return np.array(list(combinations(range(n), size)), dtype=np.int64)
    rng = np.random.default_rng(n * 1000 + size)
    return rng.permuted(np.tile(np.arange(n), (SUBSETS, 1)), axis=1)[:, :size]


MOST_KNOWN = 20
CHECKED = 500
"""The attacker's guesses are checked on at most this many records."""
ENOUGH, OFTEN = 0.99, 0.95
"""Broken: at least this share of the untouched records is recovered, in at least this share of the trials."""


@dataclass(frozen=True, eq=False)
class Scene:
    """One masked table under attack: `model` is what the attacker takes the transformation for.

    `centre` and `unit` (attributes,): the scale he works in. `fair` (rows,): records without noise of their own,
    over which success is counted; nobody could get the others from the key. `blur` (attributes,): how far even the
    key misses the raw numbers, because the release is rounded; 0 where it is not.
    """

    both: Both
    model: str
    centre: Floats
    unit: Floats
    fair: NDArray[np.bool_]
    blur: Floats

    @classmethod
    def of(cls, both: Both, model: str, fair: NDArray[np.bool_] | None = None, blur: Floats | None = None) -> Scene:
        """Numbers in units of their spread, about their own origin."""
        everyone = np.ones(both.rows, dtype=np.bool_)
        none = np.zeros(both.dims)
        return cls(both, model, none, both.spread, everyone if fair is None else fair, none if blur is None else blur)

    @property
    def slack(self) -> float:
        """How near a record must come to agree with a model, in the attacker's scale."""
        return max(1e-6, 2 * float((self.blur / self.unit).max()))

    def learn(self, known: NDArray[np.int64], method: Method) -> Linear:
        """The attacker's model from the known records."""
        masked, raw = self.both.masked[known], self.both.raw[known]
        scaled = [(part - self.centre) / self.unit for part in (masked, raw)]
        return fit(MODELS[self.model], scaled[0], scaled[1], method=method, tolerance=self.slack)

    def recovered(self, found: Linear, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(rows,): the records of which every value is recovered."""
        there = self.both.some(rows)
        guess = found.guess((there.masked - self.centre) / self.unit) * self.unit + self.centre
        return np.asarray(cells_recovered(there, guess, blur=self.blur).all(axis=1), dtype=np.bool_)


@dataclass(frozen=True)
class Curve:
    """Success by the number of known records: `broken[m - 1]` of the trials, `rows[m - 1]` of the records on average.

    `needed`: the least number that breaks the mask, None if not even the last does.
    """

    method: Method
    broken: tuple[float, ...]
    rows: tuple[float, ...]
    trials: int

    @property
    def needed(self) -> int | None:
        """The least number of known records that is enough, and stays enough."""
        enough = [share >= OFTEN for share in self.broken]
        return next((m + 1 for m in range(len(enough)) if all(enough[m:])), None)

    @property
    def mostly(self) -> int | None:
        """The least number with which at least 95 of 100 records are recovered on average."""
        return next((m + 1 for m, share in enumerate(self.rows) if share >= OFTEN), None)


def curve(scene: Scene, method: Method, *, most: int = MOST_KNOWN, trials: int = 40, seed: int = 0) -> Curve:
    """Try 1, 2, ... known records, drawn at random from all, those with noise too."""
    rng = Seeded(seed).generator()
    fair = np.flatnonzero(scene.fair)
    shares = np.zeros((trials, most))
    for trial in watched(range(trials)):
        order = rng.permutation(scene.both.rows)[:most]
        checked = rng.choice(fair, min(CHECKED, len(fair)), replace=False)
        for m in range(1, min(most, len(order)) + 1):
            checkpoint()
            shares[trial, m - 1] = scene.recovered(scene.learn(order[:m], method), checked).mean()
    broken = (shares >= ENOUGH).mean(axis=0)
    return Curve(method, tuple(broken.tolist()), tuple(shares.mean(axis=0).tolist()), trials)


def attack_with_known(
    scene: Scene,
    *,
    methods: Sequence[Method] = get_args(Method),
    most: int = MOST_KNOWN,
    trials: int = 40,
    seed: int = 0,
) -> tuple[AttackResult, ...]:
    """Known-sample regression, once with each method of fitting."""
    return tuple(_result(scene, curve(scene, method, most=most, trials=trials, seed=seed)) for method in methods)


def _result(scene: Scene, found: Curve) -> AttackResult:
    needed, last = found.needed, len(found.broken)
    at = (needed or last) - 1
    success = hits(np.arange(found.trials) < round(found.broken[at] * found.trials))
    knows = f"{at + 1} records with all of {', '.join(scene.both.names)}, and which released rows are theirs"
    return AttackResult(
        f"known records, {found.method}, {scene.model}",
        f"{knows}; takes the mask for {_article(scene.model)}",
        success,
        f"trials in which at least {percent(ENOUGH)} of the records without noise were recovered",
        _sentence(scene, found),
        {
            "needed": needed,
            "mostly": found.mostly,
            "broken": list(found.broken),
            "rows": list(found.rows),
            "trials": found.trials,
        },
    )


def _article(model: str) -> str:
    return {"affine": "some linear map"}.get(model, model)


def _sentence(scene: Scene, found: Curve) -> str:
    names = " and ".join(
        [", ".join(scene.both.names[:-1]), scene.both.names[-1]] if scene.both.dims > 1 else scene.both.names
    )
    enough = found.needed or found.mostly
    if enough is None:
        return (
            f"Knowing up to {len(found.rows)} of these people, this attack recovers {names} of at most "
            f"{percent(max(found.rows))} of the others."
        )
    people = "one of these people" if enough == 1 else f"{enough} of these people"
    everyone = "everybody" if found.needed else "at least 95 in 100 people"
    whose = everyone if scene.fair.all() else f"{everyone} whose record got no noise of its own"
    exactly = "" if not scene.blur.any() else ", as exactly as the rounding of the release allows"
    return f"Anyone who knows {people} can recover {names} of {whose}{exactly}."
