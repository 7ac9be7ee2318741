"""Trials side by side: what each kept and risked, how it lies on the frontier, and what changed between two."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from functools import lru_cache
from pathlib import Path
from typing import Any

from sfumato.errors import SfumatoError
from sfumato.evaluation.worth import Worth
from sfumato.recipe import Recipe
from sfumato.release.output import holder_of
from sfumato.release.reading import read_certificate, read_recipe_of
from sfumato.studio.jobs import Job
from sfumato.studio.workspace import Work, read_json
from sfumato.sweeping.comparison import Tried
from sfumato.sweeping.contenders import Contender
from sfumato.sweeping.frontier import frontier
from sfumato.sweeping.page import html
from sfumato.sweeping.points import RISK, Result
from sfumato.sweeping.side_by_side import Grid


@dataclass(frozen=True)
class Told:
    """The verdict in one line, as the terminal tells it. `but`: something must be known before it is handed over."""

    sentence: str
    but: bool


def told_of(release: Path, *, holds: bool = True) -> Told | None:
    """What is said first of a folder, from what was measured; None where nothing was."""
    try:
        scores = json.loads((holder_of(release) / "evaluation.json").read_text(encoding="utf-8"))
        centres = bool(read_certificate(release)["along"].get("centres"))
    except (OSError, ValueError, KeyError, SfumatoError):
        return None
    worth = Worth.of(scores, centres=centres)
    return Told(worth.sentence("VERIFIED" if holds else "NOT VERIFIED"), bool(worth.but))


@dataclass(frozen=True)
class Trial:
    """A run that ended well: its folder, its recipe, what it told and what was measured."""

    folder: Path
    recipe: Recipe
    result: dict[str, Any]
    scores: dict[str, Any]

    @property
    def number(self) -> str:
        """Its name."""
        return self.folder.name

    @property
    def release(self) -> Path:
        """What it would release."""
        return self.folder / "release"

    @property
    def holder(self) -> Path:
        """What only the holder may see of it."""
        return holder_of(self.release)

    @property
    def told(self) -> Told | None:
        """What is said of it first."""
        return told_of(self.release, holds=bool(self.result["holds"]))

    @property
    def tried(self) -> Tried:
        """Its figures."""
        contender = Contender(f"trial {self.number}", (), "")
        return Tried.of(contender, self.recipe, self.scores, seconds=float(self.result["seconds"]))


def trials_of(work: Work) -> list[Trial]:
    """All runs that ended well, the first one first."""
    done = [folder for folder in work.trials if Job(folder).state == "done"]
    return [found for folder in done if (found := _read(folder)) is not None]


@lru_cache(maxsize=256)
def _read(folder: Path) -> Trial | None:
    """One of them; what it made is never changed."""
    result = read_json(folder / "result.json")
    release = folder / "release"
    try:
        scores = json.loads((holder_of(release) / "evaluation.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return None if result is None else Trial(folder, read_recipe_of(release), result, scores)


def grid(trials: Sequence[Trial]) -> Grid | None:
    """All of them side by side."""
    return Grid.of([trial.tried for trial in trials]) if trials else None


def frontier_page(trials: Sequence[Trial]) -> str:
    """How they lie on the frontier of structure kept and risk."""
    results = [_point(trial) for trial in trials]
    return html(results, frontier(results))


def _point(trial: Trial) -> Result:
    scores = {name: float(score["value"]) for name, score in trial.scores.get("scores", {}).items()}
    return Result(
        settings={"trial": trial.number},
        scores=scores,
        smallest_group=round(1 / scores[RISK]) if scores.get(RISK) else None,
        lifted=trial.result["lifted"],
        seconds=trial.result["seconds"],
        guaranteed=trial.recipe.mask.guarantee.claims,
    )


def changes(first: Trial, second: Trial) -> list[str]:
    """Lines of the recipe that differ."""
    texts = [one.recipe.to_yaml().splitlines() for one in (first, second)]
    names = [f"trial {one.number}" for one in (first, second)]
    return list(unified_diff(texts[0], texts[1], names[0], names[1], lineterm="", n=1))
