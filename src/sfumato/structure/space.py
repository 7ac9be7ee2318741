"""The space of a release: where a recipient places each shown value, and where k-means may start.

Everything in it is an aggregate of at least k records, or is released anyway: the place of a shown value is the
mean place of the records that show it, a centre is the mean of a cluster. Cold k-means lands in another local
optimum even on raw data; started from these centres it finds the structure that the holder saw.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.cut import numbers_of
from sfumato.data.schema import Number
from sfumato.data.table import Codes, Table
from sfumato.structure.embedding import Embedding
from sfumato.structure.layouts import ItemLayout, NumberLayout
from sfumato.structure.placed import Block
from sfumato.structure.released import Masked, ReleasedValues, Shown, shows_labels
from sfumato.structure.structures import starting_centres

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Scale:
    """A number's place: its distance from `low` over the width of its range, times `factor`; missing at `mean`."""

    low: float
    high: float
    mean: float
    factor: float

    def places(self, column: pa.ChunkedArray[Any]) -> Vectors:
        """(rows, 1)."""
        found = numbers_of(column.combine_chunks().cast(pa.float64()).fill_null(math.nan), Number())
        numbers = np.where(np.isnan(found), self.mean, found)
        width = self.high - self.low or 1.0
        return ((numbers - self.low) / width * self.factor).astype(np.float32)[:, None]

    def to_json(self) -> dict[str, Any]:
        """Plain mapping."""
        return {"low": self.low, "high": self.high, "mean": self.mean, "factor": self.factor}


@dataclass(frozen=True)
class Book:
    """The place of each shown label; of missing under `missing`."""

    labels: Mapping[str, tuple[float, ...]]
    missing: tuple[float, ...]

    def places(self, column: pa.ChunkedArray[Any]) -> Vectors:
        """(rows, dims)."""
        shown = Shown.of(column)
        table = np.array([*(self.labels[label] for label in shown.labels), self.missing], dtype=np.float32)
        return table[shown.codes]

    def to_json(self) -> dict[str, Any]:
        """Plain mapping."""
        return {"labels": {label: list(place) for label, place in self.labels.items()}, "missing": list(self.missing)}


@dataclass(frozen=True)
class Space:
    """Attributes in order with the places of their values, and the clusters' centres."""

    attributes: Mapping[str, Scale | Book]
    centres: tuple[tuple[float, ...], ...]

    def vectors(self, table: pa.Table) -> Vectors:
        """(rows, dims): a released table in the space of its release."""
        return np.hstack([place.places(table.column(name)) for name, place in self.attributes.items()])

    def start(self) -> Vectors:
        """(clusters, dims): where k-means may start."""
        return np.array(self.centres, dtype=np.float32)

    def to_json(self) -> dict[str, Any]:
        """The content of centres.json."""
        return {
            "attributes": {name: place.to_json() for name, place in self.attributes.items()},
            "centres": [list(centre) for centre in self.centres],
        }

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Space:
        """Read centres.json."""
        return cls(
            {name: _read(part) for name, part in form["attributes"].items()},
            tuple(tuple(centre) for centre in form["centres"]),
        )


def _read(form: Mapping[str, Any]) -> Scale | Book:
    if "labels" in form:
        return Book({label: tuple(place) for label, place in form["labels"].items()}, tuple(form["missing"]))
    return Scale(**form)


def release_space(
    embedding: Embedding, table: Table, masked: Masked, *, released: ReleasedValues, labels: Codes, n: int
) -> Space | None:
    """The space that may be released; None where it would tell more than the release does.

    That is so for a masked number without a declared range, whose extremes could be computed from the places of
    its intervals, and for item sets, whose places are not a book of labels.
    """
    if any(_tells_more(embedding, name, masked) for name in embedding.attributes):
        return None
    placed = embedding.place_masked(table, masked, released=released)
    attributes: dict[str, Scale | Book] = {}
    for name, block in zip(embedding.attributes, placed.blocks, strict=True):
        attributes[name] = _place(embedding, table, masked, name=name, block=block)
    centres = starting_centres(placed, labels, n)
    return Space(attributes, tuple(_rounded(centre) for centre in centres))


def _tells_more(embedding: Embedding, name: str, masked: Masked) -> bool:
    layout = embedding.layouts[name]
    if isinstance(layout, NumberLayout):
        return layout.attribute.calendar is not None or (name in masked and layout.attribute.range is None)
    return isinstance(layout, ItemLayout)


def _place(embedding: Embedding, table: Table, masked: Masked, *, name: str, block: Block) -> Scale | Book:
    layout = embedding.layouts[name]
    if isinstance(layout, NumberLayout) and not (name in masked and shows_labels(masked[name])):
        return Scale(layout.low, layout.high, layout.mean, math.sqrt(embedding.weights[name]))
    shown: Sequence[str]
    if name in masked:
        shown = Shown.of(masked[name]).labels
    else:
        shown = [str(value) for value in table.column(name).values.to_pylist()]
    places = [_rounded(place) for place in block.positions]
    return Book(dict(zip(shown, places, strict=False)), places[-1])


def _rounded(place: NDArray[np.float32]) -> tuple[float, ...]:
    return tuple(round(float(coordinate), 6) for coordinate in place)
