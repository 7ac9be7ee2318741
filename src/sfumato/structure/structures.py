"""Clusters and Classes: the labels that masking must preserve, and how they are found in a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.calls import constructed, expected
from sfumato.data.grouping import group_numbers
from sfumato.data.schema import Number, Schema
from sfumato.data.table import Codes, ItemColumn, Table, narrow
from sfumato.errors import NoStructure, RecipeError, TableError, warn
from sfumato.events import part, watched
from sfumato.structure.clusterers import by_size, check_clusterer, check_options, cluster, finds_k, takes_weights
from sfumato.structure.coded_points import Placed
from sfumato.structure.embedding import Embedding, Placement, check_placement
from sfumato.structure.measures import Measure, check_measures
from sfumato.structure.methods import NOISE, Clustering

Vectors = NDArray[np.float32]


NOISE_NAME = "noise"
"""What the label of records is called that a density clusterer puts into no cluster."""
MOST_CLUSTERS, MOST_STARTS, MOST_ALSO = 1_000, 100, 20
"""Limits of what a recipe may ask for: clusters, starts of which the best counts, other numbers of clusters."""


@constructed
@dataclass(frozen=True)
class Clusters:
    """Clusters found in the raw table, as in steps 1 and 3 of 000 section 4.1.

    - `method`: a clusterer of `sfumato.structure.clusterers`.
    - `k`: how many clusters, or "auto" for the number with the best silhouette from 2 to 10.
    - `seed`: what chance begins with.
    - `n_init`: how many starts, of which the best counts.
    - `recluster`: the method that the recipient is thought to use on the masked table (None: the same).
    - `attributes`: what records are compared by (None: the quasi-identifying and plain ones).
    - `weights`: what each of them counts (None: all alike).
    - `placement`: how masked values enter clustering.
    - `options`: those that `sfumato.structure.clusterers` lists.
    - `also`: other numbers of clusters that guide the masking as well; what survived is measured for k alone.
    - `measures`: figures of the holder's own choice beside the usual ones, by name: `sfumato.structure.measures`.
    - `beside`: other methods whose clusters guide the masking as well, for k and for each number of `also`.

    >>> Clusters("kmeans", k=6).seed
    0
    >>> Clusters("kmean", k=6)
    Traceback (most recent call last):
        ...
    sfumato.errors.RecipeError: clusters: a clusterer is one of ours, or one of scikit-learn's that are listed, by its \
import path. Given: 'kmean'. To mend it: did you mean 'kmeans'?
    """

    method: str = "kmeans"
    k: int | Literal["auto"] = "auto"
    seed: int = 0
    n_init: int = 10
    recluster: str | None = None
    attributes: tuple[str, ...] | None = None
    weights: Mapping[str, float] | None = None
    placement: Placement = "expected"
    options: Mapping[str, Any] = field(default_factory=dict)
    also: tuple[int, ...] = ()
    beside: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "beside", tuple(self.beside))
        object.__setattr__(self, "measures", tuple(self.measures))
        if self.measures:
            check_measures(self.measures)
        for method in (self.method, *([self.recluster] if self.recluster else []), *self.beside):
            check_clusterer(method)
        check_options(self.method, self.options)
        if self.attributes is not None:
            given: Any = self.attributes
            object.__setattr__(self, "attributes", (given,) if isinstance(given, str) else tuple(given))
        object.__setattr__(self, "also", tuple(self.also))
        _check_k(self)
        _whole("seed", self.seed, least=0, most=2**31 - 1)
        _whole("n_init", self.n_init, least=1, most=MOST_STARTS)
        check_placement(self.placement)

    @property
    def again(self) -> str:
        """The method that clusters the masked table."""
        return self.recluster or self.method


@constructed
@dataclass(frozen=True)
class Classes:
    """The labels of a column, such as a diagnosis to be predicted.

    >>> Classes("income").column
    'income'
    """

    column: str

    def __post_init__(self) -> None:
        remedy = 'name one: sf.Classes("income")'
        expected("Classes", self.column, str, rule="classes are those of one column", remedy=remedy)


Structure = Clusters | Classes


@dataclass(frozen=True, eq=False)
class Found:
    """The structure of one table: for each record a label from 0 to n - 1.

    `embedding`, `placed` and `clustering` tell how clusters came about; classes have none. Records that a density
    clusterer calls noise form the last label, named "noise". `guides` are the labels of other numbers or methods.
    `clusters`: what was looked for, if it was clusters. `of_column`: the labels are those of a column.
    `measures`: functions of the holder's own that labels found again are compared by.
    """

    labels: Codes
    names: tuple[str, ...]
    embedding: Embedding | None = None
    placed: Placed | None = None
    clustering: Clustering | None = None
    guides: tuple[Codes, ...] = ()
    clusters: Clusters | None = None
    of_column: bool = False
    measures: Mapping[str, Measure] = field(default_factory=dict)

    @property
    def guide(self) -> Codes:
        """(rows,): what masking is guided by: the labels, or every combination of all numbers of clusters."""
        combined = group_numbers([self.labels, *self.guides], len(self.labels))
        return narrow(combined, int(combined.max()) + 1) if self.guides else self.labels

    @property
    def n(self) -> int:
        """How many labels there are."""
        return len(self.names)

    @cached_property
    def centres(self) -> Vectors | None:
        """(n, dims): the mean of each cluster's raw records."""
        return None if self.placed is None else starting_centres(self.placed, self.labels, self.n)


