"""The report of a publish: one page that needs nothing else, in two editions made from the same parts.

The public edition is made of what is in the release folder and of nothing else; it never gets to see the rest. The
holder's edition adds everything that was measured against the raw table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sfumato.maskers.topdown.explaining import Story, stories
from sfumato.release.recipient import title
from sfumato.release.release import REPORT
from sfumato.release.report import attacked, attributes, claims, clusters, examples, groups, story, survived
from sfumato.release.report.markup import Html, paragraph, tag, text
from sfumato.release.report.material import Held, Released
from sfumato.release.report.plots import HOW_TO_GET, available
from sfumato.release.report.style import page

__all__ = ["HOW_TO_GET", "REPORT", "Held", "Released", "available", "holder_report", "public_report"]


def public_report(released: Released) -> str:
    """The edition that goes along with the release."""
    parts = [
        claims.claimed(released),
        examples.public_examples(released),
        attributes.attributes(released, None, {}),
        groups.groups(released),
        clusters.public_clusters(released),
        claims.checked(released, None),
        claims.cited(released),
    ]
    edition = tag("p", text("Public edition: everything here follows from the released files"), class_="edition")
    return _page(released, edition, claims.verdict(released), parts)


def holder_report(released: Released, held: Held) -> str:
    """The edition for the holder's eyes: raw rows and groups below k are in it."""
    parts = [
        claims.claimed(released),
        examples.holders_examples(released, held),
        survived.survived(held),
        clusters.holders_clusters(held),
        attributes.attributes(released, held, _stories(held)),
        groups.groups(released),
        attacked.attacked(released, held),
        story.search(held),
        story.timings(held),
        claims.checked(released, held),
        claims.cited(released),
    ]
    edition = tag("p", text("Holder's edition: raw data are in it, never hand it over"), class_="edition holder")
    return _page(released, edition, claims.holders_verdict(released, held), parts)


def _stories(held: Held) -> Mapping[str, Story]:
    if "rounds" not in held.history:
        return {}
    return {one.attribute: one for one in stories(held.history)}


NAMES = {
    "claims": "Claims", "table": "The table", "survived": "What survived", "clusters": "Clusters",
    "attributes": "Attributes", "groups": "Groups and risk", "attacks": "Attacks",
    "search": "The search", "timings": "Timings", "verify": "Check it", "cite": "Cite it",
}  # fmt: skip


def _page(released: Released, edition: Html, verdict: Html, parts: Iterable[Html | None]) -> str:
    whole = [part for part in parts if part is not None]
    links = [
        tag("a", text(says), href=f"#{anchor}")
        for anchor, says in NAMES.items()
        if any(part.startswith(f'<section id="{anchor}"') for part in whole)
    ]
    made = paragraph("Made by Sfumato. This page loads nothing and runs no script.", "note")
    name = title(released.facts)
    return page(name, edition, tag("h1", text(name)), verdict, tag("nav", *links), *whole, made)
