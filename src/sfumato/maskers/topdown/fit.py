"""Fitting: from a table, its labels and the requirements to a recoding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.counting import Engine
from sfumato.data.schema import ItemSet, Schema
from sfumato.data.table import Table
from sfumato.errors import RecipeError
from sfumato.maskers.limits import DAY, within
from sfumato.maskers.masker import Fixed, Labels, Outcome, Task, only_k_anonymity
from sfumato.maskers.topdown.history import History, history_to_json
from sfumato.maskers.topdown.lifting import lift
from sfumato.maskers.topdown.naming import rule
from sfumato.maskers.topdown.problem import make_problem
from sfumato.maskers.topdown.recoding import Recoding
from sfumato.maskers.topdown.scores import score_named
from sfumato.maskers.topdown.search import Limits, Rules
from sfumato.privacy.requirements import Demands, Requirement, basic, without_covered


@dataclass(frozen=True, kw_only=True)
class TopDown:
    """Top-down refinement, the default masker.

    `score`: what a refinement is worth (tradeoff, infogain, distortion, total_gain). `split`: an interval is
    split at the best boundary or not at all ("best", the papers), or at the best boundary that keeps the
    requirements ("best_valid"). `beneficial_only`: refine only where more than one class is left (002).
    `search`: "greedy" takes the best refinement each time (the papers); "portfolio" runs greedy under several scores,
    splits and shares of lifted records within `seconds`, and keeps what preserves the structure best.
    `max_steps`, `seconds`: stop early. `suppress`: lift up to this share of the records to the top of every
    attribute where that lets all others be shown better. `last`: attributes that wait until no other can be refined.

    >>> TopDown(score="infogain").split
    'best'
    """

    guarantee: ClassVar[str] = "k_anonymity"

    score: str = "tradeoff"
    search: Literal["greedy", "portfolio"] = "greedy"
    split: Literal["best", "best_valid"] = "best"
    beneficial_only: bool = False
    max_steps: int | None = None
    seconds: float | None = None
    suppress: float = 0.0
    last: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        score_named(self.score)
        object.__setattr__(self, "last", tuple(self.last))
        _one_of("search", self.search, ("greedy", "portfolio"))
        _one_of("split", self.split, ("best", "best_valid"))
        if isinstance(self.suppress, bool) or not isinstance(self.suppress, int | float) or not 0 <= self.suppress < 1:
            raise RecipeError("suppress", "it is a share of the records, at least 0 and below 1",
                              given=repr(self.suppress), remedy="give for example suppress=0.01")  # fmt: skip
        if self.max_steps is not None:
            within("max_steps", self.max_steps, 0, 10**9, whole=True)
        if self.seconds is not None:
            within("seconds", self.seconds, 0, DAY)

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Top-down refinement needs requirements, on numbers and categories that are quasi-identifiers."""
        if not requirements:
            raise RecipeError("privacy", "top-down refinement needs at least one requirement", given="none",
                              remedy="add for example {k_anonymity: 10, on: [age, sex]}")  # fmt: skip
        schema.require(self.last, "last")
        if self.suppress:
            only_k_anonymity("top_down with suppress", (part for r in requirements for part in r.parts()),
                             remedy="leave suppress out")  # fmt: skip
        for name in {name for requirement in requirements for name in requirement.on}:
            if isinstance(schema[name], ItemSet):
                raise RecipeError(name, "top-down refinement masks numbers and categories", given="an item set",
                                  remedy="give it another role, or use another masker")  # fmt: skip

    def mask(self, task: Task) -> Outcome:
        """Learn a recoding and apply it."""
        from sfumato.maskers.topdown.portfolio import best_of

        fitted = best_of(task, self) if self.search == "portfolio" else fit_task(task, self)
        masked = {name: rule.to_json()["kind"] for name, rule in fitted.recoding.attributes.items()}
        return Outcome(fitted.recoding, fitted.columns(task.table), masked, fitted.demands.covered, fitted.lifted,
                       history_to_json(fitted.history, basic(fitted.demands.kept)))  # fmt: skip

    @staticmethod
    def read_mask(files: Mapping[str, Any]) -> Recoding:
        """The mask of a written release."""
        return Recoding.read(files)


@dataclass(frozen=True, eq=False)
class Fitted:
    """What the search learned. `lifted` (rows,) marks records shown at the top of every attribute."""

    recoding: Recoding
    history: History
    demands: Demands
    lifted: NDArray[np.bool_]

    def columns(self, table: Table) -> dict[str, pa.Array[Any]]:
        """The masked columns of the table that it was learned from."""
        return self.recoding.apply(table, lifted=self.lifted if self.recoding.lifted else None)


def fit_task(task: Task, settings: TopDown, *, many: Mapping[str, int] | None = None) -> Fitted:
    """One search for a task."""
    return fit(task.table, task.labels, task.requirements, settings=settings, engine=task.engine,
               asked_to_stop=task.asked_to_stop, fixed=task.fixed, many=many)  # fmt: skip


def fit(
    table: Table,
    labels: Labels,
    requirements: Sequence[Requirement],
    *,
    settings: TopDown,
    engine: Engine,
    asked_to_stop: Callable[[], bool] = lambda: False,
    fixed: Fixed | None = None,
    many: Mapping[str, int] | None = None,
) -> Fitted:
    """Refine from the top until no refinement is left that keeps every requirement.

    `fixed`: the groups of earlier releases of the same rows, with which every requirement must hold together.
    `many`: by attribute, how many records share a number on which an interval may end; else what is required.
    """
    demands = without_covered(requirements)
    rules = Rules(basic(demands.kept), score_named(settings.score), settings.split == "best_valid",
                  settings.beneficial_only, settings.last, many or {})  # fmt: skip
    problem = make_problem(table, labels, rules, engine, fixed=fixed or {})
    limits = Limits(settings.max_steps, settings.seconds, asked_to_stop)
    search = problem.open(None)
    stopped = search.run(limits)
    lifted = np.zeros(table.rows, dtype=bool)
    if settings.suppress and not fixed and stopped == "maximal":
        more = lift(problem, search, limits, budget=int(settings.suppress * table.rows))
        search, lifted, stopped = more.search, more.rows, more.stopped
    shown = {axis.name: rule(axis, grower) for axis, grower in zip(problem.axes, search.growers, strict=True)}
    return Fitted(Recoding(shown, bool(lifted.any())), search.history(stopped), demands, lifted)


def _one_of(name: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise RecipeError(name, "it is one of " + ", ".join(known), given=repr(given), remedy=f"say {known[0]!r}")
