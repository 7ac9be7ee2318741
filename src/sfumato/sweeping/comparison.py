"""Candidates side by side: the figures of each, which one to take, and why, in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sfumato.evaluation.certainty import one_value_bounded
from sfumato.evaluation.class_floor import TESTED, by_chance, left_out
from sfumato.evaluation.columns import ColumnKept
from sfumato.evaluation.scores import RELATIONS
from sfumato.evaluation.worth import Worth
from sfumato.recipe import Recipe
from sfumato.sweeping.contenders import Contender

RISK = "prosecutor.highest"
COMMONEST = "commonest_error"
CLEARLY = 0.02
"""What keeps less than this more is not worth a change of the recipe."""
MANY = 0.05
"""If a value is certain of more of the records than this, it is told."""


@dataclass(frozen=True)
class Kind:
    """How well a structure survived, from 0 to 1; a share of errors is turned round.

    `words`: what is measured; `told`: in a sentence. `beside`: the score of the raw table,
    where there is one: clusters are those of the raw table.
    """

    words: str
    told: str
    beside: str = ""
    errors: bool = False

    def share(self, value: float) -> float:
        """1 is everything."""
        return 1 - value if self.errors else value


CLUSTERS = "clusters found again", "{:.2f} of the clusters (F-measure)"
KINDS = {
    "f_measure.start": Kind(*CLUSTERS),
    "f_measure.nearest": Kind(*CLUSTERS),
    "masked_error": Kind("accuracy of a tree", "an accuracy of {:.2f}", "baseline_error", errors=True),
}
"""What is told of the structure: the first of these that was measured."""


@dataclass(frozen=True)
class Kept:
    """How well the structure survived, and beside it what the raw table gives; by the name of the score.

    `rows`: of how many rows held out it is a share; 0 where it is no such share. `floor`: the accuracy of naming the
    commonest class for everybody, where classes are told.
    """

    by: str
    share: float
    raw: float | None
    rows: float = 0.0
    floor: float | None = None

    @classmethod
    def of(cls, values: Mapping[str, float]) -> Kept | None:
        """From the scores of a table; None where there is no structure to measure."""
        for name, kind in KINDS.items():
            if name in values:
                raw = values.get(kind.beside)
                rows = values.get(TESTED, 0.0) if kind.errors else 0.0
                floor = 1 - values[COMMONEST] if kind.errors and COMMONEST in values else None
                return cls(name, kind.share(values[name]), None if raw is None else kind.share(raw), rows, floor)
        return None

    @property
    def kind(self) -> Kind:
        """What it measures."""
        return KINDS[self.by]

    @property
    def told(self) -> str:
        """In a sentence; beside an accuracy the one that needs no column at all."""
        beside = "" if self.floor is None else f" (naming the commonest class for everybody has {self.floor:.2f})"
        return self.kind.told.format(self.share) + beside


@dataclass(frozen=True)
class Certain:
    """Of which share of the records a class or a secret is certain, and of which it is without masking."""

    name: str
    share: float
    raw: float


@dataclass(frozen=True)
class Skipped:
    """A candidate that was not tried, or came to nothing, and why."""

    name: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What a candidate gives: each masked column, the structure, the risk, what is certain, and how long it took.

    `detail`: 1 - NCP on average; None where numbers are shown that are not the records'. `risk`: the highest chance to
    pick out a record; None for rows that are generated. `mind`: classes are told as well without masked ones.
    `relations`: of generated rows the share of the clear relations between columns that are kept.
    """

    contender: Contender
    recipe: Recipe
    columns: tuple[ColumnKept, ...]
    detail: float | None
    survived: Kept | None
    risk: float | None
    certain: tuple[Certain, ...]
    seconds: float
    mind: str | None = None
    relations: float | None = None

    @classmethod
    def of(cls, contender: Contender, recipe: Recipe, scores: Mapping[str, Any], *, seconds: float) -> Tried:
        """From the scores of a table."""
        values = {name: float(score["value"]) for name, score in scores["scores"].items()}
        columns = tuple(ColumnKept.from_json(form) for form in scores.get("columns", ()))
        measured = all(column.kept is not None for column in columns)
        return cls(
            contender=contender,
            recipe=recipe,
            columns=columns,
            detail=values.get("information_kept") if measured else None,
            survived=Kept.of(values),
            risk=values.get(RISK),
            certain=tuple(
                Certain(one["attribute"], one["certain"], one["certain.raw"]) for one in scores.get("certain", ())
            ),
            seconds=round(seconds, 1),
            mind=left_out(values),
            relations=values.get(f"{RELATIONS}.kept"),
        )

    @property
    def silent(self) -> int:
        """How many masked columns tell nothing."""
        return sum(column.silent for column in self.columns)

    @property
    def share(self) -> float | None:
        """How well the structure survived, if there is one."""
        return None if self.survived is None else self.survived.share

    @property
    def hardly(self) -> bool:
        """Whether it is hardly worth handing over."""
        return Worth(self.columns).hardly

    @property
    def figures(self) -> str:
        """In a few words."""
        told = [] if self.detail is None else [f"{self.detail:.0%} of the detail"]
        if self.survived is not None:
            told.append(self.survived.told)
        told += [] if self.relations is None else [f"{self.relations:.0%} of the relations between columns"]
        return " and ".join(told) or f"{len(self.columns) - self.silent} of {len(self.columns)} columns"

    @property
    def brief(self) -> str:
        """The same figures where it is clear what they are of."""
        told = [] if self.detail is None else [f"{self.detail:.0%}"]
        told += [] if self.survived is None else [f"{self.survived.share:.2f}"]
        told += [] if self.relations is None else [f"{self.relations:.0%} of the relations"]
        return " and ".join(told) or f"{len(self.columns) - self.silent}"

    def to_json(self) -> dict[str, Any]:
        """By plain names."""
        kept = self.survived
        return {
            "name": self.contender.title,
            "set": list(self.contender.changes),
            "price": self.contender.price,
            "as_asked": self.contender.asked,
            "columns": {one.name: {"kept": one.kept, "tells_nothing": one.silent} for one in self.columns},
            "information_kept": self.detail,
            "columns_that_tell_nothing": self.silent,
            "structure": None if kept is None else {"measure": kept.kind.words, "kept": kept.share, "raw": kept.raw},
            **({} if self.relations is None else {"relations_kept": self.relations}),
            "highest_risk": self.risk,
            "certain": {one.name: {"share": one.share, "raw": one.raw} for one in self.certain},
            "seconds": self.seconds,
        }


