"""A recipe as a plain mapping, and how screens change it. What is not on a screen stays as it is.

A form may be unsound for a while; `problem` says why, in the words of the recipe's own checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

from sfumato.data.schema import Role
from sfumato.data.sources.sql.address import SCHEMES, parse
from sfumato.data.yaml_files import dump_yaml, load_yaml
from sfumato.errors import RecipeError, SfumatoError
from sfumato.privacy.requirements import REQUIREMENTS
from sfumato.recipe import Recipe
from sfumato.recipe.yaml_form import MAIN
from sfumato.studio.workspace import Work

Form = dict[str, Any]
KINDS = ("number", "category", "item_set")
ROLES: tuple[Role, ...] = ("identifier", "quasi", "sensitive", "plain")
OWN = {
    "number": ("range", "bins", "integer", "calendar", "dates", "decimal", "outside"),
    "category": ("taxonomy", "values", "outside"),
    "item_set": ("taxonomy", "values", "separator", "outside", "most", "too_many"),
}
"""Settings that a kind has alone: they go with it."""
SPENDING = ("private_tree", "dp_heter")
"""Maskers that go with a budget, as the screens offer them."""


def read(work: Work) -> Form:
    """The recipe as it stands; an empty one before there is any."""
    text = work.recipe_text()
    return parsed(text) if text else {"sfumato": 1, "attributes": {}}


def parsed(text: str) -> Form:
    """A recipe's text as a mapping, which is the caller's to change."""
    return deepcopy(_parsed(text))


@lru_cache(maxsize=64)
def _parsed(text: str) -> Form:
    found = load_yaml(text if "\n" in text else text + "\n", what="recipe")
    if not isinstance(found, dict) or not isinstance(found.get("attributes"), dict):
        raise RecipeError(
            "recipe",
            "a recipe is a mapping with attributes",
            given="something else",
            remedy="begin with `sfumato: 1`, then attributes:",
        )
    if str(found.get("table")).startswith(tuple(f"{scheme}://" for scheme in SCHEMES)):
        parse(found["table"])  # one with a password in it is kept nowhere
    return found


def save(work: Work, form: Form) -> None:
    """Write it back."""
    work.save_recipe(dump_yaml(form, default_flow_style=None, width=110))


def recipe_of(work: Work, allow: Sequence[Path]) -> Recipe:
    """The recipe, checked whole. The same text is not checked twice; whatever is run checks it again."""
    found = _checked(work, work.recipe_text() or "", tuple(allow))
    if isinstance(found, SfumatoError):
        raise found
    return found


def problem(work: Work, allow: Sequence[Path]) -> SfumatoError | None:
    """Why the recipe cannot be run; None where it can."""
    text = work.recipe_text()
    found = None if text is None else _checked(work, text, tuple(allow))
    return found if isinstance(found, SfumatoError) else None


@lru_cache(maxsize=64)
def _checked(work: Work, text: str, allow: tuple[Path, ...]) -> Recipe | SfumatoError:
    """The recipe of a text, or what is wrong with it."""
    del text  # it stands in the file
    try:
        return Recipe.from_yaml(work.recipe_path, allow=allow)
    except SfumatoError as error:
        return error


def attributes(form: Form) -> dict[str, dict[str, Any]]:
    """Each attribute's settings by its name."""
    return {str(name): part if isinstance(part, dict) else {} for name, part in form["attributes"].items()}


def with_role(form: Form, name: str) -> list[str]:
    """Names of the attributes of a role."""
    return [attribute for attribute, part in attributes(form).items() if part.get("role", "plain") == name]


def change_roles(form: Form, names: Iterable[str], role: str) -> Form:
    """Give attributes a role, and keep what is asked in step: what others may know stands in a requirement."""
    found = deepcopy(form)
    for name in names:
        if name in found["attributes"] and role in ROLES:
            found["attributes"][name]["role"] = role
    return in_step(found)


def in_step(form: Form) -> Form:
    """Requirements on what others may know, and on nothing else; each such attribute in one at least."""
    quasi = with_role(form, "quasi")
    needs = [part for part in form.get("privacy") or [] if isinstance(part, dict)]
    was = [list(map(str, need.get("on") or [])) for need in needs]
    covered = {name for on in was for name in on}
    widest = max(map(len, was), default=0)
    for need, on in zip(needs, was, strict=True):
        fresh = [name for name in quasi if name not in covered] if len(on) == widest else []
        need["on"] = [name for name in quasi if name in on or name in fresh]
    shown = [*with_role(form, "sensitive"), *with_role(form, "plain")]
    form["privacy"] = [n for n in needs if n["on"] and (n.get("sensitive") is None or str(n["sensitive"]) in shown)]
    if quasi and not form["privacy"] and not form.get("budget"):
        form["privacy"] = [{"k_anonymity": 10, "on": quasi}]
    structure = form.get("structure")
    if isinstance(structure, dict) and structure.get("classes") not in (None, *shown):
        form.pop("structure")
    if isinstance(form.get("missing"), dict):
        form["missing"] = {name: rule for name, rule in form["missing"].items() if name in form["attributes"]}
    return form


def change_kind(form: Form, name: str, kind: str, drafted: Mapping[str, Any]) -> Form:
    """Make an attribute another kind; what it was drafted as comes back with its kind."""
    found = deepcopy(form)
    part = found["attributes"].get(name)
    if part is None or kind not in KINDS or part.get("kind") == kind:
        return found
    kept = {key: value for key, value in part.items() if key not in OWN.get(str(part.get("kind")), ())}
    own = {key: drafted[key] for key in OWN[kind] if drafted.get("kind") == kind and key in drafted}
    found["attributes"][name] = {**kept, "kind": kind, **own}
    return found


