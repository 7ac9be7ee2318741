"""Fitting: from a table, its labels and the requirements to a recoding, by one search or the best of several.

PAPERS.md, 002-17: one tiny group blocks a whole refinement, and no single score gets around it on every table. The
search is fast, so it can be run several ways, to keep what preserves the structure best.

Lifting, ours and off by default, shows a few records at the top of every attribute, so that a tiny group blocks nobody
else. What is lifted is a group of its own: it numbers at least the largest k, or nobody. Lifting a record takes it
out of its groups under every requirement, so whatever falls below its threshold by that is lifted too, until nothing
falls.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints, Marks
from sfumato.counting import Engine, Records
from sfumato.data.detail import Detail
from sfumato.data.grouping import group_numbers
from sfumato.data.masked import Masked
from sfumato.data.table import Table
from sfumato.events import checkpoint, enough, watched
from sfumato.maskers.detail.refusal import Unkept
from sfumato.maskers.masker import Fixed, Labels, Task, only_k_anonymity
from sfumato.maskers.recoding.recoding import Recoding
from sfumato.maskers.topdown.candidates import Candidate
from sfumato.maskers.topdown.growers import names, rule
from sfumato.maskers.topdown.problem import Problem, make_problem
from sfumato.maskers.topdown.refinement import History, Refinement, Round
from sfumato.maskers.topdown.scores import AUTO, chosen_score, score_named
from sfumato.maskers.topdown.search import Limits, Rules, Search
from sfumato.maskers.topdown.wished import rounds, wished_state
from sfumato.privacy.requirements import Demands, Requirement, basic, without_covered


@dataclass(frozen=True, eq=False)
class Lifted:
    """A search that went on after lifting, which records were lifted, and why it ended."""

    search: Search
    rows: Marks
    stopped: str


def lift(problem: Problem, search: Search, limits: Limits, *, budget: int) -> Lifted:
    """Lift what stands in the way of the blocked refinement that gains most, go on refining, and repeat."""
    only_k_anonymity("lifting", problem.requirements, remedy="leave suppress out")
    lifted: Marks = np.zeros(problem.records.rows, dtype=bool)
    stopped = "maximal"
    while stopped == "maximal":
        way = _best_way(problem, search, lifted, budget)
        if way is None:
            break
        lifted = way.rows
        search = _resume(problem, search, way)
        stopped = search.run(limits)
    return Lifted(search, lifted, stopped)


@dataclass(frozen=True, eq=False)
class _Way:
    candidate: Candidate
    rows: Marks


def _best_way(problem: Problem, search: Search, lifted: Marks, budget: int) -> _Way | None:
    """The blocked refinement with the most bits to gain whose obstacles fit into the budget."""
    values = _values_now(problem.records, search.steps)
    groups = [_group_numbers(problem, requirement.on, values) for requirement in problem.requirements]
    blocked = [c for c in search.dropped if _still_there(values[c.refinement.attribute], c.refinement)]
    for candidate in sorted(blocked, key=lambda c: -c.gain * c.held):
        checkpoint()
        if candidate.gain == 0:
            return None
        rows = _obstacles(problem, candidate.refinement, groups, lifted, budget)
        if rows is not None:
            return _Way(candidate, rows)
    return None


def _resume(problem: Problem, search: Search, way: _Way) -> Search:
    """The same search without the lifted records, with the blocked refinement carried out."""
    step = way.candidate.refinement
    fresh = problem.open(way.rows)
    told = names(problem.axes[step.attribute], step)
    last = search.rounds[-1].anonymity if search.rounds else ()
    why = Round(
        problem.axes[step.attribute].name,
        told.value,
        told.children,
        score=0.0,
        gain=way.candidate.gain,
        loss=0.0,
        anonymity=last,
        lifted=int(way.rows.sum()),
    )
    fresh.replay([*search.steps, step], [*search.rounds, why])
    return fresh


def _values_now(records: Records, steps: list[Refinement]) -> list[Ints]:
    values = [np.zeros(size, dtype=np.int64) for size in records.sizes]
    for step in steps:
        for (first, end), child in zip(step.parts, step.children, strict=False):
            values[step.attribute][first:end] = child
    return values


def _still_there(values: Ints, step: Refinement) -> bool:
    return bool((values[step.parts[0][0] : step.parts[-1][1]] == step.value).all())


def _group_numbers(problem: Problem, on: tuple[str, ...], values: list[Ints]) -> Ints:
    """(rows,): the group of each record."""
    held = (values[at][problem.records.positions[at]] for at, axis in enumerate(problem.axes) if axis.name in on)
    return group_numbers(held, problem.records.rows)


def _obstacles(problem: Problem, step: Refinement, groups: list[Ints], lifted: Marks, budget: int) -> Marks | None:
    """All records to lift, those lifted before included; None if they are too many."""
    child_at = np.full(problem.records.sizes[step.attribute], len(step.parts), dtype=np.int64)
    for child, (first, end) in enumerate(step.parts):
        child_at[first:end] = child
    children = child_at[problem.records.positions[step.attribute]]
    name = problem.axes[step.attribute].name
    split = [
        g * (len(step.parts) + 1) + children if name in r.on else g
        for g, r in zip(groups, problem.requirements, strict=True)
    ]
    rows = lifted.copy()
    while True:
        checkpoint()
        sizes = [np.bincount(g[~rows], minlength=int(g.max()) + 1)[g] for g in split]
        small = np.zeros_like(rows)
        for size, requirement in zip(sizes, problem.requirements, strict=True):
            small |= (size < requirement.threshold) & ~rows
        if not small.any():
            return _padded(problem, split, rows, budget)
        rows |= small
        if int(rows.sum()) > budget:
            return None


def _padded(problem: Problem, groups: list[Ints], rows: Marks, budget: int) -> Marks | None:
    """At least the largest k records, or nobody: the rest comes from groups that can spare some."""
    wanted = max(int(requirement.threshold) for requirement in problem.requirements) - int(rows.sum())
    if not rows.any() or wanted <= 0:
        return rows
    if int(rows.sum()) + wanted > budget:
        return None
    sizes = [np.bincount(g[~rows], minlength=int(g.max()) + 1) for g in groups]
    spare = np.min(
        [s[g] - int(r.threshold) for s, g, r in zip(sizes, groups, problem.requirements, strict=True)], axis=0
    )
    spare[rows] = 0
    found = rows.copy()
    for row in np.argsort(-spare, kind="stable"):
        if wanted == 0:
            return found
        if spare[row] <= 0:
            return None
        if all(s[g[row]] > r.threshold for s, g, r in zip(sizes, groups, problem.requirements, strict=True)):
            found[row] = True
            wanted -= 1
            for s, g in zip(sizes, groups, strict=True):
                s[g[row]] -= 1
    return found if wanted == 0 else None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How to search. `TopDown` tells what each setting is."""

    score: str = AUTO
    search: Literal["greedy", "portfolio"] = "greedy"
    split: Literal["best", "best_valid"] = "best"
    beneficial_only: bool = False
    max_steps: int | None = None
    seconds: float | None = None
    suppress: float = 0.0
    last: tuple[str, ...] = ()
    trees: bool = False


