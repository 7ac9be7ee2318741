"""The report of an expert determination, in the chapters of ISO/IEC 27559:2022: what can be computed is filled in.

What only people know is attested in the recipe, or left as a line to fill in. For the holder and the expert.
"""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.privacy.verify.policies.wording import NOT_COMPLIANT
from sfumato.release.certificate import kind_of, not_claimed
from sfumato.release.report import claims, risk
from sfumato.release.report.markup import Html, bullets, page, paragraph, section, table, tag, text
from sfumato.release.report.material import Held, Released
from sfumato.release.report.policies import policy_parts

NAME = "determination.html"
BLANK = "To be filled in by the expert: "


def determination(released: Released, held: Held) -> str:
    """The whole report."""
    head = [
        tag(
            "p",
            text("For the holder and the expert: figures measured against raw data are in it"),
            class_="edition holder",
        ),
        tag("h1", text(f"Expert determination: {held.name or released.facts.promise.title()}")),
        claims.verdict(released),
        *_part("The expert", _said(held, "expert", "who determines, and by what knowledge and experience.")),
        *_part("Methods and result", _said(held, "methods", "by which methods, and with what result.")),
        paragraph(NOT_COMPLIANT, "note"),
    ]
    chapters = [_context(released, held), _data(released, held), _identifiability(released, held), _governance(held)]
    policies = [
        section("Checks", *policy_parts(policy, held), anchor="policies")
        for policy in held.policies
        if policy.definition.report is not None
    ]
    return page("Expert determination", *head, *chapters, *policies)


def _said(held: Held, name: str, asked: str) -> Html:
    """What was attested, or a line for it."""
    words = held.attest.get(name)
    return paragraph(f"Attested: {words}") if words else paragraph(f"{BLANK}{asked}", "note")


def _part(title: str, *inside: Html) -> list[Html]:
    return [tag("h3", text(title)), *inside]


def _context(released: Released, held: Held) -> Html:
    attackers = [f"Somebody who {claim.requirement.attacker()}." for claim in released.facts.claims]
    parts = [
        *_part("6.2.2 Security and privacy practices", _said(held, "agreement", "how recipients protect the data.")),
        *_part(
            "6.2.3 Motives and capacity to re-identify",
            _said(held, "recipients", "who receives it, why, and what they may know."),
            paragraph("What is promised holds against:"),
            bullets(attackers),
        ),
        *_part(
            "6.3 Transparency and impact", paragraph(f"{BLANK}who was told, and what harm a mistake would do.", "note")
        ),
    ]
    return section("6 Context assessment", *parts, anchor="context")


def _data(released: Released, held: Held) -> Html:
    facts = released.facts
    people, table_ = held.people or "without a name in the ledger", held.table
    kinds = [kind_of(attribute) for attribute in facts.schema.values()]
    counted = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    rows = [
        (
            name,
            kind_of(attribute),
            attribute.role,
            _missing(held, name),
            released.masked.treated.get(name) or "as it is",
        )
        for name, attribute in facts.schema.items()
        if attribute.role != "identifier"
    ]
    left_out = facts.schema.with_role("identifier")
    parts = [
        *_part("7.2.2 Data principals", paragraph(f"{table_.rows:,} records of people: {people}.")),
        *_part("7.2.3 Data type", paragraph(f"One table of {len(facts.schema)} attributes: {counted}.")),
        *_part(
            "7.2.4 Attribute types",
            table(["attribute", "kind", "role", "missing", "shown"], rows, kind="cards"),
            paragraph(f"Direct identifiers, left out: {', '.join(left_out) or 'none'}."),
        ),
        *_part("7.2.5 Dataset properties", claims.columns(released)),
        *_part("7.3.2 Maximum or average risk", *_maximum(held)),
        *_part("7.3.3 Population or sample-based attack", paragraph(_population(released))),
        *_part("7.3.4 Data privacy models", claims.claimed_table(released), bullets(not_claimed(facts))),
    ]
    return section("7 Data assessment", *parts, anchor="data")


def _missing(held: Held, name: str) -> str:
    return f"{held.table.columns[name].missing / max(held.table.rows, 1):.1%}"


def _maximum(held: Held) -> Sequence[Html]:
    if held.attacks is None or not held.attacks.risk:
        return [paragraph("No groups are promised: rows are generated, or nothing is claimed.")]
    return [risk.exposed(held.attacks.risk), paragraph(risk.WHO)]


def _population(released: Released) -> str:
    counted = any(claim.requirement.population is not None for claim in released.facts.claims)
    if counted:
        return "Counted in a population that was given: an attacker need not know that a person is in the table."
    return (
        "Counted in the table itself: an attacker is thought to know that a person is in it, which is the harder case."
    )


def _identifiability(released: Released, held: Held) -> Html:
    tested = [paragraph("No attack was measured.", "note")]
    if held.attacks is not None and held.attacks.results:
        tested = [risk.criteria(held.attacks.results), bullets(one.sentence for one in held.attacks.results)]
    checks = held.verdict.checks
    again = f"{sum(check.holds for check in checks)} of {len(checks)} checks of the written files hold."
    parts = [
        *_part("8.2.2 Quantifying identifiability", paragraph(claims.figures(released, held))),
        *_part("8.2.3 Adversarial testing", *tested),
        *_part("8.3.2 Reconfiguring the environment", _said(held, "agreement", "what controls were added.")),
        *_part(
            "8.3.3 Transforming the data", paragraph(f"Masked by {released.facts.mask}; {claims.worth(released, held)}")
        ),
        *_part("8.3.4 Re-evaluation", paragraph(again), paragraph("Anybody can repeat it: sfumato verify RELEASE.")),
    ]
    return section("8 Identifiability assessment and mitigation", *parts, anchor="identifiability")


def _governance(held: Held) -> Html:
    named = f"Entered in the holder's ledger under the name {held.people}." if held.people else ""
    parts = [
        *_part(
            "9.2 Before data are made available",
            paragraph(f"{named} {BLANK}roles, principles, who decided.".strip(), "note"),
        ),
        *_part(
            "9.3 After data are made available", _said(held, "monitoring", "who watches the environment, and when.")
        ),
        *_part("9.4 Mitigation in case of incident", paragraph(f"{BLANK}what is done, by whom.", "note")),
    ]
    return section("9 De-identification governance", *parts, anchor="governance")