def change_range(form: Form, name: str, low: str, high: str) -> Form:
    """Declare the range of a number or a date; empty for none."""
    found = deepcopy(form)
    part = found["attributes"][name]
    part.pop("range", None)
    if low.strip() and high.strip():
        part["range"] = [_end(low, part), _end(high, part)]
    return found


def _end(text: str, part: Mapping[str, Any]) -> Any:
    if part.get("calendar"):
        return text.strip()
    try:
        number = float(text)
    except ValueError:
        raise RecipeError(
            "range", "its ends are numbers", given="a text", remedy="write for example 0 and 100"
        ) from None
    return int(number) if number.is_integer() else number


def change_values(form: Form, name: str, labels: Sequence[str]) -> Form:
    """Declare all labels that can occur; none takes the declaration back."""
    found = deepcopy(form)
    found["attributes"][name].pop("values", None)
    if labels:
        found["attributes"][name]["values"] = list(dict.fromkeys(labels))
    return found


def change_structure(form: Form, kind: str, *, column: str = "", k: str = "auto") -> Form:
    """What must survive: clusters, a class, or nothing in particular."""
    found = deepcopy(form)
    was = found.pop("structure", None)
    found.pop("missing", None) if kind != "classes" else None
    if kind == "clusters":
        kept = was if isinstance(was, dict) and "clusters" in was else {"clusters": "kmeans"}
        found["structure"] = {**kept, "k": int(k) if k.isascii() and k.isdigit() and len(k) < 5 else "auto"}
    elif kind == "classes":
        found["structure"] = {"classes": column}
    return ordered(found)


def ordered(form: Form) -> Form:
    """The keys in the order in which a recipe is written."""
    from sfumato.recipe.yaml_form import TOP

    return {key: form[key] for key in (*TOP, *form) if key in form}


def requirement_name(need: Mapping[str, Any]) -> str:
    """Which requirement an entry is."""
    return next((name for name in need if name in REQUIREMENTS), "")


def setting(need: Mapping[str, Any], key: str) -> Any:
    """A setting of a requirement, wherever it stands."""
    name = requirement_name(need)
    inside = need.get(name)
    if isinstance(inside, Mapping):
        return inside.get(key, need.get(key))
    return inside if MAIN.get(name) == key else need.get(key)


def change_requirement(form: Form, at: int, changes: Mapping[str, Any]) -> Form:
    """Other numbers or other attributes for one requirement."""
    found = deepcopy(form)
    need = found["privacy"][at]
    name = requirement_name(need)
    for key, value in changes.items():
        if isinstance(need[name], dict) and key not in ("on", "sensitive", "value"):
            need[name][key] = value
        elif MAIN.get(name) == key:
            need[name] = value
        else:
            need[key] = value
    return found


def add_requirement(form: Form, kind: str, sensitive: str) -> Form:
    """One more, with a usual number, on all that others may know."""
    found, quasi = deepcopy(form), with_role(form, "quasi")
    of = (form.get("attributes") or {}).get(sensitive, {}).get("kind")
    diverse = {"kind": "items"} if of == "item_set" else {}
    by_size = {"distance": "ordered"} if of == "number" else {}
    entries: dict[str, Form] = {
        "k_anonymity": {"k_anonymity": 5, "on": quasi[:2]},
        "l_diversity": {"l_diversity": 2, "on": quasi, "sensitive": sensitive, **diverse},
        "confidence_bound": {"confidence_bound": 0.8, "on": quasi, "sensitive": sensitive},
        "t_closeness": {"t_closeness": 0.3, "on": quasi, "sensitive": sensitive, **by_size},
    }
    found["privacy"] = [*(found.get("privacy") or []), *([entries[kind]] if kind in entries else [])]
    return ordered(found)


def remove_requirement(form: Form, at: int) -> Form:
    """One less."""
    found = deepcopy(form)
    found["privacy"] = [need for number, need in enumerate(found.get("privacy") or []) if number != at]
    return found


def mask_name(form: Form) -> str:
    """The masker's name; an empty one where the recipe leaves it to us."""
    mask = form.get("mask")
    return str(next(iter(mask), "")) if isinstance(mask, dict) else str(mask or "")


def change_mask(form: Form, name: str) -> Form:
    """Another masker, with its usual settings; the same one stays as it is."""
    found = deepcopy(form)
    if mask_name(form) != name:
        found["mask"] = name
    return ordered(found)


def change_budget(form: Form, epsilon: str, total: str, people: str) -> Form:
    """Differential privacy instead of requirements; an empty epsilon goes back to them."""
    found = deepcopy(form)
    found.pop("budget", None)
    if people.strip():
        found["people"] = people.strip()
    else:
        found.pop("people", None)
    if not epsilon.strip():
        if mask_name(found) in SPENDING:
            found["mask"] = "partition"
        return ordered(in_step(found))
    given = {"epsilon": epsilon.strip(), "total": total.strip()}
    found["budget"] = {key: _figure(value) for key, value in given.items() if value}
    found["privacy"] = []
    if mask_name(found) not in SPENDING:
        found["mask"] = "private_tree"
    return ordered(found)


def _figure(text: str) -> Any:
    """A number as it was typed: fractions stay exact as text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text
