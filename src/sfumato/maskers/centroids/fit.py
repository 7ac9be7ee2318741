"""The settings of the four ways to make classes, and the one way from classes to a mask.

The ways are compiled, and loaded where they are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, get_args

import numpy as np

from sfumato.arrays import Ints
from sfumato.calls import constructed
from sfumato.data.grouping import group_numbers
from sfumato.data.schema import Category, ItemSet, Number, Schema
from sfumato.data.shown import SUPPRESSED
from sfumato.data.table import Table
from sfumato.errors import Infeasible, RecipeError, TableError, did_you_mean
from sfumato.events import checkpoint
from sfumato.maskers.centroids.centres import Categories, shown
from sfumato.maskers.centroids.grouping import Weighted, wf_c_means
from sfumato.maskers.centroids.mask import Centroids, Kind, Missing, Shown, patterns
from sfumato.maskers.centroids.points import Link, Partition, Points, loss
from sfumato.maskers.centroids.space import Coded, Scale, Space, coded, is_whole
from sfumato.maskers.masker import SEED, Masker, Outcome, Task, only_k_anonymity, within
from sfumato.privacy.requirements import KAnonymity, Requirement, without_covered


@dataclass(frozen=True, kw_only=True)
class CentroidMasker(Masker):
    """What all centroid maskers are told, and how classes become a mask.

    - `categories`: what a class shows of labels: the lowest that is true of all its members ("ancestor"), or the one
      that most of them have ("mode").
    - `missing`: numbers are missing in a whole class or in none of it ("class"), or stand at the mean of the others
      ("impute").
    - `scale`: attributes count alike ("deviation"), or as their values are ("none").
    - `whole`: whether means of whole numbers are rounded to whole numbers.
    """

    averages: ClassVar[bool] = True
    guided: ClassVar[bool] = False
    categories: Categories = "ancestor"
    missing: Missing = "class"
    scale: Scale = "deviation"
    whole: bool = True

    def __post_init__(self) -> None:
        _one_of("categories", self.categories, get_args(Categories))
        _one_of("missing", self.missing, get_args(Missing))
        _one_of("scale", self.scale, get_args(Scale))

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Classes need a k."""
        check_k(schema, requirements)

    def classes(self, points: Points, k: int) -> Ints:
        """(rows,): classes of at least k records, as `Partition` says."""
        raise NotImplementedError

    def mask(self, task: Task) -> Outcome:
        """Form classes and show their centres."""
        return fit(task, self, self.classes)

    @staticmethod
    def read_mask(files: Mapping[str, Any]) -> Centroids:
        """The mask of a written release."""
        return Centroids.from_json(files["centroids.json"])


@constructed
@dataclass(frozen=True, kw_only=True)
class Microaggregate(CentroidMasker):
    """Size-constrained c-means with local search: our best. `CentroidMasker` tells the shared settings.

    - `fast`: bisection along principal axes alone, several times quicker and with more loss.

    >>> Microaggregate().fast
    False
    """

    fast: bool = False

    def classes(self, points: Points, k: int) -> Ints:
        """By bisection, or by all that `microaggregate` does."""
        from sfumato.maskers.centroids.microaggregation import bisection, microaggregate

        return bisection(points, k) if self.fast else microaggregate(points, k)


@constructed
@dataclass(frozen=True, kw_only=True)
class MDAV(CentroidMasker):
    """The field's standard, for comparison: time grows with the square of the rows. No settings of its own."""

    def classes(self, points: Points, k: int) -> Ints:
        """The k records nearest to the farthest ones."""
        from sfumato.maskers.centroids.grouping import mdav

        return mdav(points, k)


@constructed
@dataclass(frozen=True)
class Linkage(CentroidMasker):
    """Hierarchical clustering (001 section 3), for comparison. `CentroidMasker` tells the shared settings.

    - `link`: the distance of two classes is that of their nearest records ("single"), of their farthest ("complete"),
      or the mean of all ("average").
    """

    link: Link = "average"

    def __post_init__(self) -> None:
        _one_of("link", self.link, get_args(Link))
        super().__post_init__()

    def classes(self, points: Points, k: int) -> Ints:
        """The nearest classes are merged, until every one has k."""
        from sfumato.maskers.centroids.grouping import linkage

        return linkage(points, k, link=self.link)


