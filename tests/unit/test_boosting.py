"""Boosted trees on bins, against scikit-learn's: the same settings, the same chances."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sfumato.maskers.partition.boosting import MOST_LABELS, likely

ROUNDS = 12
SIZES = np.array([5, 40, 30, 2, 300, 300])
LABELS = np.array([True, True, False, True, False, True])


def people(n: int, rows: int, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Bins, some of them rare, and classes that follow from them in part."""
    chance = np.random.default_rng(seed)
    bins = np.column_stack([np.minimum(chance.geometric(min(3 / size, 0.7), rows) - 1, size - 1) for size in SIZES])
    worth = sum(chance.normal(size=size)[bins[:, at]] for at, size in enumerate(SIZES))
    worth = worth + chance.normal(size=rows)
    return bins.astype(np.uint16), np.digitize(worth, np.quantile(worth, np.arange(1, n) / n))


def theirs(bins: NDArray[Any], classes: NDArray[Any], judged: NDArray[Any]) -> NDArray[Any]:
    kind = import_module("sklearn.ensemble").HistGradientBoostingClassifier
    labels = LABELS & (SIZES <= MOST_LABELS)
    model = kind(max_iter=ROUNDS, early_stopping=False, categorical_features=labels, random_state=0)
    return np.asarray(model.fit(bins, classes).predict_proba(judged))


def ours(bins: NDArray[Any], classes: NDArray[Any], judged: NDArray[Any], n: int) -> NDArray[Any]:
    return likely(bins, classes, judged, n=n, sizes=SIZES, labels=LABELS, rounds=ROUNDS)


@pytest.mark.parametrize(("n", "rows", "seed"), [(2, 600, 0), (2, 3000, 1), (4, 900, 2)])
def test_chances_are_those_of_scikit_learn(n: int, rows: int, seed: int) -> None:
    bins, classes = people(n, rows, seed)
    learned, judged = bins[: rows // 2], bins[rows // 2 :]  # some bins are seen in one half only
    expected = theirs(learned, classes[: rows // 2], judged)
    assert ours(learned, classes[: rows // 2], judged, n) == pytest.approx(expected, abs=1e-6)


def test_a_class_that_nobody_has_is_not_likely() -> None:
    bins, classes = people(2, 200, 0)
    found = ours(bins, 2 * classes, bins, 3)
    assert (found[:, 1] == 0).all()
    assert found.sum(axis=1) == pytest.approx(1.0)
    assert ours(bins, np.ones(200, dtype=np.int64), bins, 3).tolist() == [[0.0, 1.0, 0.0]] * 200


def test_too_few_records_are_told_apart_by_nothing() -> None:
    bins, classes = people(2, 39, 0)
    assert len(np.unique(ours(bins, classes, bins, 2), axis=0)) == 1
