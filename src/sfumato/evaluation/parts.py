"""Which rows train and which test: a split, or folds that take turns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import RecipeError
from sfumato.randomness import Seeded

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Part:
    """Rows to learn from and rows to be judged on; none is in both."""

    train: Rows
    test: Rows

    def __post_init__(self) -> None:
        if not len(self.train) or not len(self.test):
            raise RecipeError("evaluation", "there are rows to train on and rows to test on",
                              given="none of one kind", remedy="split the table otherwise")  # fmt: skip
        if len(np.intersect1d(self.train, self.test)):
            raise RecipeError("evaluation", "a row that is trained on is not tested on",
                              given="rows in both", remedy="split the table into disjoint rows")  # fmt: skip


def given(train: NDArray[np.bool_]) -> list[Part]:
    """A split that came with the table: (rows,) true where a row is for training."""
    return [Part(np.flatnonzero(train), np.flatnonzero(~train))]


def split(classes: NDArray[np.int64], *, test: float = 1 / 3, seed: int = 0) -> list[Part]:
    """One random split, with every class's share in both parts.

    >>> part = split(np.array([0] * 30 + [1] * 60))[0]
    >>> len(part.test), (part.test < 30).sum().item()
    (30, 10)
    """
    if not 0 < test < 1:
        raise RecipeError("test", "it is a share of the rows between 0 and 1", given=repr(test),
                          remedy="give for example test=0.33")  # fmt: skip
    place = _places(classes, seed)
    return given(np.floor((place + 1) * test) <= np.floor(place * test))


def folds(classes: NDArray[np.int64], n: int = 10, *, seed: int = 0) -> list[Part]:
    """Each row is tested on once, by what was learned from the other folds; every class in all folds alike.

    >>> [len(part.test) for part in folds(np.zeros(25, dtype=int), 10)]
    [3, 3, 3, 3, 3, 2, 2, 2, 2, 2]
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 2:
        raise RecipeError("folds", "there are at least two folds", given=repr(n), remedy="give folds=10")
    if len(classes) < n:
        raise RecipeError("folds", "every fold has a row", given=f"{n} folds for {len(classes)} rows",
                          remedy=f"ask for at most {len(classes)} folds")  # fmt: skip
    fold = _places(classes, seed) % n
    return [Part(np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in range(n)]


def _places(classes: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """(rows,): where each row stands when rows are put in a random order, class after class."""
    order = Seeded(seed).permutation(len(classes))
    order = order[np.argsort(classes[order], kind="stable")]
    places = np.empty(len(classes), dtype=np.int64)
    places[order] = np.arange(len(classes))
    return places
