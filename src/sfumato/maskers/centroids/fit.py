"""Fitting: the four ways to make classes, and one way from classes to a mask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Protocol, get_args

import numpy as np

from sfumato.data.groups import group_numbers
from sfumato.data.schema import Category, ItemSet, Number, Schema
from sfumato.data.table import Table
from sfumato.errors import Infeasible, RecipeError, did_you_mean
from sfumato.maskers.centroids.centres import Categories, shown
from sfumato.maskers.centroids.coded import Coded, coded, is_whole
from sfumato.maskers.centroids.linkage import Link, linkage
from sfumato.maskers.centroids.mask import Centroids, Kind, Missing, Shown, patterns
from sfumato.maskers.centroids.mdav import mdav
from sfumato.maskers.centroids.microaggregation import bisection, microaggregate
from sfumato.maskers.centroids.points import Ints, Partition, Points, loss
from sfumato.maskers.centroids.space import Scale, Space
from sfumato.maskers.centroids.telling import largest_shares
from sfumato.maskers.centroids.wfcmeans import Weighted, wf_c_means
from sfumato.maskers.limits import SEED, within
from sfumato.maskers.masker import Outcome, Task, only_k_anonymity
from sfumato.privacy.requirements import KAnonymity, Requirement, without_covered


class Settings(Protocol):
    """What all centroid maskers are told.

    `categories`: a class shows the lowest label that is true of all its members ("ancestor"), or the label
    that most of them have ("mode"). `missing`: numbers are missing in a whole class or in none of it
    ("class"), or stand at the mean of the others ("impute"). `scale`: attributes count alike ("deviation"),
    or as their values are ("none"). `whole`: means of whole numbers are rounded to whole numbers.
    """

    @property
    def categories(self) -> Categories:
        """What a class shows of labels."""

    @property
    def missing(self) -> Missing:
        """What is done to missing numbers."""

    @property
    def scale(self) -> Scale:
        """What attributes count."""

    @property
    def whole(self) -> bool:
        """Whether means of whole numbers are rounded."""


@dataclass(frozen=True, kw_only=True)
class Microaggregate:
    """Size-constrained c-means with local search: our best. `Settings` tells the shared settings.

    `fast`: bisection along principal axes alone, several times quicker and with more loss.

    >>> Microaggregate().fast
    False
    """

    guarantee: ClassVar[str] = "k_anonymity"

    fast: bool = False
    categories: Categories = "ancestor"
    missing: Missing = "class"
    scale: Scale = "deviation"
    whole: bool = True

    def __post_init__(self) -> None:
        _check_settings(self)

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Classes need a k."""
        check_k(schema, requirements)

    def mask(self, task: Task) -> Outcome:
        """Form classes and show their centres."""
        return fit(task, self, bisection if self.fast else microaggregate)

    @staticmethod
    def read_mask(files: Mapping[str, Any]) -> Centroids:
        """The mask of a written release."""
        return Centroids.from_json(files["centroids.json"])


@dataclass(frozen=True, kw_only=True)
class MDAV:
    """The field's standard, for comparison: time grows with the square of the rows. `Settings` tells the rest."""

    guarantee: ClassVar[str] = "k_anonymity"

    categories: Categories = "ancestor"
    missing: Missing = "class"
    scale: Scale = "deviation"
    whole: bool = True

    def __post_init__(self) -> None:
        _check_settings(self)

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Classes need a k."""
        check_k(schema, requirements)

    def mask(self, task: Task) -> Outcome:
        """Form classes and show their centres."""
        return fit(task, self, mdav)

    @staticmethod
    def read_mask(files: Mapping[str, Any]) -> Centroids:
        """The mask of a written release."""
        return Centroids.from_json(files["centroids.json"])


@dataclass(frozen=True)
class Linkage:
    """Single, complete or average link (001 section 3), for comparison. `Settings` tells the rest."""

    guarantee: ClassVar[str] = "k_anonymity"

    link: Link = "average"
    categories: Categories = field(default="ancestor", kw_only=True)
    missing: Missing = field(default="class", kw_only=True)
    scale: Scale = field(default="deviation", kw_only=True)
    whole: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        _one_of("link", self.link, get_args(Link))
        _check_settings(self)

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Classes need a k."""
        check_k(schema, requirements)

    def mask(self, task: Task) -> Outcome:
        """Form classes and show their centres."""
        return fit(task, self, partial(linkage, link=self.link))

    @staticmethod
    def read_mask(files: Mapping[str, Any]) -> Centroids:
        """The mask of a written release."""
        return Centroids.from_json(files["centroids.json"])


