"""Score: one figure of an evaluation, what it means, and who may see it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypedDict


class ScoreForm(TypedDict):
    """A score as it is written to JSON."""

    value: float
    publishable: bool
    meaning: str


@dataclass(frozen=True)
class Score:
    """A figure with its meaning.

    `publishable`: the figure follows from what is released, so whoever has the release can find it too.
    Otherwise it was measured against the raw table and is for the holder's eyes only.

    >>> Score("f_measure", 0.85, publishable=False, meaning="how well clusters are found again").to_json()
    {'value': 0.85, 'publishable': False, 'meaning': 'how well clusters are found again'}
    """

    name: str
    value: float
    publishable: bool
    meaning: str

    def to_json(self) -> ScoreForm:
        """What is written of it."""
        return {"value": self.value, "publishable": self.publishable, "meaning": self.meaning}


def scores_to_json(scores: Iterable[Score], *, publishable_only: bool = False) -> dict[str, ScoreForm]:
    """Scores by name; with `publishable_only` the part that may go along with a release."""
    return {score.name: score.to_json() for score in scores if score.publishable or not publishable_only}
