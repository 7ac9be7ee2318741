"""Policies in a report: what each asks, how far it was rechecked, and for the holder who attests what."""

from __future__ import annotations

from collections.abc import Iterator

from sfumato.privacy.verify.policies.wording import NOT_COMPLIANT, sentence, statement
from sfumato.recipe.policies.policy import Policy
from sfumato.release.report.markup import Html, bullets, paragraph, section, table, tag, text
from sfumato.release.report.material import Held, Released

ANCHOR = "policies"


def public_policies(released: Released) -> Html | None:
    """What the certificate tells of them."""
    parts: list[Html] = []
    for policy in released.facts.policies:
        attested = ", ".join(policy["attested"])
        more = [f"attested by the holder, and not checked: {attested}"] if attested else []
        parts += [paragraph(f"{statement(policy)}:"), bullets([*map(sentence, policy["checks"]), *more])]
    return section("Policies", *parts, paragraph(NOT_COMPLIANT, "note"), anchor=ANCHOR) if parts else None


def holders_policies(released: Released, held: Held) -> Html | None:
    """The same with the rule, its source, what verify said, and the words that were attested."""
    parts = [part for policy in held.policies for part in policy_parts(policy, held)]
    return section("Policies", *parts, paragraph(NOT_COMPLIANT, "note"), anchor=ANCHOR) if parts else None


def policy_parts(policy: Policy, held: Held) -> Iterator[Html]:
    """One policy: every check with what verify said of it, every attestation, what is not checked."""
    of = policy.definition
    yield tag("h3", text(of.title))
    yield paragraph(f"{of.rule} ({of.source})")
    said = {check.name: check.detail for check in held.verdict.checks if check.name.startswith(f"policy {of.name}: ")}
    rows = [(one.sentence, said.get(_title(of.name, one.terms), ""), one.source) for one in of.checks]
    rows += [(one.text, f"attested: {held.attest.get(one.name, '')}", one.source) for one in of.attest]
    yield table(["what is asked", "what was seen", "source"], rows, kind="cards")
    if of.not_checked:
        yield bullets(f"Not checked: {line}" for line in of.not_checked)


def _title(policy: str, terms: object) -> str:
    told = terms if isinstance(terms, dict) else {}
    criterion = f" ({told['criterion']})" if "criterion" in told else ""
    return f"policy {policy}: {told.get('check')}{criterion}"
