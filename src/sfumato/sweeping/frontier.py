"""The frontier of a sweep: what no other setting beats in both structure kept and risk, its knee, and the advice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.display import Card, Grid
from sfumato.evaluation.class_floor import TESTED, better_left_out, by_chance
from sfumato.sweeping.comparison import KINDS
from sfumato.sweeping.points import FLOORS, RISK, WORDS, Result

LITTLE = 0.05
"""A setting that covers less of the way from no data to everything keeps next to nothing."""
NAMED = 3
"""So many settings are named in one sentence."""
KEPT, ERROR = "information_kept", "masked_error"
NEAR = 1.5
"""Risks of which none is more times another count as one where nothing else tells settings apart."""


@dataclass(frozen=True)
class Outcome:
    """One setting: how much it keeps, and the highest chance to pick out a record."""

    result: Result
    kept: float
    risk: float

    @property
    def name(self) -> str:
        """The settings in one line."""
        return self.result.name

    @property
    def left_out(self) -> bool:
        """Whether a tree tells the classes as well without the masked columns."""
        return better_left_out(self.result.scores)

    @property
    def error(self) -> float:
        """Of a tree that learned the classes from it."""
        return self.result.scores[ERROR]

    @property
    def rows(self) -> float:
        """How many rows held out its error is a share of; 0 where that is not known."""
        return self.result.scores.get(TESTED, 0.0)


@dataclass(frozen=True)
class Frontier:
    """All settings that could be published; those on the frontier, from the least risk up; and the knee.

    On the frontier are settings with a guarantee alone: without one, group sizes say nothing of the risk, and what
    keeps most is what hides least. Nor are settings from which classes are told no better than without the masked
    columns. `floor`: what no data at all would keep; None where it was not measured.
    `detailed`: what is kept is the mean of the structure and of the detail, as `advise` weighs them. `alike`: by chance
    alone errors differ by up to this, and those on the frontier differ by less; 0 where they can be told apart.
    """

    outcomes: tuple[Outcome, ...]
    best: tuple[Outcome, ...]
    knee: Outcome | None
    kept_by: str
    floor: float | None = None
    detailed: bool = False
    alike: float = 0.0

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()

    def _card(self) -> Card:
        """The advice, and every setting that could be published with how it stands."""
        marks = {one.name: "on the frontier" for one in self.best} | (
            {self.knee.name: self.ringed} if self.knee else {}
        )
        detail = [one.result.scores.get(KEPT) for one in self.outcomes]
        rows = [
            [one.name, one.kept, of, f"{one.risk:.2%}", marks.get(one.name, "")]
            for one, of in zip(self.outcomes, detail, strict=True)
        ]
        heads = ("setting", "kept", "detail", "highest risk", "")
        lines = [advice(self), f"Kept: {self.kept_words}. For your eyes only: measured against the raw table."]
        return Card(f"Frontier: {len(self.best)} of {len(rows)} settings", lines, [Grid(heads, rows)] if rows else [])

    @property
    def ringed(self) -> str:
        """What the setting that is advised is on the frontier: the knee, or what risks least where none keeps more."""
        return "the least risk" if self.alike else "the knee"

    @property
    def kept_words(self) -> str:
        """What `kept` measures, in words."""
        words = WORDS.get(self.kept_by, self.kept_by)
        return f"the mean of the detail kept and the {words}" if self.detailed else words

    @property
    def floor_words(self) -> str:
        """How the floor is reached, in words."""
        return FLOORS[self.kept_by][1] if self.kept_by in FLOORS else ""

    @property
    def nothing_kept(self) -> bool:
        """Whether every setting keeps next to nothing: hardly more of the structure than no data, or of the detail."""
        if not self.outcomes:
            return False
        detail = [one.result.scores[KEPT] for one in self.outcomes if KEPT in one.result.scores]
        blank = len(detail) == len(self.outcomes) and max(detail) < LITTLE
        most, floor = max(one.kept for one in self.outcomes), self.floor
        return blank or (floor is not None and most - floor < LITTLE * (1 - floor))


def frontier(results: Sequence[Result], *, kept: str | None = None) -> Frontier:
    """What to choose from. `kept`: the score to go by.

    None: the mean of detail and structure, which is the F-measure of clusters, or the accuracy of a tree that learned
    the classes from the masked table.
    """
    done = [one for one in results if one.refused is None]
    known = [name for name in (kept, *KINDS, KEPT) if name and all(name in one.scores for one in done)]
    by = known[0] if known else KEPT
    detailed = by not in (kept, KEPT) and bool(done) and all(KEPT in one.scores for one in done)

    def share(one: Result, name: str, detail: float) -> float:
        structure = KINDS[by].share(one.scores[name]) if by in KINDS else one.scores[name]
        return (structure + detail) / 2 if detailed else structure

    outcomes = tuple(
        Outcome(one, share(one, by, one.scores.get(KEPT, 0.0)), one.scores[RISK])
        for one in done
        if by in one.scores and RISK in one.scores
    )
    best = _unbeaten([one for one in outcomes if one.result.guaranteed and not one.left_out])
    floors = [share(one, FLOORS[by][0], 0.0) for one in done if by in FLOORS and FLOORS[by][0] in one.scores]
    alike = _alike(best) if by == ERROR else 0.0
    knee = _least(best) if alike else _knee(best)
    floor = max(floors, default=None)
    return Frontier(outcomes, best, knee, by, floor=floor, detailed=detailed, alike=alike)


def _alike(best: Sequence[Outcome]) -> float:
    """By how much errors on the frontier may differ by chance, where they differ by less; else 0."""
    if len(best) < 2:
        return 0.0
    low, high = min(best, key=lambda one: one.error), max(best, key=lambda one: one.error)
    chance = by_chance(low.error, high.error, min(one.rows for one in best))
    return chance if high.error - low.error < chance else 0.0


def _least(best: Sequence[Outcome]) -> Outcome:
    """The one that risks least; of those that risk hardly more, what keeps most."""
    return max((one for one in best if one.risk <= NEAR * best[0].risk), key=lambda one: one.kept)


def _unbeaten(outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """From the least risk up, each one that keeps more than all before it."""
    found: list[Outcome] = []
    for one in sorted(outcomes, key=lambda o: (o.risk, -o.kept, o.name)):
        if not found or one.kept > found[-1].kept:
            found.append(one)
    return tuple(found)


def _knee(best: Sequence[Outcome]) -> Outcome | None:
    """The one farthest above the line from the first to the last; risk counts by its logarithm, both from 0 to 1."""
    if not best:
        return None
    low, high = math.log(best[0].risk), math.log(best[-1].risk)
    least, most = best[0].kept, best[-1].kept

    def above(one: Outcome) -> float:
        across = (math.log(one.risk) - low) / (high - low) if high > low else 0.0
        return ((one.kept - least) / (most - least) if most > least else 1.0) - across

    return max(best, key=above)


def advice(found: Frontier) -> str:
    """One setting by its name and what its neighbours would give, beside what no data would; or why none is named."""
    if not found.outcomes:
        return "No setting of this sweep can be published; the reasons are in the table."
    if found.knee is None and not any(one.result.guaranteed for one in found.outcomes):
        return UNGUARANTEED
    if found.nothing_kept:
        most = max(one.kept for one in found.outcomes)
        return f"Every setting keeps next to nothing: the best reaches {most:.3f} ({found.kept_words}){_beside(found)}."
    if found.knee is None:
        return LEFT_OUT
    return f"{_named(found, found.knee)}{'' if found.alike else _beside(found)}.{_not_advised(found)}"


UNGUARANTEED = (
    "No setting is advised: nothing can be claimed of these maskers, so that group sizes do not tell their risk, and "
    "the setting that keeps most is the one that hides least. Measure what an attacker can do with `sfumato attack`, "
    "or sweep a masker with a guarantee."
)


LEFT_OUT = (
    "No setting is advised: from none of them a tree tells the classes better than without the masked columns. Leave "
    "those columns out (role: identifier), or mask fewer columns or less."
)


def _not_advised(found: Frontier) -> str:
    """Settings that are on no frontier because the masked columns tell nothing of the classes."""
    names = [one.name for one in found.outcomes if one.result.guaranteed and one.left_out]
    if not names:
        return ""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return (
        f" Not advised, since a tree tells the classes as well without the masked columns: "
        f"{', '.join(names[:NAMED])}{more}."
    )


def _named(found: Frontier, knee: Outcome) -> str:
    if found.alike:
        return _untold(found, knee)
    at = found.best.index(knee)
    told = [f"Take {knee.name}: it keeps {knee.kept:.3f} ({found.kept_words}) at a highest risk of {knee.risk:.2%}"]
    if at + 1 < len(found.best):
        more = found.best[at + 1]
        told.append(
            f"{more.name} would keep {more.kept - knee.kept:.3f} more for {more.risk / knee.risk:.1f} times the risk"
        )
    if at > 0:
        less = found.best[at - 1]
        told.append(
            f"{less.name} would keep {knee.kept - less.kept:.3f} less for {less.risk / knee.risk:.2f} of the risk"
        )
    return "; ".join(told)


def _untold(found: Frontier, knee: Outcome) -> str:
    """Where the errors of no two settings can be told apart: what risks least, and what the others keep besides."""
    errors = sorted(one.error for one in found.best)
    rows = min(one.rows for one in found.best)
    told = (
        f"Take {knee.name}, for its highest risk of {knee.risk:.2%} is the least: the errors of a tree in these "
        f"settings ({errors[0]:.3f} to {errors[-1]:.3f}) cannot be told apart, on {rows:,.0f} rows held out "
        f"they differ by up to {found.alike:.3f} by chance"
    )
    most = found.best[-1]
    if most is knee or not found.detailed:
        return told
    detail = [one.result.scores[KEPT] for one in (knee, most)]
    times = most.risk / knee.risk
    return f"{told}; of the detail it keeps {detail[0]:.3f}, {most.name} {detail[1]:.3f} for {times:.1f} times the risk"


def _beside(found: Frontier) -> str:
    return "" if found.floor is None else f"; {found.floor:.3f} is reached {found.floor_words}"
