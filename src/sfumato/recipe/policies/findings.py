"""What is found about the policies of a recipe, check by check; and a refusal of the first that is not satisfied."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from sfumato.data.masked import Masked
from sfumato.data.table import Table
from sfumato.errors import PolicyError
from sfumato.evaluation.attacks.results import Measured
from sfumato.privacy.verify.policies.terms import OF_CONTENTS
from sfumato.recipe.policies.checks import OF_RECIPE, OF_SHOWN, OF_TABLE, REMEDIES
from sfumato.recipe.policies.policy import Policy
from sfumato.recipe.policies.stages import Asked

State = Literal["holds", "fails", "later", "attested", "to attest"]


@dataclass(frozen=True)
class Finding:
    """One check, or one attestation, of a policy: what it asks, how that stands, and what to do where it fails.

    "later": it can only be seen in the table, or in the release.
    """

    policy: str
    check: str
    sentence: str
    state: State
    given: str = ""
    remedy: str = ""

    def refusal(self, beside: Sequence[Finding] = ()) -> PolicyError:
        """The same as an error; `beside`: what fails as well, so that all of it can be mended at once."""
        others = "".join(f". As well {one.policy}, {one.check} ({one.given}): {one.remedy}" for one in beside)
        remedy = f"{self.remedy}{others}"
        return PolicyError(f"policy {self.policy}, {self.check}", self.sentence, given=self.given, remedy=remedy)


def findings(recipe: Any, people: Table | None = None) -> list[Finding]:
    """How every check of the recipe's policies stands, by the recipe and, where it is at hand, the table.

    Under a budget no table is looked at: a refusal that follows from the records would tell of them.
    """
    seen = None if recipe.mask.guarantee.spends else people
    return [one for policy in recipe.policies for one in (*_checks(recipe, policy, seen), *_attested(recipe, policy))]


def _checks(recipe: Any, policy: Policy, people: Table | None) -> Iterator[Finding]:
    for check in policy.definition.checks:
        asked = Asked(check.terms, recipe, policy)
        stages = [(OF_RECIPE, asked), *([(OF_TABLE, replace(asked, people=people))] if people is not None else [])]
        results = [stage[check.kind](of) for stage, of in stages if check.kind in stage]
        fault = next((one for one in results if one is not None), None)
        told = Finding(policy.name, check.kind, check.sentence, "fails" if fault else "later")
        if fault is None and check.kind in ONLY_RECIPE:
            told = replace(told, state="holds")
        yield told if fault is None else replace(told, given=fault.given, remedy=fault.remedy)


ONLY_RECIPE = ("shuffled", "guarantee", "bounded", "named_people")
"""Checks that a recipe answers."""


def _attested(recipe: Any, policy: Policy) -> Iterator[Finding]:
    for one in policy.definition.attest:
        if one.name in recipe.attest:
            yield Finding(policy.name, one.name, one.text, "attested", given=recipe.attest[one.name])
        else:
            said = f'attest: {{{one.name}: "who, when"}}'
            remedy = f'if it is so, write {said} in the recipe, or --attest {one.name}="who, when"'
            yield Finding(policy.name, one.name, one.text, "to attest", given="nobody attests it", remedy=remedy)


def refuse(recipe: Any, people: Table | None = None) -> None:
    """Refuse a recipe, or a table, that does not satisfy a check that can be seen so early."""
    failing = [one for one in findings(recipe, people) if one.state in ("fails", "to attest")]
    if failing:
        raise failing[0].refusal(beside=failing[1:])


def asked(recipe: Any) -> tuple[Policy, ...]:
    """The policies of a recipe."""
    return tuple(recipe.policies)


def measures_attacks(recipe: Any) -> bool:
    """Whether a policy asks how far attacks get."""
    return any(check.kind == "attack" for policy in recipe.policies for check in policy.definition.checks)


def claimed(recipe: Any, people: Table, masked: Masked, attacks: Measured) -> list[dict[str, Any]]:
    """What a certificate tells of the policies; a check that what is shown does not satisfy is refused."""
    raw = None if recipe.mask.guarantee.spends else people
    return [_claim(recipe, policy, Asked({}, recipe, policy, raw, masked, attacks)) for policy in recipe.policies]


def _claim(recipe: Any, policy: Policy, asked: Asked) -> dict[str, Any]:
    of = policy.definition
    for check in of.checks:
        fault = OF_SHOWN[check.kind](replace(asked, terms=check.terms)) if check.kind in OF_SHOWN else None
        if fault is not None:
            raise Finding(policy.name, check.kind, check.sentence, "fails", fault.given, fault.remedy).refusal()
    contents = {"contents": asked.contents} if any(check.kind in OF_CONTENTS for check in of.checks) else {}
    checks = [dict(check.terms) | _population(policy, check.kind) for check in of.checks]
    attested = [one.name for one in of.attest]
    return {"policy": policy.name, "own": of.own, "checks": checks, **contents, "attested": attested}


def _population(policy: Policy, kind: str) -> dict[str, str]:
    """The table of the people in areas, by its SHA-256."""
    if kind != "areas" or policy.areas is None:
        return {}
    with Path(policy.areas).open("rb") as file:
        return {"population": hashlib.file_digest(file, "sha256").hexdigest()}


def refused(recipe: Any, name: str, why: str) -> PolicyError | None:
    """What verify found wrong in a written folder, as a refusal that says what to do; None where it is no policy's."""
    for policy in recipe.policies:
        for check in policy.definition.checks:
            if name == f"policy {policy.name}: {check.kind}":
                return PolicyError(name.replace(":", ","), check.sentence, given=why, remedy=REMEDIES[check.kind])
    return None
