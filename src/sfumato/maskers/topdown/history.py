"""History: what the search did and what stopped it, in labels, for the holder's eyes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sfumato.privacy.requirements import Basic, KAnonymity


@dataclass(frozen=True)
class Round:
    """One refinement that was carried out. `lifted`: records lifted to the top to make it possible."""

    attribute: str
    value: str
    children: tuple[str, ...]
    score: float
    gain: float
    loss: float
    anonymity: tuple[int, ...]
    lifted: int = 0


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

    `stopped` says why it ended: "maximal", "max_steps", "seconds" or "interrupted".
    """

    rounds: tuple[Round, ...]
    blocked: tuple[Blocked, ...]
    rows: int
    stopped: str


def history_to_json(history: History, requirements: Sequence[Basic]) -> dict[str, Any]:
    """The content of history.json in the holder's folder."""
    return {**asdict(history), "requirements": [_asked(requirement) for requirement in requirements]}


def _asked(requirement: Basic) -> dict[str, Any]:
    more = {"k": requirement.k} if isinstance(requirement, KAnonymity) else {"claim": requirement.claim()}
    return {"on": list(requirement.on), **more}


def history_from_json(form: Mapping[str, Any]) -> History:
    """Read it back."""
    rounds = tuple(Round(**{**part, "children": tuple(part["children"]), "anonymity": tuple(part["anonymity"])})
                   for part in form["rounds"])  # fmt: skip
    blocked = tuple(Blocked(**{**part, "children": tuple(part["children"]),
                               "small_children": tuple(part["small_children"])})
                    for part in form["blocked"])  # fmt: skip
    return History(rounds, blocked, form["rows"], form["stopped"])


def next_blocked(history: History, attribute: str) -> list[Blocked]:
    """What was blocked on an attribute and not carried out later all the same, the most hopeful first."""
    done = {_named(r) for r in history.rounds if r.attribute == attribute}
    open_ones = {_named(b): b for b in history.blocked if b.attribute == attribute and _named(b) not in done}
    return sorted(open_ones.values(), key=lambda b: -(b.size or 0))


def _named(step: Round | Blocked) -> tuple[str, str | None]:
    """A refinement by its value; of the suppressed value by the label that would be shown."""
    return (step.value, step.children[0] if step.value == "*" else None)
