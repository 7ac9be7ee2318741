"""Sketches: so little of a table that nobody learns a row from it, and enough to see how much two tables share.

Some rows are drawn by a keyed hash of what they say (of the n-th row that looks like it, together with n), so that the
same rows are drawn wherever they occur: the share of one table's drawn rows that are among the other's is the share of
rows in common. The larger a table, the fewer are drawn: each level halves them. What is kept of a drawn row is its
SipHash under the ledger's secret, which answers no guesses, and the last level at which it is still drawn.

Two tables of different people share rows too: as many as there are people who look alike. How many that are by chance
follows from the table itself (`halves`, `seen`), and only what is well beyond it is told.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.privacy.ledger.keyed_rows import BLOCK, Secret, Words, mixed

KEPT = 1024
"""About as many rows are drawn, up to twice as many: the share in common is known to within 3 in 100."""
SIGMAS = 3.0
FEWER = 0.7
"""Two whole tables differ by at least 1/sqrt(2) of what two halves of one do, in shares of their rows."""
ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Sketch:
    """The keyed hashes of the drawn rows of a table, ascending, and the last level at which each is drawn.

    `halves`: the share of rows that two halves of the table, drawn by lot, have in common. `seen`: the share of rows
    that occur more than once, which is the chance that a newcomer looks like somebody in the table (Good and Turing).
    `kinds`: how many kinds of rows there are; the more, the less chance changes what two tables have in common.
    """

    rows: int
    hashes: Words
    levels: NDArray[np.uint8]
    halves: float
    seen: float
    kinds: float

    @property
    def level(self) -> int:
        """How often the rows were halved."""
        return level_of(self.rows)

    def drawn(self, level: int) -> Words:
        """The hashes that are still drawn at a level."""
        return self.hashes[self.levels >= level]

    def to_json(self) -> dict[str, Any]:
        """Plain mapping; the hashes and levels as text."""
        hashes, levels = (base64.b64encode(part.tobytes()).decode() for part in (self.hashes, self.levels))
        figures = {"rows": self.rows, "halves": self.halves, "seen": self.seen, "kinds": self.kinds}
        return {**figures, "hashes": hashes, "levels": levels}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Sketch:
        """What `to_json` gave; ValueError, KeyError or TypeError for anything else."""
        hashes, levels = (base64.b64decode(form[name], validate=True) for name in ("hashes", "levels"))
        found = cls(
            int(form["rows"]),
            np.frombuffer(hashes, dtype=np.uint64),
            np.frombuffer(levels, dtype=np.uint8),
            float(form["halves"]),
            float(form["seen"]),
            float(form["kinds"]),
        )
        if len(found.hashes) != len(found.levels):
            raise ValueError("a sketch has as many levels as hashes")
        return found


def level_of(rows: int) -> int:
    """How often so many rows are halved, until fewer than twice KEPT are left.

    >>> level_of(0), level_of(2 * KEPT - 1), level_of(2 * KEPT), level_of(1_000_000)
    (0, 0, 1, 9)
    """
    return max(0, (rows // KEPT).bit_length() - 1)


def sketch(rows: Words, secret: Secret) -> Sketch:
    """The sketch of a table from a number for each row, equal where rows are. The numbers are used up."""
    rows.sort()
    lengths = _tell_apart(rows)
    drawn = _drawn(rows, level_of(len(rows)), secret.words("lots", 2))
    hashes = siphash(rows[drawn.at], secret.pair("rows"))
    order = np.argsort(hashes)
    levels = np.minimum(64 - np.ceil(np.log2(drawn.lots.astype(np.float64) + 1)), 63).astype(np.uint8)
    repeated, alone = lengths[lengths > 1], int(np.count_nonzero(lengths == 1))
    halves = 1 - 2 * (float(_deviations(repeated).sum()) + alone / 2) / len(rows)
    kinds = (float(np.sqrt(repeated).sum()) + alone) ** 2 / len(rows)
    figures = (round(part, 6) for part in (max(0.0, halves), 1 - alone / len(rows), kinds))
    return Sketch(len(rows), hashes[order], levels[order], *figures)


def _tell_apart(ordered: Words) -> NDArray[np.int64]:
    """Make the n-th of equal rows another than the first, in place; (kinds,): how many rows of each kind there are."""
    begins = [np.zeros(0, dtype=np.int64)]
    last, begun = None, 0  # the row before the block, as it was, and where its kind began
    for at in range(0, len(ordered), BLOCK):
        block = ordered[at : at + BLOCK]
        new = np.append(last is None or block[0] != last, block[1:] != block[:-1])
        last = block[-1]
        places = np.arange(at, at + len(block))
        starts = np.maximum.accumulate(np.where(new, places, begun))
        begun = int(starts[-1])
        begins.append(places[new])
        block += (places - starts).astype(np.uint64) * ODD
    return np.diff(np.append(np.concatenate(begins), len(ordered)))


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Which rows are drawn, and by which lots."""

    at: NDArray[np.int64]
    lots: Words


