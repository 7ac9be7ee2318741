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

from sfumato.privacy.ledger.rows import Words, mixed
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
            raise ValueError
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
    begins = np.append(True, ordered[1:] != ordered[:-1])
    first = np.flatnonzero(begins)
    counts = np.diff(np.append(first, len(ordered)))
    if len(first) < len(ordered):  # the n-th of equal rows is not the first
        nth = np.arange(len(ordered))
        nth -= np.maximum.accumulate(np.where(begins, nth, 0))
        ordered += nth.astype(np.uint64) * ODD
    lots, level = mixed(ordered, *secret.words("lots", 2)), level_of(len(rows))
    drawn = lots < np.uint64(2 ** (64 - level)) if level else np.ones(len(lots), dtype=np.bool_)
    hashes = siphash(ordered[drawn], secret.pair("rows"))
    order = np.argsort(hashes)
    levels = np.minimum(64 - np.ceil(np.log2(lots[drawn].astype(np.float64) + 1)), 63).astype(np.uint8)
    halves = 1 - 2 * float(_deviations(counts).sum()) / len(rows)
    seen = 1 - int((counts == 1).sum()) / len(rows)
    kinds = float(np.sqrt(counts).sum()) ** 2 / len(rows)
    figures = (round(part, 6) for part in (max(0.0, halves), seen, kinds))
    return Sketch(len(rows), hashes[order], levels[order], *figures)


def _deviations(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """How far a lot that sends each of n equal rows to one of two halves misses n / 2, on the average (de Moivre)."""
    exact = [0.0] + [(n // 2 + 1) * math.comb(n, n // 2 + 1) / 2**n for n in range(1, 65)]
    table = np.array(exact)
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
