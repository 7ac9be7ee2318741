"""Judging a masked table before it is released: what survived, what it costs, and what may go along."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data.masked import Masked
from sfumato.data.schema import ItemSet
from sfumato.data.table import Table
from sfumato.errors import SchemaError
from sfumato.evaluation.certainty import Told, certainty_scores, told
from sfumato.evaluation.columns import column_scores, columns_kept
from sfumato.evaluation.loss import (
    average_class_size,
    certainty_penalty,
    discernibility,
    information_loss,
    nothing_shown,
)
from sfumato.evaluation.moved import moved_scores
from sfumato.evaluation.report import evaluate_clusters
from sfumato.evaluation.risk import risks
from sfumato.evaluation.scores import FOUND_UNMASKED, LARGEST, SMALLEST, Judged, Score, headline, scores_to_json
from sfumato.maskers.masker import Objective, Outcome, Task
from sfumato.privacy.requirements import largest_k
from sfumato.structure.released_groups import Codebook, Kind, learn_codebook
from sfumato.structure.space import Space, release_space
from sfumato.structure.structures import Classes, Clusters, Found, Structure, class_column

BLIND = "distortion"
FLOOR = "f_measure.floor.top"
AS_GOOD = 0.99
"""Where the clusters are found as well as this with every masked column at its top, masking cannot hurt them."""
MANY = 0.05
"""Where in more rows than this nothing at all is shown, that is told."""
LARGE, SAMPLED = 50_000, 20_000
"""Of more rows than the first a publish clusters the masked table again with one seed, and measures how well k-means
finds the raw clusters again on a sample of so many as the second says; `evaluate`, which has the written rows, takes
all of them, and every seed."""


def judge(
    structure: Structure | None,
    found: Found,
    task: Task,
    outcome: Outcome,
    *,
    seeds: int = 2,
    written: Masked | None = None,
    codebook: Kind = "values",
    whole: bool = False,
) -> Judged:
    """Measure a masked table against the raw one, beside ceiling, floors and masking that is blind to structure.

    `written`: the released rows, in any order, where `outcome` only approaches them: a centre that is nearest to a
    record need not be the one that it was shown with. Groups are counted there. `codebook`: what it tells of.
    `whole`: of large tables, too, all records are compared.
    """
    masked = outcome.masked
    if not masked.row_by_row:
        from sfumato.evaluation.generated import judge_generated

        return judge_generated(structure, found, task.table, outcome, whole=whole)
    released = learn_codebook(task.table, masked, kind=codebook, minimum=largest_k(task.requirements))
    losses = _losses(task, masked, masked if written is None else written)
    large = written is None and task.table.rows > LARGE
    case = _Case(found, task, masked, released, 1 if large else seeds, SAMPLED if large else None)
    kept = _Kept() if structure is None else MEASURES[type(structure)](structure, case)
    silent = nothing_shown(task.table, masked)
    columns, certain = columns_kept(task.table, masked), _certain(structure, case, kept.others)
    moved = moved_scores(task.table, outcome)
    scores = [*kept.scores, *losses, *moved, *column_scores(columns), *certainty_scores(certain)]
    form = {
        "headline": headline(scores),
        "scores": scores_to_json(scores),
        "columns": [column.to_json() for column in columns],
        "certain": [one.to_json() for one in certain],
        **({"nothing_shown": silent} if silent >= MANY else {}),
        **kept.form,
    }
    return Judged(form, released, kept.space, kept.again)


@dataclass(frozen=True, eq=False)
class _Case:
    """A masked table beside the raw one."""

    found: Found
    task: Task
    masked: Masked
    released: Codebook
    seeds: int
    most: int | None


@dataclass(frozen=True, eq=False)
class _Kept:
    """What is measured of one kind of structure, what may go along, and other masked tables that were at hand."""

    scores: Sequence[Score] = ()
    form: Mapping[str, Any] = field(default_factory=dict)
    space: Space | None = None
    again: NDArray[Any] | None = None
    others: Mapping[str, Masked] = field(default_factory=dict)


def _certain(structure: Structure | None, case: _Case, others: Mapping[str, Masked]) -> tuple[Told, ...]:
    """What groups tell of the class that guides and of every secret; nothing where no groups are asked for."""
    column, schema = class_column(structure), case.task.table.schema
    if not case.task.requirements:
        return ()
    names = [*([column] if column else []), *schema.with_role("sensitive")]
    found = told(case.task.table, case.masked, names, others=others, requirements=case.task.requirements)
    return tuple(one.bounded(case.task.requirements) for one in found)


def _classes(structure: Classes, case: _Case) -> _Kept:
    table = case.task.table
    if not SMALLEST <= table.rows <= LARGEST:
        return _Kept()
    from sfumato.evaluation.classes import class_codes, judge_classes
    from sfumato.evaluation.training import split

    parts = split(class_codes(table, structure.column))
    return _Kept(judge_classes(table, case.masked, structure.column, parts=parts).scores())


def _clusters(structure: Clusters, case: _Case) -> _Kept:
    found, task = case.found, case.task
    if found.embedding is None:
        return _Kept()
    others = _blind(task)
    kept = evaluate_clusters(
        found,
        task.table,
        case.masked,
        structure,
        seeds=case.seeds,
        released=case.released,
        others=others,
        most=case.most,
    )
    space = release_space(
        found.embedding,
        task.table,
        case.masked,
        released=case.released,
        labels=found.labels,
        n=found.n,
        minimum=max(largest_k(task.requirements).values(), default=1),
    )
    unmasked = [name for name in found.embedding.layouts if name not in case.masked]
    form = {
        **({FOUND_UNMASKED: unmasked} if unmasked and _perfect(FLOOR, kept.scores) else {}),
        "clusters": [row.to_json() for row in kept.kept],
        "clusters_from_start": [row.to_json() for row in kept.kept_from_start],
        "settings": dict(kept.settings),
    }
    return _Kept(kept.scores, form, space, kept.again, others)


def _perfect(name: str, scores: Sequence[Score]) -> bool:
    """Whether a score is as good as perfect; one that was not measured is not."""
    return any(score.name == name and score.value >= AS_GOOD for score in scores)


MEASURES: Mapping[type[Any], Callable[[Any, _Case], _Kept]] = {Clusters: _clusters, Classes: _classes}
"""How each kind of structure is measured. One line each."""


def _blind(task: Task) -> Mapping[str, Masked]:
    """The baseline that is blind to the structure; none where top-down refinement can lay out no column."""
    if not _can_be_cut(task):
        return {}
    from sfumato.maskers.topdown.masker import TopDown

    try:
        return {BLIND: TopDown(score=BLIND).mask(replace(task, detail={})).masked}
    except SchemaError:  # such as one that has a single value: other maskers show it as it is
        return {}


def _can_be_cut(task: Task) -> bool:
    """Whether top-down refinement, blind to the structure, has something to mask and can: it cuts no item sets."""
    names = [name for requirement in task.requirements for name in requirement.on]
    return bool(names) and not any(isinstance(task.table.schema[name], ItemSet) for name in names)


def _losses(task: Task, masked: Masked, written: Masked) -> Sequence[Score]:
    """Information lost, and the risk that is left for whoever knows one quasi-identifier, the worst of them."""
    sets = [tuple(r.on) for r in task.requirements] or [tuple(masked)]
    asked = [written.sizes(names) for names in sets]
    worst = min(asked, key=lambda sizes: int(sizes.min()))
    k = max(largest_k(task.requirements).values(), default=1)
    found = [*_lost(task.table, masked), discernibility(worst), average_class_size(worst, k), *risks(worst)]
    if all({*names} != {*masked} for names in sets):  # else it is one of those asked for
        every = written.sizes(tuple(masked))
        found += [replace(score, name=f"{score.name}.union") for score in risks(every)]
    return found


def _lost(table: Table, masked: Masked) -> list[Score]:
    """What intervals and labels cover; where numbers are shown that are not the record's, how far they are from it."""
    moved = information_loss(table, masked) if masked.of_records else None
    if moved is not None:
        return [moved]
    return [certainty_penalty(table, masked)] if any(column.shows_labels for column in masked.values()) else []


