"""TopDown: the masker of 000 and 002, as a recipe names it.

It also tries which k would show more. A lower k changes the path of the whole search, so it is run again to know.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

from sfumato.calls import constructed
from sfumato.data.axis import MISSING
from sfumato.data.detail import Detail
from sfumato.data.schema import ItemSet, Schema
from sfumato.errors import Infeasible, RecipeError
from sfumato.maskers.detail.refusal import Unkept, refusal
from sfumato.maskers.masker import DAY, K_ANONYMITY, Guarantee, Mask, Masker, Outcome, Task, only_k_anonymity, within
from sfumato.maskers.recoding.recoding import Recoding
from sfumato.maskers.recoding.rules import Suppress
from sfumato.maskers.topdown.fit import Fitted, Settings, best_of, fit_task, keeps_detail
from sfumato.maskers.topdown.refinement import Blocked, history_from_json, history_to_json, next_blocked
from sfumato.maskers.topdown.scores import AUTO, check_score
from sfumato.maskers.topdown.search import SETTLED
from sfumato.privacy.requirements import KAnonymity, Requirement, basic, largest_k

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


def allowing(task: Task, settings: Settings, form: Mapping[str, Any], *, seconds: float | None = None) -> list[Allowed]:
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
        Allowed(
            part["attribute"],
            part["value"],
            tuple(part["children"]),
            tuple(Change(tuple(c["on"]), c["k"]) for c in part["changes"]),
        )
        for part in form
    ]


class _Clock:
    """Owns the time that is left, and how long one search took at most.

    `many`: intervals end as in the first search, whatever k is tried, so that they can be compared.
    """

    def __init__(self, seconds: float | None, many: Mapping[str, int]) -> None:
        self._many = many
        self._ends = None if seconds is None else time.monotonic() + seconds
        self._longest = 0.0

    def search(self, task: Task, settings: Settings) -> Fitted | None:
        """One search, unless it would last longer than the time that is left."""
        began = time.monotonic()
        if self._ends is not None and began + self._longest > self._ends:
            return None
        limited = settings if self._ends is None else replace(settings, seconds=self._ends - began)
        try:
            found = fit_task(task, limited, many=self._many)
        except Unkept:
            return None
        self._longest = max(self._longest, time.monotonic() - began)
        return None if self._ends is not None and found.history.stopped == "seconds" else found


def _try(task: Task, settings: Settings, blocked: Blocked, on: tuple[str, ...], clock: _Clock) -> Allowed | None:
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


UNGUIDED = "detail"
"""What a refinement is worth where there is no structure."""
BLIND = ("distortion", UNGUIDED)
"""Scores that ask for no labels."""


@constructed
@dataclass(frozen=True, kw_only=True)
class TopDown(Settings, Masker):
    """Top-down refinement: one cut for everybody, as the papers have it.

    - `score`: what a refinement is worth (tradeoff, infogain, distortion, total_gain, detail). "auto": total_gain for
      clusters under several quasi-identifiers, detail where there is no structure, else tradeoff, Eq. 1 of the papers.
    - `search`: "greedy" takes the best refinement each time (the papers); "portfolio" runs greedy under several scores,
      splits and shares of lifted records within `seconds`, and keeps what preserves the structure best.
    - `split`: an interval is split at the best boundary or not at all ("best", the papers), or at the best boundary
      that keeps the requirements ("best_valid").
    - `beneficial_only`: refine only where more than one class is left (002).
    - `max_steps`: stop after so many refinements.
    - `seconds`: stop after so long.
    - `suppress`: lift up to this share of the records to the top of every attribute where that lets all others be
      shown better.
    - `last`: attributes that wait until no other can be refined.
    - `trees`: release the trees of intervals that were grown for numbers; the order in which intervals were split
      follows from all records. Given trees are always told; `sfumato taxonomy grown` finds grown ones for the holder.

    >>> TopDown(score="infogain").split
    'best'
    """

    guarantee: ClassVar[Guarantee] = K_ANONYMITY
    interval_trees: ClassVar[bool] = True
    settles: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_score(self.score)
        object.__setattr__(self, "last", tuple(self.last))
        _one_of("search", self.search, ("greedy", "portfolio"))
        _one_of("split", self.split, ("best", "best_valid"))
        if isinstance(self.suppress, bool) or not isinstance(self.suppress, int | float) or not 0 <= self.suppress < 1:
            raise RecipeError(
                "suppress",
                "it is a share of the records, at least 0 and below 1",
                given=repr(self.suppress),
                remedy="give for example suppress=0.01",
            )
        if self.max_steps is not None:
            within("max_steps", self.max_steps, 0, 10**9, whole=True)
        if self.seconds is not None:
            within("seconds", self.seconds, 0, DAY)

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Top-down refinement needs requirements, on numbers and categories that are quasi-identifiers."""
        if not requirements:
            raise RecipeError(
                "privacy",
                "top-down refinement needs at least one requirement",
                given="none",
                remedy="add for example {k_anonymity: 10, on: [age, sex]}",
            )
        schema.require(self.last, "last")
        if self.suppress:
            only_k_anonymity(
                "top_down with suppress",
                (part for r in requirements for part in r.parts()),
                remedy="leave suppress out",
            )
        self._check_sets(schema, requirements)

    def _check_sets(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Sets go with a taxonomy over their items; nobody is lifted, and no population is held against them."""
        for requirement in requirements:
            for name, attribute in ((name, schema[name]) for name in requirement.on):
                if not isinstance(attribute, ItemSet):
                    continue
                others = "suppress" if self.suppress else "k_map" if requirement.population is not None else ""
                if attribute.taxonomy is None or others:
                    raise RecipeError(
                        name,
                        "a set-valued quasi-identifier is refined along a taxonomy of its items",
                        given=f"an item set with {others}" if others else "an item set without one",
                        remedy=f"leave {others} out" if others else "declare taxonomy: FILE, or give it another role",
                    )

    def check_detail(self, detail: Detail) -> None:
        """Whoever is lifted shows the top of everything."""
        if detail and self.suppress:
            raise RecipeError(
                "detail",
                "it holds for everybody, and records that are lifted show nothing",
                given="top_down with suppress",
                remedy="leave suppress out, or detail",
            )

    def mask(self, task: Task) -> Outcome:
        """Learn a recoding and apply it."""
        try:
            fitted = best_of(task, self) if self.search == "portfolio" else fit_task(task, self)
        except Unkept:
            raise refusal(task, keeps_detail) from None
        history = history_to_json(fitted.history, basic(fitted.demands.kept))
        return Outcome(
            fitted.recoding,
            fitted.masked(task.table),
            fitted.demands.covered,
            history,
            settled=self._settled(fitted),
        )

    def _settled(self, fitted: Fitted) -> str | None:
        """How far a search was that was asked to end; so many steps are the same steps whenever they are taken."""
        if fitted.history.stopped != SETTLED:
            return None
        taken = [one for one in fitted.history.rounds if not one.wished]
        same = self.search == "greedy" and not any(one.lifted for one in taken)
        again = f"; max_steps: {len(taken)} gives the same again" if same else ""
        return f"after {len(taken)} refinements{again}"

    @property
    def joins_earlier(self) -> bool:
        """Beside earlier releases a refinement is only made where all of them stay safe; nobody is lifted there."""
        return not self.suppress

    def unguided(self) -> TopDown:
        """Guided by how much is shown: there are no labels of which a refinement could tell something."""
        if self.score not in (AUTO, "tradeoff", *BLIND):
            raise RecipeError(
                "score",
                "it is worth by labels, and there is no structure",
                given=repr(self.score),
                remedy=f"leave the score out ({UNGUIDED} is taken), or name a structure",
            )
        if self.beneficial_only:
            raise RecipeError(
                "beneficial_only",
                "it refines where more than one class is left, and there is no structure",
                given="true",
                remedy="leave it out, or name a structure",
            )
        return replace(self, score=self.score if self.score in BLIND else UNGUIDED)

    def mask_while(self, task: Task, holds: Callable[[Outcome], bool]) -> Outcome:
        """Refining never adds anonymity (Fung et al., EDBT 2008, section 5): the number of refinements is bisected."""
        outcome = self.mask(task)
        if holds(outcome):
            return outcome
        fine = sum(not one.get("wished") for one in outcome.history["rounds"])
        coarse, found = 0, replace(self, max_steps=0).mask(task)
        if not holds(found):
            raise Infeasible(
                "earlier",
                "beside the earlier releases at least the most masked table keeps k",
                given="it does not",
                remedy="wait until at least k people were added, or ask for a smaller k",
            )
        while fine - coarse > 1:
            steps = (coarse + fine) // 2
            tried = replace(self, max_steps=steps).mask(task)
            if holds(tried):
                coarse, found = steps, tried
            else:
                fine = steps
        return found

    def explained(self, task: Task, history: Mapping[str, Any], mask: Mask) -> Mapping[str, Any]:
        """The history with the k that would show more."""
        return {**history, "allowed": allowed_to_json(allowing(task, self, history))}

    @staticmethod
    def read_mask(files: Mapping[str, Any]) -> Recoding:
        """The mask of a written release."""
        return Recoding.read(files)


def _one_of(name: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise RecipeError(name, "it is one of " + ", ".join(known), given=repr(given), remedy=f"say {known[0]!r}")
