"""What a drafted recipe asks for beside its attributes: k, the structure, a bound for what is sensitive, the masker."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow.types as pt

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
_HALF = 0.5
MOST_SHARED = 0.75
"""Where more people than this share a value, that it is theirs is no secret, and a bound would cost much."""
SURE_OF_THE_RARER = 0.8
"""How sure one may be of the rarer of two values: a tighter bound would blur the classes that must survive."""


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
    """What must hold and what must survive. `dropped`: whether rows without a class are left out."""

    k: int
    target: str | None
    clusters: bool
    bound: Bound | None
    unbounded: tuple[str, ...]
    dropped: bool


def plan(columns: Sequence[Looked], given: dict[str, Given], target: Looked | None, rows: int) -> Plan:
    """What a table of so many rows can be asked for."""
    sensitive = [column for column in columns if given[column.name].role == "sensitive"]
    kept = rows - (target.profile.missing if target is not None else 0)
    able = [column for column in sensitive if _countable(column)]
    first = next((column for column in able if column is target), able[0] if able else None)
    bound = None if first is None or kept < _FEWEST_ROWS_IN_A_BOUND else _bound(first.profile, first is target)
    varied = any(given[c.name].role in ("quasi", "plain") and not c.constant for c in columns)
    return Plan(
        k=k_for(kept),
        target=None if target is None else target.name,
        clusters=target is None and rows >= _LEAST_ROWS_FOR_CLUSTERS and varied,
        bound=bound,
        unbounded=tuple(column.name for column in sensitive if bound is None or column.name != bound.column),
        dropped=target is not None and target.profile.missing > 0,
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


def _bound(profile: Profile, dropped: bool) -> Bound | None:
    """A bound that the whole table keeps: what the commonest value tells of everybody anyway cannot be hidden.

    Labels that look alike are counted as one, as `publish` does; `dropped`: rows without a value are left out.
    """
    shares: dict[str, int] = {} if dropped or not profile.missing else {"": profile.missing}
    for value, count in zip(profile.values.to_pylist(), profile.counts, strict=True):
        shares[looks(str(value))] = shares.get(looks(str(value)), 0) + count
    share = max(shares.values()) / sum(shares.values())
    if len(shares) < 2:
        return None
    two_texts = len(shares) == profile.distinct == 2 and pt.is_string(profile.type)
    if share <= (_HALF if two_texts else MOST_SHARED):
        most = math.ceil((1 + share) / 2 * 20) / 20
        return Bound(profile.name, "confidence_bound", most, f"nobody may be surer of anybody's value than {most:.0%}")
    if two_texts:
        rarer = min(zip(profile.counts, profile.values.to_pylist(), strict=True))[1]
        most = SURE_OF_THE_RARER
        reason = f"nobody may be surer than {most:.0%} that somebody has the rarer value"
        return Bound(profile.name, "confidence_bound", most, reason, value=rarer)
    return Bound(profile.name, "l_diversity", 2, "nobody may be certain of anybody's value; most people share one")