def worth(one: Tried) -> float:
    """What it keeps, from 0 to 1: the mean of detail, structure and, of generated rows, relations between columns, of
    whichever was measured."""
    found = [value for value in (one.detail, one.share, one.relations) if value is not None]
    return float(np.mean(found)) if found else 1 - one.silent / max(len(one.columns), 1)


def choose(tried: Sequence[Tried]) -> Tried | None:
    """Of those that promise what is asked the one that keeps most, or the recipe as it is if that keeps hardly less.

    What shows other numbers than the records' has no measure of detail: it stands beside the best of the others by the
    structure alone, and without one it is not compared.
    """
    asked = [one for one in tried if one.contender.asked]
    if not asked:
        return None
    measured = [one for one in asked if one.detail is not None]
    apart = [one for one in asked if one.detail is None]
    if not measured or not apart:
        return _favoured(asked, worth, _as_it_is(asked))
    best = _favoured(measured, worth, _as_it_is(measured))
    return _favoured([best, *apart], lambda one: one.share or 0.0, _as_it_is(apart) or best)


def _as_it_is(some: Sequence[Tried]) -> Tried | None:
    return next((one for one in some if not one.contender.changes), None)


def _favoured(some: Sequence[Tried], kept: Callable[[Tried], float], now: Tried | None) -> Tried:
    """The one that keeps most; `now`, unless that keeps clearly more, and not by chance."""
    most = max(some, key=kept)
    return most if now is None or kept(most) - _by_chance(most, now, kept) > kept(now) + CLEARLY else now


def _by_chance(most: Tried, now: Tried, kept: Callable[[Tried], float]) -> float:
    """What is kept more only because errors on rows held out differ by chance: they cannot be told apart."""
    one, other = most.survived, now.survived
    if one is None or other is None or one.share <= other.share:
        return 0.0
    if one.share - other.share > by_chance(1 - one.share, 1 - other.share, min(one.rows, other.rows)):
        return 0.0
    return kept(most) - kept(replace(most, survived=other))


def sentence(tried: Sequence[Tried]) -> str:
    """What to take, what it keeps and beside what, for somebody who has never done this."""
    best = choose(tried)
    if best is None:
        return "No candidate can be published; the reasons are above."
    if best.hardly:
        return _hardly(best, tried)
    mind = "" if best.mind is None else f" {best.mind[:1].upper()}{best.mind[1:]}."
    return f"{_take(best, tried)}.{mind}"


def trade(tried: Sequence[Tried]) -> str | None:
    """What other privacy would keep: told, never advised."""
    others = [f"{one.contender.note} would keep {one.brief}" for one in tried if not one.contender.asked]
    if not others:
        return None
    return f"With other privacy {', '.join(others)}: choose that by what a leak would cost, not by what is kept."


def _take(best: Tried, tried: Sequence[Tried]) -> str:
    rivals = [one for one in tried if one.contender.asked and one is not best]
    if not rivals:
        return f"Only {best.contender.name} could be tried: it keeps {best.figures}"
    if not best.contender.changes:
        beside = "and no other masker that was tried keeps clearly more"
        return f"Keep mask: {best.contender.name}, as it is: it keeps {best.figures}, {beside}"
    now = _as_it_is(rivals)
    beside = "" if now is None else f", where {now.contender.name} keeps {now.brief}"
    return f"Take {best.contender.name}: under the same privacy it keeps {best.figures}{beside}"


def _hardly(best: Tried, tried: Sequence[Tried]) -> str:
    least = f"even {best.contender.name}, the best that was tried, keeps {best.figures}"
    silent = f"{best.silent} of {len(best.columns)} columns tell nothing"
    helps = [one for one in tried if not one.contender.asked and not one.hardly]
    ways = ["fewer quasi-identifiers", "taxonomies for categories with many values"]
    ways += [f"{one.contender.note} ({one.contender.price}), which would keep {one.figures}" for one in helps[:1]]
    return f"Change what is asked before you publish: {least}, and {silent}. Try {', or '.join(ways)}."


def warning(best: Tried) -> str | None:
    """Of whom a group gives a value away: k-anonymity does not forbid it."""
    bounded = one_value_bounded(best.recipe.privacy)  # these can be certain of another value alone
    told = [one for one in best.certain if one.share > MANY and one.name not in bounded]
    if not told:
        return None
    which = ", ".join(f"{one.name} of {one.share:.0%} (without masking: {one.raw:.0%})" for one in told)
    return (
        f"a group gives away what all in it have in common, which k-anonymity does not forbid: {which} of the records. "
        f"If that must not be, add {{l_diversity: 2, sensitive: {told[0].name}, on: [...]}} to privacy."
    )
