"""Placed records: for each attribute where its values stand, and which value each record has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.events import checkpoint

Vectors = NDArray[np.float32]
AT_ONCE = 1 << 13


@dataclass(frozen=True, eq=False)
class Block:
    """One attribute: record i stands at positions[codes[i]], and at own[codes[i]] beyond the shared space."""

    codes: Ints
    positions: Vectors
    own: Vectors | None = None

    def scaled(self, weight: float) -> Block:
        """The same block with its squared distances multiplied by the weight."""
        factor = np.float32(np.sqrt(weight))
        return Block(self.codes, self.positions * factor, None if self.own is None else self.own * factor)


@dataclass(frozen=True, eq=False)
class Distinct:
    """Each vector once, in the order of first appearance: how often it occurs, and which one each row has."""

    placed: Placed
    first: Ints
    weights: NDArray[np.float64]
    of_row: Ints

    @cached_property
    def vectors(self) -> Vectors:
        """(distinct, dims), made when asked for: where most records are distinct there may be gigabytes of them."""
        return self.placed.vectors(self.first)


@dataclass(frozen=True, eq=False)
class Placed:
    """Records in the space of an embedding, one block per attribute."""

    blocks: tuple[Block, ...]
    rows: int

    def vectors(self, rows: Ints | None = None) -> Vectors:
        """(rows, dims): all records or the given ones; coordinates beyond the shared space come last."""
        chosen = [block.codes if rows is None else block.codes[rows] for block in self.blocks]
        shared = [block.positions for block in self.blocks]
        own = [(c, block.own) for c, block in zip(chosen, self.blocks, strict=True) if block.own is not None]
        parts = [*zip(chosen, shared, strict=True), *own]
        count = self.rows if rows is None else len(rows)
        found = np.empty((count, sum(table.shape[1] for _, table in parts)), dtype=np.float32)
        at = 0
        for codes, table in parts:
            checkpoint()
            np.take(table, codes, axis=0, out=found[:, at : at + table.shape[1]])
            at += table.shape[1]
        return found

    def nearest(self, centres: Vectors) -> Ints:
        """(rows,): the nearest of some centres in the shared space, the first on a tie.

        Squared distances add up over attributes, so each value's part is computed once.
        """
        apart = np.zeros((self.rows, len(centres)), dtype=np.float32)
        at = 0
        for block in self.blocks:
            checkpoint()
            part = centres[:, at : at + block.positions.shape[1]].astype(np.float32)
            apart += _apart(block.positions, part)[block.codes]
            at += block.positions.shape[1]
        found: Ints = np.argmin(apart, axis=1)
        return found

    def distinct(self) -> Distinct:
        """Each vector once. Values that stand in the same place are still told apart."""
        key = combined([block.codes for block in self.blocks], [len(block.positions) for block in self.blocks])
        checkpoint()
        _, first, of_row, counts = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        checkpoint()
        order = np.argsort(first, kind="stable")
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return Distinct(self, first[order], counts[order].astype(np.float64), rank[of_row])


def _apart(positions: Vectors, centres: Vectors) -> Vectors:
    """(values, centres): squared distances, some values at a time: of sets there may be as many as records."""
    found = np.empty((len(positions), len(centres)), dtype=np.float32)
    for at in range(0, len(positions), AT_ONCE):
        some = positions[at : at + AT_ONCE, None, :] - centres[None, :, :]
        found[at : at + AT_ONCE] = (some**2).sum(axis=2)
    return found


def combined(codes: Sequence[Ints], sizes: Sequence[int]) -> Ints:
    """(rows,): one whole number per row, equal exactly where all codes are."""
    key = np.zeros(len(codes[0]), dtype=np.int64)
    span = 1
    for part, size in zip(codes, sizes, strict=True):
        checkpoint()
        if span * size > 2**62:
            found, key = np.unique(key, return_inverse=True)
            span = len(found)
        key = key * size + part
        span *= size
    return key
