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
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data.grouping import first_rows
from sfumato.events import checkpoint, watched
from sfumato.maskers.histogram.public_space import CHUNK, UNIT, Place, PublicSpace, diameter
from sfumato.maskers.histogram.records import Box, Records, Split, answers
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
    for step in watched(rounds):
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
    if all(len(choice) == 1 for choice in choices):
        return single_scores(records, space, part_of, [split for (split,) in choices])
    offered = list(dict.fromkeys(split for choice in choices for split in choice))
    found = [0] * len(choices)
    for patterns in Patterns.of_parts(records, space, part_of, offered):
        for first in range(0, len(choices), AT_ONCE):
            checkpoint()
            some = choices[first : first + AT_ONCE]
            for at, left in enumerate(patterns.errors_left(space, some), first):
                found[at] -= left
    return found


def single_scores(records: Records, space: PublicSpace, part_of: Ints, offered: Sequence[Split]) -> list[int]:
    """The same of one split each. Who answers yes is told by the columns in which he has something, and what they have
    together by which columns meet: so of a million rows no patterns of answers are made."""
    columns = [_columns(space.places[split.attribute], split) for split in offered]
    found = [0] * len(offered)
    for meeting in _meetings(records, space, part_of):
        yes = np.array([meeting[some].sum(axis=0) for some in columns])
        for answered in (yes, meeting[-1] - yes):
            found = [so_far - left for so_far, left in zip(found, errors(space, answered), strict=True)]
    return found


def _columns(place: Place, split: Split) -> Ints:
    """The columns in which those who answer yes have something, each of them in one, and nobody else has."""
    return np.array(split.tests, dtype=np.int64) + int(place.columns.start)


def _meetings(records: Records, space: PublicSpace, part_of: Ints) -> Iterator[Ints]:
    """Of each part that has records (values + 1, values + 2): the sum of the values of those who have something in a
    column, their squared lengths, and how many they are; the last line is that of all."""
    from sfumato.maskers.histogram.kernels import add_meetings

    valued, order = space.valued(records), np.argsort(part_of, kind="stable")
    ends = np.append(0, np.cumsum(np.bincount(part_of)))
    for part in np.flatnonzero(np.diff(ends)):
        found = np.zeros((space.values + 1, space.values + 2), dtype=np.int64)
        for first in range(ends[part], ends[part + 1], CHUNK):
            checkpoint()
            add_meetings(order[first : min(first + CHUNK, ends[part + 1])], valued, found)
        yield found


@dataclass(frozen=True, eq=False)
class Patterns:
    """The records of one part by their answers to all offered splits: each pattern once, with the sum of its values.

    `yes` (patterns, offered) are the answers; `sums` (patterns, values + 2) are whole numbers.
    """

    offered: Sequence[Split]
    yes: NDArray[np.bool_]
    sums: NDArray[np.int64]

    @cached_property
    def _rare(self) -> NDArray[np.bool_]:
        """(patterns, offered): who gives the rarer answer. Errors are the same whichever answer is called yes."""
        often = self.sums[:, -1] @ self.yes * 2 > self.sums[:, -1].sum()
        return np.asarray(self.yes ^ often, dtype=np.bool_)

    @cached_property
    def _rank(self) -> list[int]:
        """(offered,): the place of each split when those with the rarest answers come first."""
        order = np.argsort(self.sums[:, -1] @ self._rare, kind="stable")
        return [int(place) for place in np.argsort(order, kind="stable")]

    @cached_property
    def _floats(self) -> NDArray[np.float64]:
        """The sums again: whole numbers below 2^53, so that floats add them up exactly."""
        return self.sums.astype(np.float64)

    @classmethod
    def of_parts(
        cls, records: Records, space: PublicSpace, part_of: Ints, offered: Sequence[Split]
    ) -> Iterator[Patterns]:
        """One for each part that has records."""
        yes = np.stack([answers(records, split) for split in offered], axis=1)
        packed = np.hstack([part_of.astype("<u4").view(np.uint8).reshape(-1, 4), np.packbits(yes, axis=1)])
        checkpoint()
        of_row = _alike(packed)
        first = first_rows(of_row)
        sums = space.sums(records, of_row, len(first))
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
            checkpoint()
            sums = _with_answers(agreed, places, signs)
            found = [total + error for total, error in zip(found, errors(space, sums), strict=True)]
        return found

    def _agreed(self, places: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], NDArray[np.int64]]:
        """For every set of splits within some combination: the sum of the values of those who answer yes to all.

        Sets are taken together by their rarest answer: only those who give it are looked at.
        """
        found: dict[tuple[int, ...], NDArray[np.int64]] = {(): self.sums.sum(axis=0)}
        by_rarest: dict[tuple[int, int], dict[tuple[int, ...], None]] = {}
        for place in places:
            for size in range(1, len(place) + 1):
                for some in combinations(place, size):
                    by_rarest.setdefault((min(some, key=self._rank.__getitem__), size), {})[some] = None
        for (rarest, _), sets in by_rarest.items():
            checkpoint()
            found |= self._together(rarest, list(sets))
        return found

    def _together(self, rarest: int, sets: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], NDArray[np.int64]]:
        """The same for sets of one size that have a split in common."""
        rows = np.flatnonzero(self._rare[:, rarest])
        answers = self._rare[rows]
        inside = np.ones((len(rows), len(sets)), dtype=np.float64)
        for column in np.array(sets, dtype=np.int64).T:
            inside *= answers[:, column]
        sums = np.rint(inside.T @ self._floats[rows]).astype(np.int64)
        return dict(zip(sets, sums, strict=True))


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


def _alike(rows: NDArray[np.uint8]) -> Ints:
    """(rows,): a number for each, the same where all its bytes are, in the order in which they are met."""
    whole: Any = np.ascontiguousarray(rows)
    kind = pa.binary(rows.shape[1])
    met: Any = pa.FixedSizeBinaryArray.from_buffers(kind, len(rows), [None, pa.py_buffer(whole)]).dictionary_encode()
    return np.asarray(met.indices.to_numpy(), dtype=np.int64)


def errors(space: PublicSpace, sums: NDArray[np.int64]) -> list[int]:
    """The squared error around the mean, rounded down; 0 where there is no record."""
    count, squares = sums[:, -1], sums[:, -2]
    places: NDArray[np.int64] | NDArray[np.object_] = space.project(sums[:, :-2])
    if int(count.max(initial=0)) ** 2 * UNIT**2 * 2 > CLOSE_TO_FULL:
        places = places.astype(object)  # numbers of any length
    lengths = (places * places).sum(axis=1)
    return [(int(q) * int(n) - int(s)) // int(n) if n else 0 for q, s, n in zip(squares, lengths, count, strict=True)]
