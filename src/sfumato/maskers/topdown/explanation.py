"""Explaining: why values look as they do, in plain words, from the history of the search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.display import few
from sfumato.errors import ReleaseError, did_you_mean, visible
from sfumato.maskers.topdown.masker import LEAST, Allowed, allowed_from_json
from sfumato.maskers.topdown.refinement import Blocked, History, Round, history_from_json, next_blocked

ENDS = {
    "maximal": "until every further refinement would have broken a requirement",
    "max_steps": "until the number of steps that the recipe allows",
    "seconds": "until the time that the recipe allows was over",
    "settled": "until somebody asked it to end there and to keep what it had found",
    "interrupted": "until it was interrupted",
}
MOST_OTHERS = 5


@dataclass(frozen=True)
class Step:
    """A refinement that was carried out, and the how manieth it was."""

    number: int
    round: Round


@dataclass(frozen=True)
class Obstacle:
    """What would have come next, and the quasi-identifier whose requirement forbade it; `k` if it is k-anonymity."""

    blocked: Blocked
    on: tuple[str, ...]
    k: int | None

    @property
    def becomes(self) -> str:
        """The refinement in words."""
        return f"{self.blocked.value} would become {few(self.blocked.children)}"

    @property
    def why(self) -> str:
        """Which requirement, and how small a group or what else falls short."""
        return f"a group on {{{', '.join(self.on)}}} would then have {self.short}" + (
            f"; too rare in the whole table: {few(self.blocked.small_children)}" if self.blocked.small_children else ""
        )

    @property
    def short(self) -> str:
        """What a group would have, and what is asked."""
        size = self.blocked.size
        return self.blocked.short or f"{size} record{'s' if size != 1 else ''}, and k is {self.k}"


@dataclass(frozen=True)
class Story:
    """One attribute: what is shown (nothing: its top), what was done, what stood in the way, and what k would help."""

    attribute: str
    shown: tuple[str, ...]
    steps: tuple[Step, ...]
    obstacles: tuple[Obstacle, ...]
    allowed: Allowed | None
    stopped: str

    @property
    def shows(self) -> str:
        """What is shown, as a sentence."""
        if self.shown:
            others = " Behind * are all others; where that is one alone, it is shown." if "*" in self.shown else ""
            return f"It is shown as {len(self.shown)} values: {few(self.shown)}.{others}"
        top = self.obstacles[0].blocked.value if self.obstacles else None
        return "It is shown at its top" + (f", {top}, in every record." if top else " in every record.")

    @property
    def next(self) -> str:
        """The next refinement and what blocked it, as a sentence."""
        if self.obstacles:
            first = self.obstacles[0]
            return f"Next, {first.becomes}; {first.why}."
        if self.stopped != "maximal":
            return f"The search went on {ENDS[self.stopped]}; nothing was found to stand in its way by then."
        return "No requirement stands in the way of showing it finer."

    @property
    def remedy(self) -> str | None:
        """Which k shows the next refinement, as a sentence; None where nothing stands in the way."""
        if not self.obstacles:
            return None
        first = self.obstacles[0]
        if first.k is None:
            return "No k shows it: what stands in the way is asked of sensitive values, or of a population."
        if self.allowed is None and (first.blocked.size or 0) < LEAST:
            return "No lower k shows it there: one record would stand alone."
        if self.allowed is None:
            return (
                f"It takes a k of {first.blocked.size} or less there, as far as this search went; a lower k changes "
                "the search, so it has to be tried: sfumato explain RELEASE --raw TABLE."
            )
        if not self.allowed.changes:
            return "No lower k was found that shows it."
        lower = " and ".join(f"k = {change.k} on {{{', '.join(change.on)}}}" for change in self.allowed.changes)
        least = min(change.k for change in self.allowed.changes)
        nobody = ", which protects nobody" if least == 1 else ""
        other = (
            "" if least == first.blocked.size else " With every larger k that was tried the search goes another way."
        )
        return f"It is shown with {lower}{nobody}: the search was run again to know.{other}"


def explain(form: Mapping[str, Any], attribute: str | None = None) -> str:
    """The story of one attribute, or of all of them in the order of the recipe, from history.json."""
    told = stories(form)
    if attribute is None:
        return "\n\n".join([overview(form), *(_text(story) for story in told)])
    for story in told:
        if story.attribute == attribute:
            return _text(story)
    raise ReleaseError(
        attribute,
        "only attributes in a requirement are masked",
        given=repr(attribute),
        remedy=did_you_mean(attribute, [story.attribute for story in told]),
    )


def overview(form: Mapping[str, Any]) -> str:
    """What the search did as a whole."""
    return (
        f"{len(form['rounds'])} refinements were carried out on {form['rows']:,} records, from the most masked "
        f"table downwards, {ENDS[form['stopped']]}."
    )


def stories(form: Mapping[str, Any]) -> list[Story]:
    """What history.json tells of each attribute, in the order of the recipe."""
    history = history_from_json(form)
    needs: Sequence[Mapping[str, Any]] = form["requirements"]
    allowed = {one.attribute: one for one in allowed_from_json(form.get("allowed", ()))}
    names = dict.fromkeys(name for need in needs for name in need["on"])
    return [_story(name, history, needs, allowed.get(name)) for name in names]


def _story(name: str, history: History, needs: Sequence[Mapping[str, Any]], allowed: Allowed | None) -> Story:
    steps = tuple(Step(at, r) for at, r in enumerate(history.rounds, 1) if r.attribute == name)
    blocked = [(b, needs[b.requirement]) for b in next_blocked(history, name)]
    obstacles = tuple(Obstacle(b, tuple(need["on"]), need.get("k")) for b, need in blocked)
    return Story(name, _shown([step.round for step in steps]), steps, obstacles, allowed, history.stopped)


def _shown(rounds: Sequence[Round]) -> tuple[str, ...]:
    shown: list[str] = []
    for r in rounds:
        at = shown.index(r.value) if r.value in shown else len(shown)
        shown[at : at + 1] = [child for child in r.children if child not in shown or child == r.value]
    return tuple(shown)


def _text(story: Story) -> str:
    lines = [story.attribute, f"  {story.shows}", f"  {story.next}"]
    if story.remedy is not None:
        lines.append(f"  {story.remedy}")
    others = story.obstacles[1 : 1 + MOST_OTHERS]
    lines += [f"  Blocked as well: {o.becomes}; {o.why}." for o in others]
    if (more := len(story.obstacles) - 1 - len(others)) > 0:
        lines.append(f"  And {more} more that make smaller groups.")
    return "\n".join(map(visible, [*lines, *(f"  {_did(step)}" for step in story.steps)]))


def _did(step: Step) -> str:
    r = step.round
    why = f"{r.gain:.4f} bits gained, {r.loss:g} of anonymity lost, score {r.score:.4g}"
    if r.lifted:
        why = f"{r.gain:.4f} bits gained, made possible by lifting {r.lifted} records to the top"
    if r.wished:
        why = f"{r.gain:.4f} bits gained, {r.loss:g} of anonymity lost; the recipe's detail asks for it"
    return f"Step {step.number}: {r.value} became {few(r.children)} ({why})."
