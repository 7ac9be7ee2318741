"""The space of a release: where a recipient places each shown value, and where k-means may start.

The place of a shown value is told by the codebook, or follows from the label itself; coordinates in which no shown
value stands are left out, because they would tell how many values are hidden. A centre is what k-means on the masked
records settles on, started from the raw clusters' means: a mean of rows that are released anyway, and of raw clusters
it tells no more than which local optimum is theirs. Cold k-means lands in another one even on raw data.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data import calendar
from sfumato.data.axis import MISSING, numbers_of
from sfumato.data.codes import rank
from sfumato.data.codes import spread as spread_out
from sfumato.data.masked import Masked
from sfumato.data.schema import Attribute, ItemSet, Number, Schema
from sfumato.data.shown import set_members
from sfumato.data.table import AnyColumn, Codes, Column, ItemColumn, Table, narrow
from sfumato.structure.coded_points import AnyBlock, Block, Placed
from sfumato.structure.embedding import Embedding, Placement, check_placement
from sfumato.structure.layouts import UNION, ItemLayout, NumberLayout, TreeLayout
from sfumato.structure.masked_positions import interval_ends, shown_number
from sfumato.structure.places import Bag, Book, Means, Place, Scale, read_place, refuse_empty
from sfumato.structure.released import MEAN, ReleasedValues, Told
from sfumato.structure.released_groups import Codebook, ReleasedGroups, tells_groups
from sfumato.structure.structures import Clusters, cluster_placed, starting_centres

if TYPE_CHECKING:
    import polars as pl

Vectors = NDArray[np.float32]
PLACEMENTS = ("expected", "middle")
"""In which ways a recipient can place rows; the second where a codebook tells of groups."""
DIGITS, FINE = 4, 6
"""After the point: of a place of a value; of a centre, and of factors."""


@dataclass(frozen=True)
class Space:
    """Attributes in order with the places of their values, and the clusters' centres.

    `book`: the codebook by groups, if that is what goes along: then its columns are placed group by group.
    """

    attributes: Mapping[str, Place]
    centres: tuple[tuple[float, ...], ...]
    book: ReleasedGroups | None = None

    def place(self, masked: Masked, *, placement: Placement = "expected") -> Placed:
        """A released table in the space of its release, value by value or group by group.

        "middle": without what a codebook by groups tells. Where there is none, places were told with the codebook.
        """
        check_placement(placement, self.placements)
        blocks = (self._block(name, place, masked, placement) for name, place in self.attributes.items())
        return Placed(tuple(blocks), masked.rows)

    @property
    def placements(self) -> tuple[str, ...]:
        """In which ways rows can be placed."""
        return PLACEMENTS[:1] if self.book is None else PLACEMENTS

    def _block(self, name: str, place: Place, masked: Masked, placement: Placement) -> AnyBlock:
        if self.book is None or name not in self.book.columns or not isinstance(place, Book | Means):
            return _block(place, masked.shown(name))
        codebook: Codebook = self.book if placement == "expected" else ReleasedValues()
        told = codebook.told(name, masked).used
        return Block(told.codes, place.expected(told))

    def start(self) -> Vectors:
        """(clusters, dims): where k-means may start."""
        return np.array(self.centres, dtype=np.float32)

    def settled(self, shown: Masked, *, minimum: int) -> Space | None:
        """The same with the centres where k-means settles on the released rows: verify computes them again.

        None where it does not settle, where a cluster has fewer than `minimum` rows, and where there is one cluster, of
        which there is nothing to find, or more than verify takes.
        """
        # verify's own rounds: to hold there, centres must settle by the same ties and roundings, to the last digit
        from sfumato.privacy.verify.explained.centres import MOST, settled

        if not 2 <= len(self.centres) <= MOST:
            return None
        found = settled(self.to_json(), self._series(shown), minimum=minimum, book=self._book)
        return None if found is None else replace(self, centres=tuple(tuple(centre) for centre in found))

    def nearest(self, shown: Masked) -> NDArray[np.int64]:
        """(rows,): the number of the centre that each row stands nearest to, by the same ties."""
        from sfumato.privacy.verify.explained.centres import nearest

        return np.asarray(nearest(self.to_json(), self._series(shown), book=self._book), dtype=np.int64)

    @property
    def _book(self) -> dict[str, Any] | None:
        return None if self.book is None else self.book.to_json()

    def _series(self, shown: Masked) -> pl.DataFrame:
        """The columns that rows are placed by, as verify reads them."""
        import polars as pl

        grouped = () if self.book is None else self.book.columns
        names = [name for name in shown.names if name in self.attributes or name in grouped]
        return pl.DataFrame({name: _series(shown.shown(name)) for name in names})

    def to_json(self) -> dict[str, Any]:
        """The content of centres.json."""
        return {
            "attributes": {name: place.to_json() for name, place in self.attributes.items()},
            "centres": [list(centre) for centre in self.centres],
        }

    @classmethod
    def from_json(cls, form: Mapping[str, Any], codebook: Mapping[str, Any] | None = None) -> Space:
        """Read centres.json, and what it is read with: codebook.json, if there is one."""
        grouped = codebook is not None and tells_groups(codebook)
        return cls(
            {name: read_place(part) for name, part in form["attributes"].items()},
            tuple(tuple(centre) for centre in form["centres"]),
            ReleasedGroups.from_json(codebook) if codebook is not None and grouped else None,
        )


def _block(place: Place, shown: AnyColumn) -> AnyBlock:
    if isinstance(place, Bag):
        return place.block(shown)
    if isinstance(place, Means):
        raise ValueError("means are told by a codebook")  # the reader of a release calls it damaged
    every = pa.concat_arrays([shown.values, pa.nulls(1, shown.values.type)])
    used, of_row = np.unique(shown.codes, return_inverse=True)  # a dictionary may hold more than is shown
    return Block(narrow(of_row, len(used)), place.places(every.take(pa.array(used))))


def release_space(
    embedding: Embedding,
    table: Table,
    masked: Masked,
    *,
    released: Codebook,
    labels: Codes,
    n: int,
    minimum: int = 1,
) -> Space | None:
    """The space that may be released; None where it would tell more than the release does.

    That is so for numbers that are replaced by other numbers and have no declared range, because their extremes could
    be computed from places; for dates as they are; for masked item sets; where there are so many labels that only
    frequent ones have places; and if a cluster, raw or settled, has fewer than `minimum` records: its centre would
    point at them.
    """
    if (
        n < 2
        or np.bincount(labels, minlength=n).min() < minimum
        or any(_tells_more(embedding, name, masked) for name in embedding.attributes)
    ):
        return None
    public = _public(embedding, masked, released)
    if isinstance(released, ReleasedGroups):
        return _grouped(public, table, masked, released, labels=labels, n=n, minimum=minimum)
    placed = _bare(public, public.place_masked(table, masked, released=released), masked)
    told = [
        _told(public, table, masked, name=name, block=block)
        for name, block in zip(public.attributes, placed.blocks, strict=True)
    ]
    centres = _centres(placed, labels, n, minimum)
    return None if centres is None else _space(told, centres, table.schema)


def _centres(placed: Placed, labels: Codes, n: int, minimum: int) -> Vectors | None:
    """Where k-means settles from the raw clusters' means; None where a cluster has too few records."""
    settled = cluster_placed(Clusters("kmeans"), placed, k=n, centres=starting_centres(placed, labels, n))
    if np.bincount(settled.labels).min() < minimum:
        return None
    return starting_centres(placed, settled.labels, settled.k)


