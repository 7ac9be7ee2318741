"""What the cuts are guided by: clusters as they are, and of a class how likely each record is to be of it.

A class is told by the attributes only in part. Cuts that follow the labels of single records would follow chance; they
follow what a model, which has not seen the record, expects of it.

In which order rows stand is no matter: models learn from them sorted, and what they expect adds up exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.events import part
from sfumato.maskers.masker import Labels
from sfumato.maskers.partition.boosting import likely
from sfumato.maskers.partition.cells import Binned, guide_of, soft_guide
from sfumato.maskers.partition.problem import Guide

FOLDS = 3
MOST_LEARNED = 60_000
"""Records that each model learns from, at most."""
ROUNDS = 40
FEWEST = 100
"""Records below which nothing is learned: labels guide as they are."""
MOST_CLASSES = 40
FINE = float(1 << 20)
"""Of which parts what is expected is rounded to: sums of such numbers are exact, in whatever order they are added."""


def guide_for(labels: Labels, binned: Binned) -> Guide:
    """What the cuts of a table are guided by."""
    classes: NDArray[Any] = np.asarray(labels.classes)
    if not labels.told_in_part or len(classes) < FEWEST or labels.n > MOST_CLASSES:
        return guide_of(classes, labels.n)
    return soft_guide(likely_classes(binned, classes, labels.n))


def likely_classes(binned: Binned, classes: NDArray[Any], n: int) -> NDArray[np.float32]:
    """(rows, classes), or of two classes (rows, 1): how likely each record is to be of each, by models that were
    learned from others."""
    order = np.lexsort((classes, *binned.cells.bins.T))
    fold = np.random.default_rng(0).permutation(len(order)) % FOLDS  # which model judges a record: no secret
    found = np.zeros((len(order), n), dtype=np.float32)
    for one in range(FOLDS):
        learned, judged = order[fold != one], order[fold == one]
        step = -(-len(learned) // MOST_LEARNED)
        with part(one / FOLDS, (one + 1) / FOLDS):
            found[judged] = _predict(binned, classes, n, learned[::step], judged)
    rounded: NDArray[np.float32] = (np.rint(found * FINE) / FINE).astype(np.float32)
    return rounded[:, 1:] if n == 2 else rounded


def _predict(
    binned: Binned, classes: NDArray[Any], n: int, learned: NDArray[Any], judged: NDArray[Any]
) -> NDArray[np.float32]:
    cells = binned.cells
    return likely(
        cells.bins[learned],
        classes[learned].astype(np.int64),
        cells.bins[judged],
        n=n,
        sizes=np.diff(cells.first),
        labels=cells.kind == 0,
        rounds=ROUNDS,
    )
