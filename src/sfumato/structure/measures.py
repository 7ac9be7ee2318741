"""Measures of the holder's own choice: how alike two labellings of the same records are, one figure each.

A recipe names them, from a list, since a recipe can come from a stranger; from Python any function will do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from sfumato.arrays import Ints
from sfumato.errors import RecipeError, did_you_mean

Measure = Callable[[Ints, Ints], float]
"""From the labels of raw records and those of the same records found in the masked table to one figure."""
LEARNED = (
    "adjusted_mutual_info_score",
    "adjusted_rand_score",
    "completeness_score",
    "fowlkes_mallows_score",
    "homogeneity_score",
    "mutual_info_score",
    "normalized_mutual_info_score",
    "rand_score",
    "v_measure_score",
)
"""Those of scikit-learn that compare two labellings, by their names in sklearn.metrics."""
NAMES = ("entropy", *LEARNED)


def entropy(raw: Ints, masked: Ints) -> float:
    """How many bits the masked cluster of a record leaves open of its raw one (000 section 7); 0 is best.

    >>> entropy(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])), entropy(np.array([0, 1]), np.array([0, 0]))
    (0.0, 1.0)
    """
    counts = np.zeros((int(masked.max()) + 1, int(raw.max()) + 1), dtype=np.int64)
    np.add.at(counts, (masked, raw), 1)
    sizes = counts.sum(axis=1, keepdims=True)
    shares = counts / np.maximum(sizes, 1)
    bits = np.where(counts > 0, -counts * np.log2(np.where(counts > 0, shares, 1.0)), 0.0)
    return float(bits.sum() / max(int(sizes.sum()), 1))


def check_measures(names: Sequence[str]) -> None:
    """Refuse a name that is none of the list."""
    for name in names:
        if name not in NAMES:
            raise RecipeError(
                "measures",
                "a measure is entropy, or one of scikit-learn's that compare two labellings, by its name",
                given=repr(name),
                remedy=f"{did_you_mean(str(name), NAMES)} A function of your own goes into Run(measures=...) in Python",
            )


def measures_named(names: Sequence[str]) -> dict[str, Measure]:
    """The measures of some names."""
    return {name: entropy if name == "entropy" else _learned(name) for name in names}


def _learned(name: str) -> Measure:
    def measured(raw: Ints, masked: Ints) -> float:
        metrics = import_module("sklearn.metrics")

        return float(getattr(metrics, name)(raw, masked))

    return measured


def figure_of(name: str, measure: Measure, raw: Ints, masked: Ints) -> float:
    """What a measure says; refused where that is no number."""
    found: Any = measure(raw.astype(np.int64), masked.astype(np.int64))
    try:
        value = float(found)
    except (TypeError, ValueError):
        value = float("nan")
    if not np.isfinite(value):
        raise RecipeError(
            f"measures: {name}",
            "a measure gives one finite number for two labellings of the same records",
            given="something else",
            remedy="mend the function",
        )
    return value


def check_own(measures: Mapping[str, Measure]) -> None:
    """Refuse what is no function, or has no name that can be printed."""
    for name, measure in measures.items():
        if not callable(measure) or not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= 80:
            raise RecipeError(
                "measures",
                "they are functions by printable names, of at most 80 characters",
                given=type(measure).__name__,
                remedy="write {'mine': lambda raw, masked: ...}",
            )
