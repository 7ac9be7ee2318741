"""Judging a generated table: its rows are nobody's, so what counts is where it would put the raw records.

The generated table is clustered as its recipient would. Then each raw record takes the nearest of the centres found
there, or the cluster that most rows of its part have. Beside that stands what no data at all would give: rows drawn
evenly from the declared domains. All of it compares with the raw table, and is for the holder's eyes only. Of large
tables so many records, and generated rows, are compared as the scores say.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data import calendar
from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.schema import Attribute, ItemSet, Number, Schema
from sfumato.data.table import AnyColumn, Codes, Table, narrow
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import RecipeError
from sfumato.evaluation import clusters as measure
from sfumato.evaluation.columns import column_scores, columns_kept
from sfumato.evaluation.generated_classes import generated_class_scores
from sfumato.evaluation.relations import MEANING, Relations
from sfumato.evaluation.report import own_scores
from sfumato.evaluation.scores import RELATIONS, Judged, Score, headline, scores_to_json
from sfumato.events import watched
from sfumato.maskers.histogram.domains import declared, item_domain
from sfumato.maskers.histogram.marginals import drawn_evenly
from sfumato.maskers.masker import Outcome
from sfumato.randomness import Seeded
from sfumato.structure.coded_points import Placed
from sfumato.structure.embedding import Embedding
from sfumato.structure.measures import measures_named
from sfumato.structure.methods import NOISE, sample
from sfumato.structure.released import ReleasedValues
from sfumato.structure.space import Space, release_space
from sfumato.structure.structures import (
    Clusters,
    Found,
    Structure,
    class_column,
    cluster_placed,
    clusters_of,
    find,
    starting_centres,
)

BINS = 8
STARTS = 30
"""A generated table is clustered from at least so many random starts: they cost no epsilon, and k-means needs them."""
FEWEST_ROWS = 10
BLIND = 10_000
"""So many rows at most are drawn from the declared domains alone: more would show no more."""
COMPARED = 50_000
"""Of more records than this so many are drawn and compared; random starts are tried on as many generated rows."""
CHUNK = 1 << 16


def judge_generated(
    structure: Structure | None,
    found: Found,
    table: Table,
    outcome: Outcome,
    *,
    whole: bool = False,
) -> Judged:
    """Measure a generated table against the raw one. A mask that is fresh tells which part each row was made for.

    `whole`: all records are compared, however many there are.
    """
    masked, rows = outcome.masked, outcome.masked.rows
    scores = [
        _told("rows.generated", rows, "rows in the generated table"),
        _told("rows.raw", table.rows, "rows in the raw table"),
    ]
    own = own_clusters(structure, table.schema, masked) if outcome.mask.shows_values else None
    if found.clusters is not None and rows >= FEWEST_ROWS:
        beside = Beside.of(found, found.clusters, table, outcome, most=None if whole else COMPARED)
        scores = [*_cluster_scores(beside, own), *scores]
    column = class_column(structure)
    if column is not None and outcome.mask.shows_values:
        scores = [*generated_class_scores(table, masked, column), *scores]
    columns = columns_kept(table, masked) if rows else ()
    scores += column_scores(columns)
    related = Relations.of(table, masked) if rows else None
    scores += [] if related is None else [_told(f"{RELATIONS}.kept", related.kept / related.clear, MEANING)]
    space = None if own is None else own.space()
    form: dict[str, Any] = {"columns": [column.to_json() for column in columns]}
    form |= {} if related is None else {RELATIONS: related.to_json()}
    return Judged({"headline": headline(scores), "scores": scores_to_json(scores), **form}, ReleasedValues(), space)


@dataclass(frozen=True, eq=False)
class Beside:
    """Raw records with their clusters, and the generated rows that are set beside them: all of either, or some.

    `of_records` and `of_rows`: how many there are in all; `rows`: which generated rows these are; `part` (records,) and
    `made_for` (rows,): the part of each, where it is known.
    """

    structure: Clusters
    found: Found
    table: Table
    placed: Placed
    rows: Ints
    of_records: int
    of_rows: int
    part: Ints | None = None
    made_for: Ints | None = None

    @classmethod
    def of(cls, found: Found, structure: Clusters, table: Table, outcome: Outcome, *, most: int | None) -> Beside:
        """At most so many of either, drawn by the structure's seed."""
        masked, parts = outcome.masked, outcome.mask.parts
        records, rows = (_some(count, most, structure.seed) for count in (table.rows, masked.rows))
        if len(records) < table.rows:
            kept, table = _taken(found, table, records), replace(table, columns=_rows_of(table.columns, records))
            table = replace(table, rows=len(records))
        else:
            kept = found
        shown = masked if len(rows) == masked.rows else Masked.made(_rows_of(masked, rows), treated=masked.treated)
        return cls(
            structure,
            kept,
            table,
            place(found, shown),
            rows,
            of_records=len(found.labels),
            of_rows=masked.rows,
            part=None if parts is None else parts.of_records[records],
            made_for=None if parts is None else parts.of_rows[rows],
        )

    @property
    def told(self) -> list[Score]:
        """How many records were compared, where it is not all of them, and what that leaves open."""
        if self.table.rows == self.of_records:
            return []
        off = 0.98 / math.sqrt(self.table.rows)  # 1.96 standard errors of a share of one half
        meaning = f"records drawn and compared; in 19 of 20 draws a share of them is off by at most {off:.4f}"
        return [_told("rows.compared", self.table.rows, meaning)]


