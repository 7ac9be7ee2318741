"""Rows generated from settled counts. Post-processing: no record is seen here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.maskers.histogram.domains import Domain, ItemDomain, LabelDomain, NumberDomain
from sfumato.maskers.histogram.marginals import SIZE, histograms
from sfumato.privacy.mechanisms import Noise

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MOST_ROWS = 10_000_000


@dataclass(frozen=True, eq=False)
class Part:
    """One part of a tree: how many rows to make, and the shares of each histogram."""

    rows: int
    shares: Mapping[str, Floats]


def generate(domains: Mapping[str, Domain], parts: list[Part], random: np.random.Generator) -> dict[str, pa.Array[Any]]:
    """Columns of rows drawn, part by part, from the product of the part's marginals."""
    made = {name: [_draw(domain, part, random) for part in parts if part.rows] for name, domain in domains.items()}
    return {name: column_of(domain, made[name]) for name, domain in domains.items()}


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
        return _sets(domain, part, random)
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


def _sets(domain: ItemDomain, part: Part, random: np.random.Generator) -> list[list[int] | None]:
    """Sets of drawn sizes; labels by their shares, none twice in a set."""
    how_many = apportion(part.shares[domain.name + SIZE], part.rows, random)
    shares = part.shares[domain.name]
    with np.errstate(divide="ignore"):
        logs = np.log(shares)
    most = int((shares > 0).sum())
    found: list[list[int] | None] = []
    for first in range(0, part.rows, 8192):
        wanted = how_many[first : first + 8192]
        keys = logs + random.gumbel(size=(len(wanted), len(shares)))  # the largest keys: drawn without replacement
        order = np.argsort(-keys, axis=1)
        found += [
            None if domain.missing and size > domain.most else sorted(order[at, : min(size, most)].tolist())
            for at, size in enumerate(wanted.tolist())
        ]
    return found


def column_of(domain: Domain, made: list[Any]) -> pa.Array[Any]:
    """Cells, numbers or sets of labels, part by part, as they are written."""
    if isinstance(domain, ItemDomain):
        labels = np.array([*domain.cut], dtype=object)
        lists = [None if row is None else [str(label) for label in labels[row]] for part in made for row in part]
        return pa.array(lists, type=pa.list_(pa.string()))
    cells = np.concatenate(made) if made else np.zeros(0, dtype=np.int64)
    if isinstance(domain, NumberDomain):
        gone = np.isnan(cells.astype(np.float64))
        numbers = np.where(gone, 0, cells).astype(np.int64 if domain.integer else np.float64)
        return pa.array(numbers, mask=gone)
    codes: Any = pa.array(cells.astype(np.int32), mask=cells >= len(domain.tree.leaves))
    return pa.DictionaryArray.from_arrays(codes, pa.array(domain.tree.leaves, type=pa.string()))