@constructed
@dataclass(frozen=True, kw_only=True)
class WFCMeans(CentroidMasker):
    """WF-C-means (001). `CentroidMasker` tells the shared settings.

    - `seed`: which records it begins with.
    """

    seed: int = 0

    def __post_init__(self) -> None:
        within("seed", self.seed, 0, SEED, whole=True)
        super().__post_init__()

    def mask(self, task: Task) -> Outcome:
        """Form classes and show their centres; the history tells the weights, for each part of the
        table that misses the same numbers."""
        made: list[Weighted] = []

        def classes(points: Points, k: int) -> Ints:
            made.append(wf_c_means(points, k, seed=self.seed))
            return made[-1].labels

        names = _names(task.table, task.requirements)
        outcome = fit(task, self, classes)
        weights = [dict(zip(names, part.weights.tolist(), strict=True)) for part in made]
        history = {**outcome.history, "weights": weights, "settled": all(part.settled for part in made)}
        return replace(outcome, history=history)


def fit(task: Task, settings: CentroidMasker, partition: Partition) -> Outcome:
    """Form classes on the union of the quasi-identifiers with the largest k, and show each as its centre."""
    table, k = task.table, max(need.k for need in only_k_anonymity("centroids", task.requirements))
    if k > table.rows:
        raise Infeasible(
            f"{k}-anonymity",
            "a class has at least k records",
            given=f"a table of {table.rows} rows",
            remedy=f"ask for k of at most {table.rows}",
        )
    names = _names(table, task.requirements)
    columns = {name: coded(table, name) for name in names}
    _refuse_star(table.schema, columns, settings)
    points = Space.of(table.schema, columns, scale=settings.scale).place(columns)
    classes = form(points, columns, _numbers(table, names, settings), k, partition)
    centres = {
        name: shown(
            table.schema[name],
            _imputed(table, name, data, settings),
            classes,
            categories=settings.categories,
            whole=settings.whole and is_whole(table, name),
            k=k,
        )
        for name, data in columns.items()
    }
    merged = group_numbers([data.codes for data in centres.values()], int(classes.max()) + 1)
    mask = _mask(table, centres, merged, classes, settings)
    history = {
        "k": k,
        "formed_on": names,
        "for": [str(requirement) for requirement in task.requirements],
        "classes": len(mask.sizes),
        "smallest": min(mask.sizes),
        "largest": max(mask.sizes),
        "loss": _share(points, classes),
        "largest_shares": largest_shares(columns, classes, _all_numbers(table, names)),
    }
    covered = without_covered(task.requirements).covered
    return Outcome(mask, mask.shown(table, merged[classes]), covered, history=history)


def _refuse_star(schema: Schema, columns: Mapping[str, Coded], settings: CentroidMasker) -> None:
    """Where labels have no tree, `*` stands above all of them: a label of that name would stand for two things."""
    for name, data in columns.items():
        attribute = schema[name]
        bare = isinstance(attribute, Category) and attribute.taxonomy is None and settings.categories == "ancestor"
        if bare and SUPPRESSED in map(str, data.values):
            raise TableError(
                name,
                "what is shown can be told apart, and `*` stands for anything",
                given="a label that is a star",
                remedy="rename it before publishing, list it under `missing`, or say categories: mode",
            )


def form(points: Points, columns: Mapping[str, Coded], numbers: list[str], k: int, partition: Partition) -> Ints:
    """(rows,): classes, each among rows that miss the same of these numbers."""
    rows = len(points.vectors)
    found, made = np.empty(rows, dtype=np.int64), 0
    for pattern, members in patterns(columns, numbers, rows).items():
        if len(members) < k:
            gone = [name for name, missing in zip(numbers, pattern, strict=True) if missing]
            raise Infeasible(
                f"{k}-anonymity",
                "at least k records miss the same numbers, or none",
                given=f"fewer than k records that miss {', '.join(gone) or 'no number'}",
                remedy="say missing='impute', or drop rows that miss one of them",
            )
        labels = partition(points.only(members), k)
        found[members] = labels + made
        made += int(labels.max()) + 1
    return found