@dataclass(frozen=True, eq=False)
class Fitted:
    """What the search learned. `lifted` (rows,) marks records shown at the top of every attribute."""

    recoding: Recoding
    history: History
    demands: Demands
    lifted: NDArray[np.bool_]

    def masked(self, table: Table) -> Masked:
        """What the table shows that it was learned from."""
        return self.recoding.apply(table, lifted=self.lifted if self.recoding.lifted else None)


def fit_task(task: Task, settings: Settings, *, many: Mapping[str, int] | None = None) -> Fitted:
    """One search for a task."""
    return fit(
        task.table,
        task.labels,
        task.requirements,
        settings=settings,
        engine=task.engine,
        fixed=task.fixed,
        many=many,
        detail=task.detail,
    )


def keeps_detail(task: Task) -> bool:
    """Whether the wishes of a task can be kept."""
    rules = _rules(Settings(), without_covered(task.requirements), task.labels, detail=task.detail)
    try:
        problem = make_problem(task.table, task.labels, rules, task.engine, fixed=task.fixed or {})
        wished_state(problem, task.table.schema)
    except Unkept:
        return False
    return True


def _rules(
    settings: Settings,
    demands: Demands,
    labels: Labels,
    many: Mapping[str, int] | None = None,
    detail: Detail | None = None,
) -> Rules:
    """How to search. Attributes that are fine enough, as their wish is kept, wait until no other can be refined."""
    return Rules(
        requirements=basic(demands.kept),
        score=score_named(chosen_score(settings.score, demands.kept, labels)),
        best_valid=settings.split == "best_valid",
        beneficial_only=settings.beneficial_only,
        last=(*settings.last, *(detail or ())),
        many=many or {},
        detail=detail or {},
    )


