"""Policies on the screen Privacy: which are asked for, how each of their checks stands, and what somebody attests."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from sfumato.errors import PolicyError, SfumatoError
from sfumato.recipe.policies.definition import bundled
from sfumato.recipe.policies.findings import Finding, findings
from sfumato.recipe.policies.policy import Policy
from sfumato.studio import form as forms
from sfumato.studio.desk import Context, Desk, Fields

WORDS = {
    "holds": "It holds",
    "fails": "It does not hold",
    "later": "It will be seen",
    "attested": "Attested",
    "to attest": "To be attested",
}
"""How a check stands; what is not known yet is seen in the table, or in what a run shows."""


def context(desk: Desk, form: forms.Form) -> Context:
    """Every policy that comes along, and how the checks of those that are asked for stand."""
    chosen = names(form)
    counted = desk.work.found("feasible") if desk.fresh("feasible") else None
    told = (counted or {}).get("policies") or [plain(one) for one in _by_recipe(desk)]
    listed = [*Policy.names(), *(name for name in chosen if name not in Policy.names())]
    return {
        "policies": [_policy(name, name in chosen, [one for one in told if one["policy"] == name]) for name in listed]
    }


def _policy(name: str, chosen: bool, told: list[dict[str, str]]) -> dict[str, Any]:
    known = bundled(name) if name in Policy.names() else None
    title, rule, source = (known.title, known.rule, known.source) if known else (name, "One of your own.", "")
    unseen = known.not_checked if known else ()
    about = {"title": title, "rule": rule, "source": source, "not_checked": unseen, "own": known is None}
    return {"name": name, "chosen": chosen, "findings": told, **about}


def _by_recipe(desk: Desk) -> list[Finding]:
    """As far as the recipe tells; nothing while it is not sound."""
    try:
        return findings(desk.recipe())
    except SfumatoError:
        return []


def plain(one: Finding) -> dict[str, str]:
    """A check for the screen."""
    texts = {"sentence": one.sentence, "given": one.given, "remedy": one.remedy}
    return {"policy": one.policy, "check": one.check, "state": one.state, "words": WORDS[one.state], **texts}


def names(form: forms.Form) -> list[str]:
    """The policies that a recipe asks for, by their names; one of somebody's own by its file or its name."""
    return [_name(part) for part in form.get("policies") or []]


def _name(part: Any) -> str:
    named = part.get("policy") if isinstance(part, Mapping) else part
    return str(named.get("name")) if isinstance(named, Mapping) else str(named)


def asked(form: forms.Form, name: str, *, wanted: bool) -> forms.Form:
    """A recipe that asks for a policy, or no longer; what others say stays, what nobody asks for is not attested."""
    found = deepcopy(form)
    parts = [part for part in found.get("policies") or [] if wanted or _name(part) != name]
    found["policies"] = [*parts, *([name] if wanted and name not in names(found) else [])]
    still = {one.name for part in names(found) if part in Policy.names() for one in bundled(part).attest}
    own = any(part not in Policy.names() for part in names(found))
    found["attest"] = {key: said for key, said in (found.get("attest") or {}).items() if own or key in still}
    return forms.ordered({key: value for key, value in found.items() if value or key not in ("policies", "attest")})


def choose(desk: Desk, fields: Fields) -> None:
    """One policy more or less."""
    name = fields["policy"]
    if name not in (*Policy.names(), *names(desk.form())):
        raise PolicyError("policy", "it is one of the list", given="another", remedy="name a file in the recipe's text")
    desk.save(asked(desk.form(), name, wanted=fields["wanted"] == "yes"))


def attest(desk: Desk, fields: Fields) -> None:
    """Who says that something is so which no program can see; an empty text takes it back."""
    form, name, words = desk.form(), fields["name"], fields["words"].strip()
    if name not in {one.check for one in _by_recipe(desk) if one.state in ("attested", "to attest")}:
        raise PolicyError("attest", "it answers what a policy asks", given="another", remedy="look at the list again")
    said = {key: text for key, text in (form.get("attest") or {}).items() if key != name}
    form["attest"] = {**said, **({name: words} if words else {})}
    desk.save(forms.ordered({key: value for key, value in form.items() if value or key != "attest"}))
