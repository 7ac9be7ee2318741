"""Screen 5, privacy: requirements as sentences with numbers, or a budget; whether they can be kept at all."""

from __future__ import annotations

from typing import Any

from sfumato.errors import RecipeError, SfumatoError
from sfumato.privacy.requirements import REQUIREMENTS
from sfumato.studio import form as forms
from sfumato.studio import policies
from sfumato.studio.desk import Context, Desk, Fields, Screen

MASKS = {
    "partition": "Groups as fine as each one allows: keeps most detail. A value may look finer in some groups.",
    "top_down": "One meaning for a value in the whole table: the easiest to work with, and it can tell why.",
    "mondrian": "Groups cut in halves: what other programs offer.",
    "microaggregate": "Numbers become group means and stay numbers; k-anonymity alone.",
}
GENERATED = {
    "private_tree": "Rows generated from noisy counts in the parts of a tree.",
    "dp_heter": "Rows generated from noisy counts, for tables with sets.",
}
SENTENCES = {
    "k_anonymity": ("Nobody can be told apart from fewer than", "people by what others may know of them:", "k", "2"),
    "l_diversity": ("In every group of people who look alike there are at least", "different values of", "l", "2"),
    "confidence_bound": ("Nobody can be surer than", "of anybody's", "confidence", ""),
    "t_closeness": ("No group differs from the whole table by more than", "in", "t", ""),
}
ABOUT_SENSITIVE = ("l_diversity", "confidence_bound", "t_closeness")


def context(desk: Desk) -> Context:
    """The requirements in sentences, or the budget with its plan."""
    form = desk.form()
    budget = form.get("budget")
    return {
        "needs": [_need(at, need) for at, need in enumerate(form.get("privacy") or []) if isinstance(need, dict)],
        "quasi": forms.with_role(form, "quasi"),
        "sensitive": forms.with_role(form, "sensitive"),
        "budget": budget if isinstance(budget, dict) else {"epsilon": budget} if budget else None,
        "people": form.get("people", ""),
        "mask": forms.mask_name(form),
        "masks": GENERATED if budget else MASKS,
        "plan": plan(desk) if budget else [],
        "undeclared": _undeclared(desk, form) if budget else [],
        "job": desk.job("feasible"),
        "found": desk.work.found("feasible"),
        "fresh": desk.fresh("feasible"),
        "advice_job": desk.job("advise"),
        "advice": desk.work.found("advise"),
        "advice_fresh": desk.fresh("advise"),
        "rows": (desk.look() or {"rows": 0})["rows"],
        **policies.context(desk, form),
    }


def _need(at: int, need: dict[str, Any]) -> dict[str, Any]:
    name = forms.requirement_name(need)
    begins, ends, key, least = SENTENCES.get(name, ("", "", "", ""))
    main = REQUIREMENTS[name].main if name else None
    return {
        "at": at,
        "name": name,
        "begins": begins,
        "ends": ends,
        "key": main or key,
        "least": least,
        "number": forms.setting(need, main or key),
        "on": [str(one) for one in need.get("on") or []],
        "sensitive": need.get("sensitive"),
        "value": need.get("value"),
        "whole": least != "",
    }


def plan(desk: Desk) -> list[tuple[str, float]]:
    """What a budget will be spent on; nothing while the recipe is not sound."""
    try:
        return [(share.purpose, float(share.epsilon)) for share in desk.recipe().plan]
    except SfumatoError:
        return []


def _undeclared(desk: Desk, form: forms.Form) -> list[dict[str, Any]]:
    """Attributes whose labels or range must be declared before a budget can be spent, with what occurs."""
    columns = {column["name"]: column for column in (desk.look() or {"columns": []})["columns"]}
    found = []
    for name, part in forms.attributes(form).items():
        if part.get("role") == "identifier" or part.get("taxonomy") or part.get("values") or part.get("range"):
            continue
        seen = columns.get(name, {})
        found.append({"name": name, "kind": part.get("kind"), "labels": seen.get("labels") or []})
    return found


