"""Classifiers: `tree`, `naive_bayes`, `nearest`, one of scikit-learn's that are listed, or an object of the caller's.

Each learns from training rows and tells the classes of test rows. Whatever a classifier needs to know of a
column, the order of categories or the limits of bins, is learned from the training rows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats
from sfumato.errors import RecipeError
from sfumato.evaluation.training import Codes, Feature
from sfumato.evaluation.trees import fit_tree, tree_matrix
from sfumato.events import awaited

Classify = Callable[[Sequence[Feature], Codes, Codes, Codes], Codes]
"""(features, classes of all rows, training rows, test rows) -> the test rows' predicted classes."""

BINS = 10
"""Into how many parts of equal weight naive Bayes cuts a raw number."""


def classifier(chosen: object) -> Classify:
    """A classifier by its name, or a scikit-learn classifier as an object, which is cloned for every part.

    >>> classifier("nearest").__name__
    'nearest'
    """
    if isinstance(chosen, str) and chosen in CLASSIFIERS:
        return CLASSIFIERS[chosen]
    fresh = _fresh(chosen)

    def other(features: Sequence[Feature], classes: Codes, train: Codes, test: Codes) -> Codes:
        matrix = spread_matrix(features, train=train)
        return awaited(lambda: _said(fresh().fit(matrix[train], classes[train]), matrix[test]))

    return other


def tree(features: Sequence[Feature], classes: Codes, train: Codes, test: Codes) -> Codes:
    """An entropy tree, pruned by validation (see `trees`)."""
    n = int(classes.max()) + 1
    matrix = tree_matrix(list(features), classes, n, train=train)
    return fit_tree(matrix[train], classes[train], n).predict(matrix[test])


def naive_bayes(features: Sequence[Feature], classes: Codes, train: Codes, test: Codes) -> Codes:
    """Naive Bayes on categories, one added to every count. A masked number's intervals are categories."""
    codes = np.stack([_binned(feature, train) for feature in features], axis=1)
    sizes = [max(feature.size, BINS + 1) for feature in features]
    model = import_module("sklearn.naive_bayes").CategoricalNB(min_categories=sizes)
    return awaited(lambda: _said(model.fit(codes[train], classes[train]), codes[test]))


def nearest(features: Sequence[Feature], classes: Codes, train: Codes, test: Codes) -> Codes:
    """The nearest training row decides. Numbers differ by up to 1, categories by 0 or 1, squares are added."""
    matrix = spread_matrix(features, train=train)
    model = import_module("sklearn.neighbors").KNeighborsClassifier(n_neighbors=1, algorithm="brute")
    return awaited(lambda: _said(model.fit(matrix[train], classes[train]), matrix[test]))


LISTED = (
    "sklearn.ensemble.ExtraTreesClassifier",
    "sklearn.ensemble.GradientBoostingClassifier",
    "sklearn.ensemble.HistGradientBoostingClassifier",
    "sklearn.ensemble.RandomForestClassifier",
    "sklearn.linear_model.LogisticRegression",
    "sklearn.linear_model.RidgeClassifier",
    "sklearn.linear_model.SGDClassifier",
    "sklearn.naive_bayes.BernoulliNB",
    "sklearn.naive_bayes.GaussianNB",
    "sklearn.neighbors.KNeighborsClassifier",
    "sklearn.neural_network.MLPClassifier",
    "sklearn.svm.LinearSVC",
    "sklearn.svm.SVC",
    "sklearn.tree.DecisionTreeClassifier",
)
"""Classifiers of scikit-learn that can be named: a name imports nothing else."""

CLASSIFIERS: dict[str, Classify] = {"tree": tree, "naive_bayes": naive_bayes, "nearest": nearest}


def spread_matrix(features: Sequence[Feature], *, train: Codes) -> NDArray[np.float64]:
    """(rows, columns): numbers by the middle of their interval, 0..1 over the training rows; categories one-hot.

    A one-hot column is 0 or the square root of a half, so that two different labels are 1 apart. A missing
    number stands in the middle and has a column of its own that says so.
    """
    columns: list[Floats] = []
    for feature in features:
        columns += _middles(feature, train) if feature.ends is not None else _one_hot(feature)
    return np.stack(columns, axis=1)


def _one_hot(feature: Feature) -> list[Floats]:
    used = np.unique(feature.codes)
    return [np.where(feature.codes == value, np.sqrt(0.5), 0.0) for value in used]


def _middles(feature: Feature, train: Codes) -> list[Floats]:
    ends = feature.ends if feature.ends is not None else np.zeros((feature.size, 2))
    middle = ends.mean(axis=1)[feature.codes]
    gone = np.isnan(middle)
    known = middle[train][~gone[train]]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    scaled = np.where(gone, 0.5, (middle - low) / ((high - low) or 1.0))
    return [scaled, gone.astype(np.float64)] if gone.any() else [scaled]


def _binned(feature: Feature, train: Codes) -> Codes:
    """Codes as they are; a raw number's by tenths of the training rows, missing last."""
    if feature.ends is None or not feature.exact:
        return feature.codes
    points = feature.ends[:, 0]
    held = points[feature.codes[train]]
    held = held[np.isfinite(held)]
    limits = np.unique(np.quantile(held, np.arange(1, BINS) / BINS)) if len(held) else held
    found = np.searchsorted(limits, points, side="right").astype(np.int64)
    return np.where(np.isnan(points), BINS, found)[feature.codes]


def _said(model: Any, rows: NDArray[Any]) -> Codes:
    found: Codes = model.predict(rows).astype(np.int64)
    return found


def _fresh(chosen: object) -> Callable[[], Any]:
    """What makes an untrained classifier: of a listed name its class, of an object a copy."""
    if isinstance(chosen, str) and chosen in LISTED:
        module, _, name = chosen.rpartition(".")
        model = getattr(import_module(module), name)
        return lambda: model(**({"random_state": 0} if "random_state" in signature(model).parameters else {}))
    if not isinstance(chosen, str | type) and hasattr(chosen, "fit") and hasattr(chosen, "predict"):
        return lambda: import_module("sklearn.base").clone(chosen)
    raise RecipeError(
        "classifier",
        "it is "
        + ", ".join(CLASSIFIERS)
        + ", one of scikit-learn's that are listed, or an object with fit and predict",
        given=repr(chosen) if isinstance(chosen, str) else type(chosen).__name__,
        remedy="give for example 'sklearn.ensemble.RandomForestClassifier', or the classifier itself",
    )
