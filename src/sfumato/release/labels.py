"""Labels that go along: the column itself, the figures that a certificate tells of it, and the score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.masked import Masked
from sfumato.data.table import Column, Table, narrow
from sfumato.errors import ReleaseError
from sfumato.evaluation.clusters import contingency, f_measure_of, match_point_of
from sfumato.privacy.verify.texts import labels as words
from sfumato.recipe import Recipe
from sfumato.recipe.labels import Asked, label_column
from sfumato.recipe.parts import LabelRole
from sfumato.structure.space import Space
from sfumato.structure.structures import NOISE_NAME, Found, clusters_of

NOBODY = -1
DIGITS = 6


@dataclass(frozen=True)
class ClusterLabels:
    """The column of labels, how its clusters are written in it, and whether a score is told."""

    column: str
    texts: tuple[str, ...]
    score: bool


@dataclass(frozen=True, eq=False)
class Labelled:
    """A table and its recipe with the labels as one more column."""

    labels: ClusterLabels
    recipe: Recipe
    people: Table


def with_labels(recipe: Recipe, people: Table, found: Found) -> Labelled | None:
    """The table with the cluster of each record, if the recipe releases it; clusters are numbered from 0 by size."""
    role = recipe.release.label_role
    if role is None or found.embedding is None:
        return None
    name = label_column(recipe.schema)
    texts = tuple(one if one == NOISE_NAME else str(at) for at, one in enumerate(found.names))
    more = _labelled(recipe, role, tuple(found.embedding.attributes))
    column = _column(found.labels, texts)
    table = replace(people, schema=more.schema, columns={**people.columns, name: column})
    return Labelled(ClusterLabels(name, texts, recipe.release.score), more, table)


def _labelled(recipe: Recipe, role: LabelRole, attributes: tuple[str, ...]) -> Recipe:
    """The recipe of the table with its labels; clusters are still found by the other attributes."""
    more = Asked(recipe.schema, recipe.structure, recipe.privacy, recipe.mask).labelled(role)
    clusters = clusters_of(recipe.structure)
    return replace(
        recipe,
        schema=more.schema,
        privacy=more.privacy,
        structure=None if clusters is None else replace(clusters, attributes=attributes),
        release=replace(recipe.release, labels=False, score=False),
    )


def _column(labels: NDArray[Any], texts: Sequence[str]) -> Column:
    """Values stand in the order of their letters, as in every raw column."""
    order = np.argsort(np.array(texts))
    places = np.empty(len(texts), dtype=np.int64)
    places[order] = np.arange(len(texts))
    return Column(narrow(places[labels], len(texts)), pa.array([texts[at] for at in order]))


def told_of(labels: ClusterLabels, masked: Masked, on: Sequence[Sequence[str]], space: Space | None) -> dict[str, Any]:
    """What a certificate tells of the labels, and of the score if one is released. `on`: the columns of each claim."""
    of_row = _shown(labels, masked)
    sizes = [masked.sizes((*dict.fromkeys((*some, labels.column)),)) for some in on]
    there = of_row != NOBODY
    told: dict[str, Any] = {
        "column": labels.column,
        "clusters": len(labels.texts),
        "alike": min(int(found.min()) for found in sizes),
        "alone": max(int((found == 1).sum()) for found in sizes),
        "shown": int(there.sum()),
    }
    nearest = None if space is None or not there.any() else space.nearest(masked)[there]
    if nearest is not None:
        told["agreement"] = round(float((nearest == of_row[there]).mean()), DIGITS)
    found = {words.LABELS: {**told, "sentence": words.sentence(told), "warning": words.warning(told)}}
    return found | (_score(of_row[there], nearest) if labels.score else {})


def _score(of_row: NDArray[np.int64], nearest: NDArray[np.int64] | None) -> dict[str, Any]:
    if nearest is None:
        raise ReleaseError(
            "release: score",
            "it compares labels with the clusters that recipients find from released centres",
            given="centres that stay with the holder, or no record that shows its label",
            remedy="leave score out; publish says why centres stay",
        )
    shared = contingency(of_row, nearest)
    figures = {"f_measure": round(f_measure_of(shared), DIGITS), "match_point": round(match_point_of(shared), DIGITS)}
    return {words.SCORE: {**figures, "sentence": words.score_sentence(figures), "warning": words.SCORE_WARNING}}


def _shown(labels: ClusterLabels, masked: Masked) -> NDArray[np.int64]:
    """(rows,): the number of the cluster that each row shows; nobody's where it shows several or none."""
    column = masked.shown(labels.column)
    number = {text: at for at, text in enumerate(labels.texts)}
    return np.array([*(number.get(text, NOBODY) for text in column.labels), NOBODY])[column.keys]


def in_order(space: Space, labels: Found, masked: Masked) -> Space:
    """The same with its centres in the order of the clusters, each matched with the one that shares most records."""
    from scipy.optimize import linear_sum_assignment

    nearest = space.place(masked).nearest(space.start())
    size = len(space.centres)
    shared = np.bincount(labels.labels.astype(np.int64) * size + nearest, minlength=labels.n * size).reshape(-1, size)
    _, chosen = linear_sum_assignment(shared, maximize=True)
    return replace(space, centres=tuple(space.centres[at] for at in chosen))
