"""The space of a release: where a recipient places each shown value, and where k-means may start.

The place of a shown value is told by the codebook, or follows from the label itself; coordinates in which no shown
value stands are left out, because they would tell how many values are hidden. A centre is what k-means on the masked
records settles on, started from the raw clusters' means: a mean of rows that are released anyway, and of raw clusters
it tells no more than which local optimum is theirs. Cold k-means lands in another one even on raw data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

from sfumato.data.cut import numbers_of
from sfumato.data.schema import Attribute, ItemSet, Number, Schema
from sfumato.data.table import Codes, Column, ItemColumn, Table
from sfumato.structure.embedding import Embedding
from sfumato.structure.layouts import UNION, ItemLayout, NumberLayout, TreeLayout, unions
from sfumato.structure.placed import Block, Placed
from sfumato.structure.released import Masked, ReleasedValues, Shown, encoded, shows_labels, spelled
from sfumato.structure.structures import Clusters, cluster_placed, starting_centres

Vectors = NDArray[np.float32]
Ints = NDArray[np.int64]
DIGITS, FINE = 4, 6
"""After the point: of a place of a value; of a centre, and of factors."""
TRUTH = {"true": "True", "false": "False"}
"""How a CSV writes what stands in a book."""


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
        places = [self.labels[label if label in self.labels else TRUTH[label]] for label in shown.labels]
        return np.array([*places, self.missing], dtype=np.float32)[shown.codes]

    def to_json(self) -> dict[str, Any]:
        """Plain mapping."""
        return {"labels": {label: list(place) for label, place in self.labels.items()}, "missing": list(self.missing)}


@dataclass(frozen=True)
class Bag:
    """The coordinates of each label: a set stands at those of all its labels, `length` from the origin.

    A missing set has the coordinates of `missing`. `separator` divides labels where a set is written as text.
    """

    sets: Mapping[str, tuple[int, ...]]
    missing: tuple[int, ...]
    dims: int
    length: float
    separator: str

    def block(self, column: pa.ChunkedArray[Any]) -> Block:
        """Every different set once, and which one each row holds."""
        lists: Any = column
        if not pt.is_nested(column.type):
            texts: Any = column.cast(pa.string())
            lists = pc.split_pattern(texts, self.separator)
        sets, labels = spelled(lists)
        held = np.zeros((len(labels) + 1, self.dims), dtype=np.bool_)
        for at, coordinates in enumerate([*(self.sets[label] if label else () for label in labels), self.missing]):
            held[at, list(coordinates)] = True
        places = unions(held[:-1], held[-1], sets)
        places *= np.float32(self.length / UNION)
        return Block(sets.codes, places)

    def to_json(self) -> dict[str, Any]:
        """Plain mapping."""
        sets = {label: list(coordinates) for label, coordinates in self.sets.items()}
        return {"sets": sets, "missing": list(self.missing), "dims": self.dims, "length": self.length,
                "separator": self.separator}  # fmt: skip


Place = Scale | Book | Bag


@dataclass(frozen=True)
class Space:
    """Attributes in order with the places of their values, and the clusters' centres."""

    attributes: Mapping[str, Place]
    centres: tuple[tuple[float, ...], ...]

    def place(self, table: pa.Table) -> Placed:
        """A released table in the space of its release, value by value."""
        blocks = (_block(place, table.column(name)) for name, place in self.attributes.items())
        return Placed(tuple(blocks), table.num_rows)

    def start(self) -> Vectors:
        """(clusters, dims): where k-means may start."""
        return np.array(self.centres, dtype=np.float32)

    def settled(self, table: pa.Table, *, minimum: int) -> Space | None:
        """The same with the centres where k-means settles on the released rows: verify computes them again.

        None where it does not settle, where a cluster has fewer than `minimum` rows, and where there is one cluster, of
        which there is nothing to find, or more than verify takes.
        """
        import polars as pl

        from sfumato.privacy.verify.centres import MOST, settled

        if not 2 <= len(self.centres) <= MOST:
            return None
        found = settled(self.to_json(), pl.DataFrame(table.select(list(self.attributes))), minimum=minimum)
        return None if found is None else replace(self, centres=tuple(tuple(centre) for centre in found))

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


