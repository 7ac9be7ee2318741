"""The frontier of a sweep: what no other setting beats in both structure kept and risk, its knee, and the advice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.sweeping.measuring import CLASSES, CLUSTERS, RISK, WORDS


@dataclass(frozen=True)
class Outcome:
    """One setting: how much of the structure it keeps, and the highest chance to pick out a record."""

    settings: tuple[tuple[str, str], ...]
    kept: float
    risk: float
    result: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The settings in one line."""
        return ", ".join(f"{path}={value}" for path, value in self.settings)


@dataclass(frozen=True)
class Frontier:
    """All settings that could be published; those on the frontier, from the least risk up; and the knee."""

    outcomes: tuple[Outcome, ...]
    best: tuple[Outcome, ...]
    knee: Outcome | None
    kept_by: str

    @property
    def kept_words(self) -> str:
        """What `kept` measures, in words."""
        return WORDS.get(self.kept_by, self.kept_by)


def frontier(results: Sequence[Mapping[str, Any]], *, kept: str | None = None) -> Frontier:
    """What to choose from. `kept`: the score to go by; None: the F-measure of clusters, or the purity of classes."""
    done = [one for one in results if not one["refused"]]
    known = [name for name in (kept, CLUSTERS, CLASSES) if name and all(name in one["scores"] for one in done)]
    by = known[0] if known else CLUSTERS
    outcomes = tuple(
        Outcome(tuple(one["settings"].items()), one["scores"][by], one["scores"][RISK], one)
        for one in done
        if by in one["scores"] and RISK in one["scores"]
    )
    best = _unbeaten(outcomes)
    return Frontier(outcomes, best, _knee(best), by)


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
    """One sentence that names a setting."""
    if found.knee is None:
        return "No setting of this sweep can be published; the reasons are in the table."
    knee, at = found.knee, found.best.index(found.knee)
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
    return "; ".join(told) + "."
