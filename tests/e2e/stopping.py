"""Runs that are asked to stop: a recipe for each masker, and a token that notes how long nobody asked it."""

from __future__ import annotations

import time
import traceback
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

import sfumato as sf
from sfumato.data import datasets
from sfumato.events import Began, Event, Stop
from sfumato.maskers.registry import masker_named
from tests.releases import NUMBERS_ALONE

NUMBERS = ("age", "education_num", "hours_per_week")
QUASI = ("age", "workclass", "education", "marital_status", "occupation", "race", "sex", "hours_per_week")
SETTINGS: dict[str, dict[str, Any]] = {
    "genetic": {"generations": 4, "population": 20},
    **{name: {"seed": 1} for name in NUMBERS_ALONE},
}
OURS = "sfumato/"


def adult(rows: int | None = None) -> pa.Table:
    """Adult without rows that miss something: the first of them, all of them, or more by drawing again."""
    table = datasets.load("adult", complete=True).table
    if rows is None or rows == table.num_rows:
        return table
    return table.slice(0, rows) if rows < table.num_rows else datasets.blow_up(table, rows, seed=0)


def recipe_for(masker: str, **structure: Any) -> sf.Recipe:
    """A recipe for Adult: nine attributes, or the numbers alone for a masker that takes no others."""
    mask = masker_named(masker)(**SETTINGS.get(masker, {}))
    claims, spends = mask.guarantee.claims, mask.guarantee.spends
    quasi = NUMBERS if masker in NUMBERS_ALONE else QUASI
    schema = dict(datasets.schemas.adult())
    for name in schema:
        role: Any = "quasi" if name in quasi else "sensitive" if name == "income" else "identifier"
        schema[name] = replace(schema[name], role=role)
    return sf.Recipe(
        schema=sf.Schema(schema),
        structure=sf.Clusters("kmeans", k=6, **structure),
        privacy=(sf.KAnonymity(quasi, 10),) if claims and not spends else (),
        mask=mask,
        i_understand=None if claims else "no_guarantee",
        budget=sf.Budget(1) if spends else None,
    )


@dataclass(frozen=True)
class Gap:
    """Seconds of work in which the token was not asked, the step they are in, and the lines of code at both ends."""

    seconds: float
    step: str
    before: str
    after: str


class Probe(Stop):
    """Owns the times at which a run asks: the longest gap is the worst that anybody can wait for it to end.

    Work is the processor time of this process, so that others on the machine change nothing.
    """

    def __init__(self, least: float = 0.2) -> None:
        super().__init__()
        self.gaps: list[Gap] = []
        self.steps: list[str] = []
        self.moments: list[float] = []
        self._least, self._last, self._where = least, 0.0, ""

    def hear(self, event: Event) -> None:
        """Note which step a run is in."""
        if isinstance(event, Began):
            self.steps.append(event.step)

    @property
    def asked(self) -> bool:
        """Whether somebody asked; the time since this was read last is noted."""
        now = time.process_time()
        self.moments.append(now)
        if len(self.moments) > 1 and now - self._last >= self._least:
            where = place()
            step = self.steps[-1] if self.steps else ""
            self.gaps.append(Gap(now - self._last, step, self._where, where))
            self._where = where
        elif now - self._last >= self._least / 50:
            self._where = place()
        self._last = time.process_time()
        return super().asked

    def times(self, share: float) -> int:
        """How often a run has asked when this share of its work is done."""
        first, last = self.moments[0], self.moments[-1]
        return bisect_left(self.moments, first + share * (last - first)) + 1

    def worst(self, most: int = 1) -> Sequence[Gap]:
        """The longest gaps, the longest first."""
        return sorted(self.gaps, key=lambda gap: -gap.seconds)[:most]


def place() -> str:
    """Where in our code this is called from, the innermost three lines."""
    frames = [
        frame for frame in traceback.extract_stack() if OURS in frame.filename and "events.py" not in frame.filename
    ]
    return " < ".join(f"{frame.filename.rpartition(OURS)[2]}:{frame.lineno}" for frame in reversed(frames[-3:]))


class After(Stop):
    """Owns how many times it will still be read before it asks: a moment that others on the machine do not move."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self._left = times

    @property
    def asked(self) -> bool:
        """Whether it is time."""
        self._left -= 1
        if self._left <= 0:
            self.ask()
        return super().asked
