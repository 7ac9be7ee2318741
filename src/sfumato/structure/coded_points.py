"""Placed records: for each attribute where its values stand, and which value each record has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats, Ints
from sfumato.data.grouping import counted, renumber
from sfumato.data.table import narrow
from sfumato.events import awaited, checkpoint
from sfumato.randomness import Seeded
from sfumato.structure.kmeans.points import Coded, Points, Sets

Vectors = NDArray[Any]
"""(vectors, dims) of float32, or of float64 where such were given"""
Codes = NDArray[Any]
"""(rows,) of whole numbers"""


@dataclass(frozen=True, eq=False)
class Block:
    """One attribute: record i stands at positions[codes[i]], and at own[codes[i]] beyond the shared space."""

    codes: Codes
    positions: Vectors
    own: Vectors | None = None

    @property
    def values(self) -> int:
        """How many codes there are."""
        return len(self.positions)

    @property
    def dims(self) -> int:
        """How many coordinates of the shared space it has."""
        return int(self.positions.shape[1])

    def at(self, codes: Codes) -> Vectors:
        """(codes, dims): where they stand in the shared space."""
        return np.take(self.positions, codes, axis=0)

    def scaled(self, weight: float) -> Block:
        """The same block with its squared distances multiplied by the weight."""
        factor = np.float32(np.sqrt(weight))
        return Block(self.codes, self.positions * factor, None if self.own is None else self.own * factor)

    def take(self, rows: Ints) -> Block:
        """Only these records."""
        return replace(self, codes=self.codes[rows])

    def sorted(self) -> Block:
        """The same records, codes numbered by places: every place where a record stands has one."""
        used = np.flatnonzero(counted(self.codes, self.values))
        parts = [self.positions[used]] if self.own is None else [self.positions[used], self.own[used]]
        first, among = _in_order(np.hstack(parts))
        own = None if self.own is None else self.own[used[first]]
        return Block(_renumbered(self.codes, self.values, used, among), self.positions[used[first]], own)


@dataclass(frozen=True, eq=False)
class SetBlock:
    """A set-valued attribute: record i holds set codes[i], which stands in the coordinates `members` from offsets[set]
    on, in each of them as far from the origin as makes `length` of them all. The empty set stands at the origin."""

    codes: Codes
    offsets: Ints
    members: NDArray[np.uint32]
    dims: int
    length: float
    own: None = None

    @property
    def values(self) -> int:
        """How many sets there are."""
        return len(self.offsets) - 1

    @cached_property
    def shares(self) -> Floats:
        """(sets,): how far along each of its coordinates a set stands, as precisely as a vector tells it."""
        return (self.length / np.sqrt(np.maximum(np.diff(self.offsets), 1))).astype(np.float32).astype(np.float64)

    def at(self, codes: Codes) -> NDArray[np.float32]:
        """(codes, dims): where these sets stand."""
        found = np.zeros((len(codes), self.dims), dtype=np.float32)
        lengths = np.diff(self.offsets)[codes]
        row = np.repeat(np.arange(len(codes)), lengths)
        within = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        found[row, self.members[self.offsets[codes][row] + within]] = self.shares[codes][row]
        return found

    def scaled(self, weight: float) -> SetBlock:
        """The same block with its squared distances multiplied by the weight."""
        return replace(self, length=self.length * float(np.sqrt(weight)))

    def take(self, rows: Ints) -> SetBlock:
        """Only these records."""
        return replace(self, codes=self.codes[rows])

    def sorted(self) -> SetBlock:
        """The same records, codes numbered by places: every place where a record stands has one."""
        used = np.flatnonzero(counted(self.codes, self.values))
        held = self if len(used) == self.values else self._only(used)
        first, among = _in_order(held._marks())
        codes = _renumbered(self.codes, self.values, used, among)
        return replace(held._only(first), codes=codes)

    def _only(self, sets: Ints) -> SetBlock:
        """Nothing but these sets, and no record."""
        lengths = np.diff(self.offsets)[sets]
        offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
        members = self.members[np.arange(offsets[-1]) + np.repeat(self.offsets[sets] - offsets[:-1], lengths)]
        return replace(self, codes=self.codes[:0], offsets=offsets, members=members)

    def _marks(self) -> NDArray[np.uint64]:
        """(sets, 3): how many coordinates each set has, and two sums of numbers that each of them is given; two sets of
        different coordinates agree in all of it less often than once in 2 ** 100 times."""
        marks = np.zeros((self.values, 3), dtype=np.uint64)
        marks[:, 0] = np.diff(self.offsets)
        given = Seeded(0).generator().integers(0, 1 << 63, (max(self.dims, 1), 2), dtype=np.uint64)
        for at in (0, 1):
            sums = np.append(np.uint64(0), np.cumsum(given[self.members, at], dtype=np.uint64))
            marks[:, 1 + at] = sums[self.offsets[1:]] - sums[self.offsets[:-1]]
        return marks


AnyBlock = Block | SetBlock


def _in_order(places: NDArray[Any]) -> tuple[Ints, Ints]:
    """Of each different row of `places` one, in an order that follows from them alone, and which each row is."""
    whole = np.ascontiguousarray(places + places.dtype.type(0))  # no zero below zero
    if not whole.shape[1]:
        return np.zeros(min(len(whole), 1), dtype=np.int64), np.zeros(len(whole), dtype=np.int64)
    letters = whole.view(np.dtype((np.void, whole.itemsize * whole.shape[1]))).ravel()
    _, first, among = np.unique(letters, return_index=True, return_inverse=True)
    return first, among


def _renumbered(codes: Codes, values: int, used: Ints, among: Ints) -> Codes:
    numbers = narrow(np.zeros(values, dtype=np.int64), int(among.max(initial=0)) + 1)
    numbers[used] = among
    return numbers[codes]


@dataclass(frozen=True, eq=False)
class Distinct:
    """Each place where records stand once, in an order that follows from the places alone: `placed`, one record for
    each; how many stand there; and in which of them each row does.

    So what is found in it depends on no order of rows, and a table that is known by its counts alone has the same.
    """

    placed: Placed
    weights: Floats
    of_row: Codes

    @property
    def everybody(self) -> Placed:
        """All records, in the order of their places."""
        return self.placed.take(np.repeat(np.arange(self.placed.rows), self.weights.astype(np.int64)))

    def first(self, found: NDArray[Any]) -> NDArray[Any]:
        """(places,): of what was found of everybody, that of the first record in each place."""
        counts = self.weights.astype(np.int64)
        return np.asarray(found[np.cumsum(counts) - counts])


@dataclass(frozen=True, eq=False)
class Placed:
    """Records in the space of an embedding, one block per attribute."""

    blocks: tuple[AnyBlock, ...]
    rows: int

    @classmethod
    def of(cls, vectors: Vectors) -> Placed:
        """Records that are vectors already."""
        return cls((Block(np.arange(len(vectors)), vectors),), len(vectors))

    @property
    def dims(self) -> int:
        """How many coordinates the shared space has."""
        return sum(block.dims for block in self.blocks)

    def vectors(self, rows: Ints | None = None) -> Vectors:
        """(rows, dims): all records or the given ones; coordinates beyond the shared space come last."""
        beyond = [0 if block.own is None else block.own.shape[1] for block in self.blocks]
        kind = np.result_type(np.float32, *(block.positions for block in self.blocks if isinstance(block, Block)))
        found = np.empty((self.rows if rows is None else len(rows), self.dims + sum(beyond)), dtype=kind)
        at, after = 0, self.dims
        for block, more in zip(self.blocks, beyond, strict=True):
            checkpoint()
            codes = block.codes if rows is None else block.codes[rows]
            found[:, at : at + block.dims] = block.at(codes)
            if block.own is not None:
                found[:, after : after + more] = block.own[codes]
            at, after = at + block.dims, after + more
        return found

    def take(self, rows: Ints) -> Placed:
        """Only these records."""
        return Placed(tuple(block.take(rows) for block in self.blocks), len(rows))

    @cached_property
    def points(self) -> Points:
        """The same as k-means takes them."""
        return self.packed()

    def packed(self, *, together: bool = True) -> Points:
        """The same as k-means takes them; see `Points.of`."""
        coded: list[Coded] = []
        sets: list[Sets] = []
        at, beyond = 0, self.dims
        for block in self.blocks:
            checkpoint()
            columns = np.arange(at, at + block.dims)
            at += block.dims
            if isinstance(block, SetBlock):
                sets.append(Sets(block.codes, block.offsets, block.members, columns, block.shares))
                continue
            if block.own is not None:
                own = np.arange(beyond, beyond + block.own.shape[1])
                beyond += len(own)
                coded.append(Coded(block.codes, np.hstack([block.positions, block.own]), np.append(columns, own)))
            else:
                coded.append(Coded(block.codes, block.positions, columns))
        return Points.of(self.rows, beyond, coded=coded, sets=sets, together=together)

    def nearest(self, centres: Vectors) -> Codes:
        """(rows,): the nearest of some centres in the shared space, the first on a tie."""
        from sfumato.structure.kmeans.tally import look_ups, nearest

        points = self.packed()  # not kept: of all rows they are large
        everywhere = np.zeros((len(centres), points.dims))
        everywhere[:, : self.dims] = centres[:, : self.dims]
        found = np.empty(self.rows, dtype=np.uint16)
        nearest(points, look_ups(points.ground, everywhere), found)
        return found

    @cached_property
    def distinct(self) -> Distinct:
        """Each place once."""
        blocks = [block.sorted() for block in self.blocks]
        key = awaited(partial(combined, [block.codes for block in blocks], [block.values for block in blocks]))
        places = int(key.max(initial=-1)) + 1
        of_row = narrow(key, places)
        del key  # eight bytes a row
        counts = counted(of_row, places)
        some = np.zeros(len(counts), dtype=np.int64)
        some[of_row] = np.arange(self.rows)
        once = Placed(tuple(block.take(some) for block in blocks), len(some))
        return Distinct(once, counts.astype(np.float64), of_row)


def combined(codes: Sequence[Codes], sizes: Sequence[int]) -> Ints:
    """(rows,): one whole number per row, equal exactly where all codes are, from 0 without gaps and in their order."""
    key = np.zeros(len(codes[0]), dtype=np.int64)
    span = 1
    for part, size in zip(codes, sizes, strict=True):
        if span * size > 2**62:
            renumber(key)
            span = int(key.max()) + 1
        key *= size
        key += part
        span *= size
    renumber(key)
    return key
