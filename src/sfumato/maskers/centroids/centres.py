"""What a class shows: the mean of its numbers, what is true of all its labels (or their mode)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.data import calendar
from sfumato.data.round_numbers import Grid, Holders
from sfumato.data.schema import Attribute, Category, ItemSet, Number
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.events import checkpoint, watched
from sfumato.maskers.centroids.space import Coded, Value, closure, tree_of

Categories = Literal["ancestor", "mode"]


def shown(attribute: Attribute, data: Coded, labels: Ints, *, categories: Categories, whole: bool, k: int) -> Coded:
    """(classes,): the value that all records of each class show. `whole` rounds a mean to a whole number.

    No mean is a number that fewer than k records hold, unless it is round (`sfumato.data.round_numbers`).
    """
    checkpoint()
    if isinstance(attribute, Number):
        return _numbers(attribute, data, labels, whole=whole, k=k)
    if categories == "mode":
        return modes(data, labels) if isinstance(attribute, Category) else common_items(data, labels)
    tree = tree_of(attribute, data)
    if isinstance(attribute, ItemSet):
        return shared_items(tree, data, labels)
    return ancestors(tree, data, labels)


@dataclass(frozen=True, eq=False)
class Means:
    """(classes,): the mean of the numbers there are, never outside them in spite of rounding, NaN for none; and the
    lowest and the highest of them."""

    means: Floats
    low: Floats
    high: Floats


def means(data: Coded, labels: Ints) -> Means:
    """What the numbers of each class are on average."""
    count, known = int(labels.max()) + 1, ~data.missing
    numbers, classes = data.numbers()[known], labels[known]
    held = np.bincount(classes, minlength=count)
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, classes, numbers)
    np.maximum.at(high, classes, numbers)
    low[held == 0] = high[held == 0] = 0.0
    middle = low / 2 + high / 2  # sums of what is left are small: nothing overflows
    offsets = np.bincount(classes, weights=numbers - middle[classes], minlength=count)
    found = np.clip(middle + offsets / np.maximum(held, 1), low, high)
    return Means(np.where(held > 0, found + 0.0, np.nan), low, high)


def _numbers(attribute: Number, data: Coded, labels: Ints, *, whole: bool, k: int) -> Coded:
    classes = means(data, labels)
    found = classes.means
    gone = np.isnan(found)
    kept = np.where(gone, 0.0, found)
    if attribute.calendar is not None:
        kept = calendar.floor(np.rint(kept).astype(np.int64), attribute.calendar).astype(np.float64)
    else:
        grid = _grid(attribute, data, whole=whole, k=k)
        kept = np.array(
            [
                grid.show_within(*one)
                for one in watched(zip(kept.tolist(), classes.low.tolist(), classes.high.tolist(), strict=True))
            ]
        )
    values, at = np.unique(kept[~gone], return_inverse=True)
    codes = np.full(len(found), len(values), dtype=np.int64)
    codes[~gone] = at
    return Coded(codes, values.tolist())


def _grid(attribute: Number, data: Coded, *, whole: bool, k: int) -> Grid:
    numbers, counts = np.asarray(data.values, dtype=np.float64), data.counts[:-1]
    ends = None if attribute.range is None else (float(attribute.range[0]), float(attribute.range[1]))
    return Grid.of(ends, Holders.of(numbers, counts, k), whole=whole)


def ancestors(tree: Taxonomy, data: Coded, labels: Ints) -> Coded:
    """(classes,): the lowest label that is true of every member; the root where one of several is missing."""
    leaf_at = {leaf: at for at, leaf in enumerate(tree.leaves)}
    first = np.array([leaf_at[str(value)] for value in data.values] + [-1], dtype=np.int64)[data.codes]
    count, none = int(labels.max()) + 1, len(tree.leaves)
    low, high = np.full(count, none, dtype=np.int64), np.full(count, -2, dtype=np.int64)
    np.minimum.at(low, labels, first)
    np.maximum.at(high, labels, first)
    pairs, at = np.unique(np.stack([low, high], axis=1), axis=0, return_inverse=True)
    return Coded.of(_ancestor(tree, int(a), int(b)) for a, b in pairs.tolist()).taken(np.ravel(at))


def _ancestor(tree: Taxonomy, low: int, high: int) -> str | None:
    """The lowest label over two positions of leaves; -1 stands for missing."""
    if low < 0:
        return None if high < 0 else tree.root
    leaf = tree.leaves[low]
    return next(label for label in (leaf, *tree.ancestors(leaf)) if high < tree.leaf_range(label)[1])


def modes(data: Coded, labels: Ints) -> Coded:
    """(classes,): the value that most members have, missing being one; the first in order among equals."""
    width = len(data.values) + 1
    keys, counts = np.unique(labels * width + data.codes, return_counts=True)
    order = np.lexsort((keys, -counts, keys // width))
    _, first = np.unique(keys[order] // width, return_index=True)
    return Coded(keys[order][first] % width, data.values)


def shared_items(tree: Taxonomy, data: Coded, labels: Ints) -> Coded:
    """(classes,): the labels under which every member has an item, without those that others imply.

    The root alone says that every member has some item. A missing set shares nothing with others.
    """
    above = [*(frozenset(closure(tree, value)) for value in data.values), frozenset[str]()]
    gone = {len(data.values)}
    return Coded.of(
        None if members == gone else _lowest(tree, [above[at] for at in members]) for members in _members(data, labels)
    )


def _lowest(tree: Taxonomy, closures: list[frozenset[str]]) -> tuple[str, ...]:
    common = frozenset.intersection(*closures)
    implied = {above for label in common for above in tree.ancestors(label)}
    return tuple(sorted(common - implied))


def common_items(data: Coded, labels: Ints) -> Coded:
    """(classes,): the items that more than half of the members have; missing where that many are missing."""
    count = int(labels.max()) + 1
    held: list[dict[str, int]] = [{} for _ in range(count)]
    gone = np.bincount(labels[data.missing], minlength=count)
    for at, value in zip(labels.tolist(), data.rows(), strict=True):
        for item in value if isinstance(value, tuple) else ():
            held[at][item] = held[at].get(item, 0) + 1
    sizes = np.bincount(labels, minlength=count).tolist()

    def one(at: int) -> Value | None:
        if 2 * int(gone[at]) > sizes[at]:
            return None
        return tuple(sorted(item for item, n in held[at].items() if 2 * n > sizes[at]))

    return Coded.of(one(at) for at in range(count))


def _members(data: Coded, labels: Ints) -> list[set[int]]:
    """Which values each class has."""
    found: list[set[int]] = [set() for _ in range(int(labels.max()) + 1)]
    for at, code in zip(labels.tolist(), data.codes.tolist(), strict=True):
        found[at].add(code)
    return found
