"""Growing a shallow tree: all parts of the records are divided by the same public splits, chosen privately.

The score of some splits is minus the squared error that is left in the parts it makes. One more record falls into one
part, can only raise that part's error, and by no more than the squared diameter of the declared domain. So scores
are monotone, and their sensitivity is public. (The *reduction* of squared error, PAPERS.md 003-13, is not monotone
by itself; it differs from this score by a number that is the same for all choices, so it chooses alike.)
Everything is in whole numbers, so no rounding spoils the bound.

One split for all parts, rather than one for each: its score adds up over all records while its sensitivity stays that
of one. For the same reason the first splits are chosen together, as one choice among all combinations: that costs the
logarithm of their number, where one choice after the other would divide epsilon.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from sfumato.maskers.histogram.boxes import Box, Split, answers
from sfumato.maskers.histogram.records import Ints, Records
from sfumato.maskers.histogram.space import UNIT, PublicSpace
from sfumato.privacy.mechanisms import Mechanisms, Question

CLOSE_TO_FULL = 2**62
AT_ONCE = 1024

Combination = tuple[Split, ...]


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree: its splits in order, the boxes of the parts at the end, and the part of each row, `part_of` (rows,)."""

    splits: tuple[Split, ...]
    boxes: tuple[Box, ...]
    part_of: Ints


@dataclass(frozen=True)
class Round:
    """One choice: so many splits at once, among these, at this price."""

    together: int
    offered: tuple[Split, ...]
    price: Fraction


def grow(records: Records, space: PublicSpace, rounds: Sequence[Round], *, mechanisms: Mechanisms) -> Grown:
    """A tree of the splits that are chosen in each round."""
    boxes = [Box.whole(records.domains)]
    part_of = np.zeros(records.rows, dtype=np.int64)
    reach = diameter(space, boxes[0]) + 1  # errors are rounded down
    chosen: list[Split] = []
    for step in rounds:
        left = [split for split in step.offered if split not in chosen]
        choices = list(combinations(left, step.together))
        question = Question(scores(records, space, part_of, choices), reach)
        purpose = f"{step.together} splits of the tree" if step.together > 1 else "a split of the tree"
        (place,) = mechanisms.choose(purpose, [question], epsilon=step.price, monotone=True)
        for split in choices[place]:
            part_of = 2 * part_of + 1 - answers(records, split)
            boxes = [half for box in boxes for half in box.divided(split)]
        chosen += choices[place]
    return Grown(tuple(chosen), tuple(boxes), part_of)


def scores(records: Records, space: PublicSpace, part_of: Ints, choices: Sequence[Combination]) -> list[int]:
    """Minus the squared error left by each combination of splits in all parts together, exactly."""
    offered = list(dict.fromkeys(split for choice in choices for split in choice))
    found = [0] * len(choices)
    for patterns in Patterns.of_parts(records, space, part_of, offered):
        for first in range(0, len(choices), AT_ONCE):
            some = choices[first : first + AT_ONCE]
            for at, left in enumerate(patterns.errors_left(space, some), first):
                found[at] -= left
    return found


@dataclass(frozen=True, eq=False)
class Patterns:
    """The records of one part by their answers to all offered splits: each pattern once, with the sum of its values.

    `yes` (patterns, offered) are the answers; `sums` (patterns, values + 2) are whole numbers.
    """

    offered: Sequence[Split]
    yes: NDArray[np.bool_]
    sums: NDArray[np.int64]

    @classmethod
    def of_parts(
        cls, records: Records, space: PublicSpace, part_of: Ints, offered: Sequence[Split]
    ) -> Iterator[Patterns]:
        """One for each part that has records."""
        yes = np.stack([answers(records, split) for split in offered], axis=1)
        packed = np.hstack([part_of.astype("<u4").view(np.uint8).reshape(-1, 4), np.packbits(yes, axis=1)])
        keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
        _, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
        sums = _sums(records, space, of_row.ravel(), len(first))
        part = part_of[first]
        for at in np.unique(part):
            yield cls(offered, yes[first[part == at]], sums[part == at])

    def errors_left(self, space: PublicSpace, choices: Sequence[Combination]) -> list[int]:
        """(choices,): the squared error in all the parts that each combination makes."""
        at = {split: place for place, split in enumerate(self.offered)}
        places = [tuple(at[split] for split in choice) for choice in choices]
        agreed = self._agreed(places)
        found = [0] * len(choices)
        for signs in product((True, False), repeat=len(places[0])):
            sums = _with_answers(agreed, places, signs)
            found = [total + error for total, error in zip(found, errors(space, sums), strict=True)]
        return found

    def _agreed(self, places: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], NDArray[np.int64]]:
        """For every set of splits within some combination: the sum of the values of those who answer yes to all."""
        width = len(places[0])
        wanted = list(
            dict.fromkeys(some for place in places for r in range(width + 1) for some in combinations(place, r))
        )
        found: dict[tuple[int, ...], NDArray[np.int64]] = {}
        for size in range(width + 1):
            sets = [some for some in wanted if len(some) == size]
            inside = np.ones((len(self.yes), len(sets)), dtype=np.float64)
            for column in np.array(sets, dtype=np.int64).reshape(len(sets), size).T:
                inside *= self.yes[:, column]
            sums = np.rint(inside.T @ self.sums.astype(np.float64)).astype(np.int64)  # whole below 2^53: exact
            found |= dict(zip(sets, sums, strict=True))
        return found


def _with_answers(
    agreed: dict[tuple[int, ...], NDArray[np.int64]], places: Sequence[tuple[int, ...]], signs: tuple[bool, ...]
) -> NDArray[np.int64]:
    """(choices, values + 2): sums over those with these answers, by inclusion and exclusion."""
    no = [at for at, sign in enumerate(signs) if not sign]
    found = np.zeros((len(places), len(agreed[()])), dtype=np.int64)
    for size in range(len(no) + 1):
        for more in combinations(no, size):
            asked = [at for at, sign in enumerate(signs) if sign or at in more]
            found += (-1) ** size * np.stack([agreed[tuple(place[at] for at in asked)] for place in places])
    return found


def _sums(records: Records, space: PublicSpace, groups: Ints, n: int) -> NDArray[np.int64]:
    """(groups, values + 2): the values of the rows of each group, added up."""
    from scipy import sparse

    found = np.zeros((n, space.values + 2), dtype=np.int64)
    for chunk in space.chunks(records):
        mine = groups[chunk.rows]
        member = sparse.csr_matrix((np.ones(len(mine), dtype=np.int64), (mine, np.arange(len(mine)))), (n, len(mine)))
        found += np.asarray((member @ chunk.values).toarray())
    return found


def errors(space: PublicSpace, sums: NDArray[np.int64]) -> list[int]:
    """The squared error around the mean, rounded down; 0 where there is no record."""
    count, squares = sums[:, -1], sums[:, -2]
    places: NDArray[np.int64] | NDArray[np.object_] = space.project(sums[:, :-2])
    if int(count.max(initial=0)) ** 2 * UNIT**2 * 2 > CLOSE_TO_FULL:
        places = places.astype(object)  # numbers of any length
    lengths = (places * places).sum(axis=1)
    return [(int(q) * int(n) - int(s)) // int(n) if n else 0 for q, s, n in zip(squares, lengths, count, strict=True)]


def diameter(space: PublicSpace, box: Box) -> int:
    """The largest squared distance between two records in a box, by declarations alone."""
    return sum(place.spread(box.allowed.get(name)) for name, place in space.places.items())
