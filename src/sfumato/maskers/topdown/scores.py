"""Scores: what a refinement is worth. A score sees one candidate's figures and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log2
from typing import Protocol

from sfumato.errors import RecipeError, did_you_mean


@dataclass(frozen=True)
class Worth:
    """What is known of a candidate.

    `gain`: information gain (002 Eq. 2 and 5). `loss`: mean fall of A(QID) over the QIDs that hold the
    attribute (Eq. 4). `before` and `after`: the smallest A(QID) among them, now and then. `records`: records
    that get a more exact value; `held`: records that hold the refined value; `rows`: records in the table.
    """

    gain: float
    loss: float
    before: int
    after: int
    records: int
    held: int
    rows: int


class Score(Protocol):
    """Larger is better."""

    def __call__(self, worth: Worth, /) -> float:
        """The worth of one refinement as a number."""


def tradeoff(worth: Worth) -> float:
    """Information gain per unit of anonymity lost: 002 Eq. 1.

    >>> round(tradeoff(Worth(gain=0.2716, loss=18, before=34, after=16, records=34, held=34, rows=34)), 4)
    0.0143
    """
    return worth.gain / (worth.loss + 1)


def infogain(worth: Worth) -> float:
    """Information gain alone (002 section 3.3)."""
    return worth.gain


def distortion(worth: Worth) -> float:
    """Records freed of one unit of distortion (000 section 5): blind to structure, the baseline."""
    return float(worth.records)


def total_gain(worth: Worth) -> float:
    """Bits gained over the whole table per bit of anonymity lost (PAPERS.md, 002-17)."""
    return worth.gain * worth.held / worth.rows / (log2(worth.before / worth.after) + 0.05)


SCORES: Mapping[str, Score] = {
    "tradeoff": tradeoff,
    "infogain": infogain,
    "distortion": distortion,
    "total_gain": total_gain,
}


def score_named(name: str) -> Score:
    """The score of this name."""
    if name not in SCORES:
        raise RecipeError("score", "a score is one of " + ", ".join(SCORES), given=repr(name),
                          remedy=did_you_mean(name, SCORES))  # fmt: skip
    return SCORES[name]
