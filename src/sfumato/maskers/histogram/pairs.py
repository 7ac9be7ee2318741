"""Pairs of attributes in place of parts: a tree of attributes, chosen privately, with a noisy table for each edge.

Where attributes hang together one by one (age with marital status, the kind of admission with its place), a few pairs
say more than all attributes in the parts of a tree, and are counted in the whole table rather than in each part.

1. Every histogram is counted once, with noise: one-way shares, and the number of records.
2. The pairs are chosen one after the other, none that would close a circle. The score of a pair is how far its exact
   counts are from what the one-way shares say of independent attributes, added up over its cells, less what noise will
   add. The shares are noisy answers, so they are fixed; one more record changes one cell by 1, so the score by 1.
3. Each chosen pair is counted with noise, drawn towards independence as far as noise explains the difference, and
   brought to the one-way shares. One record is in one cell of each pair.
4. Rows are drawn along the edges. Sets stand by themselves.

Steps 1 to 3 spend; all that follows from their answers is post-processing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats, Ints
from sfumato.data.schema import ItemSet, Schema
from sfumato.errors import quoted
from sfumato.events import checkpoint
from sfumato.maskers.histogram.domains import Domain, ItemDomain, NumberDomain
from sfumato.maskers.histogram.marginals import (
    Marginal,
    Part,
    apportion,
    column_of,
    drawn_sets,
    measure,
    nearest_shares,
    numbers_in,
    sensible,
    sizes,
)
from sfumato.maskers.histogram.records import Records
from sfumato.privacy.budget import Share, shares
from sfumato.privacy.mechanisms import Mechanisms, Question

ALONE, CHOICE = Fraction(1, 2), Fraction(3, 20)
"""Shares of epsilon for the one-way marginals and for choosing pairs; the pairs get the rest."""
FINE = 1024
"""Scores are whole numbers of this part of a record."""
PENALTY = 0.3
"""How much of the noise that a pair's cells will get is taken off its score."""
ROUNDS = 30
"""Of bringing a pair to the shares of its two attributes."""

ADVISED = 8
"""So many pairs at the most are named to whoever has to choose."""

Pair = tuple[str, str]


def most_pairs(domains: Mapping[str, Domain], wanted: int) -> int:
    """How many pairs there will be: without a circle, one less than attributes that are no sets."""
    return min(wanted, len(_single(domains)) - 1)


def advised(schema: Schema) -> int:
    """How many pairs to name where relations between columns matter: few get less noise each, and more make no tree."""
    return min(ADVISED, sum(not isinstance(schema[name], ItemSet) for name in schema.kept) - 1)


def planned(domains: Mapping[str, Domain], wanted: int, epsilon: Fraction) -> tuple[Share, ...]:
    """What is spent on pairs, after the one-way marginals."""
    if most_pairs(domains, wanted) < 1:
        return ()
    return (
        Share("choosing pairs of attributes", epsilon * CHOICE),
        Share("pairs of attributes", epsilon * (1 - ALONE - CHOICE)),
    )


def alone(domains: Mapping[str, Domain], wanted: int, epsilon: Fraction) -> Fraction:
    """What the one-way marginals get: all, where no pair can be made."""
    return epsilon * (ALONE if most_pairs(domains, wanted) > 0 else 1)


@dataclass(frozen=True, eq=False)
class Paired:
    """What was learned: shares of every histogram, those of each pair (cells, cells), and how many rows to make."""

    domains: Mapping[str, Domain]
    shares: Mapping[str, Floats]
    pairs: Mapping[Pair, Floats]
    rows: int

    def generate(self, random: np.random.Generator) -> dict[str, pa.Array[Any]]:
        """Columns of rows drawn along the edges."""
        cells = _drawn(self, random)
        part = Part(self.rows, self.shares)
        made = {}
        for name, domain in self.domains.items():
            drawn: Any = cells.get(name)
            if isinstance(domain, ItemDomain):
                drawn = drawn_sets(domain, part, random)
            elif isinstance(domain, NumberDomain):
                drawn = numbers_in(domain, drawn, random)
            made[name] = column_of(domain, [drawn])
        return made


def learn_pairs(records: Records, wanted: int, prices: Mapping[str, Fraction], mechanisms: Mechanisms) -> Paired:
    """Everything that spends, in order. `prices`: of the one-way marginals."""
    epsilon, domains = mechanisms.spending.budget.epsilon, records.domains
    noisy = measure(records, np.zeros(records.rows, dtype=np.int64), 1, prices=prices, mechanisms=mechanisms)
    count = max(float(sizes(noisy)[0]), 1.0)
    one_way = {name: _settled(marginal, count) for name, marginal in noisy.items()}
    many = most_pairs(domains, wanted)
    chosen: list[Pair] = []
    if many > 0:
        chosen = _choose(records, one_way, count, many, epsilon, mechanisms)
    spare = mechanisms.spending.left if chosen else Fraction(0)
    each = shares(spare, {str(at): _size(domains, pair) ** (1 / 3) for at, pair in enumerate(chosen)}) if chosen else {}
    pairs = {pair: _counted(records, pair, one_way, count, each[str(at)], mechanisms) for at, pair in enumerate(chosen)}
    return Paired(domains, one_way, pairs, int(sensible(np.rint(np.array([count])).astype(np.int64))[0]))


