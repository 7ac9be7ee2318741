"""Noisy one-way marginals of every part of a tree, what is best believed of them, and rows generated from that.

The first function spends; all others are post-processing: they see noisy counts and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.arrays import Floats, Ints
from sfumato.errors import quoted
from sfumato.events import watched
from sfumato.maskers.histogram.dates import date_column
from sfumato.maskers.histogram.domains import Domain, ItemDomain, LabelDomain, NumberDomain
from sfumato.maskers.histogram.public_space import WHOLE_SET
from sfumato.maskers.histogram.records import Box, Records
from sfumato.privacy.mechanisms import Mechanisms, Noise

SIZE = " (how many)"
"""Added to the name of a set-valued attribute: the histogram of its sets' sizes, missing sets last."""


@dataclass(frozen=True, eq=False)
class Marginal:
    """Noisy counts (parts, cells) of one histogram, and the variance of the noise on each."""

    counts: Floats
    variance: float


def histograms(domains: Mapping[str, Domain]) -> dict[str, int]:
    """The histograms that are counted, by name, and how many cells each has."""
    found = {}
    for name, domain in domains.items():
        found[name] = domain.size
        if isinstance(domain, ItemDomain):
            found[name + SIZE] = domain.most + 1 + domain.missing
    return found


def measure(
    records: Records, part_of: Ints, parts: int, *, prices: Mapping[str, Fraction], mechanisms: Mechanisms
) -> dict[str, Marginal]:
    """Count every histogram of every part with noise. Parts are disjoint, so each histogram is paid once."""
    found = {}
    for name, cells in watched(histograms(records.domains).items()):
        exact, most = _count(records, name, part_of, (parts, cells))
        base = name if name in records.domains else name.removesuffix(SIZE)
        noisy = mechanisms.counts(
            f"marginal of {quoted(base)}{name[len(base) :]}", exact, epsilon=prices[name], sensitivity=most, parts=parts
        )
        scale = most / float(prices[name])
        found[name] = Marginal(noisy / most, 2 * (scale / most) ** 2)
    return found


