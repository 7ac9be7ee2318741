"""The report of a publish: one page that needs nothing else, in two editions made from the same parts.

The public edition is made of what is in the release folder and of nothing else; it never gets to see the rest. The
holder's edition adds everything that was measured against the raw table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from sfumato.events import watched
from sfumato.release.release import REPORT
from sfumato.release.report import attributes, claims, clusters, determination, policies, risk, short, worth
from sfumato.release.report import search as story
from sfumato.release.report import utility as survived
from sfumato.release.report.markup import Html, bullets, page, paragraph, section, tag, text
from sfumato.release.report.material import Held, Released

if TYPE_CHECKING:
    from sfumato.maskers.topdown.explanation import Story

__all__ = ["REPORT", "Held", "Released", "holder_pages", "holder_report", "public_report"]


def public_report(released: Released) -> str:
    """The edition that goes along with the release."""
    drawn: list[Callable[[], Html | None]] = [
        lambda: worth.public_columns(released),
        lambda: claims.claimed(released),
        lambda: claims.public_examples(released),
        lambda: attributes.attributes(released, None, {}),
        lambda: _groups(released),
        lambda: clusters.public_clusters(released),
        lambda: policies.public_policies(released),
        lambda: claims.checked(released, None),
        lambda: claims.cited(released),
    ]
    parts = [draw() for draw in watched(drawn)]
    edition = tag("p", text("Public edition: everything here follows from the released files"), class_="edition")
    return _page(released.facts.promise.title(), edition, claims.verdict(released), parts)


def holder_report(released: Released, held: Held) -> str:
    """The edition for the holder's eyes: raw rows and groups below k are in it."""
    drawn: list[Callable[[], Html | None]] = [
        lambda: worth.holders_columns(released, held),
        lambda: claims.in_figures(released, held),
        lambda: _remarks(held),
        lambda: claims.claimed(released),
        lambda: claims.holders_examples(released, held),
        lambda: survived.survived(held),
        lambda: clusters.holders_clusters(held),
        lambda: attributes.attributes(released, held, _stories(held)),
        lambda: _groups(released),
        lambda: risk.attacked(held),
        lambda: policies.holders_policies(released, held),
        lambda: story.search(held),
        lambda: story.timings(held),
        lambda: claims.checked(released, held),
        lambda: claims.cited(released),
    ]
    parts = [draw() for draw in watched(drawn)]
    edition = tag("p", text("Holder's edition: raw data are in it, never hand it over"), class_="edition holder")
    return _page(held.name or released.facts.promise.title(), edition, claims.holders_verdict(released, held), parts)


def holder_pages(released: Released, held: Held) -> dict[str, str]:
    """What else is drawn for the holder, by the names of files: the short edition, and what policies ask for."""
    asked = any(policy.definition.report is not None for policy in held.policies)
    return {short.NAME: short.short_report(released, held)} | (
        {determination.NAME: determination.determination(released, held)} if asked else {}
    )


def _remarks(held: Held) -> Html | None:
    """What publish warned of: columns that name people or tell a masked one, labels that look alike, rows left out."""
    return section("Easily overlooked", bullets(held.remarks), anchor="remarks") if held.remarks else None


def _groups(released: Released) -> Html | None:
    """The same in both editions."""
    return released.once("groups", lambda: risk.groups(released) or Html("")) or None


def _stories(held: Held) -> Mapping[str, Story]:
    if "rounds" not in held.history:
        return {}
    from sfumato.maskers.topdown.explanation import stories

    return {one.attribute: one for one in stories(held.history)}


NAMES = {
    "worth": "Worth having?",
    "remarks": "Easily overlooked",
    "claims": "Claims",
    "table": "The table",
    "survived": "What survived",
    "clusters": "Clusters",
    "attributes": "Attributes",
    "groups": "Groups and risk",
    "attacks": "Attacks",
    "policies": "Policies",
    "search": "The search",
    "timings": "Timings",
    "verify": "Check it",
    "cite": "Cite it",
}


def _page(name: str, edition: Html, verdict: Html, parts: Iterable[Html | None]) -> str:
    whole = [part for part in parts if part is not None]
    links = [
        tag("a", text(says), href=f"#{anchor}")
        for anchor, says in NAMES.items()
        if any(part.startswith(f'<section id="{anchor}"') for part in whole)
    ]
    made = paragraph("Made by Sfumato. This page loads nothing and runs no script.", "note")
    return page(name, edition, tag("h1", text(name)), verdict, tag("nav", *links), *whole, made)
