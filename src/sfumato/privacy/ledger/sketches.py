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

from sfumato.privacy.ledger.rows import BLOCK, Words, mixed
from sfumato.privacy.ledger.secret import Secret
from sfumato.privacy.ledger.siphash import siphash

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
    """The sketch of a table from a number for each row, equal where rows are."""
    ordered = np.sort(rows)
    again = np.flatnonzero(ordered[1:] == ordered[:-1]) + 1
    runs = _runs(again)
    ordered[again] += runs.nth.astype(np.uint64) * ODD  # the n-th of equal rows is not the first
    drawn = _drawn(ordered, level_of(len(rows)), secret.words("lots", 2))
    hashes = siphash(ordered[drawn.at], secret.pair("rows"))
    order = np.argsort(hashes)
    levels = np.minimum(64 - np.ceil(np.log2(drawn.lots.astype(np.float64) + 1)), 63).astype(np.uint8)
    repeated, alone = runs.lengths, len(rows) - len(again) - len(runs.lengths)
    halves = 1 - 2 * (float(_deviations(repeated).sum()) + alone / 2) / len(rows)
    kinds = (float(np.sqrt(repeated).sum()) + alone) ** 2 / len(rows)
    figures = (round(part, 6) for part in (max(0.0, halves), 1 - alone / len(rows), kinds))
    return Sketch(len(rows), hashes[order], levels[order], *figures)


@dataclass(frozen=True, eq=False)
class _Runs:
    """Rows that equal the one before them in sorted rows: the n-th after the first; and the sizes of such groups."""

    nth: NDArray[np.int64]
    lengths: NDArray[np.int64]


def _runs(again: NDArray[np.int64]) -> _Runs:
    """Of the ascending places at which a row equals the one before it."""
    begins = np.flatnonzero(np.diff(again, prepend=-1) != 1)  # none is at 0: the first row has none before it
    sizes = np.diff(np.append(begins, len(again)))
    return _Runs(1 + np.arange(len(again)) - np.repeat(begins, sizes), sizes + 1)


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
