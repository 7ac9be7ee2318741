"""Whether masked columns still tell a class at all: what a tree does with them, and without any of them.

Errors are shares of rows held out, and another draw of rows would have given others: what differs by less than two
standard errors of a difference cannot be told apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

HALF_A_POINT = 0.005
"""Errors that differ by less are taken for equal."""
WORTH_IT = 0.02
"""What columns must spare in errors, lest they be left out for the classes' sake."""
TESTED = "tested_rows"
"""The score that tells of how many rows held out the errors are shares."""
FLOORS = {
    "removed_error": "without the masked columns",
    "commonest_error": "by naming the commonest class for everybody",
}
"""What needs none of the masked columns, and how."""
CURE = "leave them out (role: identifier), or mask fewer columns or less"
RELATED = "relations.kept"
"""Measured of generated tables alone, in which every column is drawn."""
CURE_OF_GENERATED = "count pairs of columns in place of parts (private_tree: {pairs: 8}), or give more epsilon"


def by_chance(one: float, other: float, rows: float) -> float:
    """How far two errors on so many rows may lie apart by chance: two standard errors of their difference (binomial).

    The rows are the same ones, on which both often agree, so that it is rather too much. Of unknown rows it is 0.

    >>> round(by_chance(0.169, 0.173, 1333), 3), by_chance(0.1, 0.2, 0)
    (0.029, 0.0)
    """
    return 2 * sqrt((one * (1 - one) + other * (1 - other)) / rows) if rows else 0.0


def better_left_out(figures: Mapping[str, float]) -> bool:
    """Whether a tree tells the classes as well without the masked columns, beyond doubt.

    It makes no fewer errors with them than one that never saw them, and chance does not hide a gain: either the raw
    columns are clearly worth something, which masking clearly lost, or so many rows were asked that no gain worth
    having is left.

    >>> better_left_out({"masked_error": 0.2, "removed_error": 0.179})
    True
    >>> better_left_out({"masked_error": 0.15, "removed_error": 0.179}), better_left_out({})
    (False, False)
    >>> errors = {"masked_error": 0.175, "removed_error": 0.173, "baseline_error": 0.165}
    >>> better_left_out({**errors, TESTED: 1333}), better_left_out({**errors, "baseline_error": 0.1, TESTED: 1333})
    (False, True)
    """
    if not _no_better(figures):
        return False
    masked, floor, rows = figures["masked_error"], figures[_floor(figures)], figures.get(TESTED, 0.0)
    raw = figures.get("baseline_error", floor)
    lost = all(one - raw > by_chance(one, raw, rows) for one in (floor, masked))
    return lost or floor - masked + by_chance(masked, floor, rows) < WORTH_IT


def _no_better(figures: Mapping[str, float]) -> bool:
    floors = [figures[name] for name in FLOORS if name in figures]
    return "masked_error" in figures and bool(floors) and figures["masked_error"] > min(floors) - HALF_A_POINT


def _floor(figures: Mapping[str, float]) -> str:
    return min((name for name in FLOORS if name in figures), key=lambda one: figures[one])


def left_out(figures: Mapping[str, float]) -> str | None:
    """What to do about it, in one sentence without its full stop; None where the masked columns tell something."""
    if not _no_better(figures):
        return None
    name = _floor(figures)
    error, floor, rows = figures["masked_error"], figures[name], figures.get(TESTED, 0.0)
    even = _raw(figures.get("baseline_error"), floor)
    if not better_left_out(figures):
        return (
            f"mind: the errors of a tree with the masked columns ({error:.3f}) cannot be told from those made "
            f"{FLOORS[name]} ({floor:.3f}){even}: on {rows:,.0f} rows held out errors differ by up to "
            f"{by_chance(error, floor, rows):.3f} by chance"
        )
    if abs(error - floor) < max(HALF_A_POINT, by_chance(error, floor, rows)):
        told = f"a tree makes as many errors with the masked columns ({error:.3f}) as {FLOORS[name]} ({floor:.3f})"
    else:
        told = f"a tree makes more errors with the masked columns ({error:.3f}) than {FLOORS[name]} ({floor:.3f})"
    return f"mind: {told}{even}: for these classes {CURE_OF_GENERATED if RELATED in figures else CURE}"


def _raw(raw: float | None, floor: float) -> str:
    """What is said of the same columns unmasked, where they are no help either."""
    if raw is None or raw <= floor - HALF_A_POINT:
        return ""
    return f"; raw they {'would help hardly more' if raw <= floor else 'do not help either'} ({raw:.3f})"
