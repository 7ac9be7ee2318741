"""History: what the search did and what stopped it, in labels, for the holder's eyes."""

from __future__ import annotations

from dataclasses import dataclass


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

    `size` is the smallest group it would have made: the largest k that would have allowed it.
    `small_children` names children that have fewer records in the whole table than the requirement asks.
    """

    attribute: str
    value: str
    children: tuple[str, ...]
    requirement: int
    size: int
    round: int
    small_children: tuple[str, ...]


@dataclass(frozen=True)
class History:
    """The whole search over `rows` records. `stopped` says why it ended: "maximal", "max_steps", "seconds" or "interrupted"."""

    rounds: tuple[Round, ...]
    blocked: tuple[Blocked, ...]
    rows: int
    stopped: str