def _read(form: Mapping[str, Any]) -> Place:
    if "labels" in form:
        return Book({label: tuple(place) for label, place in form["labels"].items()}, tuple(form["missing"]))
    if "sets" in form:
        sets = {label: tuple(coordinates) for label, coordinates in form["sets"].items()}
        return Bag(sets, tuple(form["missing"]), form["dims"], form["length"], form["separator"])
    return Scale(**form)


def _block(place: Place, column: pa.ChunkedArray[Any]) -> Block:
    if isinstance(place, Bag):
        return place.block(column)
    entries = encoded(column)
    values: Any = entries.dictionary
    every = pa.concat_arrays([values, pa.nulls(1, values.type)])
    codes = entries.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
    used, of_row = np.unique(codes, return_inverse=True)  # a dictionary may hold more than is shown
    return Block(of_row.astype(np.int64), place.places(pa.chunked_array([every.take(pa.array(used))])))


def release_space(
    embedding: Embedding,
    table: Table,
    masked: Masked,
    *,
    released: ReleasedValues,
    labels: Codes,
    n: int,
    minimum: int = 1,
) -> Space | None:
    """The space that may be released; None where it would tell more than the release does.

    That is so for a masked number without a declared range, whose extremes could be computed from the places of
    its intervals; for masked item sets; where there are so many labels that only frequent ones have places; and if
    a cluster, raw or settled, has fewer than `minimum` records: its centre would point at them.
    """
    if (
        n < 2
        or np.bincount(labels, minlength=n).min() < minimum
        or any(_tells_more(embedding, name, masked) for name in embedding.attributes)
    ):
        return None
    placed = _bare(embedding, embedding.place_masked(table, masked, released=released), masked)
    told = [
        _told(embedding, table, masked, name=name, block=block)
        for name, block in zip(embedding.attributes, placed.blocks, strict=True)
    ]
    settled = cluster_placed(Clusters("kmeans"), placed, k=n, centres=starting_centres(placed, labels, n))
    if np.bincount(settled.labels).min() < minimum:
        return None
    centres = starting_centres(placed, settled.labels, settled.k)
    return _space(told, centres, table.schema)


@dataclass(frozen=True, eq=False)
class _Told:
    """An attribute's place, how many coordinates its block has, and which of them are told, in order."""

    name: str
    place: Place
    dims: int
    order: Ints


def _space(told: Sequence[_Told], centres: Vectors, schema: Schema) -> Space:
    """Attributes in the order of the table, and the coordinates of the centres in the same."""
    starts = np.cumsum([0, *(part.dims for part in told)])
    places = list(schema)
    order = sorted(range(len(told)), key=lambda at: places.index(told[at].name))
    columns = np.concatenate([starts[at] + told[at].order for at in order])
    return Space(
        {told[at].name: told[at].place for at in order}, tuple(_rounded(centre) for centre in centres[:, columns])
    )


def _bare(embedding: Embedding, placed: Placed, masked: Masked) -> Placed:
    """Labels without the coordinates in which no record stands, and without a place where none does."""
    return Placed(
        tuple(
            _bare_block(block) if _in_book(embedding, name, masked) else block
            for name, block in zip(embedding.attributes, placed.blocks, strict=True)
        ),
        placed.rows,
    )


def _bare_block(block: Block) -> Block:
    """Coordinates that are the same for every value are told as one, as far from the origin as all of them."""
    positions = np.where(_used(block)[:, None], block.positions, np.float32(0))
    different, counts = np.unique(positions[:, positions.any(axis=0)], axis=1, return_counts=True)
    return Block(block.codes, (different * np.sqrt(counts)).astype(np.float32))


def _used(block: Block) -> NDArray[np.bool_]:
    """(positions,): whether any record stands there."""
    found = np.zeros(len(block.positions), dtype=np.bool_)
    found[block.codes] = True
    return found


