"""How likely records are to be of each class, by boosted trees that learned from others: each tree follows what those
before it left over. Settings and answers are those of scikit-learn's HistGradientBoostingClassifier; to import that
takes longer than all of this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats, Ints, Marks
from sfumato.events import checkpoint
from sfumato.maskers.partition import boosted_trees as trees

RATE = 0.1
SURE = 1e-15
"""How far from certain the shares of classes are taken to be, at least."""
MOST_LABELS = trees.BINS - 2
"""Labels that are told apart as such; the codes of more are taken as numbers."""
Bins = NDArray[Any]
"""(rows, attributes): whole numbers from 0 on."""


@dataclass(frozen=True, eq=False)
class Binning:
    """Bins numbered anew, as far as records to be learned from have them, attributes with labels first: `attributes` in
    that order, which of them have `labels`, and of each the new number of every bin."""

    attributes: Ints
    labels: Marks
    numbers: Sequence[NDArray[np.uint8]]

    @classmethod
    def of(cls, bins: Bins, sizes: Ints, labels: Marks) -> Binning:
        """`sizes` (attributes,): how many bins there are."""
        few = labels & (sizes <= MOST_LABELS)
        attributes = np.argsort(~few, kind="stable")
        numbers = [(_of_labels if few[a] else _of_numbers)(bins[:, a], int(sizes[a])) for a in attributes]
        return cls(attributes, few[attributes], numbers)

    def __call__(self, bins: Bins) -> NDArray[np.uint8]:
        """(rows, attributes): the same records."""
        columns = [number[bins[:, a]] for number, a in zip(self.numbers, self.attributes, strict=True)]
        return np.ascontiguousarray(np.column_stack(columns))

    @property
    def first(self) -> Ints:
        """(attributes + 1,): where the bins of each begin among those of all."""
        used = [int(number[number != trees.UNKNOWN].max()) + 1 for number in self.numbers]
        return np.append(0, np.cumsum(used)).astype(np.int64)


def _of_labels(held: Bins, size: int) -> NDArray[np.uint8]:
    number = np.full(size, trees.UNKNOWN, dtype=np.uint8)
    known = np.unique(held)
    number[known] = np.arange(len(known))
    return number


def _of_numbers(held: Bins, size: int) -> NDArray[np.uint8]:
    """What lies between two that are held goes with the nearer one; of very many, a bin has its share of records."""
    known = np.unique(held).astype(np.float64)
    ends = (known[:-1] + known[1:]) / 2
    if len(ends) >= trees.UNKNOWN:
        ends = np.unique(np.percentile(held, np.linspace(0, 100, trees.BINS)[1:-1], method="averaged_inverted_cdf"))
    return np.searchsorted(ends, np.arange(size)).astype(np.uint8)


@dataclass(frozen=True, eq=False)
class _Records:
    """Records to learn from, whose slopes and bends change from tree to tree, and `judged` ones; room for sums."""

    learned: trees.Learned
    judged: NDArray[np.uint8]
    sums: Floats

    @classmethod
    def of(cls, learned: Bins, judged: Bins, sizes: Ints, labels: Marks) -> _Records:
        binning = Binning.of(learned, sizes, labels)
        slopes, bends = np.empty((2, len(learned)), dtype=np.float32)
        rows = trees.Learned(binning(learned), binning.first, binning.labels, slopes, bends)
        return cls(rows, binning(judged), np.empty((trees.LEAVES, int(rows.first[-1]), 3)))

    def add_tree(self, expected: Floats, asked: Floats) -> None:
        """Grow one along slopes and bends, and add what it gives to what is `expected` of those to learn from (rows,)
        and `asked` of those to judge (rows,)."""
        trees.count_all(self.learned, self.sums[0])
        whole = np.zeros((trees.BINS, 3))  # in the order in which numpy adds up so many
        whole[: self.learned.first[1]] = self.sums[0, : self.learned.first[1]]
        tree = trees.Tree.empty()
        trees.grow(self.learned, self.sums, np.array([one.sum() for one in whole.T]), RATE, tree, expected)
        trees.send_down(tree, self.judged, asked)


def likely(
    learned: Bins, classes: Ints, judged: Bins, *, n: int, sizes: Ints, labels: Marks, rounds: int
) -> NDArray[np.float32]:
    """(judged, n): how likely each of the records to be judged is to be of each of n classes.

    `classes` (learned,): from 0 on. `sizes` (attributes,): how many bins there are; `labels` (attributes,): whether
    they have no order. `rounds`: trees for each class, of two classes for both.
    """
    found = np.zeros((len(judged), n), dtype=np.float32)
    present, codes = np.unique(classes, return_inverse=True)
    if len(present) == 1:
        found[:, present] = 1.0
        return found
    follow = _two if len(present) == 2 else _several
    shares = np.clip(np.bincount(codes) / len(codes), SURE, 1 - SURE)
    found[:, present] = follow(_Records.of(learned, judged, sizes, labels), codes, shares, rounds)
    return found


def _two(records: _Records, codes: Ints, shares: Floats, rounds: int) -> Floats:
    """(judged, 2)."""
    begin = log(shares[1] / (1 - shares[1]))
    expected, asked = np.full(len(codes), begin), np.full(len(records.judged), begin)
    for at in range(rounds):
        checkpoint(at / rounds)
        trees.follow_two(expected, codes, records.learned.slopes, records.learned.bends)
        records.add_tree(expected, asked)
    chance = 1.0 / (1.0 + np.exp(-asked))
    return np.column_stack([1.0 - chance, chance])


def _several(records: _Records, codes: Ints, shares: Floats, rounds: int) -> Floats:
    """(judged, classes)."""
    begin = np.log(shares / np.exp(np.log(shares).mean()))
    expected, asked = (np.tile(begin[:, None], rows) for rows in (len(codes), len(records.judged)))
    for at in range(rounds):
        chances = trees.shared_out(expected)
        for one, chance in enumerate(chances):
            checkpoint((at + one / len(chances)) / rounds)
            records.learned.slopes[:] = chance - (codes == one)
            records.learned.bends[:] = chance * (1.0 - chance)
            records.add_tree(expected[one], asked[one])
    return trees.shared_out(asked).T
