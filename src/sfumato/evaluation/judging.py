"""Judging a masked table before it is released: what survived, what it costs, and what may go along."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from sfumato.data.groups import group_sizes
from sfumato.data.schema import ItemSet
from sfumato.data.table import Table
from sfumato.evaluation.classes import class_codes, judge_classes
from sfumato.evaluation.loss import average_class_size, certainty_penalty, discernibility
from sfumato.evaluation.parts import split
from sfumato.evaluation.report import Evaluation, evaluate_clusters
from sfumato.evaluation.risk import risks
from sfumato.evaluation.scores import Score, scores_to_json
from sfumato.maskers.masker import Columns, Task
from sfumato.maskers.topdown.fit import TopDown
from sfumato.privacy.requirements import largest_k
from sfumato.structure.released import ReleasedValues, Shown, shows_labels
from sfumato.structure.space import Space, release_space
from sfumato.structure.structures import Classes, Clusters, Found, Structure

HEADLINE = {
    "f_measure.nearest": "F-measure of raw records at the centres found in the generated table",
    "match_point.nearest": "match point, likewise",
    "f_measure.parts": "F-measure of raw records with the cluster of their part",
    "cost_ratio": "k-means cost of those centres over that of the raw ones (1 is best)",
    "f_measure.ceiling": "  the ceiling: raw data clustered with another seed",
    "f_measure.no_data": "  the floor: no data at all, only the declared domains",
    "f_measure.start": "F-measure of the clusters found from the raw clusters' centres",
    "match_point.start": "match point, likewise",
    "agreement": "agreement: records whose nearest raw centre is unchanged",
    "f_measure.cold.mean": "F-measure of clusters found without the centres, on average",
    "f_measure.ceiling.mean": "  the ceiling: raw data clustered with another seed",
    "distortion.f_measure.start": "  masking blind to clusters, from its centres",
    "distortion.agreement": "  agreement of masking blind to clusters",
    "f_measure.floor.top": "  the floor: every masked attribute at its top",
    "f_measure.floor.random": "  the floor: random labels",
    "masked_error": "error of a tree learned from the masked table (AE), on rows held out",
    "baseline_error": "  learned from the raw table (BE)",
    "removed_error": "  learned without the masked attributes (UE)",
    "certainty_penalty": "information lost (NCP: 0 nothing, 1 everything)",
    "prosecutor.highest": "risk: the chance to pick out the most exposed record",
    "marketer": "risk: the share of records matched on average",
    "prosecutor.highest.union": "  if all quasi-identifiers are known at once (nothing is claimed of that)",
}
BLIND = "distortion"
SMALLEST, LARGEST = 100, 200_000
"""Rows between which classes are judged by a tree: fewer tell nothing, more take long (sfumato.evaluation.classes)."""


@dataclass(frozen=True, eq=False)
class Judged:
    """What was measured: `scores` for the holder's eyes; `released` and `space` are aggregates that may go along.

    `again` (rows,): the clusters found again in the masked table, for the holder's eyes; None for classes.
    """

    scores: Mapping[str, Any]
    released: ReleasedValues
    space: Space | None
    again: NDArray[Any] | None = None


def judge(
    structure: Structure,
    found: Found,
    task: Task,
    columns: Columns,
    *,
    seeds: int = 2,
    moved: bool = False,
    written: Columns | None = None,
) -> Judged:
    """Measure a masked table against the raw one, beside ceiling, floors and masking that is blind to structure.

    `moved`: the masked records stand elsewhere in space as a whole, so that raw centres mean nothing to them.
    `written`: the released columns, in any order of rows, where `columns` only approach them: a centre that is nearest
    to a record need not be the one that it was shown with. Groups are counted there.
    """
    released = ReleasedValues.learn(task.table, columns, minimum=largest_k(task.requirements))
    scores = [*_losses(task, columns, columns if written is None else written)]
    form: dict[str, Any] = {}
    space, again = None, None
    if isinstance(structure, Classes) and SMALLEST <= task.table.rows <= LARGEST:
        parts = split(class_codes(task.table, structure.column))
        scores = [*judge_classes(task.table, columns, structure.column, parts=parts).scores(), *scores]
    if isinstance(structure, Clusters) and found.embedding is not None:
        kept = _clusters(structure, found, task, columns, released=released, seeds=seeds)
        scores, again = [*kept.scores, *scores], kept.again
        form = {"clusters": [row.to_json() for row in kept.kept], "settings": dict(kept.settings)}
        space = release_space(found.embedding, task.table, columns, released=released, labels=found.labels, n=found.n,
                              minimum=max(largest_k(task.requirements).values(), default=1))  # fmt: skip
    return Judged({"headline": headline(scores), "scores": scores_to_json(scores), **form}, released, space, again)


def _clusters(
    structure: Clusters, found: Found, task: Task, columns: Columns, *, released: ReleasedValues, seeds: int
) -> Evaluation:
    others = {BLIND: TopDown(score=BLIND).mask(task).columns} if _can_be_cut(task) else None
    return evaluate_clusters(found, task.table, columns, structure, seeds=seeds, released=released, others=others)


def _can_be_cut(task: Task) -> bool:
    """Whether top-down refinement, blind to the structure, has something to mask and can: it cuts no item sets."""
    names = [name for requirement in task.requirements for name in requirement.on]
    return bool(names) and not any(isinstance(task.table.schema[name], ItemSet) for name in names)


def _losses(task: Task, columns: Columns, written: Columns) -> Sequence[Score]:
    """Information lost, and the risk that is left for whoever knows one quasi-identifier, the worst of them."""
    codes = {name: Shown.of(written[name]).codes for name in columns}
    sets = [tuple(r.on) for r in task.requirements] or [tuple(codes)]
    asked = [group_sizes([codes[name] for name in names], task.table.rows) for names in sets]
    worst = min(asked, key=lambda sizes: int(sizes.min()))
    k = max(largest_k(task.requirements).values(), default=1)
    labelled = any(shows_labels(column) for column in columns.values())
    penalty = [certainty_penalty(task.table, columns)] if labelled else []
    found = [*penalty, discernibility(worst), average_class_size(worst, k), *risks(worst)]
    if len(asked) > 1:
        every = group_sizes(codes.values(), task.table.rows)
        found += [replace(score, name=f"{score.name}.union") for score in risks(every)]
    return found


def headline(scores: Sequence[Score]) -> list[dict[str, Any]]:
    """The figures to look at first, in a fixed order."""
    found = {score.name: score for score in scores}
    return [
        {"name": name, "says": says, "value": found[name].value} for name, says in HEADLINE.items() if name in found
    ]


def agreement_with(found: Found, table: Table) -> Callable[[Columns], float] | None:
    """A measure of masked columns: the share of records whose nearest raw centre is unchanged; None for classes."""
    embedding, placed, centres = found.embedding, found.placed, found.centres
    if embedding is None or placed is None or centres is None:
        return None
    before = placed.nearest(centres)

    def agreement(masked: Columns) -> float:
        return float((embedding.place_masked(table, masked).nearest(centres) == before).mean())

    return agreement