@dataclass(frozen=True, kw_only=True)
class WFCMeans:
    """WF-C-means (001). It begins with records drawn by `seed`. `Settings` tells the rest."""

    guarantee: ClassVar[str] = "k_anonymity"

    seed: int = 0
    categories: Categories = "ancestor"
    missing: Missing = "class"
    scale: Scale = "deviation"
    whole: bool = True

    def __post_init__(self) -> None:
        within("seed", self.seed, 0, SEED, whole=True)
        _check_settings(self)

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Classes need a k."""
        check_k(schema, requirements)

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
        return Outcome(outcome.mask, outcome.columns, outcome.masked, outcome.covered, history=history)

    @staticmethod
    def read_mask(files: Mapping[str, Any]) -> Centroids:
        """The mask of a written release."""
        return Centroids.from_json(files["centroids.json"])


def fit(task: Task, settings: Settings, partition: Partition) -> Outcome:
    """Form classes on the union of the quasi-identifiers with the largest k, and show each as its centre."""
    table, k = task.table, max(need.k for need in only_k_anonymity("centroids", task.requirements))
    if k > table.rows:
        raise Infeasible(f"{k}-anonymity", "a class has at least k records", given=f"a table of {table.rows} rows",
                         remedy=f"ask for k of at most {table.rows}")  # fmt: skip
    names = _names(table, task.requirements)
    columns = {name: coded(table, name) for name in names}
    points = Space.of(table.schema, columns, scale=settings.scale).place(columns)
    classes = form(points, columns, _numbers(table, names, settings), k, partition)
    centres = {
        name: shown(table.schema[name], _imputed(table, name, data, settings), classes,
                    categories=settings.categories, whole=settings.whole and is_whole(table, name), k=k)
        for name, data in columns.items()
    }  # fmt: skip
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
    return Outcome(mask, mask.columns(table, merged[classes]), dict.fromkeys(names, "centroid"),
                   without_covered(task.requirements).covered, history=history)  # fmt: skip


def form(points: Points, columns: Mapping[str, Coded], numbers: list[str], k: int, partition: Partition) -> Ints:
    """(rows,): classes, each among rows that miss the same of these numbers."""
    rows = len(points.vectors)
    found, made = np.empty(rows, dtype=np.int64), 0
    for pattern, members in patterns(columns, numbers, rows).items():
        if len(members) < k:
            gone = [name for name, missing in zip(numbers, pattern, strict=True) if missing]
            raise Infeasible(f"{k}-anonymity", "at least k records miss the same numbers, or none",
                             given=f"fewer than k records that miss {', '.join(gone) or 'no number'}",
                             remedy="say missing='impute', or drop rows that miss one of them")  # fmt: skip
        labels = partition(points.only(members), k)
        found[members] = labels + made
        made += int(labels.max()) + 1
    return found


def check_k(schema: Schema, requirements: Sequence[Requirement]) -> None:
    """Refuse a recipe without a k-anonymity requirement, or with a requirement that classes cannot promise."""
    others = [str(requirement) for requirement in requirements if type(requirement) is not KAnonymity]
    if others or not requirements:
        raise RecipeError("privacy", "centroids take k from a k-anonymity requirement and promise nothing else",
                          given=", ".join(others) or "no requirement",
                          remedy="ask for {k_anonymity: 10, on: [age, sex]}, or use top_down")  # fmt: skip
    schema.require({name for requirement in requirements for name in requirement.on}, "k-anonymity")


def _names(table: Table, requirements: Sequence[Requirement]) -> list[str]:
    union = {name for requirement in requirements for name in requirement.on}
    return [name for name in table.schema if name in union]


def _numbers(table: Table, names: list[str], settings: Settings) -> list[str]:
    """The numbers by which rows are told apart when they miss them."""
    return _all_numbers(table, names) if settings.missing == "class" else []


def _all_numbers(table: Table, names: list[str]) -> list[str]:
    return [name for name in names if isinstance(table.schema[name], Number)]


def _imputed(table: Table, name: str, data: Coded, settings: Settings) -> Coded:
    """The data with the mean in place of missing numbers, where that is asked for."""
    if settings.missing == "class" or not isinstance(table.schema[name], Number) or not data.missing.any():
        return data
    if data.missing.all():
        return data
    mean = float(np.average(np.asarray(data.values, dtype=np.float64), weights=data.counts[:-1]))
    return Coded(data.codes, [*data.values, mean])


def _mask(table: Table, centres: Mapping[str, Coded], merged: Ints, classes: Ints, settings: Settings) -> Centroids:
    first = np.unique(merged, return_index=True)[1]
    attributes = {name: _shown(table, name, data.taken(first), settings) for name, data in centres.items()}
    return Centroids(attributes, tuple(np.bincount(merged[classes]).tolist()), settings.missing)


def _shown(table: Table, name: str, data: Coded, settings: Settings) -> Shown:
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


def _check_settings(settings: Settings) -> None:
    _one_of("categories", settings.categories, get_args(Categories))
    _one_of("missing", settings.missing, get_args(Missing))
    _one_of("scale", settings.scale, get_args(Scale))


def _one_of(name: str, given: Any, known: tuple[str, ...]) -> None:
    if given not in known:
        raise RecipeError(name, "it is one of " + ", ".join(known), given=repr(given),
                          remedy=did_you_mean(str(given), known))  # fmt: skip
