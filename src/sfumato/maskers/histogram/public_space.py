"""The public space in which splits are judged, and sums of records in it.

It has whole-number coordinates, so that every score is exact. Squared distance is that of 003 Eq. 7 in units of 2^-28:
a number over its range, a label by the path to it in its taxonomy, a set by the mean of its labels' paths. Only
declarations are used, so distances are public.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.events import checkpoint
from sfumato.maskers.histogram.domains import Domain, ItemDomain, LabelDomain, NumberDomain
from sfumato.maskers.histogram.records import Box, Records, Sets

if TYPE_CHECKING:
    from sfumato.maskers.histogram.kernels import Valued

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

    def valued(self, records: Records) -> Valued:
        """The rows one by one."""
        from scipy import sparse

        from sfumato.maskers.histogram.kernels import Valued

        lengths = np.zeros(records.rows, dtype=np.int64)
        cells: list[Ints] = []
        sets: list[Any] = [sparse.csr_matrix(np.empty((records.rows, 0), dtype=np.int32))]
        columns: list[Ints] = [np.zeros(0, dtype=np.int64)]
        for name, place in self.places.items():
            checkpoint()
            if isinstance(place.domain, ItemDomain):
                sets.append(set_values(place.domain, records.sets[name]))
                columns.append(np.arange(place.columns.start, place.columns.stop))
                lengths += int(place.positions[0, 0]) ** 2 * _squares(sets[-1])
            else:
                cells.append(records.cells[name] + place.columns.start)
                lengths += (place.positions**2).sum(axis=1)[records.cells[name]]
        held = sparse.hstack(sets, format="csr", dtype=np.int32)
        single = np.array(cells, dtype=np.int32).reshape(-1, records.rows).T
        return Valued(single, held.indptr, np.concatenate(columns).astype(np.int32)[held.indices], held.data, lengths)

    def sums(self, records: Records, groups: Ints, n: int) -> Ints:
        """(n, values + 2): the values of the rows of each of n groups, added up; and two columns more, the squared
        lengths of the rows, and how many there are. Whole numbers below 2^53, so floats keep them exactly."""
        found = np.zeros((n, self.values + 2), dtype=np.int64)
        for name, place in self.places.items():
            checkpoint()
            if isinstance(place.domain, ItemDomain):
                found[:, place.columns] = set_sums(place.domain, records.sets[name], groups, n)
            else:
                cells, size = records.cells[name], len(place.positions)
                found[:, place.columns] = np.bincount(groups * size + cells, minlength=n * size).reshape(n, size)
        lengths = self.valued(records).lengths
        for first in range(0, records.rows, CHUNK):  # so many lengths at once that floats add them up exactly
            rows = slice(first, first + CHUNK)
            found[:, -2] += np.rint(np.bincount(groups[rows], lengths[rows], minlength=n)).astype(np.int64)
        found[:, -1] = np.bincount(groups, minlength=n)
        return found

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


def _paths(domain: ItemDomain) -> NDArray[np.float64]:
    """(labels of the cut, nodes): 1 where a node is the label itself or stands above it."""
    found = np.zeros((len(domain.paths), len(domain.nodes)))
    for label, path in enumerate(domain.paths):
        found[label, list(path)] = 1.0
    return found


def set_sums(domain: ItemDomain, sets: Sets, groups: Ints, n: int) -> Ints:
    """(n, nodes, and one where sets may be missing): the parts of each label and of each label above one, added up over
    the rows of each group. A set's labels share `WHOLE_SET` parts; a missing set has them all."""
    labels, parts = len(domain.paths), WHOLE_SET // np.maximum(sets.sizes, 1)
    keys = groups[sets.owners] * labels + sets.items
    held = np.bincount(keys, parts[sets.owners], minlength=n * labels).reshape(n, labels)
    above = held @ _paths(domain)[:, labels:]  # the first nodes are the labels themselves
    found = np.rint(np.hstack([held, above])).astype(np.int64)
    if not domain.missing:
        return found
    return np.column_stack([found, WHOLE_SET * np.bincount(groups[sets.missing], minlength=n)])


def set_values(domain: ItemDomain, sets: Sets) -> Any:
    """(rows, nodes, and one where sets may be missing), sparse: the parts of one row after the other."""
    from scipy import sparse

    rows, labels = len(sets.missing), len(domain.paths)
    held = sparse.csr_matrix((np.ones(len(sets.items), np.int32), sets.items, sets.offsets), (rows, labels))
    found: Any = held @ sparse.csr_matrix(_paths(domain).astype(np.int32))
    found.data *= np.repeat(WHOLE_SET // np.maximum(sets.sizes, 1), np.diff(found.indptr)).astype(np.int32)
    if not domain.missing:
        return found
    found.resize(rows, found.shape[1] + 1)
    gone = np.flatnonzero(sets.missing)
    whole = np.full(len(gone), WHOLE_SET, dtype=np.int32)
    return found + sparse.csr_matrix((whole, (gone, np.full(len(gone), found.shape[1] - 1))), found.shape)


def _squares(values: Any) -> Ints:
    """(rows,): the squares of a sparse matrix, added up."""
    found: Ints = np.append(0, np.cumsum(values.data.astype(np.int64) ** 2))
    return np.asarray(found[values.indptr[1:]] - found[values.indptr[:-1]])


def diameter(space: PublicSpace, box: Box) -> int:
    """The largest squared distance between two records in a box, by declarations alone."""
    return sum(place.spread(box.allowed.get(name)) for name, place in space.places.items())
