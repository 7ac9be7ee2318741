"""Records as k-means takes them: every attribute in codes, as a number, or as a set of coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats, Ints
from sfumato.data.grouping import counted
from sfumato.structure.kmeans.ground import Ground, Rows

AT_ONCE = 1 << 16
"""Distances that are computed at once: rows times lanes."""
NARROW = 1 << 8
"""Codes that one byte holds."""
MANY = 1 << 14
"""From so many records on, it pays to look up two attributes at once."""


class Coded(NamedTuple):
    """An attribute in codes: record i stands at places[codes[i]], in these coordinates of the whole space."""

    codes: NDArray[Any]
    places: NDArray[Any]
    columns: Ints


class Sets(NamedTuple):
    """A set-valued attribute: record i holds set codes[i], whose coordinates are columns[members] from offsets[set] on.
    It stands `shares[set]` along each of them."""

    codes: NDArray[Any]
    offsets: Ints
    members: NDArray[Any]
    columns: Ints
    shares: Floats

    def held(self) -> Sets:
        """The same with those sets alone that some record holds; as it is, if that is most of them."""
        count = len(self.shares)
        used = np.flatnonzero(counted(self.codes, count))
        if 2 * len(used) > count:
            return self
        numbers = np.zeros(count, dtype=np.uint32)
        numbers[used] = np.arange(len(used))
        sizes = np.diff(self.offsets)[used]
        offsets = _ends(sizes)
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[used] - offsets[:-1], sizes)
        return Sets(numbers[self.codes], offsets, self.members[places], self.columns, self.shares[used])


@dataclass(frozen=True, eq=False)
class Points:
    """Records, and where their codes stand in a space of `dims` coordinates."""

    ground: Ground
    rows: Rows
    dims: int

    @classmethod
    def of(
        cls, rows: int, dims: int, *, coded: Sequence[Coded] = (), sets: Sequence[Sets] = (), together: bool = True
    ) -> Points:
        """Attributes packed record by record, codes in the narrowest type that holds all of them.

        An attribute of one coordinate that has so many values that codes would save nothing is held as a number, and
        one without coordinates not at all: its values stand in one place. `together`: attributes may share a code, as
        the records let them; without that, batches of records whose places are the same have the same ground, and
        their sums add up.
        """
        every = [part for part in coded if len(part.columns)]
        if together:
            every = joined(every, rows)
        narrow = [part for part in every if not _is_number(part)]
        numbers = [part for part in every if _is_number(part)]
        held = Rows(
            np.empty((rows, len(narrow)), dtype=_narrowest(max((len(part.places) for part in narrow), default=1))),
            np.empty((rows, len(numbers)), dtype=np.float32),
            np.empty((rows, len(sets)), dtype=np.uint32),
            np.empty(0),
        )
        spread = _spread(sets, dims)
        sets = [part.held() for part in sets] if together else sets
        starts = _ends([len(part.shares) for part in sets])
        for at, part in enumerate(narrow):
            held.codes[:, at] = part.codes
        for at, part in enumerate(numbers):
            held.numbers[:, at] = part.places[:, 0][part.codes]
        for at, one in enumerate(sets):
            held.sets[:, at] = one.codes
            held.sets[:, at] += np.uint32(starts[at])
        return cls(_ground(narrow, numbers, sets, spread, dims), held, dims)

    def __len__(self) -> int:
        return len(self.rows.codes)

    def weighted(self, weights: Floats | None) -> Points:
        """The same records, each counted so often; once if there are no weights."""
        told = np.empty(0) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
        return replace(self, rows=self.rows._replace(weights=told))

    def take(self, rows: Ints) -> Points:
        """Some of the records."""
        return replace(self, rows=self.rows.part(rows))

    @property
    def weights(self) -> Floats:
        """(rows,)."""
        return self.rows.weights if len(self.rows.weights) else np.ones(len(self))

    @property
    def total(self) -> float:
        """How many records there are, by weight."""
        return float(self.rows.weights.sum()) if len(self.rows.weights) else float(len(self))

    @cached_property
    def whole(self) -> bool:
        """Whether every weight is a whole number: then sums of them are exact, in any order."""
        return bool((self.rows.weights == np.floor(self.rows.weights)).all())

    def stretches(self, lanes: int) -> Iterator[slice]:
        """The records in stretches whose distances from so many centres are computed at once. They do not depend on the
        number of threads."""
        step = max(AT_ONCE // lanes, 64)
        return (slice(at, min(at + step, len(self))) for at in range(0, len(self), step))

    def vectors(self, rows: Ints) -> Floats:
        """(rows, dims): some records as vectors."""
        ground, held = self.ground, self.rows.part(rows)
        found = np.zeros((len(rows), self.dims))
        for at in range(held.codes.shape[1]):
            columns = ground.columns[ground.wide[at] : ground.wide[at + 1]]
            places = ground.places[ground.start[at] : ground.start[at + 1]].reshape(-1, len(columns))
            found[:, columns] = places[held.codes[:, at]]
        found[:, ground.numbers] = held.numbers
        for row, one in ((row, one) for row, some in enumerate(held.sets.tolist()) for one in some):
            members = ground.spread[ground.members[ground.ends[one] : ground.ends[one + 1]]]
            found[row, members] = ground.share[one]
        return found

    @cached_property
    def variance(self) -> float:
        """The mean over all coordinates of the variance in each, weights left aside as scikit-learn does."""
        rows, spread = max(len(self), 1), 0.0
        for at in range(self.rows.codes.shape[1]):
            width = int(self.ground.wide[at + 1] - self.ground.wide[at])
            places = self.ground.places[self.ground.start[at] : self.ground.start[at + 1]].reshape(-1, width)
            counts = np.bincount(self.rows.codes[:, at], minlength=len(places)) / rows
            spread += float((counts @ (places - counts @ places) ** 2).sum())
        spread += sum(float(self.rows.numbers[:, at].var(dtype=np.float64)) for at in range(self.rows.numbers.shape[1]))
        return (spread + self._spread_of_sets()) / max(self.dims, 1)

    def _spread_of_sets(self) -> float:
        ground = self.ground
        held = np.bincount(self.rows.sets.ravel(), minlength=len(ground.share)) / max(len(self), 1)
        lengths = np.diff(ground.ends)
        along = np.repeat(held * ground.share, lengths)
        squares = float((held * ground.share**2 * lengths).sum())
        return squares - float((np.bincount(ground.members, along, minlength=len(ground.spread)) ** 2).sum())


def joined(coded: Sequence[Coded], rows: int) -> list[Coded]:
    """Attributes in as few codes as pays: those whose codes are the same in every record become one, and in a large
    table also those that have no more than `NARROW` combinations.

    >>> few = Coded(np.array([0, 1]), np.array([[0.0], [1.0]]), np.array([0]))
    >>> (one,) = joined([few, few._replace(columns=np.array([1]))], 2)
    >>> one.places.tolist(), one.columns.tolist()
    ([[0.0, 0.0], [1.0, 1.0]], [0, 1])
    """
    found: list[Coded] = []
    for part in sorted(coded, key=lambda part: -len(part.places)):
        for at, other in enumerate(found):
            size = len(part.places)
            if len(other.places) == size and np.array_equal(other.codes, part.codes):
                found[at] = _beside(other, part, other.codes, np.arange(size), np.arange(size))
                break
            if rows >= MANY and len(other.places) * size <= NARROW:
                both = np.arange(len(other.places) * size)
                codes = other.codes.astype(np.uint16) * np.uint16(size) + part.codes
                found[at] = _beside(other, part, codes, both // size, both % size)
                break
        else:
            found.append(part)
    return found


def _beside(one: Coded, other: Coded, codes: NDArray[Any], of_one: Ints, of_other: Ints) -> Coded:
    places = np.hstack([one.places[of_one], other.places[of_other]])
    return Coded(codes, places, np.concatenate([one.columns, other.columns]))


def _is_number(part: Coded) -> bool:
    return len(part.places) > NARROW and len(part.columns) == 1 and part.places.dtype == np.float32


def _narrowest(codes: int) -> type[np.uint8] | type[np.uint16] | type[np.uint32]:
    return np.uint8 if codes <= NARROW else np.uint16 if codes <= 1 << 16 else np.uint32


def _spread(sets: Sequence[Sets], dims: int) -> Ints:
    """The coordinates in which sets stand, whether or not a record holds them."""
    there = np.zeros(dims, dtype=np.bool_)
    for part in sets:
        mine = np.zeros(len(part.columns), dtype=np.bool_)
        mine[part.members] = True
        there[part.columns[mine]] = True
    return np.flatnonzero(there)


def _ground(coded: Sequence[Coded], numbers: Sequence[Coded], sets: Sequence[Sets], spread: Ints, dims: int) -> Ground:
    place = np.zeros(dims, dtype=np.uint32)
    place[spread] = np.arange(len(spread))
    lengths = [np.diff(part.offsets) for part in sets]
    return Ground(
        first=_ends([len(part.places) for part in coded]).astype(np.uint64),
        places=_joined([part.places.ravel() for part in coded], np.float64),
        start=_ends([part.places.size for part in coded]),
        columns=_joined([part.columns for part in coded], np.int64),
        wide=_ends([len(part.columns) for part in coded]),
        numbers=_joined([part.columns for part in numbers], np.int64),
        members=_joined([place[part.columns][part.members] for part in sets], np.uint32),
        ends=_ends(_joined(lengths, np.int64)),
        share=_joined([part.shares for part in sets], np.float64),
        spread=spread,
    )


def _ends(sizes: Sequence[int] | Ints) -> Ints:
    return np.append(0, np.cumsum(sizes)).astype(np.int64)


def _joined(parts: Sequence[NDArray[Any]], kind: Any) -> NDArray[Any]:
    return np.concatenate(parts).astype(kind, copy=False) if parts else np.empty(0, dtype=kind)