def clusters_of(structure: Structure | None) -> Clusters | None:
    """The clusters that a recipient would look for; None where that is not what must survive."""
    return structure if isinstance(structure, Clusters) else None


def class_column(structure: Structure | None) -> str | None:
    """The column whose classes must survive; None where that is not what must.

    >>> class_column(Classes("income"))
    'income'
    """
    return structure.column if isinstance(structure, Classes) else None


def find(structure: Structure | None, table: Table) -> Found:
    """The structure of a raw table; one label for everybody where none is asked for."""
    if structure is None:
        return Found(np.zeros(table.rows, dtype=np.uint8), ("everybody",))
    return _classes(structure, table) if isinstance(structure, Classes) else _clusters(structure, table)


def find_any(structure: Structure | None, table: Table) -> Found:
    """The structure of a raw table; one label for everybody, and a warning, where its records have none.

    Under a budget a table is released either way: a refusal that follows from the records would tell of them.
    """
    try:
        return find(structure, table)
    except (NoStructure, TableError) as error:
        warn(f"no structure was found in the table, so nothing is measured against it. {error}")
        return find(None, table)


def declared_labels(structure: Structure | None, schema: Schema) -> int | None:
    """How many labels there can be, by declarations alone; None where the records decide.

    >>> declared_labels(Clusters("kmeans", k=6, also=(2,)), Schema(age=Number()))
    12
    >>> declared_labels(Clusters("hdbscan"), Schema(age=Number()))
    """
    if structure is None:
        return 1
    if isinstance(structure, Clusters):
        if structure.k == "auto" or finds_k(structure.method):
            return None
        if any(map(finds_k, structure.beside)):
            return None
        return int(math.prod((structure.k, *structure.also)) ** (1 + len(structure.beside)))
    attribute = schema[structure.column]
    if isinstance(attribute, Number):
        if not attribute.integer or attribute.range is None or attribute.calendar is not None:
            return None
        low, high = (math.floor(float(end)) for end in attribute.range)
        return high - low + 1
    labels = attribute.values if attribute.taxonomy is None else attribute.taxonomy.leaves
    return None if labels is None else len(labels)


def cluster_placed(
    structure: Clusters,
    placed: Placed,
    *,
    method: str | None = None,
    k: int | Literal["auto"] | None = None,
    seed: int | None = None,
    centres: Vectors | None = None,
    options: Mapping[str, Any] | None = None,
) -> Clustering:
    """Cluster placed records as the structure says, or with another method, number, seed, starting centres or options.

    Each place is clustered once, with its weight; a method that takes none gets the records in the order of their
    places, and all in one place are in one cluster. So the order of rows changes nothing, and records that are known by
    their counts alone give the same clusters.
    """
    name = method or structure.method
    number = "auto" if finds_k(name) else k or structure.k
    if options is None:
        options = structure.options if name == structure.method else {}
    settings: dict[str, Any] = {"k": number, "seed": structure.seed if seed is None else seed, **options}
    settings |= {"n_init": structure.n_init, "centres": centres}
    once = placed.distinct
    if takes_weights(name):
        found = cluster(once.placed, name, weights=once.weights, **settings)
    else:
        every = cluster(once.everybody, name, **settings)
        found = by_size(replace(every, labels=once.first(every.labels)), once.weights)
    narrow_labels: Any = found.labels.astype(np.min_scalar_type(-1 - found.k))  # -1 and k fit
    return replace(found, labels=narrow_labels[once.of_row])