def check_k(schema: Schema, requirements: Sequence[Requirement]) -> None:
    """Refuse a recipe without a k-anonymity requirement, or with a requirement that classes cannot promise."""
    others = [str(requirement) for requirement in requirements if type(requirement) is not KAnonymity]
    if others or not requirements:
        raise RecipeError(
            "privacy",
            "centroids take k from a k-anonymity requirement and promise nothing else",
            given=", ".join(others) or "no requirement",
            remedy="ask for {k_anonymity: 10, on: [age, sex]}, or use top_down",
        )
    schema.require({name for requirement in requirements for name in requirement.on}, "k-anonymity")


def _names(table: Table, requirements: Sequence[Requirement]) -> list[str]:
    union = {name for requirement in requirements for name in requirement.on}
    return [name for name in table.schema if name in union]


def _numbers(table: Table, names: list[str], settings: CentroidMasker) -> list[str]:
    """The numbers by which rows are told apart when they miss them."""
    return _all_numbers(table, names) if settings.missing == "class" else []


def _all_numbers(table: Table, names: list[str]) -> list[str]:
    return [name for name in names if isinstance(table.schema[name], Number)]


def _imputed(table: Table, name: str, data: Coded, settings: CentroidMasker) -> Coded:
    """The data with the mean in place of missing numbers, where that is asked for."""
    if settings.missing == "class" or not isinstance(table.schema[name], Number) or not data.missing.any():
        return data
    if data.missing.all():
        return data
    mean = float(np.average(np.asarray(data.values, dtype=np.float64), weights=data.counts[:-1]))
    return Coded(data.codes, [*data.values, mean])


def _mask(
    table: Table, centres: Mapping[str, Coded], merged: Ints, classes: Ints, settings: CentroidMasker
) -> Centroids:
    first = np.unique(merged, return_index=True)[1]
    attributes = {name: _shown(table, name, data.taken(first), settings) for name, data in centres.items()}
    return Centroids(attributes, tuple(np.bincount(merged[classes]).tolist()), settings.missing)


def _shown(table: Table, name: str, data: Coded, settings: CentroidMasker) -> Shown:
    attribute = table.schema[name]
    unit = attribute.calendar if isinstance(attribute, Number) else None
    kind: Kind = "number"
    if isinstance(attribute, Category):
        kind = "category"
    elif isinstance(attribute, ItemSet):
        kind = "items"
    elif unit is not None:
        kind = "date"
    elif settings.whole and is_whole(table, name):
        kind = "whole"
    separator = attribute.separator if isinstance(attribute, ItemSet) else None
    return Shown(kind, tuple(data.rows()), unit, separator)


def _share(points: Points, classes: Ints) -> float:
    """SSE / SST in the space in which classes were formed."""
    whole = loss(points.vectors, np.zeros_like(classes))
    return loss(points.vectors, classes) / whole if whole else 0.0


def _one_of(name: str, given: Any, known: tuple[str, ...]) -> None:
    if given not in known:
        raise RecipeError(
            name, "it is one of " + ", ".join(known), given=repr(given), remedy=did_you_mean(str(given), known)
        )


def largest_shares(columns: Mapping[str, Coded], classes: Ints, numbers: Sequence[str]) -> dict[str, float]:
    """By number: the largest part that one record has in the sum of its class, over all classes.

    A mean times k is a sum: near 1 it tells the one record that makes it up, and whoever knows all members
    but one can always work out the last. k-anonymity bounds who can be linked to a row, not that.

    >>> largest_shares({"gain": Coded.of([0.0, 9.0, 1.0, 5.0, 5.0])}, np.array([0, 0, 0, 1, 1]), ["gain"])
    {'gain': 0.9}
    """
    found = {}
    for name in numbers:
        checkpoint()
        sizes = np.abs(columns[name].numbers())
        totals = np.bincount(classes, weights=sizes)[classes]
        found[name] = float(np.divide(sizes, totals, out=np.zeros_like(sizes), where=totals > 0).max())
    return found
