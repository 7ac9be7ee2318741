"""The search: Algorithm 1 of 000 and 002, from the most masked table downwards."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import frexp, ldexp

import numpy as np
from numpy.typing import NDArray

from sfumato.data.detail import Detail
from sfumato.events import checkpoint, enough
from sfumato.maskers.topdown.candidates import Candidate, Grower
from sfumato.maskers.topdown.growers import AnyAxis, make_growers, names
from sfumato.maskers.topdown.refinement import Blocked, History, Minima, Refinement, Round, Session
from sfumato.maskers.topdown.scores import Score, Worth
from sfumato.privacy.requirements import Basic, KAnonymity

SETTLED = "settled"
"""Why a search ended that was asked to: what it had found by then was enough."""


@dataclass(frozen=True)
class Limits:
    """When to end early; what is there by then is valid."""

    max_steps: int | None = None
    seconds: float | None = None

    def reached(self, steps: int, began: float) -> str | None:
        """Why to end now, if at all."""
        if self.max_steps is not None and steps >= self.max_steps:
            return "max_steps"
        if self.seconds is not None and time.monotonic() - began >= self.seconds:
            return "seconds"
        return SETTLED if enough() else None


@dataclass(frozen=True)
class Rules:
    """How to search: what must hold, what a refinement is worth, what may be refined, and what comes last.

    `many`: by attribute, how many records must hold a number on which an interval ends; else the largest k asked of it.
    `detail`: how finely some attributes must be shown.
    """

    requirements: tuple[Basic, ...]
    score: Score
    best_valid: bool = False
    beneficial_only: bool = False
    last: tuple[str, ...] = ()
    many: Mapping[str, int] = field(default_factory=dict)
    detail: Detail = field(default_factory=dict)

    @property
    def thresholds(self) -> list[float]:
        """What every group must measure at least, for each requirement."""
        return [requirement.threshold for requirement in self.requirements]

    def counting_for(self, attribute: str) -> NDArray[np.int64]:
        """The numbers of the requirements whose groups an attribute is part of, one for each set of attributes.

        Anonymity is lost on a set of attributes (002 Eq. 4), however much is required of it.
        """
        sets = [frozenset(requirement.on) for requirement in self.requirements]
        return np.array([sets.index(on) for on in dict.fromkeys(sets) if attribute in on], dtype=np.int64)


@dataclass(frozen=True)
class Scored:
    """A valid candidate with its figures."""

    candidate: Candidate
    score: float
    loss: float
    anonymity: tuple[int, ...]


class Search:
    """Owns the cut of every attribute while it is refined, and the trace of what was done.

    `counted`: for each axis how many records hold its positions, by class.
    """

    def __init__(
        self, session: Session, axes: Sequence[AnyAxis], rules: Rules, *, counted: Sequence[NDArray[np.int64]]
    ) -> None:
        self._session, self._axes, self._rules = session, axes, rules
        self.growers: list[Grower] = make_growers(axes, counted, self._holding if rules.best_valid else None)
        self.steps: list[Refinement] = []
        self.rounds: list[Round] = []
        self.blocked: list[Blocked] = []
        self.dropped: list[Candidate] = []
        self._offered, self._given = 0, 0
        self._counting = [rules.counting_for(axis.name) for axis in axes]
        self._histograms = [histogram.sum(axis=1) for histogram in counted]
        self._rows = int(self._histograms[0].sum())

    def run(self, limits: Limits) -> str:
        """Refine the best valid candidate until there is none. Gives why it stopped."""
        began = time.monotonic()
        while True:
            checkpoint(self._share())
            why = limits.reached(len(self.steps) - self._given, began)
            if why is not None:
                return why
            best = self._choose()
            if best is None:
                return "maximal"
            self.perform(best)

    def _share(self) -> float:
        """How much is decided: of all candidates so far, those that can never be refined."""
        return len(self.dropped) / max(len(self.dropped) + self._offered, 1)

    def perform(self, best: Scored) -> None:
        """Carry out one refinement (lines 5-6 of Algorithm 1)."""
        step = best.candidate.refinement
        self._session.refine(step)
        self.growers[step.attribute].refine(step)
        self.steps.append(step)
        told = names(self._axes[step.attribute], step)
        self.rounds.append(
            Round(
                attribute=self._axes[step.attribute].name,
                value=told.value,
                children=told.children,
                score=best.score,
                gain=best.candidate.gain,
                loss=best.loss,
                anonymity=best.anonymity,
            )
        )

    def replay(self, steps: Sequence[Refinement], rounds: Sequence[Round], *, given: bool = False) -> None:
        """Carry out the steps of another search over the same axes, known to be valid, and take over its trace.

        `given`: they do not count against the limits.
        """
        for step in steps:
            checkpoint()
            mine = self.growers[step.attribute].same(step)
            self._session.refine(mine)
            self.growers[step.attribute].refine(mine)
            self.steps.append(mine)
        self.rounds.extend(rounds)
        self._given += len(steps) if given else 0

    def history(self, stopped: str) -> History:
        """The trace in labels."""
        return History(tuple(self.rounds), tuple(self.blocked), self._rows, stopped)

    def _choose(self) -> Scored | None:
        """The highest score; on a tie the first attribute, then the first value (PAPERS.md, 002-8).

        Attributes that come last wait until no other can be refined.
        """
        best: Scored | None = None
        for scored in self.scored():
            if self._rules.beneficial_only and not scored.candidate.beneficial:
                continue
            if best is None or self._rank(scored) > self._rank(best):
                best = scored
        return best

    def _rank(self, scored: Scored) -> tuple[bool, float]:
        return self._axes[scored.candidate.refinement.attribute].name not in self._rules.last, scored.score

    def scored(self) -> Iterator[Scored]:
        """Every valid candidate, in order of attribute and value; what is invalid is dropped for good."""
        while True:
            checkpoint()
            offered = [candidate for grower in self.growers for candidate in grower.candidates()]
            self._offered = len(offered)
            minima = self._session.minima([candidate.refinement for candidate in offered])
            levels = minima.levels_after()
            broken = levels < np.array(self._rules.thresholds)[None, :]
            invalid = np.flatnonzero(broken.any(axis=1))
            if len(invalid) == 0:
                break
            for at in invalid:
                self._drop(offered[at], levels[at], broken[at])
        for candidate, left in zip(offered, minima.after(), strict=True):
            yield self._score(candidate, minima, left)

    def _score(self, candidate: Candidate, minima: Minima, after: NDArray[np.int64]) -> Scored:
        counting = self._counting[candidate.refinement.attribute]
        before, left = minima.anonymity[counting], after[counting]
        loss = float((before - left).sum()) / len(before)
        worth = Worth(
            gain=candidate.gain,
            loss=loss,
            before=int(before.min()),
            after=int(left.min()),
            records=candidate.records,
            held=candidate.held,
            rows=self._rows,
            freed=candidate.freed,
        )
        return Scored(candidate, significant(self._rules.score(worth)), loss, tuple(after.tolist()))

    def _drop(self, candidate: Candidate, levels: NDArray[np.float64], broken: NDArray[np.bool_]) -> None:
        step = candidate.refinement
        self.growers[step.attribute].drop(step)
        self.dropped.append(candidate)
        worst = self._blocking(levels, np.flatnonzero(broken))
        part = self._rules.requirements[worst]
        told = names(self._axes[step.attribute], step)
        counted = isinstance(part, KAnonymity)
        self.blocked.append(
            Blocked(
                attribute=self._axes[step.attribute].name,
                value=told.value,
                children=told.children,
                requirement=worst,
                size=int(levels[worst]) if counted else None,
                round=len(self.rounds),
                small_children=self._small(step, told.children, part.k) if isinstance(part, KAnonymity) else (),
                short="" if counted else part.falls_short(float(levels[worst])),
            )
        )

    def _blocking(self, levels: NDArray[np.float64], broken: NDArray[np.int64]) -> int:
        """Of the requirements that forbid a refinement the first that no lower k mends, else the smallest group's."""
        others = [int(at) for at in broken if not isinstance(self._rules.requirements[at], KAnonymity)]
        return others[0] if others else int(broken[np.argmin(levels[broken])])

    def _small(self, step: Refinement, children: tuple[str, ...], k: int) -> tuple[str, ...]:
        held = self._histograms[step.attribute]
        totals = [int(held[first:end].sum()) for first, end in step.parts]
        return tuple(child for child, total in zip(children, totals, strict=False) if 0 < total < k)

    def _holding(self, interval: Refinement) -> NDArray[np.bool_]:
        return self._session.splits(interval, self._rules.thresholds)


def significant(score: float) -> float:
    """A score to 40 significant bits, so that the last bits of a logarithm decide nothing.

    >>> significant(0.1 + 0.2) == significant(0.3)
    True
    """
    mantissa, exponent = frexp(score)
    return ldexp(round(ldexp(mantissa, 40)), exponent - 40)
