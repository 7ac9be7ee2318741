"""Trying: which k would show more. A lower k changes the path of the whole search, so it is run again to know."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sfumato.data.cut import MISSING
from sfumato.maskers.masker import Task
from sfumato.maskers.topdown.fit import Fitted, TopDown, fit_task
from sfumato.maskers.topdown.history import Blocked, history_from_json, next_blocked
from sfumato.maskers.topdown.recoding import Suppress
from sfumato.privacy.requirements import KAnonymity, basic, largest_k

LEAST = 2
"""The least k that can be asked for."""
MOST = 24
"""How many k are tried for one refinement, from the group that blocked it downwards."""
Thresholds = dict[frozenset[str], int]


@dataclass(frozen=True)
class Change:
    """A quasi-identifier and the k that was tried on it."""

    on: tuple[str, ...]
    k: int


@dataclass(frozen=True)
class Allowed:
    """What a search that was run again has shown: with these k the refinement is carried out; none: with no k."""

    attribute: str
    value: str
    children: tuple[str, ...]
    changes: tuple[Change, ...]


def allowing(task: Task, settings: TopDown, form: Mapping[str, Any], *, seconds: float | None = None) -> list[Allowed]:
    """For each attribute's next refinement the k that shows it, found by running the search again.

    A refinement that another requirement than k-anonymity forbids is not tried: no k shows it.
    With `seconds` it stops before the time is over, and the attributes left are not told about. A portfolio search
    is not tried: what it ends with depends on the time that it has.
    """
    if settings.search == "portfolio" or form.get("stopped") != "maximal":
        return []
    history = history_from_json(form)
    needs = [tuple(need["on"]) for need in form["requirements"]]
    clock = _Clock(seconds, largest_k(task.requirements))
    found = []
    task = replace(task, requirements=basic(task.requirements))
    for name in dict.fromkeys(name for on in needs for name in on):
        for blocked in (first for first in next_blocked(history, name)[:1] if first.size is not None):
            part = task if settings.suppress else _touching(task, needs[blocked.requirement])
            found.append(_try(part, settings, blocked, needs[blocked.requirement], clock))
    return [one for one in found if one is not None]


def allowed_to_json(found: Sequence[Allowed]) -> list[dict[str, Any]]:
    """Plain mappings, for history.json in the holder's folder."""
    return [asdict(one) for one in found]


def allowed_from_json(form: Sequence[Mapping[str, Any]]) -> list[Allowed]:
    """Read it back."""
    return [
        Allowed(part["attribute"], part["value"], tuple(part["children"]),
                tuple(Change(tuple(c["on"]), c["k"]) for c in part["changes"]))
        for part in form
    ]  # fmt: skip


class _Clock:
    """Owns the time that is left, and how long one search took at most.

    `many`: intervals end as in the first search, whatever k is tried, so that they can be compared.
    """

    def __init__(self, seconds: float | None, many: Mapping[str, int]) -> None:
        self._many = many
        self._ends = None if seconds is None else time.monotonic() + seconds
        self._longest = 0.0

    def search(self, task: Task, settings: TopDown) -> Fitted | None:
        """One search, unless it would last longer than the time that is left."""
        began = time.monotonic()
        if self._ends is None:
            return fit_task(task, settings, many=self._many)
        if began + self._longest > self._ends:
            return None
        found = fit_task(task, replace(settings, seconds=self._ends - began), many=self._many)
        self._longest = max(self._longest, time.monotonic() - began)
        return None if found.history.stopped == "seconds" else found


def _try(task: Task, settings: TopDown, blocked: Blocked, on: tuple[str, ...], clock: _Clock) -> Allowed | None:
    """The first of a falling row of k that shows it; what stands in the way elsewhere falls first."""
    asked: Thresholds = {frozenset(r.on): r.k for r in task.requirements if isinstance(r, KAnonymity)}
    also: Thresholds = {}
    falling = _falling(blocked.size or LEAST)
    while falling:
        wanted = {**asked, **also, frozenset(on): falling[0]}
        fitted = clock.search(_with(task, wanted), settings)
        if fitted is None:
            return None
        if _shows(fitted, blocked):
            return Allowed(blocked.attribute, blocked.value, blocked.children, _changes(task, wanted, asked))
        elsewhere = _elsewhere(fitted, blocked, on)
        also |= elsewhere
        falling = falling if elsewhere else falling[1:]
    return Allowed(blocked.attribute, blocked.value, blocked.children, ())


def _falling(size: int) -> list[int]:
    """From the size down to the least k, at most `MOST` of them; none if it is smaller than that.

    >>> _falling(4), _falling(1)
    ([4, 3, 2], [])
    """
    if size < LEAST:
        return []
    steps = max(min(MOST, size - LEAST + 1) - 1, 1)
    return sorted({size - round((size - LEAST) * step / steps) for step in range(steps + 1)}, reverse=True)


def _touching(task: Task, on: tuple[str, ...]) -> Task:
    """The task without requirements that share no attribute with this one, nor with one that does, and so on.

    They neither forbid nor delay each other's refinements, so the search does the same without them.
    """
    near, size = set(on), 0
    while len(near) != size:
        size = len(near)
        near |= {name for r in task.requirements if near & set(r.on) for name in r.on}
    return replace(task, requirements=tuple(r for r in task.requirements if near & set(r.on)))


def _with(task: Task, wanted: Thresholds) -> Task:
    changed = (KAnonymity(r.on, wanted[frozenset(r.on)]) if isinstance(r, KAnonymity) else r for r in task.requirements)
    return replace(task, requirements=tuple(changed))


def _changes(task: Task, wanted: Thresholds, asked: Thresholds) -> tuple[Change, ...]:
    sets = [r.on for r in task.requirements if isinstance(r, KAnonymity)]
    return tuple(Change(on, wanted[frozenset(on)]) for on in sets if wanted[frozenset(on)] != asked[frozenset(on)])


def _shows(fitted: Fitted, blocked: Blocked) -> bool:
    """Whether the refinement was carried out, or its label is shown because it was the last one left."""
    rule = fitted.recoding.attributes[blocked.attribute]
    if isinstance(rule, Suppress):
        return blocked.children[0] in [MISSING if label is None else label for label in rule.disclosed]
    return any(r.attribute == blocked.attribute and r.value == blocked.value for r in fitted.history.rounds)


def _elsewhere(fitted: Fitted, blocked: Blocked, on: tuple[str, ...]) -> Thresholds:
    """Another k that stood in the way this time, with the size that would let it pass."""
    wanted = (blocked.attribute, blocked.value, blocked.children)
    asked = basic(fitted.demands.kept)
    for b in fitted.history.blocked:
        need = asked[b.requirement].on
        if (b.attribute, b.value, b.children) == wanted and set(need) != set(on) and (b.size or 0) >= LEAST:
            return {frozenset(need): b.size or LEAST}
    return {}