def _public(embedding: Embedding, masked: Masked, released: Codebook) -> Embedding:
    """The same without extremes of raw numbers: where no range is declared, and of dates, a masked number reaches from
    the smallest to the largest end or mean that is told."""
    layouts = dict(embedding.layouts)
    for name, layout in embedding.layouts.items():
        if isinstance(layout, NumberLayout) and _in_book(embedding, name, masked) and _learned(layout):
            told = released.told(name, masked).used
            numbers = sorted(_told_numbers(layout, told)) or [0.0]
            mean = min(max(layout.mean, numbers[0]), numbers[-1])
            layouts[name] = replace(layout, low=numbers[0], high=numbers[-1], mean=mean)
    return replace(embedding, layouts=layouts)


def _learned(layout: NumberLayout) -> bool:
    return layout.attribute.range is None or layout.attribute.calendar is not None


def _told_numbers(layout: NumberLayout, told: Told) -> Iterator[float]:
    for label, spread in zip(told.shown, told.spreads, strict=True):
        ends = None if label is None else interval_ends(label, layout.attribute.calendar)
        yield from (end for end in (() if ends is None else (ends.low, ends.high)) if end is not None)
        if label is not None and MEAN in spread:
            yield shown_number(layout, label, spread)


def _grouped(
    embedding: Embedding, table: Table, masked: Masked, book: ReleasedGroups, *, labels: Codes, n: int, minimum: int
) -> Space | None:
    """With a codebook by groups: labels at their own places, from which those of groups follow."""
    raw = embedding.place(table)
    places: dict[str, Place] = {}
    for name, block in zip(embedding.attributes, raw.blocks, strict=True):
        layout, factor = embedding.layouts[name], math.sqrt(embedding.weights[name])
        if name in book.columns and isinstance(layout, NumberLayout):
            places[name] = _means(layout, round(factor, FINE))
        elif name in book.columns and isinstance(layout, TreeLayout):
            refuse_empty(name, layout.node_at)
            places[name] = _own_places(layout, factor, masked.labels(name), book.labels(name))
        else:
            bare = _bare_block(block) if _in_book(embedding, name, masked) else block
            places[name] = _told(embedding, table, masked, name=name, block=bare).place
    space = Space({name: places[name] for name in table.schema if name in places}, (), book)
    centres = _centres(space.place(masked.over(table)), labels, n, minimum)
    return None if centres is None else replace(space, centres=tuple(_rounded(centre) for centre in centres))