def objective_for(structure: Structure | None, found: Found, table: Table) -> Objective | None:
    """What a masker that tries several ways compares them by: how much of the structure is left."""
    column = class_column(structure)
    if column and SMALLEST <= table.rows <= LARGEST:
        return _told_right(column, table)
    return agreement_with(found, table)


def _told_right(column: str, table: Table) -> Objective:
    """The share of held-out rows whose class a tree tells; none of them is among those that classes are judged by."""

    @cache
    def accuracy() -> Objective:
        from sfumato.evaluation.classes import accuracy_with, class_codes
        from sfumato.evaluation.training import Part, split

        classes = class_codes(table, column)
        train = split(classes)[0].train
        inner = split(classes[train])[0]
        return accuracy_with(table, column, parts=[Part(train[inner.train], train[inner.test])])

    return lambda masked: accuracy()(masked)


def agreement_with(found: Found, table: Table) -> Callable[[Masked], float] | None:
    """A measure of a masked table: the share of records whose nearest raw centre is unchanged; None for classes."""
    embedding, placed, centres = found.embedding, found.placed, found.centres
    if embedding is None or placed is None or centres is None:
        return None

    @cache
    def before() -> Ints:
        return placed.nearest(centres)

    def agreement(masked: Masked) -> float:
        return float((embedding.place_masked(table, masked).nearest(centres) == before()).mean())

    return agreement