def fit(
    table: Table,
    labels: Labels,
    requirements: Sequence[Requirement],
    *,
    settings: Settings,
    engine: Engine,
    fixed: Fixed | None = None,
    many: Mapping[str, int] | None = None,
    detail: Detail | None = None,
) -> Fitted:
    """Refine from the top until no refinement is left that keeps every requirement.

    `fixed`: the groups of earlier releases of the same rows, with which every requirement must hold together.
    `many`: by attribute, how many records share a number on which an interval may end; else what is required.
    `detail`: wishes that are kept first, whatever the limits of the search are.
    """
    demands = without_covered(requirements)
    problem = make_problem(table, labels, _rules(settings, demands, labels, many, detail), engine, fixed=fixed or {})
    limits = Limits(settings.max_steps, settings.seconds)
    search = problem.open(None)
    if detail:
        state = wished_state(problem, table.schema)
        search.replay(state.steps, rounds(problem, state), given=True)
    stopped = search.run(limits)
    lifted = np.zeros(table.rows, dtype=bool)
    if settings.suppress and not fixed and stopped == "maximal":
        more = lift(problem, search, limits, budget=int(settings.suppress * table.rows))
        search, lifted, stopped = more.search, more.rows, more.stopped
    both = zip(problem.axes, search.growers, strict=True)
    shown = {axis.name: rule(axis, grower, trees=settings.trees) for axis, grower in both}
    return Fitted(Recoding(shown, bool(lifted.any())), search.history(stopped), demands, lifted)


TRIED_SCORES = ("tradeoff", "total_gain", "infogain")
TRIED_SPLITS: tuple[Literal["best", "best_valid"], ...] = ("best", "best_valid")


def variants(settings: Settings) -> Iterator[Settings]:
    """Ways to search: the settings themselves first, so that the result is never worse than theirs.

    Records are lifted only if the settings allow it, by up to their share.

    >>> [(v.score, v.split, v.suppress) for v in variants(Settings(score="infogain", search="portfolio"))][:3]
    [('infogain', 'best', 0.0), ('tradeoff', 'best', 0.0), ('total_gain', 'best', 0.0)]
    """
    first = replace(settings, search="greedy", seconds=None)
    yield first
    shares = (0.0, settings.suppress) if settings.suppress else (0.0,)
    for split, share, score in product(TRIED_SPLITS, shares, TRIED_SCORES):
        other = replace(first, score=score, split=split, suppress=share)
        if other != first:
            yield other


def best_of(task: Task, settings: Settings) -> Fitted:
    """The variant whose masked table keeps the structure best, of those tried within the time; the first on a tie."""
    began = time.monotonic()
    kept = without_covered(task.requirements).kept
    settings = replace(settings, score=chosen_score(settings.score, kept, task.labels))
    best: tuple[float, Fitted] | None = None
    for variant in watched(list(variants(settings))):
        if best is not None and (enough() or _late(settings, began)):
            break
        fitted = fit_task(task, variant)
        masked = fitted.masked(task.table)
        worth = purity(masked, task.labels) if task.objective is None else task.objective(masked)
        if best is None or worth > best[0]:
            best = (worth, fitted)
    if best is None:
        raise AssertionError("the settings themselves are always tried")
    return best[1]


def _late(settings: Settings, began: float) -> bool:
    return settings.seconds is not None and time.monotonic() - began >= settings.seconds


def purity(masked: Masked, labels: Labels) -> float:
    """The share of records whose class is the most frequent one among the records masked alike."""
    groups = masked.groups(tuple(masked))
    held = np.bincount(groups * labels.n + labels.classes, minlength=(int(groups.max()) + 1) * labels.n)
    return float(held.reshape(-1, labels.n).max(axis=1).sum() / len(labels.classes))
