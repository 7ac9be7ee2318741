"""The language between the search and its groups: what may be refined, and what that would do to the smallest group.

The groups of a requirement are made of the tuples that an engine counted; no row is asked any more. A value is known
by its number: at the start all positions of an attribute hold value 0.

The history is what the search did and what stopped it, in labels, for the holder's eyes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.privacy.requirements import Basic, KAnonymity

UNTOUCHED = np.iinfo(np.int64).max
"""The count of a requirement that a refinement does not touch."""


@dataclass(frozen=True)
class Refinement:
    """One value replaced by its children.

    `parts` are position ranges (first, one past last), one for each child. With `rest`, the value's positions
    outside the parts stay together under the old number, as when one value is disclosed from the suppressed.
    """

    attribute: int
    value: int
    parts: tuple[tuple[int, int], ...]
    children: tuple[int, ...]
    rest: bool = False


@dataclass(frozen=True, eq=False)
class Minima:
    """The smallest and the least private group, now and after each candidate.

    `anonymity` (needs,): the records of the smallest group now. `smallest` (candidates, needs): those of the smallest
    non-empty group among the groups that a candidate would make; UNTOUCHED where the requirement lacks the candidate's
    attribute. `level` (needs,) and `worst` (candidates, needs): the same in each requirement's own measure, infinite
    where untouched; where there is no measure, the same numbers. `worst` may also know a group that has been torn
    apart since: one of its parts measures no more, so that `levels_after` is exact all the same.
    """

    anonymity: NDArray[np.int64]
    smallest: NDArray[np.int64]
    level: NDArray[np.float64]
    worst: NDArray[np.float64]

    @classmethod
    def of_sizes(cls, anonymity: NDArray[np.int64], smallest: NDArray[np.int64]) -> Minima:
        """Minima where no requirement has a measure."""
        return cls(anonymity, smallest, anonymity.astype(np.float64), levels_of(smallest))

    def after(self) -> NDArray[np.int64]:
        """(candidates, needs): the anonymity after each candidate, A_x(QID) of 002 section 4.4.2.

        A child group is never larger than its parent, so the smaller of both is exact.
        """
        return np.minimum(self.smallest, self.anonymity[None, :])

    def levels_after(self) -> NDArray[np.float64]:
        """(candidates, needs): what the least private group measures after each candidate."""
        return np.minimum(self.worst, self.level[None, :])


def levels_of(sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Group sizes as levels: the same numbers, infinite where untouched."""
    return np.where(sizes == UNTOUCHED, np.inf, sizes.astype(np.float64))


class Session(Protocol):
    """The groups of every requirement in their present state of refinement."""

    def minima(self, candidates: Sequence[Refinement]) -> Minima:
        """What each candidate would do to the groups. A candidate left out once may not come back."""

    def splits(self, interval: Refinement, thresholds: Sequence[float]) -> NDArray[np.bool_]:
        """(positions of the interval - 1,): at which boundaries every requirement would still hold."""

    def refine(self, step: Refinement) -> None:
        """Replace the value by its children, for good."""


@dataclass(frozen=True)
class Round:
    """One refinement that was carried out. `lifted`: records lifted to the top to make it possible. `wished`: it was
    not chosen for its score, but because the recipe wishes for so much detail."""

    attribute: str
    value: str
    children: tuple[str, ...]
    score: float
    gain: float
    loss: float
    anonymity: tuple[int, ...]
    lifted: int = 0
    wished: bool = False


@dataclass(frozen=True)
class Blocked:
    """One refinement that a requirement forbade, when it was first found out.

    Where it is k-anonymity, `size` is the smallest group it would have made, the largest k that would have allowed it,
    and `small_children` names children that have fewer records in the whole table than the requirement asks. Of other
    requirements `short` tells what some group would have had, and what is asked.
    """

    attribute: str
    value: str
    children: tuple[str, ...]
    requirement: int
    size: int | None
    round: int
    small_children: tuple[str, ...]
    short: str = ""


@dataclass(frozen=True)
class History:
    """The whole search over `rows` records.

    `stopped` says why it ended: "maximal", "max_steps", "seconds", "settled" or "interrupted".
    """

    rounds: tuple[Round, ...]
    blocked: tuple[Blocked, ...]
    rows: int
    stopped: str


def history_to_json(history: History, requirements: Sequence[Basic]) -> dict[str, Any]:
    """The content of history.json in the holder's folder."""
    rounds = [_done(one) for one in history.rounds]
    return {
        **asdict(history),
        "rounds": rounds,
        "requirements": [_asked(requirement) for requirement in requirements],
    }


def _done(one: Round) -> dict[str, Any]:
    """A round; that it was wished is told where it was."""
    return {name: value for name, value in asdict(one).items() if name != "wished" or value}


def _asked(requirement: Basic) -> dict[str, Any]:
    more = {"k": requirement.k} if isinstance(requirement, KAnonymity) else {"claim": requirement.claim()}
    return {"on": list(requirement.on), **more}


def history_from_json(form: Mapping[str, Any]) -> History:
    """Read it back."""
    rounds = tuple(
        Round(**{**part, "children": tuple(part["children"]), "anonymity": tuple(part["anonymity"])})
        for part in form["rounds"]
    )
    blocked = tuple(
        Blocked(**{**part, "children": tuple(part["children"]), "small_children": tuple(part["small_children"])})
        for part in form["blocked"]
    )
    return History(rounds, blocked, form["rows"], form["stopped"])


def next_blocked(history: History, attribute: str) -> list[Blocked]:
    """What was blocked on an attribute and not carried out later all the same, the most hopeful first."""
    done = {_named(r) for r in history.rounds if r.attribute == attribute}
    open_ones = {_named(b): b for b in history.blocked if b.attribute == attribute and _named(b) not in done}
    return sorted(open_ones.values(), key=lambda b: -(b.size or 0))


def _named(step: Round | Blocked) -> tuple[str, str | None]:
    """A refinement by its value; of the suppressed value by the label that would be shown."""
    return (step.value, step.children[0] if step.value == "*" else None)
