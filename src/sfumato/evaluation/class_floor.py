"""Whether masked columns still tell a class at all: what a tree does with them, and without any of them."""

from __future__ import annotations

from collections.abc import Mapping

HALF_A_POINT = 0.005
"""Errors that differ by less are taken for equal."""
FLOORS = {
    "removed_error": "without the masked columns",
    "commonest_error": "by naming the commonest class for everybody",
}
"""What needs none of the masked columns, and how."""


def better_left_out(figures: Mapping[str, float]) -> bool:
    """Whether a tree that learned from the masked table makes as many errors as one that never saw the masked columns.

    >>> better_left_out({"masked_error": 0.2, "removed_error": 0.179})
    True
    >>> better_left_out({"masked_error": 0.15, "removed_error": 0.179}), better_left_out({})
    (False, False)
    """
    floors = [figures[name] for name in FLOORS if name in figures]
    return "masked_error" in figures and bool(floors) and figures["masked_error"] > min(floors) - HALF_A_POINT


def left_out(figures: Mapping[str, float]) -> str | None:
    """What to do about it, in one sentence without its full stop; None where the masked columns tell something."""
    if not better_left_out(figures):
        return None
    name = min((name for name in FLOORS if name in figures), key=lambda one: figures[one])
    error, floor = figures["masked_error"], figures[name]
    if abs(error - floor) < HALF_A_POINT:
        told = f"a tree makes as many errors with the masked columns ({error:.3f}) as {FLOORS[name]} ({floor:.3f})"
    else:
        told = f"a tree makes more errors with the masked columns ({error:.3f}) than {FLOORS[name]} ({floor:.3f})"
    raw = figures.get("baseline_error")
    even = f"; raw they would help hardly more ({raw:.3f})" if raw is not None and raw > floor - HALF_A_POINT else ""
    return f"mind: {told}{even}: for these classes leave them out (role: identifier), or mask fewer columns or less"