def _single(domains: Mapping[str, Domain]) -> list[str]:
    return [name for name, domain in domains.items() if not isinstance(domain, ItemDomain)]


def _size(domains: Mapping[str, Domain], pair: Pair) -> int:
    return domains[pair[0]].size * domains[pair[1]].size


def _settled(marginal: Marginal, count: float) -> Floats:
    return nearest_shares(marginal.counts[0] / count)


def _choose(
    records: Records, one_way: Mapping[str, Floats], count: float, many: int, epsilon: Fraction, mechanisms: Mechanisms
) -> list[Pair]:
    """One pair after the other: each joins two attributes that no chosen pairs connect yet."""
    domains = records.domains
    noise = PENALTY * many / float(epsilon * (1 - ALONE - CHOICE))
    scores = {
        pair: apart(joint(records, pair), one_way, count, pair) - round(FINE * noise * _size(domains, pair))
        for pair in combinations(_single(domains), 2)
    }
    group = {name: name for name in _single(domains)}
    chosen: list[Pair] = []
    for _ in range(many):
        checkpoint()
        open_ = [pair for pair in scores if group[pair[0]] != group[pair[1]]]
        question = Question([scores[pair] for pair in open_], FINE)
        (place,) = mechanisms.choose(
            "a pair of attributes", [question], epsilon=epsilon * CHOICE / many, monotone=False
        )
        chosen.append(open_[place])
        gone, kept = group[chosen[-1][1]], group[chosen[-1][0]]
        group = {name: kept if of == gone else of for name, of in group.items()}
    return chosen


def joint(records: Records, pair: Pair) -> Ints:
    """(cells, cells): exact counts of a pair."""
    first, second = pair
    wide = records.domains[second].size
    keys = records.cells[first] * wide + records.cells[second]
    return np.bincount(keys, minlength=records.domains[first].size * wide).reshape(-1, wide).astype(np.int64)


def apart(counts: Ints, one_way: Mapping[str, Floats], count: float, pair: Pair) -> int:
    """How far counts are from independence, in `FINE` parts: one more record moves it by at most `FINE`."""
    expected = np.rint(FINE * count * np.outer(one_way[pair[0]], one_way[pair[1]])).astype(np.int64)
    return int(np.abs(FINE * counts - expected).sum())


def _counted(
    records: Records,
    pair: Pair,
    one_way: Mapping[str, Floats],
    count: float,
    price: Fraction,
    mechanisms: Mechanisms,
) -> Floats:
    purpose = f"pair of {quoted(pair[0])} and {quoted(pair[1])}"
    noisy = mechanisms.counts(purpose, joint(records, pair), epsilon=price)
    return believed(noisy / count, 2 / (float(price) * count) ** 2, one_way[pair[0]], one_way[pair[1]])


def believed(noisy: Floats, variance: float, rows: Floats, columns: Floats) -> Floats:
    """Shares of a pair from noisy ones: drawn towards independence as far as noise explains the difference
    (James-Stein), not negative, and with the one-way shares as its sums."""
    free = np.outer(rows, columns)
    away = noisy - free
    keep = max(0.0, 1 - variance * away.size / max(float((away**2).sum()), 1e-15))
    found = nearest_shares((free + keep * away).ravel()).reshape(free.shape) + 1e-9 * free
    for _ in range(ROUNDS):
        found *= (rows / np.maximum(found.sum(axis=1), 1e-15))[:, None]
        found *= columns / np.maximum(found.sum(axis=0), 1e-15)
    return found


def _drawn(learned: Paired, random: np.random.Generator) -> dict[str, Ints]:
    """The cells of every row, attribute by attribute: the first of each tree by itself, the others by a neighbour."""
    beside: dict[str, list[tuple[str, Floats]]] = {name: [] for name in _single(learned.domains)}
    for (first, second), share in learned.pairs.items():
        beside[first].append((second, share))
        beside[second].append((first, share.T))
    found: dict[str, Ints] = {}
    for root in beside:
        if root in found:
            continue
        found[root] = apportion(learned.shares[root], learned.rows, random)
        reached: list[str] = [root]
        for name in reached:
            for other, share in beside[name]:
                if other not in found:
                    found[other] = _given(found[name], share, learned.shares[other], random)
                    reached.append(other)
    return found


def _given(cells: Ints, share: Floats, usual: Floats, random: np.random.Generator) -> Ints:
    """(rows,): cells of another attribute, given those of one."""
    found = np.zeros(len(cells), dtype=np.int64)
    for cell in range(len(share)):
        rows = np.flatnonzero(cells == cell)
        total = share[cell].sum()
        found[rows] = apportion(share[cell] / total if total > 0 else usual, len(rows), random)
    return found