def _drawn(rows: Words, level: int, keys: Words) -> _Drawn:
    """Each level halves the lots that are drawn."""
    most = np.uint64(2 ** (64 - level) - 1)
    places, found = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.uint64)]
    for begin in range(0, len(rows), BLOCK):
        lots = mixed(rows[begin : begin + BLOCK], *keys)
        at = np.flatnonzero(lots <= most)
        places.append(at + begin)
        found.append(lots[at])
    return _Drawn(np.concatenate(places), np.concatenate(found))


def _deviations(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """How far a lot that sends each of n equal rows to one of two halves misses n / 2, on the average (de Moivre)."""
    table = np.array([0.0] + [(n // 2 + 1) * math.comb(n, n // 2 + 1) / 2**n for n in range(1, 65)])
    return np.where(counts < 65, table[np.minimum(counts, 64)], np.sqrt(counts / (2 * np.pi)))


@dataclass(frozen=True)
class Shared:
    """What two tables have in common, by their sketches: the share of the smaller one's rows, and if that is telling.

    `telling`: so much is in common that two tables of different people would hardly have it.
    """

    share: float
    telling: bool


def shared(one: Sketch, other: Sketch) -> Shared:
    """Compare two tables by their sketches."""
    small, large = (one, other) if one.rows <= other.rows else (other, one)
    level = max(small.level, large.level)
    drawn = small.drawn(level)
    if not len(drawn):
        return Shared(0.0, telling=False)
    differing = 1 - float(np.isin(drawn, large.drawn(level)).mean())
    limit = _limit(small, large, len(drawn))
    return Shared(1 - differing, limit > 0 and differing <= limit)


def gone(earlier: Sketch, later: Sketch) -> float:
    """The share of the earlier table's rows that the later one lacks, of those that are drawn in both.

    A table that only grew has every row again, the n-th of equal ones too: what is drawn of it is drawn again.
    """
    level = max(earlier.level, later.level)
    drawn = earlier.drawn(level)
    return 1 - float(np.isin(drawn, later.drawn(level)).mean()) if len(drawn) else 0.0


def _limit(small: Sketch, large: Sketch, drawn: int) -> float:
    """The largest share of differing rows at which chance is ruled out; 0 or less where it never is.

    Tables of different people differ in a share of 1 - `halves` of their rows if they are equally large (by how many
    people look alike); a larger table has more of everything, and what is new in it is 1 - `seen`. Of that, half is
    taken as the limit, or less where chance reaches further: a sum of deviations over a number of kinds varies by 0.76
    of itself over the root of that number (the standard deviation of |N(0, 1)| over its mean), a sample by its size.
    """
    halves, seen = max(small.halves, large.halves), max(small.seen, large.seen)
    alike = large.rows - small.rows <= (1 - halves) * large.rows / 2
    by_chance = 1 - (halves if alike else seen)
    expected = FEWER * by_chance
    variance = (0.76 * expected) ** 2 / min(small.kinds, large.kinds) + expected / drawn
    return min(by_chance / 2, expected - SIGMAS * math.sqrt(variance))


# SipHash-2-4 of many 64-bit words at once (Aumasson and Bernstein 2012): a keyed function that answers no guesses.
# Whoever has outcomes and not the key can tell them from random numbers only by what is equal among them.
START = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
LENGTH = np.uint64(8 << 56)
"""The last block of a message of eight bytes."""


def siphash(words: Words, key: tuple[int, int]) -> Words:
    """(len(words),): the SipHash of each word as a message of eight bytes, little end first.

    >>> word = int.from_bytes(bytes(range(8)), "little")
    >>> key = (0x0706050403020100, 0x0F0E0D0C0B0A0908)
    >>> hex(siphash(np.array([word], dtype=np.uint64), key)[0])  # from the authors' test vectors
    '0x93f5f5799a932462'
    """
    hashes = np.empty_like(words)
    for at in range(0, len(words), BLOCK):
        hashes[at : at + BLOCK] = _block(words[at : at + BLOCK], key)
    return hashes


def _block(words: Words, key: tuple[int, int]) -> Words:
    state = [np.full(len(words), key[at % 2] ^ start, dtype=np.uint64) for at, start in enumerate(START)]
    for message in (words, LENGTH):
        state[3] ^= message
        _rounds(state, 2)
        state[0] ^= message
    state[2] ^= np.uint64(0xFF)
    _rounds(state, 4)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _rounds(state: list[Words], n: int) -> None:
    a, b, c, d = state
    spare = np.empty_like(a)
    for _ in range(n):
        a += b
        c += d
        _rotate(b, 13, spare)
        _rotate(d, 16, spare)
        b ^= a
        d ^= c
        _rotate(a, 32, spare)
        c += b
        a += d
        _rotate(b, 17, spare)
        _rotate(d, 21, spare)
        b ^= c
        d ^= a
        _rotate(c, 32, spare)


def _rotate(words: Words, bits: int, spare: Words) -> None:
    """Turn the bits of each word to the left, in place."""
    np.right_shift(words, np.uint64(64 - bits), out=spare)
    np.left_shift(words, np.uint64(bits), out=words)
    np.bitwise_or(words, spare, out=words)
