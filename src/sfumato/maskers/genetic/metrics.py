"""What a chromosome costs: Iyengar's loss metric (LM) and classification metric (CM), and who is suppressed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.groups import dense, group_numbers
from sfumato.maskers.genetic.genes import View

Ints = NDArray[np.int64]
Lifted = NDArray[np.bool_]


@dataclass(frozen=True)
class Need:
    """At least k records in every group on these attributes, by number."""

    on: tuple[int, ...]
    k: int


@dataclass(frozen=True, eq=False)
class People:
    """A table in positions (rows,) for each attribute, identical records once, with their weights and classes."""

    positions: tuple[Ints, ...]
    classes: Ints
    n: int
    weights: Ints
    needs: tuple[Need, ...]

    @property
    def total(self) -> int:
        """Records in all."""
        return int(self.weights.sum())


@dataclass(frozen=True, eq=False)
class Compressed:
    """Identical records once. `row_of` (rows,) says which of them stands for each row of the table."""

    people: People
    row_of: Ints


def compress(positions: Sequence[Ints], classes: Ints, n: int, needs: tuple[Need, ...]) -> Compressed:
    """Records that are alike in everything are counted once, with a weight."""
    row_of = group_numbers([*positions, classes], len(classes))
    first = np.unique(row_of, return_index=True)[1]
    kept = tuple(column[first] for column in positions)
    return Compressed(People(kept, classes[first], n, np.bincount(row_of), needs), row_of)


def lifted(people: People, shown: Sequence[Ints]) -> Lifted:
    """(rows,): records whose group is too small, and so many more that those lifted are enough themselves.

    Lifting a record takes it out of its groups on every quasi-identifier, so this goes on until nothing changes.
    """
    groups = [group_numbers([shown[at] for at in need.on], len(people.weights)) for need in people.needs]
    out = np.zeros(len(people.weights), dtype=bool)
    enough = max(need.k for need in people.needs)
    while not out.all():
        small = np.zeros_like(out)
        for need, numbers in zip(people.needs, groups, strict=True):
            small |= ~out & (_sizes(people, numbers, out)[numbers] < need.k)
        if not small.any():
            if not 0 < int(people.weights[out].sum()) < enough:
                break
            small = ~out & (groups[0] == _smallest(people, groups[0], out))
        out |= small
    return out


def _sizes(people: People, numbers: Ints, out: Lifted) -> Ints:
    found: Ints = np.bincount(numbers, weights=np.where(out, 0, people.weights)).astype(np.int64)
    return found


def _smallest(people: People, numbers: Ints, out: Lifted) -> int:
    sizes = _sizes(people, numbers, out)
    return int(np.argmin(np.where(sizes == 0, np.iinfo(np.int64).max, sizes)))


def cost(people: People, views: Sequence[View], metric: str) -> float:
    """LM or CM of a chromosome, from 0 to 1; a lifted record costs 1."""
    shown = [view.codes[column] for view, column in zip(views, people.positions, strict=True)]
    out = lifted(people, shown)
    if metric == "CM":
        return _wrong(people, shown, out) / people.total
    loss = sum(view.loss[column] for view, column in zip(views, people.positions, strict=True)) / len(views)
    return float((np.where(out, 1.0, loss) * people.weights).sum()) / people.total


def _wrong(people: People, shown: Sequence[Ints], out: Lifted) -> int:
    """Lifted records, and those that are not of their group's most frequent class."""
    numbers = dense(group_numbers(shown, len(out)))
    cells = np.bincount(numbers * people.n + people.classes, weights=np.where(out, 0, people.weights),
                        minlength=(int(numbers.max()) + 1) * people.n).reshape(-1, people.n)  # fmt: skip
    return people.total - int(cells.max(axis=1).sum())