def starting_centres(records: Placed | Vectors, labels: NDArray[Any], n: int) -> Vectors:
    """(n, dims): the mean of each raw cluster's records; of masked records, where the recipient's k-means can start.

    A label without records stands at the mean of all.
    """
    from sfumato.structure.kmeans.tally import tally

    once = (records if isinstance(records, Placed) else Placed.of(records)).distinct
    counts = np.bincount(once.of_row.astype(np.int64) * n + labels)  # of each place, how many records have each label
    pairs = np.flatnonzero(counts)
    points = once.placed.take(pairs // n).points.weighted(counts[pairs].astype(np.float64))
    found = tally(points, (pairs % n).astype(np.uint16), n)
    sums, sizes = found.sums, found.counts.sizes
    means = np.where(sizes[:, None] > 0, sums, sums.sum(axis=0)) / np.where(sizes > 0, sizes, points.total)[:, None]
    return means.astype(np.float32)


def _clusters(structure: Clusters, table: Table) -> Found:
    if structure.k != "auto" and 2 * structure.k > table.rows:
        raise NoStructure(
            "clusters",
            "a cluster has at least two records on average",
            given=f"{structure.k} clusters of {table.rows} records",
            remedy=f"ask for at most {table.rows // 2}",
        )
    embedding = Embedding.of(table, attributes=structure.attributes, weights=structure.weights)
    placed = embedding.place(table)
    guiding = _guiding(structure)
    ends = 1 / (1 + len(guiding))
    with part(0.0, ends):
        found = cluster_placed(structure, placed)
    noise = bool((found.labels == NOISE).any())
    names = (*(f"cluster {at}" for at in range(found.k)), *([NOISE_NAME] if noise else []))
    if len(names) < 2:
        raise NoStructure(
            "clusters",
            "a structure has at least two clusters",
            given="one, or noise alone",
            remedy="ask for more, choose other attributes, or set the clusterer's options",
        )
    labels = np.where(found.labels == NOISE, found.k, found.labels)
    with part(ends, 1.0):
        others = [cluster_placed(structure, placed, method=name, k=k).labels for name, k in watched(guiding)]
    guides = tuple(narrow(other - int(other.min()), int(other.max()) + 2) for other in others)
    return Found(narrow(labels, len(names)), names, embedding, placed, found, guides, clusters=structure)


def _guiding(structure: Clusters) -> list[tuple[str, int | None]]:
    """Which other clusterings guide the masking: each method with each number, those that find it by themselves once.

    >>> _guiding(Clusters("kmeans", k=4, also=(2,), beside=("ward", "hdbscan")))
    [('kmeans', 2), ('ward', 4), ('ward', 2), ('hdbscan', None)]
    """
    numbers = [] if structure.k == "auto" else [structure.k, *structure.also]
    own: list[tuple[str, int | None]] = [(structure.method, k) for k in structure.also]
    for name in structure.beside:
        own += [(name, None)] if finds_k(name) or not numbers else [(name, k) for k in numbers]
    return own


def _classes(structure: Classes, table: Table) -> Found:
    name = structure.column
    table.schema.require([name], "classes")
    role = table.schema[name].role
    if role in ("quasi", "identifier"):
        raise RecipeError(
            name,
            "a class column is neither masked nor dropped",
            given=f"role {role}",
            remedy="give it the role sensitive or plain",
        )
    column = table.columns[name]
    if isinstance(column, ItemColumn):
        raise RecipeError(
            name, "a class column has one label in each row", given="an item set", remedy="name another column"
        )
    if column.missing:
        how = f"`missing: {{{name}: drop}}` in the recipe (in Python missing=[{name!r}])"
        raise TableError(
            name,
            "every record must have a class",
            given="rows where it is missing",
            remedy=f"leave those rows out with {how}, or give them a class of their own",
        )
    if len(column.values) < 2:
        raise NoStructure(
            name,
            "a class column has at least two values",
            given="one value in the whole table",
            remedy="name another column, or ask for clusters",
        )
    return Found(column.codes, _names(column.values.to_pylist()), of_column=True)


def _names(values: Sequence[object]) -> tuple[str, ...]:
    return tuple(str(value) for value in values)


def _check_k(clusters: Clusters) -> None:
    if clusters.k == "auto":
        if clusters.also:
            raise RecipeError(
                "clusters", "other numbers of clusters go with a number", given="k: auto with `also`", remedy="say k: 6"
            )
        return
    if max(len(clusters.also), len(clusters.beside)) > MOST_ALSO:
        raise RecipeError(
            "also, beside",
            f"at most {MOST_ALSO} other numbers of clusters, and as many methods, guide the masking",
            given=f"{len(clusters.also)} and {len(clusters.beside)}",
            remedy="name fewer",
        )
    for k in (clusters.k, *clusters.also):
        _whole("k", k, least=2, most=MOST_CLUSTERS)
    if finds_k(clusters.method):
        raise RecipeError(
            "clusters",
            "a density clusterer finds the number of clusters by itself",
            given=f"{clusters.method} with k = {clusters.k}",
            remedy="leave k out",
        )


def _whole(what: str, value: object, *, least: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise RecipeError(
            "clusters",
            f"{what} is a whole number, at least {least} and at most {most:,}",
            given=repr(value) if not isinstance(value, int) or abs(value) < 10**18 else "a larger one",
            remedy=f"write for example {what}={max(least, 6)}",
        )
