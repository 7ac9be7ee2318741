"""What a drafted recipe asks for beside its attributes: k, the structure, a bound for what is sensitive, the masker."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.types as pt

from sfumato.data.drafting.compared import Compared, compared
from sfumato.data.drafting.profile import Profile
from sfumato.data.drafting.roles import Given, Looked
from sfumato.data.lookalikes import looks
from sfumato.data.schema import Category, Number

MASKER = "partition"
"""The masker of every drafted recipe, by its name in recipes."""
MASKER_REASON = "shows finely where many people are alike and coarsely where few are, guided by the structure"
K_BELOW = ((1_000, 5), (10_000, 10))
"""Tables of fewer rows than this get this k; larger ones get `LARGE_K`."""
LARGE_K = 20
_LEAST_ROWS_FOR_CLUSTERS = 50
_MOST_VALUES = 50
_FEWEST_ROWS_IN_A_BOUND = 20
SURE = 0.8
"""How sure one may be at the least of the classes that must survive, and of the rarer of two values."""
NO_SECRET = 0.75
"""Where more people than this are of one of two classes, bounding that one would cost more detail than it hides."""
_NEARLY_ALL = 0.95  # of the people share a value: no bound leaves room, so that two values in a group must do


@dataclass(frozen=True)
class Bound:
    """What may be learned of a sensitive column at most: the requirement's name, its figure, and why so.

    `value`: the only one that is bounded; any, if None.
    """

    column: str
    requirement: str
    figure: float
    reason: str
    value: str | None = None


@dataclass(frozen=True)
class Plan:
    """What must hold and what must survive. `dropped`: whether rows without a class are left out.

    `compared`: what records are compared by to find clusters.
    """

    k: int
    target: str | None
    clusters: bool
    bounds: tuple[Bound, ...]
    unbounded: tuple[str, ...]
    dropped: bool
    compared: Compared


def plan(table: pa.Table, columns: Sequence[Looked], given: dict[str, Given], target: Looked | None) -> Plan:
    """What a table can be asked for."""
    rows = table.num_rows
    sensitive = [column for column in columns if given[column.name].role == "sensitive"]
    kept = rows - (target.profile.missing if target is not None else 0)
    able = [column for column in sensitive if _countable(column)]
    first = next((column for column in able if column is target), able[0] if able else None)
    bounds = () if first is None or kept < _FEWEST_ROWS_IN_A_BOUND else _bounds(first.profile, first is target)
    bounded = {bound.column for bound in bounds}
    found = compared(table, columns, given) if target is None and rows >= _LEAST_ROWS_FOR_CLUSTERS else Compared()
    return Plan(
        k=k_for(kept),
        target=None if target is None else target.name,
        clusters=bool(found.attributes),
        bounds=bounds,
        unbounded=tuple(column.name for column in sensitive if column.name not in bounded),
        dropped=target is not None and target.profile.missing > 0,
        compared=found,
    )


def k_for(rows: int) -> int:
    """The size of groups for a table of so many rows: a small one can be asked for less.

    >>> k_for(3), k_for(300), k_for(5_000), k_for(50_000)
    (2, 5, 10, 20)
    """
    wanted = next((k for below, k in K_BELOW if rows < below), LARGE_K)
    return max(2, min(wanted, rows // 5))


def _countable(column: Looked) -> bool:
    few = 2 <= column.profile.distinct <= _MOST_VALUES
    return few and isinstance(column.made.attribute, Category | Number)


def _bounds(profile: Profile, target: bool) -> tuple[Bound, ...]:
    """Bounds that the whole table keeps: what the commonest value tells of everybody anyway cannot be hidden.

    Labels that look alike are counted as one, as `publish` does. `target`: its classes must survive, and rows without
    one are left out.
    """
    shares: dict[str, int] = {} if target or not profile.missing else {"": profile.missing}
    for value, count in zip(profile.values.to_pylist(), profile.counts, strict=True):
        shares[looks(str(value))] = shares.get(looks(str(value)), 0) + count
    if len(shares) < 2:
        return ()
    share = max(shares.values()) / sum(shares.values())
    most = max(midway(share), SURE) if target else midway(share)
    if len(shares) == profile.distinct == 2 and pt.is_string(profile.type) and most > SURE:
        return _of_two(profile, share, most, target)
    if share > _NEARLY_ALL:
        reason = "nobody may be certain of anybody's value; nearly all people share one"
        return (Bound(profile.name, "l_diversity", 2, reason),)
    cost = f"; what is learned from the release can be right for no more than {most:.0%}" if target else ""
    reason = f"nobody may be surer of anybody's value than {most:.0%}{cost}"
    return (Bound(profile.name, "confidence_bound", most, reason),)


def midway(share: float) -> float:
    """Halfway from the share of the commonest value to certainty, in steps of 5 %, above 95 % in steps of 1 %.

    >>> midway(0.2), midway(0.49), midway(0.51), midway(0.76), midway(0.93)
    (0.6, 0.75, 0.8, 0.9, 0.97)
    """
    half = round((1 + share) / 2, 9)
    return math.ceil(half * 20) / 20 if half <= 0.95 else math.ceil(half * 100) / 100


def _of_two(profile: Profile, share: float, most: float, target: bool) -> tuple[Bound, ...]:
    """The rarer of two values is the secret one: it is bounded more closely than what most people have."""
    (_, rarer), (_, commoner) = sorted(zip(profile.counts, profile.values.to_pylist(), strict=True))
    reason = f"nobody may be surer than {SURE:.0%} that somebody has the rarer value"
    if share > (NO_SECRET if target else _NEARLY_ALL):
        reason += "; that somebody has the other may be certain: to bound that, too, would cost much detail"
        return (Bound(profile.name, "confidence_bound", SURE, reason, value=rarer),)
    other = f"nor than {most:.0%} that somebody has the other"
    return (
        Bound(profile.name, "confidence_bound", SURE, reason, value=rarer),
        Bound(profile.name, "confidence_bound", most, other, value=commoner),
    )
