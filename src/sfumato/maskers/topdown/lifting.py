"""Lifting: a few records shown at the top of every attribute, so that a tiny group blocks nobody else.

PAPERS.md, 002-17. Ours, off by default. What is lifted is a group of its own: it numbers at least the largest
k, or nobody. Lifting a record takes it out of its groups under every requirement, so whatever falls below its
threshold by that is lifted too, until nothing falls.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.counting import Records, Refinement
from sfumato.data.groups import group_numbers
from sfumato.maskers.masker import only_k_anonymity
from sfumato.maskers.topdown.candidates import Candidate
from sfumato.maskers.topdown.history import Round
from sfumato.maskers.topdown.naming import names
from sfumato.maskers.topdown.problem import Problem
from sfumato.maskers.topdown.search import Limits, Search

Ints = NDArray[np.int64]
Marks = NDArray[np.bool_]


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
    why = Round(problem.axes[step.attribute].name, told.value, told.children, score=0.0,
                gain=way.candidate.gain, loss=0.0, anonymity=last, lifted=int(way.rows.sum()))  # fmt: skip
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
