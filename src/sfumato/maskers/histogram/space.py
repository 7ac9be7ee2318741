"""The public space in which splits are judged: whole-number coordinates, so that every score is exact.

Squared distance is that of 003 Eq. 7 in units of 2^-28: a number over its range, a label by the path to it in its
taxonomy, a set by the mean of its labels' paths. Only declarations are used, so distances are public.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.maskers.histogram.domains import Domain, ItemDomain, LabelDomain, NumberDomain
from sfumato.maskers.histogram.records import Records

Ints = NDArray[np.int64]
UNIT = 2**14
WHOLE_SET = 64
"""A set's labels share this many parts, each an equal whole number of them."""
CHUNK = 1 << 17


@dataclass(frozen=True, eq=False)
class Place:
    """Where one attribute's columns stand among all, and where each of them stands in the space.

    `positions` (columns, dims): the coordinates of each column.
    """

    domain: Domain
    columns: slice
    positions: Ints

    def spread(self, allowed: NDArray[np.bool_] | None) -> int:
        """The largest squared distance between two values in the allowed cells."""
        at = self.positions
        if isinstance(self.domain, ItemDomain):
            longest = WHOLE_SET**2 * int((at.astype(object) ** 2).sum(axis=1).max()) * _height(self.domain)
            return 2 * longest
        inside = at if allowed is None else at[allowed]
        norms = (inside**2).sum(axis=1)
        return int((norms[:, None] + norms[None, :] - 2 * inside @ inside.T).max(initial=0))


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some rows, and their values as a sparse matrix of whole numbers.

    `values` has two columns more: the squared length of the row, and 1.
    """

    rows: slice
    values: Any


@dataclass(frozen=True, eq=False)
class PublicSpace:
    """All attributes side by side."""

    places: Mapping[str, Place]
    values: int

    @classmethod
    def of(cls, domains: Mapping[str, Domain], weights: Mapping[str, float]) -> PublicSpace:
        """Lay out the domains with weights that add up to 1."""
        total = sum(weights.get(name, 0.0) for name in domains) or 1.0
        places, values = {}, 0
        for name, domain in domains.items():
            positions = _positions(domain, UNIT * math.sqrt(weights.get(name, 0.0) / total))
            places[name] = Place(domain, slice(values, values + len(positions)), positions)
            values += len(positions)
        return cls(places, values)

    def chunks(self, records: Records) -> Iterator[Chunk]:
        """All rows, some at a time."""
        for first in range(0, records.rows, CHUNK):
            yield _chunk(self, records, slice(first, min(first + CHUNK, records.rows)))

    def project(self, sums: Ints) -> Ints:
        """(..., dims): coordinates from sums over columns; whole numbers below 2^53, so floats keep them exactly."""
        parts = [sums[..., p.columns].astype(np.float64) @ p.positions for p in self.places.values()]
        return np.rint(np.concatenate(parts, axis=-1)).astype(np.int64)


def _height(domain: ItemDomain | LabelDomain) -> int:
    return max(1, domain.tree.levels - 1)


def _positions(domain: Domain, unit: float) -> Ints:
    """(columns, dims): the coordinates of each cell, or of each label of a set-valued attribute."""
    if isinstance(domain, NumberDomain):
        scaled = (domain.middles() - domain.low) / (domain.high - domain.low)
        middle = [0.5] if domain.missing else []
        return np.rint(unit * np.append(scaled, middle))[:, None].astype(np.int64)
    step = unit * math.sqrt(1 / (2 * _height(domain)))
    if isinstance(domain, ItemDomain):
        count = len(domain.nodes) + domain.missing
        return np.eye(count, dtype=np.int64) * int(step / WHOLE_SET)
    at = {label: place for place, label in enumerate(domain.tree.labels[1:])}
    found = np.zeros((domain.size, len(at) + domain.missing), dtype=np.int64)
    for cell, leaf in enumerate(domain.tree.leaves):
        for label in (leaf, *domain.tree.ancestors(leaf)):
            if label in at:
                found[cell, at[label]] = int(step)
    if domain.missing:
        found[-1, -1] = int(step)
    return found


def _chunk(space: PublicSpace, records: Records, rows: slice) -> Chunk:
    n = rows.stop - rows.start
    every, ones = np.arange(n), np.ones(n, dtype=np.int64)
    lengths = np.zeros(n, dtype=np.int64)
    entries: list[Entries] = []
    for name, place in space.places.items():
        if isinstance(place.domain, ItemDomain):
            own = set_parts(place.domain, records, name, rows)
            step = int(place.positions[0, 0])
            lengths += np.bincount(own.rows, weights=(own.parts * step) ** 2, minlength=n).astype(np.int64)
        else:
            own = Entries(every, records.cells[name][rows], ones)
            lengths += (place.positions**2).sum(axis=1)[own.columns]
        entries.append(Entries(own.rows, own.columns + place.columns.start, own.parts))
    more = [Entries(every, np.full(n, space.values), lengths), Entries(every, np.full(n, space.values + 1), ones)]
    return Chunk(rows, _sparse([*entries, *more], (n, space.values + 2)))


@dataclass(frozen=True, eq=False)
class Entries:
    """Entries of a sparse matrix."""

    rows: Ints
    columns: Ints
    parts: Ints


def _sparse(entries: list[Entries], shape: tuple[int, int]) -> Any:
    from scipy import sparse

    rows, columns, parts = (
        np.concatenate([getattr(entry, of) for entry in entries]) for of in ("rows", "columns", "parts")
    )
    return sparse.csr_matrix((parts, (rows, columns)), shape=shape)


def set_parts(domain: ItemDomain, records: Records, name: str, rows: slice) -> Entries:
    """For rows of a set-valued attribute: each label and each label above one, with its parts of the whole."""
    sets = records.sets[name]
    first, end = sets.offsets[rows.start], sets.offsets[rows.stop]
    sizes = np.diff(sets.offsets[rows.start : rows.stop + 1])
    owners = np.repeat(np.arange(len(sizes)), sizes)
    parts = WHOLE_SET // np.maximum(sizes, 1)
    width = max(len(path) for path in domain.paths)
    padded = np.array([(*path, *[-1] * (width - len(path))) for path in domain.paths], dtype=np.int64)
    nodes = padded[sets.items[first:end]]
    kept = nodes.ravel() >= 0
    keys = (np.repeat(owners, width) * (len(domain.nodes) + 1) + nodes.ravel())[kept]
    pairs, counts = np.unique(keys, return_counts=True)
    at, node = np.divmod(pairs, len(domain.nodes) + 1)
    shares = counts * parts[at]
    gone = np.flatnonzero(sets.missing[rows])
    if not len(gone):
        return Entries(at, node, shares)
    mark = np.full(len(gone), len(domain.nodes))
    whole = np.full(len(gone), WHOLE_SET)
    return Entries(np.append(at, gone), np.append(node, mark), np.append(shares, whole))