def change(desk: Desk, fields: Fields) -> None:
    """A number, the attributes or the sensitive one of a requirement."""
    form, at = desk.form(), _place(desk, fields)
    need = form["privacy"][at]
    name = forms.requirement_name(need)
    main = REQUIREMENTS[name].main if name else None
    changes: dict[str, Any] = {}
    if main and fields["number"]:
        changes[main] = _number(fields["number"], whole=isinstance(forms.setting(need, main), int))
    if fields["sensitive"]:
        changes["sensitive"] = fields["sensitive"]
    if fields["picked"]:
        changes["on"] = [one for one in forms.with_role(form, "quasi") if one in fields.every("on")]
    desk.save(forms.change_requirement(form, at, changes))


def _place(desk: Desk, fields: Fields) -> int:
    at = fields.number("at")
    if at >= len(desk.form().get("privacy") or []):
        raise RecipeError("privacy", "this requirement is gone", given="another tab's change", remedy="look again")
    return at


def _number(text: str, *, whole: bool) -> float:
    try:
        return int(text) if whole else float(text)
    except ValueError:
        raise RecipeError("privacy", "it is a number", given="a text", remedy="write for example 10") from None


def add(desk: Desk, fields: Fields) -> None:
    """One more requirement."""
    form = desk.form()
    sensitive = fields["sensitive"] or next(iter(forms.with_role(form, "sensitive")), "")
    if fields["kind"] in ABOUT_SENSITIVE and not sensitive:
        raise RecipeError(
            "privacy",
            "it is about a sensitive attribute",
            given="a table without one",
            remedy="make one sensitive on the screen Attributes",
        )
    desk.save(forms.add_requirement(form, fields["kind"], sensitive))


def remove(desk: Desk, fields: Fields) -> None:
    """One requirement less."""
    desk.save(forms.remove_requirement(desk.form(), _place(desk, fields)))


def mask(desk: Desk, fields: Fields) -> None:
    """Another masker."""
    if fields["mask"] in {**MASKS, **GENERATED}:
        desk.save(forms.change_mask(desk.form(), fields["mask"]))


def budget(desk: Desk, fields: Fields) -> None:
    """Differential privacy, or back to requirements."""
    form = desk.form()
    structure = form.get("structure")
    changed = forms.change_budget(form, fields["epsilon"], fields["total"], fields["people"])
    if fields["epsilon"].strip() and isinstance(structure, dict) and structure.get("k") == "auto":
        changed["structure"] = {**structure, "k": 4}  # how many is declared, not learned
    desk.save(changed)


def declare(desk: Desk, fields: Fields) -> None:
    """All labels that can occur, a line each, or the ends of a range."""
    form, name = desk.form(), fields["name"]
    if name not in form["attributes"]:
        return
    if fields["low"] or fields["high"]:
        desk.save(forms.change_range(form, name, fields["low"], fields["high"]))
        return
    labels = [line.strip() for line in fields["labels"].splitlines() if line.strip()]
    desk.save(forms.change_values(form, name, labels))


def declare_all(desk: Desk, fields: Fields) -> None:
    """The labels that occur, for every attribute that has a list of them."""
    form = desk.form()
    for one in _undeclared(desk, form):
        if one["labels"] and one["kind"] != "number":
            form = forms.change_values(form, one["name"], one["labels"])
    desk.save(form)


def feasible(desk: Desk, fields: Fields) -> None:
    """Count whether even the most masked table would keep what is asked."""
    desk.recipe()
    desk.start("feasible")


def advise(desk: Desk, fields: Fields) -> None:
    """Compare maskers on a sample."""
    desk.recipe()
    desk.start("advise")


SCREEN = Screen(
    "privacy",
    "Privacy",
    "What must nobody be able to do with the released table?",
    context,
    {
        "change": change,
        "add": add,
        "remove": remove,
        "mask": mask,
        "budget": budget,
        "declare": declare,
        "declare-all": declare_all,
        "policy": policies.choose,
        "attest": policies.attest,
        "feasible": feasible,
        "advise": advise,
    },
)
