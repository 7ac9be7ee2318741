"""What is said where a wish for detail cannot be kept: which one, what can be reached, and the k that keeps it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sfumato.data.detail import Detail, Few, Wish
from sfumato.data.table import Table
from sfumato.errors import Infeasible
from sfumato.events import checkpoint
from sfumato.maskers.detail.missing import Dropped, dropped
from sfumato.maskers.masker import Task
from sfumato.privacy.requirements import Basic, KAnonymity, Requirement, basic

Attempt = Callable[[Sequence[Requirement], Detail], bool]
"""Whether wishes can be kept under requirements."""
LEAST = 2
COARSER = (1.1, 1.2, 1.35, 1.5, 1.75, 2, 2.5, 3, 4, 6, 10, 16, 32, 64, 128, 256, 1024)
"""How many times as coarse is tried, one after the other."""
HALVES = 4


OUTER = ". The outer intervals reach to the ends of the declared range: declare nearer ones, if there are any"


SECONDS = 30.0
"""After so long nothing more is tried."""


class Unkept(Exception):
    """A wish that cannot be kept; whoever knows what was asked says so in words."""


def refusal(task: Task, keeps: Callable[[Task], bool]) -> Infeasible:
    """The error, with what was found by trying: without rows that miss a value, each wish alone, coarser ones, and
    smaller k; and of labels how many have fewer rows than k, which no wish for one label can show.

    `keeps`: whether the wishes of a task can be kept.
    """
    asked, keeps, detail = basic(task.requirements), _within(keeps, SECONDS), task.detail

    def attempt(needs: Sequence[Requirement], wishes: Detail) -> bool:
        return keeps(replace(task, requirements=needs, detail=wishes))

    missing = dropped(task, keeps)
    alone = [name for name, wish in detail.items() if not attempt(asked, {name: wish})]
    named = alone[:1] or list(detail)
    k = _largest_k(asked, detail, attempt)
    wishes = {name: detail[name] for name in named}
    coarser = {name: found for name in named if (found := _coarser(asked, name, wishes, attempt)) is not None}
    rare = "".join(_rare(asked, name, detail[name], task.table) for name in named)
    return Infeasible(
        f"detail: {', '.join(named)}",
        "not everybody can be shown "
        + (str(detail[named[0]]) if len(named) == 1 else "; ".join(f"{name} {detail[name]}" for name in named)),
        given=_given(asked, named, coarser) + rare + _in_vain(missing),
        remedy=_without(missing) + _remedy(asked, k, coarser, detail),
    )


def _in_vain(missing: Dropped | None) -> str:
    if missing is None or missing.helps:
        return ""
    return f"; {missing.setting} was not found to be enough, either"


def _without(missing: Dropped | None) -> str:
    if missing is None or not missing.helps:
        return ""
    names = ", ".join(missing.names)
    what = f"{missing.rows} that miss a value in {names}"
    return f"leave out {what}, without which the wish was found to be kept with the same k: {missing.setting}; or "


def _within(keeps: Callable[[Task], bool], seconds: float) -> Callable[[Task], bool]:
    """The same, which keeps nothing any more once the time is over."""
    ends = time.monotonic() + seconds

    def tried(task: Task) -> bool:
        checkpoint()
        return time.monotonic() < ends and keeps(task)

    return tried


def _given(asked: Sequence[Basic], named: Sequence[str], coarser: Mapping[str, Wish]) -> str:
    sizes = [part.k for part in asked if isinstance(part, KAnonymity)]
    what = f"k = {max(sizes)}" if sizes else "other requirements than k-anonymity"
    if len(named) > 1:
        return f"{what}, with which each can be kept alone, and no way was found to keep all of them together"
    reached = [f"people can be shown {wish}" for wish in coarser.values()]
    return f"{what}, with which {(reached or ['no coarser wish was found to be kept, either'])[0]}"


def _rare(asked: Sequence[Basic], name: str, wish: Wish, table: Table) -> str:
    """Whether labels of a column are too rare to stand alone: often they are misspelt ones."""
    k = max((part.k for part in asked if isinstance(part, KAnonymity) and name in part.on), default=0)
    counts = table.columns[name].counts[:-1]
    rare = isinstance(wish, Few) and bool(((counts > 0) & (counts < k)).any())
    return f"; some labels of {name} have fewer than {k} rows: misspelt ones?" if rare else ""


def _remedy(asked: Sequence[Basic], k: int | None, coarser: Mapping[str, Wish], detail: Detail) -> str:
    """Each of the coarser wishes alone is enough."""
    less = " or ".join(f"{{{name}: {wish.given}}}" for name, wish in coarser.items())
    less = f"detail: {less}" if less else "less detail"
    if k is not None:
        what = "every wish" if len(detail) > 1 else "the wish"
        return f"ask for k of at most {k}, the largest that was found to keep {what}; or for {less}"
    counted = any(isinstance(part, KAnonymity) for part in asked)
    none = "; no k of at least 2 was found to keep it" if counted else ""
    few = all(isinstance(detail[name], Few) for name in coarser or detail)
    return f"ask for {less}{none}{'' if few else OUTER}"


def _largest_k(asked: Sequence[Basic], detail: Detail, attempt: Attempt) -> int | None:
    """By halves: what a smaller k keeps less of is not looked for."""
    sizes = [part.k for part in asked if isinstance(part, KAnonymity)]
    if not sizes or max(sizes) <= LEAST or not attempt(_at_most(asked, LEAST), detail):
        return None
    kept, broken = LEAST, max(sizes)
    while broken - kept > 1:
        k = (kept + broken) // 2
        if attempt(_at_most(asked, k), detail):
            kept = k
        else:
            broken = k
    return kept


def _at_most(asked: Sequence[Basic], k: int) -> tuple[Basic, ...]:
    """The same with no larger k."""
    return tuple(KAnonymity(part.on, min(part.k, k)) if isinstance(part, KAnonymity) else part for part in asked)


def _coarser(asked: Sequence[Basic], name: str, detail: Detail, attempt: Attempt) -> Wish | None:
    """The finest of one wish that was found to be kept, beside the others as they are: ever coarser ones, and then by
    halves between the last two."""
    broken = 1.0
    for times in COARSER:
        if attempt(asked, {**detail, name: detail[name].coarser(times)}):
            return _between(asked, name, detail, attempt, (broken, times))
        broken = times
    return None


def _between(asked: Sequence[Basic], name: str, detail: Detail, attempt: Attempt, times: tuple[float, float]) -> Wish:
    wish, (broken, kept) = detail[name], times
    for _ in range(HALVES):
        middle = (broken + kept) / 2
        one = wish.coarser(middle)
        if one in (wish.coarser(broken), wish.coarser(kept)):
            break
        if attempt(asked, {**detail, name: one}):
            kept = middle
        else:
            broken = middle
    return wish.coarser(kept)