def _some(count: int, most: int | None, seed: int) -> Ints:
    return np.arange(count) if most is None else sample(count, most, seed)


def _rows_of(columns: Mapping[str, AnyColumn], rows: Ints) -> dict[str, AnyColumn]:
    return {name: column.take(rows) for name, column in columns.items()}


def _taken(found: Found, table: Table, rows: Ints) -> Found:
    """Some of the records with their labels."""
    placed = None if found.placed is None else found.placed.take(rows)
    return replace(found, labels=found.labels[rows], placed=placed, guides=(), clustering=None)


def _cluster_scores(beside: Beside, own: Own | None) -> list[Score]:
    structure, found, table = beside.structure, beside.found, beside.table
    seen = _recipients(beside, own)
    scores = _compared(found, seen.nearest(found), "nearest", "each raw record takes the nearest centre found there")
    if beside.part is not None and beside.made_for is not None:
        by_part = seen.by_part(found, part=beside.part, made_for=beside.made_for)
        scores += _compared(found, by_part, "parts", "each raw record takes its part's cluster")
    told = "k-means cost of those centres on the raw table, over that of its own centres"
    scores.append(_told("cost_ratio", seen.cost_ratio(found), told))
    rows, chance = min(table.rows, BLIND), Seeded(structure.seed).generator()
    free = drawn_evenly(declared(table.schema, bins=BINS, may_miss=()), rows, chance)
    blind = again(structure, found, place(found, Masked.of(free)))
    scores += _compared(found, blind.nearest(found), "no_data", "rows drawn evenly from the declared domains")
    scores.append(_told("cost_ratio.no_data", blind.cost_ratio(found), "the same from the declared domains alone"))
    other = cluster_placed(structure, found.placed, seed=structure.seed + 1, k=found.n) if found.placed else None
    if other is not None:
        scores += _compared(found, other.labels, "ceiling", "the raw table clustered again with another seed")
    mine = {**measures_named(structure.measures), **found.measures}
    return [*scores, *own_scores(mine, found, {"nearest": seen.nearest(found)}), *beside.told]


def _recipients(beside: Beside, own: Own | None) -> Seen:
    """What the recipient finds: the clusters that the generated table shows by itself, unless he uses another method
    or finds another number of them."""
    structure, found = beside.structure, beside.found
    if own is None or structure.again != structure.method or own.n != found.n:
        return again(structure, found, beside.placed)
    labels = own.labels[beside.rows].astype(np.int64)
    return Seen(labels, starting_centres(beside.placed, labels, own.n))


class Seen:
    """Owns the clusters that were found in a generated table: the label of each row, and the clusters' means; and which
    of them is nearest to each raw record, which is asked more than once."""

    def __init__(self, labels: Ints, centres: NDArray[np.float32]) -> None:
        self.labels, self.centres = labels, centres
        self._nearest: tuple[Found, Codes] | None = None

    def nearest(self, found: Found) -> Codes:
        """(raw rows,): the nearest centre."""
        if found.placed is None:
            raise TypeError("clusters are compared with clusters")
        if self._nearest is None or self._nearest[0] is not found:
            self._nearest = (found, found.placed.nearest(self.centres))
        return self._nearest[1]

    def by_part(self, found: Found, *, part: Ints, made_for: Ints) -> Ints:
        """(raw rows,): the cluster that most generated rows of a record's part have; without rows, the nearest.

        `part` (raw rows,) and `made_for` (generated rows,): the part of each; -1 for none.
        """
        counts = np.zeros((int(max(part.max(initial=0), made_for.max(initial=0))) + 1, len(self.centres)), np.int64)
        np.add.at(counts, (made_for, self.labels), 1)
        known = (part >= 0) & (counts.sum(axis=1) > 0)[part]
        return np.where(known, counts.argmax(axis=1)[part], self.nearest(found))

    def cost_ratio(self, found: Found) -> float:
        """How much farther raw records are from these centres than from their own, squared and added up."""
        placed, own = found.placed, found.centres
        if placed is None or own is None:
            raise TypeError("clusters are compared with clusters")
        best, ours = _cost(placed, own, found.labels), _cost(placed, self.centres, self.nearest(found))
        return ours / best if best > 0 else 1.0


