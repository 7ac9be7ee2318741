"""Judging a generated table: its rows are nobody's, so what counts is where it would put the raw records.

The generated table is clustered as its recipient would. Then each raw record takes the nearest of the centres found
there, or the cluster that most rows of its part have. Beside that stands what no data at all would give: rows drawn
evenly from the declared domains. All of it compares with the raw table, and is for the holder's eyes only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.schema import Attribute, ItemSet, Schema
from sfumato.data.table import Table
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import RecipeError
from sfumato.evaluation import clusters as measure
from sfumato.evaluation.columns import column_scores, columns_kept
from sfumato.evaluation.report import own_scores
from sfumato.evaluation.scores import Judged, Score, headline, scores_to_json
from sfumato.events import watched
from sfumato.maskers.histogram.domains import declared, item_domain
from sfumato.maskers.histogram.marginals import drawn_evenly
from sfumato.maskers.masker import Outcome, Parts
from sfumato.randomness import Seeded
from sfumato.structure.coded_points import Placed
from sfumato.structure.measures import Measure, measures_named
from sfumato.structure.methods import NOISE
from sfumato.structure.released import ReleasedValues
from sfumato.structure.space import Space, release_space
from sfumato.structure.structures import Clusters, Found, Structure, cluster_placed, clusters_of, find, starting_centres

BINS = 8
STARTS = 30
"""A generated table is clustered from at least so many random starts: they cost no epsilon, and k-means needs them."""
FEWEST_ROWS = 10
CHUNK = 1 << 16


def judge_generated(
    structure: Structure | None, found: Found, table: Table, outcome: Outcome, measures: Mapping[str, Measure]
) -> Judged:
    """Measure a generated table against the raw one. A mask that is fresh tells which part each row was made for."""
    masked, rows = outcome.masked, outcome.masked.rows
    scores = [
        _told("rows.generated", rows, "rows in the generated table"),
        _told("rows.raw", table.rows, "rows in the raw table"),
    ]
    if found.clusters is not None and rows >= FEWEST_ROWS:
        scores = [*_cluster_scores(found.clusters, found, table, outcome, measures), *scores]
    columns = columns_kept(table, masked) if rows else ()
    scores += column_scores(columns)
    values = outcome.mask.shows_values and rows >= FEWEST_ROWS
    space = released_space(structure, table.schema, masked) if values else None
    form = {"columns": [column.to_json() for column in columns]}
    return Judged({"headline": headline(scores), "scores": scores_to_json(scores), **form}, ReleasedValues(), space)


def _cluster_scores(
    structure: Clusters, found: Found, table: Table, outcome: Outcome, measures: Mapping[str, Measure]
) -> list[Score]:
    parts = outcome.mask.parts
    seen = again(structure, found, place(found, outcome.masked))
    scores = _compared(found, seen.nearest(found), "nearest", "each raw record takes the nearest centre found there")
    if parts is not None:
        scores += _compared(
            found, seen.by_part(found, parts, table), "parts", "each raw record takes its part's cluster"
        )
    told = "k-means cost of those centres on the raw table, over that of its own centres"
    scores.append(_told("cost_ratio", seen.cost_ratio(found), told))
    free = drawn_evenly(declared(table.schema, bins=BINS, may_miss=()), table.rows, Seeded(structure.seed).generator())
    blind = again(structure, found, place(found, Masked.of(free)))
    scores += _compared(found, blind.nearest(found), "no_data", "rows drawn evenly from the declared domains")
    scores.append(_told("cost_ratio.no_data", blind.cost_ratio(found), "the same from the declared domains alone"))
    other = cluster_placed(structure, found.placed, seed=structure.seed + 1, k=found.n) if found.placed else None
    if other is not None:
        scores += _compared(found, other.labels, "ceiling", "the raw table clustered again with another seed")
    own = {**measures_named(structure.measures), **measures}
    return [*scores, *own_scores(own, found, {"nearest": seen.nearest(found)})]


class Seen:
    """Owns the clusters that were found in a generated table: the label of each row, and the clusters' means."""

    def __init__(self, labels: Ints, centres: NDArray[np.float32]) -> None:
        self.labels, self.centres = labels, centres

    def nearest(self, found: Found) -> Ints:
        """(raw rows,): the nearest centre."""
        if found.placed is None:
            raise TypeError("clusters are compared with clusters")
        return found.placed.nearest(self.centres)

    def by_part(self, found: Found, parts: Parts, table: Table) -> Ints:
        """(raw rows,): the cluster that most generated rows of a record's part have; without rows, the nearest."""
        counts = np.zeros((len(parts.rows), len(self.centres)), dtype=np.int64)
        np.add.at(counts, (np.repeat(np.arange(len(parts.rows)), parts.rows), self.labels), 1)
        part = parts.of(table)
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


def _compared(found: Found, labels: Ints, name: str, told: str) -> list[Score]:
    return [
        _told(f"f_measure.{name}", measure.f_measure(found.labels, labels), f"F-measure (003 Eq. 11): {told}"),
        _told(f"match_point.{name}", measure.match_point(found.labels, labels), f"match point (003 Eq. 12): {told}"),
    ]


def _told(name: str, value: float, meaning: str) -> Score:
    return Score(name, float(value), publishable=False, meaning=meaning)


def released_space(structure: Structure | None, schema: Schema, masked: Masked) -> Space | None:
    """Where a recipient's k-means may start: found in the generated table alone, so it costs nothing more."""
    clusters = clusters_of(structure)
    if clusters is None:
        return None
    table = encode(masked.to_arrow(), Schema({name: _as_shown(name, of) for name, of in schema.items()}))
    try:
        found = find(_patient(clusters), table)
    except RecipeError:  # few rows were generated: epsilon is spent, and the table is released without centres
        return None
    if found.embedding is None:
        return None
    nothing = Masked({}, table.rows)  # these rows are released as they are
    return release_space(found.embedding, table, nothing, released=ReleasedValues(), labels=found.labels, n=found.n)


def _as_shown(name: str, attribute: Attribute) -> Attribute:
    """Sets hold the labels of a public cut: below it their taxonomy goes no further."""
    if not isinstance(attribute, ItemSet):
        return attribute
    domain = item_domain(name, attribute, missing=False)
    nodes = (domain.tree.root, *domain.nodes)
    tree = Taxonomy.from_parents({label: domain.tree.parent(label) for label in nodes})
    return replace(attribute, taxonomy=tree, values=None, outside=None)