def _means(layout: NumberLayout, factor: float) -> Means:
    if layout.attribute.calendar is None:
        return Means(layout.low, layout.high, factor)
    return Means(calendar.show(layout.low, "second"), calendar.show(layout.high, "second"), factor)


def _own_places(layout: TreeLayout, factor: float, shown: Collection[str | None], told: Collection[str]) -> Book:
    """The places of the labels that are shown alone, of those in shown sets, and of those that a codebook tells of."""
    named: set[str] = set()
    gone = None in shown or MISSING in told
    for label in (label for label in (*shown, *told) if label is not None):
        members = () if label in layout.node_at else set_members(label, layout.node_at)
        named |= set(members) - {""} or {label}
        gone = gone or "" in members
    labels = sorted(named - ({MISSING} - set(layout.node_at)))
    rows = [layout.node(label) for label in labels]
    block = Block(
        np.arange(len(rows) + gone), np.array([*rows, layout.nodes[-1]], dtype=np.float32).reshape(len(rows) + 1, -1)
    )
    return _ordered(labels, _bare_block(block.scaled(factor**2)).positions).place


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


def _bare_block(block: AnyBlock) -> Block:
    """Coordinates that are the same for every value are told as one, as far from the origin as all of them."""
    positions = np.where(_used(block)[:, None], block.at(np.arange(block.values)), np.float32(0))
    different, counts = np.unique(positions[:, positions.any(axis=0)], axis=1, return_counts=True)
    return Block(block.codes, (different * np.sqrt(counts)).astype(np.float32))


def _used(block: AnyBlock) -> NDArray[np.bool_]:
    """(positions,): whether any record stands there."""
    found = np.zeros(block.values, dtype=np.bool_)
    found[block.codes] = True
    return found


def _in_book(embedding: Embedding, name: str, masked: Masked) -> bool:
    """Whether an attribute's places are told label by label."""
    layout = embedding.layouts[name]
    return isinstance(layout, TreeLayout) or (
        isinstance(layout, NumberLayout) and name in masked and masked[name].shows_labels
    )


def _tells_more(embedding: Embedding, name: str, masked: Masked) -> bool:
    layout = embedding.layouts[name]
    if isinstance(layout, NumberLayout):
        if name in masked and masked[name].shows_labels:
            return False
        return layout.attribute.calendar is not None or (name in masked and layout.attribute.range is None)
    if isinstance(layout, ItemLayout):
        return name in masked or not layout.tree.complete
    return name in masked and not layout.complete


def _told(embedding: Embedding, table: Table, masked: Masked, *, name: str, block: AnyBlock) -> _Told:
    layout, factor = embedding.layouts[name], math.sqrt(embedding.weights[name])
    if isinstance(layout, ItemLayout):
        bag = _bag(layout, table.schema[name], table.columns[name], factor)
        return _Told(name, bag.place, layout.dims, bag.order)
    if isinstance(layout, NumberLayout) and not _in_book(embedding, name, masked):
        shown: Any = (masked[name] if name in masked else table.columns[name]).decode()
        scale = Scale(layout.low, layout.high, _mean(shown, layout), round(factor, FINE))
        return _Told(name, scale, 1, np.zeros(1, dtype=np.int64))
    return _book(name, table, masked, block)


def _book(name: str, table: Table, masked: Masked, block: AnyBlock) -> _Told:
    """The places of the labels that some record shows, in the order of their letters."""
    shown = (masked[name] if name in masked else table.columns[name]).labels
    used = sorted((label, at) for at, (label, one) in enumerate(zip(shown, _used(block), strict=False)) if one)
    places = block.at(np.array([*(at for _, at in used), block.values - 1]))
    found = _ordered([label for label, _ in used], places)
    return _Told(name, found.place, block.dims, found.order)


@dataclass(frozen=True, eq=False)
class _Places:
    place: Book
    order: Ints


def _ordered(labels: Sequence[str], positions: Vectors) -> _Places:
    """A book of labels at these positions, the last for missing: rounded, coordinates the largest first."""
    places = np.round(positions.astype(np.float64), DIGITS)
    order = np.lexsort(-places[::-1])[: int(places.any(axis=0).sum())] if places.size else np.zeros(0, dtype=np.int64)
    told = {label: tuple(place.tolist()) for label, place in zip(labels, places[:, order] + 0.0, strict=False)}
    return _Places(Book(told, tuple((places[-1, order] + 0.0).tolist())), order)


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


def _series(column: AnyColumn) -> pl.Series:
    """A column for verify, texts by their numbers as it holds them."""
    import polars as pl

    if isinstance(column, ItemColumn) or not column.shows_labels:
        return pl.Series(column.to_arrow())
    distinct = rank(column.values)
    ordered = spread_out(column.codes, distinct)
    codes = pl.Series(ordered.codes)
    codes = codes.set(codes == ordered.missing_code, None) if ordered.missing else codes
    return codes.cat.to(pl.Enum([str(text) for text in distinct.values.to_pylist()]))
