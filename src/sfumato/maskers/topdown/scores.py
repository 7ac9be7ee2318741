"""What a refinement is worth: information gain from integer counts, and the scores that weigh it.

Gains are made in one place, so that every engine gives the same to the bit. They are rounded to 2^-40: machines that
fuse multiply and add differ below that, and a tie that only one of them sees would publish another table (PAPERS.md,
002-8 and 002-20). A score sees one candidate's figures and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import RecipeError, did_you_mean
from sfumato.maskers.masker import Labels
from sfumato.privacy.requirements import Requirement

Counts2D = NDArray[np.int64]
STEP = 2.0**40


def rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values on the grid of 2^-40."""
    found: NDArray[np.float64] = np.rint(values * STEP) / STEP
    return found


def bits(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """n log2 n of each count, 0 for none."""
    exact = counts.astype(np.float64)
    found: NDArray[np.float64] = exact * np.log2(np.maximum(exact, 1.0))
    return found


def mixed_bits(counts: Counts2D) -> NDArray[np.float64]:
    """|R| I(R) of each row of class counts (..., classes): the entropy of 002 Eq. 3 times the records."""
    found: NDArray[np.float64] = bits(counts.sum(axis=-1)) - bits(counts).sum(axis=-1)
    return found


def info_gain(children: Counts2D) -> float:
    """Gain of refining one value into children (children, classes): 002 Eq. 2.

    >>> round(info_gain(np.array([[5, 11], [16, 2]])), 4)
    0.2716
    """
    return float(gains(children.sum(axis=0), children[None])[0])


def gains(parent: NDArray[np.int64], children: NDArray[np.int64]) -> NDArray[np.float64]:
    """(ways,): gain of each way to split one parent (classes,) into children (ways, children, classes)."""
    total = max(int(parent.sum()), 1)
    found = (mixed_bits(parent) - mixed_bits(children).sum(axis=1)) / total
    return rounded(np.maximum(found, 0.0))


@dataclass(frozen=True)
class Worth:
    """What is known of a candidate.

    `gain`: information gain (002 Eq. 2 and 5). `loss`: mean fall of A(QID) over the QIDs that hold the
    attribute (Eq. 4). `before` and `after`: the smallest A(QID) among them, now and then. `records`: records
    that get a more exact value; `held`: records that hold the refined value; `rows`: records in the table; `freed`: by
    how much less of the attribute these records' values cover, added up over them.
    """

    gain: float
    loss: float
    before: int
    after: int
    records: int
    held: int
    rows: int
    freed: float = 0.0


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


def detail(worth: Worth) -> float:
    """Detail won over the whole table per bit of anonymity lost: what to refine where there are no labels to tell of.

    Distortion alone takes a deep tree to its leaves before it opens the next one: on Adult (eight attributes, k = 20)
    ages were shown by the year, and six attributes not at all.
    """
    return worth.freed / worth.rows / (log2(worth.before / worth.after) + 0.5)


SCORES: Mapping[str, Score] = {
    "tradeoff": tradeoff,
    "infogain": infogain,
    "distortion": distortion,
    "total_gain": total_gain,
    "detail": detail,
}


AUTO = "auto"
"""The score that fits what is asked for."""


def check_score(name: str) -> None:
    """Refuse what is no score's name."""
    names = (AUTO, *SCORES)
    if name not in names:
        raise RecipeError(
            "score", "a score is one of " + ", ".join(names), given=repr(name), remedy=did_you_mean(name, names)
        )


def chosen_score(name: str, requirements: Sequence[Requirement], labels: Labels) -> str:
    """The name of the score that "auto" stands for.

    Under several quasi-identifiers clusters survive better by what a refinement tells of the whole table: one of them
    often has little anonymity left, and Eq. 1 then holds that against every attribute it shares with others.
    """
    if name != AUTO:
        return name
    several = len({frozenset(requirement.on) for requirement in requirements}) > 1
    return "total_gain" if several and not labels.told_in_part else "tradeoff"


def score_named(name: str) -> Score:
    """The score of this name."""
    check_score(name)
    return SCORES[name]
