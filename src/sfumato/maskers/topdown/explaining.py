"""Explaining: why values look as they do, in plain words, from the history of the search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.errors import ReleaseError, did_you_mean
from sfumato.maskers.topdown.history import Blocked, History, Round, history_from_json


def explain(form: Mapping[str, Any], attribute: str | None = None) -> str:
    """The story of one attribute, or of all of them in the order of the recipe."""
    history = history_from_json(form)
    needs: Sequence[Mapping[str, Any]] = form["requirements"]
    names = list(dict.fromkeys(name for need in needs for name in need["on"]))
    if attribute is None:
        return "\n\n".join([_overview(history), *(_story(name, history, needs) for name in names)])
    if attribute not in names:
        raise ReleaseError(attribute, "only attributes in a requirement are masked", given=repr(attribute),
                           remedy=did_you_mean(attribute, names))  # fmt: skip
    return _story(attribute, history, needs)


ENDS = {
    "maximal": "until every further refinement would have broken a requirement",
    "max_steps": "until the number of steps that the recipe allows",
    "seconds": "until the time that the recipe allows was over",
    "interrupted": "until it was interrupted",
}


def _overview(history: History) -> str:
    return (
        f"{len(history.rounds)} refinements were carried out on {history.rows:,} records, from the most masked "
        f"table downwards, {ENDS[history.stopped]}."
    )


def _story(name: str, history: History, needs: Sequence[Mapping[str, Any]]) -> str:
    told = [(at, r) for at, r in enumerate(history.rounds, 1) if r.attribute == name]
    lines = [f"{name}", _shown(history, name, [r for _, r in told])]
    lines += [f"  {_did(at, r)}" for at, r in told]
    stuck = _stuck(history, name)
    lines += [f"  {_why_not(b, needs)}" for b in stuck]
    if not stuck and not told:
        lines.append("  The search ended before it was this attribute's turn.")
    elif not stuck:
        lines.append("  Nothing stands in the way of showing it as finely as it can be shown.")
    return "\n".join(lines)


def _shown(history: History, name: str, rounds: Sequence[Round]) -> str:
    shown: list[str] = []
    for r in rounds:
        at = shown.index(r.value) if r.value in shown else len(shown)
        shown[at : at + 1] = [child for child in r.children if child not in shown or child == r.value]
    if not shown:
        first = next((b.value for b in history.blocked if b.attribute == name), None)
        return "  It is shown at its top" + (f", {first}, in every record." if first else " in every record.")
    return f"  It is shown as {len(shown)} values: {_few(shown)}."


def _did(at: int, r: Round) -> str:
    why = f"{r.gain:.4f} bits gained, {r.loss:g} of anonymity lost, score {r.score:.4g}"
    if r.lifted:
        why = f"{r.gain:.4f} bits gained, made possible by lifting {r.lifted} records to the top"
    return f"Step {at}: {r.value} became {_few(r.children)} ({why})."


def _stuck(history: History, name: str) -> list[Blocked]:
    """What was blocked and was not carried out later all the same; of suppressed values the most hopeful."""
    done = {(r.value, r.children) for r in history.rounds if r.attribute == name}
    open_ones = [b for b in history.blocked if b.attribute == name and (b.value, b.children) not in done]
    last = {b.value if b.value != "*" else b.children[0]: b for b in open_ones}
    found = sorted(last.values(), key=lambda b: -b.size)
    suppressed = [b for b in found if b.value == "*"]
    return [b for b in found if b.value != "*"] + suppressed[:5]


def _why_not(b: Blocked, needs: Sequence[Mapping[str, Any]]) -> str:
    need = needs[b.requirement]
    text = (
        f"Next, {b.value} would become {_few(b.children)}; a group on {{{', '.join(need['on'])}}} would then have "
        f"{b.size} record{'s' if b.size != 1 else ''}, and k is {need['k']}. "
        f"It would be shown with k = {b.size} on that quasi-identifier."
    )
    if b.small_children:
        text += f" Too rare in the whole table: {_few(b.small_children)}."
    return text


def _few(labels: Sequence[str], most: int = 8) -> str:
    more = f" and {len(labels) - most} more" if len(labels) > most else ""
    return ", ".join(labels[:most]) + more
