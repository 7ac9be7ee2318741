"""Policies as a recipe's YAML has them: a name, a file, or a mapping with one of them and what goes with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from sfumato.errors import RecipeError
from sfumato.recipe.policies.policy import SUFFIXES, Policy, listed
from sfumato.recipe.settings import Within, entries, known, mapping, one

MOST_POLICIES = 10


def read_policies(form: Any, within: Within) -> tuple[Policy, ...]:
    """The policies that a recipe lists."""
    return tuple(_policy(part, within) for part in entries("policies", form, most=MOST_POLICIES))


def _policy(form: Any, within: Within) -> Policy:
    part = dict(mapping("policies", form if isinstance(form, Mapping) else {"policy": form}))
    known("policies", part, ("policy", "columns", "areas"))
    named = part.get("policy")
    if not isinstance(named, str | Mapping):
        raise RecipeError(
            "policies",
            "each has a name, or is a file",
            given=type(named).__name__,
            remedy="write policies: [cell-size-11], or {policy: ours.yaml}",
        )
    if isinstance(named, str) and named.endswith(SUFFIXES):
        named = str(within.file("policies", named))
    areas = one("policies", part, "areas", str)
    columns = mapping("policies: columns", part.get("columns") or {})
    return Policy(cast(str, named), columns=columns, areas=None if areas is None else str(within.file("areas", areas)))


def policies_form(policies: Sequence[str | Policy], attest: Mapping[str, str]) -> dict[str, Any]:
    """The keys `policies` and `attest`, each where there is something to say."""
    told = [policy.form() for policy in listed(policies)]
    return ({"policies": told} if told else {}) | ({"attest": dict(attest)} if attest else {})
