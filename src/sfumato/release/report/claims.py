"""The verdict, what is claimed and what is not, how to check it and how to cite it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.privacy.requirements import KAnonymity
from sfumato.privacy.verify.twins import needed
from sfumato.release.certificate import not_claimed, statement
from sfumato.release.claims import Claim
from sfumato.release.recipient import checks, explained
from sfumato.release.recipient import cited as words_to_cite
from sfumato.release.report.markup import Html, bullets, folded, join, paragraph, section, table, tag, text
from sfumato.release.report.material import Held, Released


def verdict(released: Released) -> Html:
    """What is promised, in one sentence."""
    return paragraph(statement(released.facts), "verdict")


def holders_verdict(released: Released, held: Held) -> Html:
    """What holds, what survived and what is risked, in one sentence."""
    state = "Verified" if held.verdict.holds else "NOT verified"
    if released.facts.differential is not None and not released.facts.differential.private:
        state = "NOT PRIVATE (a seeded run)"
    told = [*_survived(held.scores), *_risked(held.scores)]
    return paragraph(f"{state}: {_promise(released)}{'; ' if told else ''}{', and '.join(told)}.", "verdict")


def _promise(released: Released) -> str:
    """What is claimed, as a part of a sentence; in full where it is short."""
    whole = statement(released.facts).rstrip(".")
    if released.facts.differential is not None:
        return f"epsilon = {released.facts.differential.epsilon}, differentially private; every row is generated"
    if len(released.facts.claims) < 2:
        return whole[0].lower() + whole[1:]
    asked = [claim.requirement for claim in released.facts.claims]
    sizes = [requirement.k for requirement in asked if isinstance(requirement, KAnonymity)]
    if len(sizes) < len(asked):
        return "; ".join(str(requirement) for requirement in asked)
    alike = f"at least {min(sizes)} records share every combination of values shown for each of"
    return f"{alike} {len(asked)} quasi-identifiers"


def _survived(scores: Mapping[str, Any]) -> list[str]:
    values = _values(scores)
    for name in ("f_measure.start", "f_measure.cold.mean", "f_measure.nearest"):
        if name in values:
            cold, ceiling = values.get("f_measure.cold.mean"), values.get("f_measure.ceiling.mean")
            beside = (
                f" ({cold:.3f} without the centres, where raw data reach {ceiling:.3f})" if cold and ceiling else ""
            )
            return [f"the clusters are found again with an F-measure of {values[name]:.3f}{beside}"]
    return []


def _risked(scores: Mapping[str, Any]) -> list[str]:
    highest = _values(scores).get("prosecutor.highest")
    return [] if highest is None else [f"the most exposed record is picked out with a chance of {highest:.1%}"]


def _values(scores: Mapping[str, Any]) -> dict[str, float]:
    return {name: score["value"] for name, score in scores.get("scores", {}).items()}


def claimed(released: Released) -> Html:
    """What is claimed, against whom, and what is not."""
    facts = released.facts
    parts = [] if len(facts.claims) == 1 else [paragraph(statement(facts))]
    if facts.claims:
        asked = [(str(c.requirement), reached(c), f"Somebody who {c.requirement.attacker()}.") for c in facts.claims]
        follows = [(str(c.requirement), f"follows from {', '.join(c.by.on)}", "") for c in facts.covered]
        parts.append(table(["claimed", "reached", "against whom"], [*asked, *follows]))
    if facts.lifted:
        share = facts.lifted / max(facts.rows, 1)
        parts.append(paragraph(f"{facts.lifted:,} records ({share:.1%}) are shown at the top of every masked column."))
    parts += [tag("h3", text("Not claimed")), bullets(not_claimed(facts))]
    return section("What is claimed, and against whom", *parts, anchor="claims")


def reached(claim: Claim) -> str:
    """What the worst group reached, in a few words."""
    if isinstance(claim.achieved, Mapping):
        return ", ".join(f"{name} = {value:g}" for name, value in claim.achieved.items())
    return f"{claim.achieved} in the smallest group"


def checked(released: Released, held: Held | None) -> Html:
    """How to check it, and what the check said when it was released."""
    how = tag("pre", text("pip install sfumato"), Html("\n"), text("sfumato verify ."))
    more = " ".join(needed([claim.requirement.name for claim in released.facts.claims]))
    parts = [paragraph(f"In the folder of the release{'' if more else ', with nothing else at hand'}:"), how]
    parts += [paragraph(more)] if more else []
    if held is not None:
        rows = [("ok" if check.holds else "FAILS", check.name, check.detail) for check in held.verdict.checks]
        parts.append(folded(f"What it said: {len(rows)} checks", ["", "check", "seen"], rows))
    else:
        does = " ".join(checks(released.facts).split())
        parts.append(paragraph(f"It {does} Nothing is released for which it fails."))
    return section("How to check it", *parts, anchor="verify")


def cited(released: Released) -> Html:
    """How to cite it."""
    return section("How to cite it", paragraph(words_to_cite(released.facts)), anchor="cite")


def columns(released: Released) -> Html:
    """What happened to each column, in words."""
    facts = released.facts
    rows = [
        (name, facts.schema[name].role, explained(facts.schema[name], facts.masked.get(name)).replace("`", ""))
        for name in released.shown.column_names
    ]
    order = "in their original order" if facts.keep_order else "in random order"
    told = paragraph(f"{released.shown.num_rows:,} rows, {order}. A missing value counts as a value of its own.")
    return join([told, table(["column", "role", "what is shown"], rows)])