def _in_book(embedding: Embedding, name: str, masked: Masked) -> bool:
    """Whether an attribute's places are told label by label."""
    layout = embedding.layouts[name]
    return isinstance(layout, TreeLayout) or (
        isinstance(layout, NumberLayout) and name in masked and shows_labels(masked[name])
    )


def _tells_more(embedding: Embedding, name: str, masked: Masked) -> bool:
    layout = embedding.layouts[name]
    if isinstance(layout, NumberLayout):
        return layout.attribute.calendar is not None or (name in masked and layout.attribute.range is None)
    if isinstance(layout, ItemLayout):
        return name in masked or not layout.tree.complete
    return name in masked and not layout.complete


def _told(embedding: Embedding, table: Table, masked: Masked, *, name: str, block: Block) -> _Told:
    layout, factor = embedding.layouts[name], math.sqrt(embedding.weights[name])
    if isinstance(layout, ItemLayout):
        bag = _bag(layout, table.schema[name], table.columns[name], factor)
        return _Told(name, bag.place, layout.dims, bag.order)
    if isinstance(layout, NumberLayout) and not _in_book(embedding, name, masked):
        shown: Any = masked[name] if name in masked else table.columns[name].decode()
        scale = Scale(layout.low, layout.high, _mean(shown, layout), round(factor, FINE))
        return _Told(name, scale, 1, np.zeros(1, dtype=np.int64))
    return _book(name, table, masked, block)


def _book(name: str, table: Table, masked: Masked, block: Block) -> _Told:
    """The places of labels, these in the order of their letters, coordinates the largest first."""
    if name in masked:
        shown: Sequence[str] = Shown.of(masked[name]).labels
    else:
        shown = [str(value) for value in table.column(name).values.to_pylist()]
    used = sorted((label, at) for at, (label, one) in enumerate(zip(shown, _used(block), strict=False)) if one)
    places = np.round(block.positions[[*(at for _, at in used), -1]].astype(np.float64), DIGITS)
    order = np.lexsort(-places[::-1])[: int(places.any(axis=0).sum())] if places.size else np.zeros(0, dtype=np.int64)
    told = {label: tuple(place.tolist()) for (label, _), place in zip(used, places[:, order] + 0.0, strict=False)}
    return _Told(name, Book(told, tuple((places[-1, order] + 0.0).tolist())), places.shape[1], order)


def _mean(shown: Any, layout: NumberLayout) -> float:
    """Where missing numbers stand: the mean of those that are shown, to six digits."""
    numbers = numbers_of(shown.cast(pa.float64()).drop_null(), Number())
    numbers = numbers[np.isfinite(numbers)]
    return float(f"{numbers.mean() if len(numbers) else layout.low:.6g}") + 0.0


@dataclass(frozen=True, eq=False)
class _Sets:
    place: Bag
    order: Ints


def _bag(layout: ItemLayout, attribute: Attribute, column: Column | ItemColumn, factor: float) -> _Sets:
    """The labels that occur, each with its own coordinates and those of the labels above it; no others are told."""
    labels = sorted(str(label) for label in column.values.to_pylist())
    held = layout.tree.indicators[[*(layout.tree.node_at[label] for label in labels), -1]]
    if not column.missing:
        held[-1] = False
    order = np.lexsort(~held[::-1])[: int(held.any(axis=0).sum())]
    told = held[:, order]
    sets = {label: _places_in(row) for label, row in zip(labels, told, strict=False)}
    separator = attribute.separator if isinstance(attribute, ItemSet) else ";"
    return _Sets(Bag(sets, _places_in(told[-1]), len(order), round(UNION * factor, FINE), separator), order)


def _places_in(row: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(np.flatnonzero(row).tolist())


def _rounded(place: NDArray[np.float32]) -> tuple[float, ...]:
    return tuple(round(float(coordinate), FINE) + 0.0 for coordinate in place)
