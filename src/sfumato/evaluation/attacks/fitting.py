"""Undoing a transformation from known records: models of what was done, fitted by least squares or by consensus.

A model maps masked vectors back to raw ones. Vectors are given in the attacker's scale (each attribute in units of
its spread), so that one distance fits all. Fits take a stack of samples at once: (..., records, attributes).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Fit = Callable[[Floats, Floats], "Linear"]
Method = Literal["least squares", "robust"]

SUBSETS = 120
"""Consensus tries all minimal subsets of the known records, or a sample of this many."""


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