def _count(records: Records, name: str, part_of: Ints, shape: tuple[int, int]) -> tuple[Ints, int]:
    """Exact counts, and how much of them one record makes up. A set's labels share `WHOLE_SET` parts."""
    base = name.removesuffix(SIZE)
    if base in records.cells:
        keys, weights, most = part_of * shape[1] + records.cells[base], None, 1
    elif name != base:
        sets = records.sets[base]
        sizes = np.where(sets.missing, shape[1] - 1, sets.sizes)
        keys, weights, most = part_of * shape[1] + sizes, None, 1
    else:
        sets = records.sets[base]
        keys = part_of[sets.owners] * shape[1] + sets.items
        weights, most = (WHOLE_SET // np.maximum(sets.sizes, 1))[sets.owners], WHOLE_SET
    counts = np.bincount(keys, weights=weights, minlength=shape[0] * shape[1])
    return np.rint(counts).astype(np.int64).reshape(shape), most


def possible(domains: Mapping[str, Domain], boxes: Sequence[Box], name: str, cells: int) -> NDArray[np.bool_]:
    """(parts, cells): what the boxes allow, by declarations alone."""
    base = name.removesuffix(SIZE)
    domain = domains[base]
    if not isinstance(domain, ItemDomain):
        return np.array([box.allowed[base] for box in boxes])
    found = np.ones((len(boxes), cells), dtype=np.bool_)
    for at, box in enumerate(boxes):
        held, lacked = box.held.get(base, ()), box.lacked.get(base, ())
        gone = len(domain.nodes)
        if name != base:
            if gone in held:
                found[at, :-1] = False
            elif held:
                found[at, 0] = False
            if domain.missing and (gone in lacked or (held and gone not in held)):
                found[at, -1] = False
        elif gone not in held:
            found[at] = [not any(node in lacked for node in path) for path in domain.paths]
    return found


def sizes(marginals: Mapping[str, Marginal]) -> Floats:
    """(parts,): how many records each part has: every histogram counts them, weighted by its noise; at least 0."""
    weighted: Floats | float = 0.0
    weights = 0.0
    for name, marginal in marginals.items():
        if _counts_records(name, marginals):
            weight = 1 / (marginal.variance * marginal.counts.shape[1])
            weighted, weights = weighted + weight * marginal.counts.sum(axis=1), weights + weight
    return np.maximum(np.asarray(weighted) / weights, 0.0)


def _counts_records(name: str, marginals: Mapping[str, Marginal]) -> bool:
    """Labels of sets count parts of sets, and empty sets have none: their size histogram counts the records."""
    return name + SIZE not in marginals


def settle(noisy: Marginal, totals: Floats, allowed: NDArray[np.bool_], levels: int) -> Floats:
    """(parts, cells): shares, each part's drawn towards its parent's as far as its noise suggests; rows add up to 1.

    Parts p and p ^ 1 have the same parent. From the top down, a part's noisy shares are mixed with its parent's
    settled ones by how much of the difference noise alone would make, then projected onto the shares that are
    possible: none negative, none outside the box.
    """
    above: Floats | None = None
    for level in range(levels + 1):
        group = 2 ** (levels - level)
        counts = noisy.counts.reshape(-1, group, noisy.counts.shape[1]).sum(axis=1)
        total = np.maximum(totals.reshape(-1, group).sum(axis=1), 1.0)
        inside = np.asarray(allowed.reshape(-1, group, allowed.shape[1]).any(axis=1), dtype=np.bool_)
        variance = noisy.variance * group / total**2
        shares = counts / total[:, None]
        if above is not None:
            shares = _mixed(shares, _within(np.repeat(above, 2, axis=0), inside), variance, inside)
        above = np.array([_simplex(share, ok) for share, ok in zip(shares, inside, strict=True)])
    if above is None:
        raise AssertionError("there is at least one level")
    return above


def _within(parent: Floats, inside: NDArray[np.bool_]) -> Floats:
    """A parent's shares among the cells that a child allows."""
    kept = np.where(inside, parent, 0.0)
    totals = kept.sum(axis=1, keepdims=True)
    even = inside / np.maximum(inside.sum(axis=1, keepdims=True), 1)
    found: Floats = np.where(totals > 1e-9, kept / np.maximum(totals, 1e-12), even)
    return found


def _mixed(shares: Floats, parent: Floats, variance: Floats, inside: NDArray[np.bool_]) -> Floats:
    """James-Stein: what is left of a child's difference once noise is taken out."""
    apart = np.where(inside, (shares - parent) ** 2, 0.0).sum(axis=1)
    noise = variance * inside.sum(axis=1)
    keep = np.clip(1 - noise / np.maximum(apart, 1e-12), 0.0, 1.0)[:, None]
    found: Floats = parent + keep * (shares - parent)
    return found


def nearest_shares(share: Floats) -> Floats:
    """The nearest shares that are not negative and add up to 1.

    >>> nearest_shares(np.array([0.75, 0.5, -0.25])).tolist()
    [0.625, 0.375, 0.0]
    """
    return _simplex(share, np.ones(len(share), dtype=np.bool_))


def _simplex(share: Floats, inside: NDArray[np.bool_]) -> Floats:
    """The nearest shares that are not negative and add up to 1, in the allowed cells."""
    found = np.zeros_like(share)
    values = share[inside]
    if not len(values):
        return found
    down = np.sort(values)[::-1]
    excess = (np.cumsum(down) - 1) / np.arange(1, len(down) + 1)
    last = int(np.flatnonzero(down > excess)[-1])
    found[inside] = np.maximum(values - excess[last], 0.0)
    return found


MOST_ROWS = 10_000_000


@dataclass(frozen=True, eq=False)
class Part:
    """One part of a tree: how many rows to make, and the shares of each histogram."""

    rows: int
    shares: Mapping[str, Floats]


def generate(domains: Mapping[str, Domain], parts: list[Part], random: np.random.Generator) -> dict[str, pa.Array[Any]]:
    """Columns of rows drawn, part by part, from the product of the part's marginals."""
    drawn = [part for part in parts if part.rows]
    made = {name: [_draw(domain, part, random) for part in watched(drawn)] for name, domain in domains.items()}
    return {name: column_of(domain, made[name]) for name, domain in watched(domains.items())}


def drawn_evenly(domains: Mapping[str, Domain], rows: int, random: np.random.Generator) -> dict[str, pa.Array[Any]]:
    """Rows made of nothing but the declared domains: what a release that ignores the data would show."""
    even = {name: np.full(cells, 1 / cells) for name, cells in histograms(domains).items()}
    return generate(domains, [Part(rows, even)], random)


def generator(noise: Noise) -> np.random.Generator:
    """Chance for drawing rows. It protects nobody, so it need not be secure; it repeats where noise does."""
    return np.random.default_rng(None if noise.private else 0)


def sensible(rows: Ints) -> Ints:
    """How many rows each part gets: at least one in all, and no more than `MOST_ROWS`, whatever the noise was.

    >>> sensible(np.array([0, 0])).tolist(), sensible(np.array([3, 30_000_000])).tolist()
    ([1, 0], [0, 9999999])
    """
    total = int(rows.sum())
    if total > MOST_ROWS:
        return np.asarray(np.floor(rows * (MOST_ROWS / total)), dtype=np.int64)
    return rows if total else np.append(1, rows[1:])


def apportion(shares: Floats, rows: int, random: np.random.Generator) -> Ints:
    """(rows,): cells in proportion to their shares, rounded by chance, in random order."""
    wanted = shares * rows
    counts = np.floor(wanted).astype(np.int64)
    short = rows - int(counts.sum())
    if short > 0:
        rest = wanted - counts
        places = random.choice(
            len(shares), size=short, replace=bool(short > np.count_nonzero(rest)), p=rest / rest.sum()
        )
        np.add.at(counts, places, 1)
    return random.permutation(np.repeat(np.arange(len(shares)), counts))


def _draw(domain: Domain, part: Part, random: np.random.Generator) -> Any:
    if isinstance(domain, ItemDomain):
        return drawn_sets(domain, part, random)
    cells = apportion(part.shares[domain.name], part.rows, random)
    return cells if isinstance(domain, LabelDomain) else numbers_in(domain, cells, random)


def numbers_in(domain: NumberDomain, cells: Ints, random: np.random.Generator) -> Floats:
    """A number somewhere in each cell; missing is no number."""
    edges = np.array([*domain.edges, domain.high])
    last = len(domain.edges) - 1
    low, high = edges[np.minimum(cells, last - 1)], edges[np.minimum(cells, last - 1) + 1]
    found = low + random.random(len(cells)) * (high - low)
    found = np.minimum(np.floor(found), domain.high) if domain.integer else found
    return np.where(cells >= last, np.nan, found)


@dataclass(frozen=True, eq=False)
class SetRows:
    """Generated sets: the labels of all rows, one after the other, how many each row has, and which are missing."""

    items: Ints
    sizes: Ints
    missing: NDArray[np.bool_]

    @classmethod
    def together(cls, made: Sequence[SetRows]) -> SetRows:
        """All rows of some parts."""
        nothing = cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_))
        parts = [nothing, *made]
        return cls(*(np.concatenate([getattr(part, of) for part in parts]) for of in ("items", "sizes", "missing")))