def _cost(placed: Placed, centres: NDArray[np.float32], labels: NDArray[Any]) -> float:
    """The squared distances of records from their centres, added up, some records at a time."""
    some = (np.arange(at, min(at + CHUNK, placed.rows)) for at in range(0, placed.rows, CHUNK))
    apart = (((placed.vectors(rows) - centres[labels[rows]]) ** 2).sum(dtype=np.float64) for rows in watched(some))
    return sum(map(float, apart))


def place(found: Found, masked: Masked) -> Placed:
    """Generated rows in the space of the raw clusters."""
    if found.embedding is None:
        raise TypeError("clusters are compared with clusters")
    return found.embedding.place_shown(masked)


def again(structure: Clusters, found: Found, placed: Placed) -> Seen:
    """The clusters that the recipient finds, as many as the raw table has."""
    labels = cluster_placed(_patient(structure), placed, method=structure.again, k=found.n).labels
    labels = np.where(labels == NOISE, 0, labels)
    return Seen(labels, starting_centres(placed, labels, int(labels.max()) + 1))


def _patient(structure: Clusters) -> Clusters:
    """The same from at least `STARTS` starts."""
    return replace(structure, n_init=max(structure.n_init, STARTS))


def _compared(found: Found, labels: NDArray[np.integer[Any]], name: str, told: str) -> list[Score]:
    return [
        _told(f"f_measure.{name}", measure.f_measure(found.labels, labels), f"F-measure (003 Eq. 11): {told}"),
        _told(f"match_point.{name}", measure.match_point(found.labels, labels), f"match point (003 Eq. 12): {told}"),
    ]


def _told(name: str, value: float, meaning: str) -> Score:
    return Score(name, float(value), publishable=False, meaning=meaning)


@dataclass(frozen=True, eq=False)
class Own:
    """The clusters that a generated table shows by itself, all of which follows from it alone and costs nothing more:
    its rows (`table`) with their labels, of which there are `n`."""

    table: Table
    embedding: Embedding
    labels: Codes
    n: int

    def space(self) -> Space | None:
        """Where a recipient's k-means may start."""
        nothing = Masked({}, self.table.rows)  # these rows are released as they are
        return release_space(
            self.embedding, self.table, nothing, released=ReleasedValues(), labels=self.labels, n=self.n
        )


def own_clusters(structure: Structure | None, schema: Schema, masked: Masked) -> Own | None:
    """The clusters of a generated table; None where none are asked for, or few rows were generated: epsilon is spent,
    and the table is released without centres."""
    clusters = clusters_of(structure)
    if clusters is None or masked.rows < FEWEST_ROWS:
        return None
    table = encode(masked.to_arrow(), Schema({name: _as_shown(name, of) for name, of in schema.items()}))
    rows = _some(table.rows, COMPARED, clusters.seed)
    some = table if len(rows) == table.rows else Table(table.schema, _rows_of(table.columns, rows), len(rows))
    try:
        found = find(_patient(clusters), some)
    except RecipeError:
        return None
    if found.embedding is None or found.centres is None:
        return None
    if some is table:
        return Own(table, found.embedding, found.labels, found.n)
    embedding = Embedding.of(table, attributes=clusters.attributes, weights=clusters.weights)
    centres = starting_centres(embedding.place(some), found.labels, found.n)
    return Own(table, embedding, narrow(embedding.place(table).nearest(centres), found.n), found.n)


def _as_shown(name: str, attribute: Attribute) -> Attribute:
    """Sets hold the labels of a public cut: below it their taxonomy goes no further. Dates are starts of whole units,
    the first of which may begin before the declared range."""
    if isinstance(attribute, Number) and attribute.calendar is not None and attribute.range is not None:
        first, last = (str(end) for end in attribute.range)
        return replace(attribute, range=(calendar.show(calendar.parse(first), attribute.calendar), last))
    if not isinstance(attribute, ItemSet):
        return attribute
    domain = item_domain(name, attribute, missing=False)
    nodes = (domain.tree.root, *domain.nodes)
    tree = Taxonomy.from_parents({label: domain.tree.parent(label) for label in nodes})
    return replace(attribute, taxonomy=tree, values=None, outside=None)