def drawn_sets(domain: ItemDomain, part: Part, random: np.random.Generator) -> SetRows:
    """Sets of drawn sizes; labels by their shares, none twice in a set."""
    how_many = apportion(part.shares[domain.name + SIZE], part.rows, random)
    shares = part.shares[domain.name]
    with np.errstate(divide="ignore"):
        logs = np.log(shares)
    most = int((shares > 0).sum())
    gone = (how_many > domain.most) & domain.missing
    sizes = np.where(gone, 0, np.minimum(how_many, most))
    found: list[Ints] = []
    for first in watched(range(0, part.rows, 8192)):
        wanted = sizes[first : first + 8192]
        keys = logs + random.gumbel(size=(len(wanted), len(shares)))  # the largest keys: drawn without replacement
        last = np.take_along_axis(np.sort(keys, axis=1), len(shares) - np.maximum(wanted, 1)[:, None], axis=1)
        found.append(np.nonzero((keys >= last) & (wanted > 0)[:, None])[1])
    return SetRows(np.concatenate([np.zeros(0, dtype=np.int64), *found]), sizes, gone)


def column_of(domain: Domain, made: list[Any]) -> pa.Array[Any]:
    """Cells, numbers or sets of labels, part by part, as they are written."""
    if isinstance(domain, ItemDomain):
        rows = SetRows.together(made)
        labels = pa.array(domain.cut, type=pa.string()).take(rows.items)
        ends = pa.array(np.append(0, np.cumsum(rows.sizes)), type=pa.int32())
        mask = pa.array(rows.missing) if rows.missing.any() else None
        return pa.ListArray.from_arrays(ends, labels, mask=mask)
    cells = np.concatenate(made) if made else np.zeros(0, dtype=np.int64)
    if isinstance(domain, NumberDomain):
        gone = np.isnan(cells.astype(np.float64))
        numbers = np.where(gone, 0, cells)
        if domain.unit is not None:
            return date_column(numbers.astype(np.int64), gone, domain.unit)
        return pa.array(numbers.astype(np.int64 if domain.integer else np.float64), mask=gone)
    codes: Any = pa.array(cells.astype(np.int32), mask=cells >= len(domain.tree.leaves))
    return pa.DictionaryArray.from_arrays(codes, pa.array(domain.tree.leaves, type=pa.string()))
