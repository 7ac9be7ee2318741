"""Recipes as YAML: read with every mistake explained, written without loss."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from sfumato.data.schema import Attribute, Category, ItemSet, Number, Schema
from sfumato.data.sources.sql.address import located
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import RecipeError, SchemaError, did_you_mean
from sfumato.maskers.registry import masker_named, name_of
from sfumato.privacy.budget import Budget
from sfumato.privacy.requirements import REQUIREMENTS, Requirement
from sfumato.recipe.parts import USUAL, Along, Earlier, Settings, Structure
from sfumato.recipe.policies.entries import policies_form, read_policies
from sfumato.recipe.settings import Within, build, entries, known, mapping, names_of, one
from sfumato.structure.structures import Classes, Clusters

FORMAT = 1
"""Of recipes. A key may be added; one that is taken away, or means something else, is a new number."""
KINDS: Mapping[str, type[Attribute]] = {"number": Number, "category": Category, "item_set": ItemSet}
TOP = (
    "sfumato",
    "table",
    "query",
    "attributes",
    "structure",
    "privacy",
    "mask",
    "keep_order",
    "release",
    "missing",
    "i_understand",
    "encoding",
    "budget",
    "earlier",
    "people",
    "detail",
    "policies",
    "attest",
)
MAIN: Mapping[str, str] = {name: kind.main for name, kind in REQUIREMENTS.items() if kind.main}
"""The setting that a requirement's name stands for: {l_diversity: 3} is {l_diversity: {l: 3}}."""
BUNDLED = "bundled:"
TEXTS = ("values", "missing")
DATES = ("date", "time", "datetime", "timestamp")
MOST_REQUIREMENTS = 200
"""How many requirements a recipe may ask for; each is compared with every other."""


def read_settings(source: str | Path, changes: Iterable[str] = (), allow: Iterable[str | Path] = ()) -> Settings:
    """A recipe's settings from a file or from text; a text stands in the current folder."""
    from sfumato.data.yaml_files import load_yaml

    path = source if isinstance(source, Path) else Path(source) if "\n" not in source else None
    form = load_yaml(path if path is not None else str(source), what="recipe")
    if not isinstance(form, dict):
        raise RecipeError(
            "recipe",
            "a recipe is a mapping",
            given=type(form).__name__,
            remedy="begin with `sfumato: 1`, then attributes:, structure:, privacy:, mask:",
        )
    for change in changes:
        _set(form, change)
    return settings_from(form, Within.of(path.parent if path is not None else Path(), allow))


def _check_format(given: object) -> None:
    rule, remedy = "a recipe says which format it is in", f"begin it with `sfumato: {FORMAT}`"
    if isinstance(given, int) and given > FORMAT:
        rule, remedy = f"formats to {FORMAT} are read", "a newer version reads it: pip install --upgrade sfumato"
    if given != FORMAT or not isinstance(given, int) or isinstance(given, bool):
        raise RecipeError("recipe", rule, given=repr(given), remedy=remedy)


def settings_from(form: Mapping[str, Any], within: Within) -> Settings:
    """A recipe's settings from its parsed YAML; file names are relative to its folder, and lead nowhere else."""
    known("recipe", form, TOP)
    _check_format(form.get("sfumato"))
    attributes = mapping("attributes", form.get("attributes"))
    table = one("", form, "table", str)
    asked = entries("privacy", form.get("privacy"), most=MOST_REQUIREMENTS)
    return Settings(
        schema=Schema({str(name): _attribute(str(name), part, within) for name, part in attributes.items()}),
        structure=_structure(form.get("structure")),
        privacy=tuple(_requirement(part, within) for part in asked),
        mask=_mask(form["mask"]) if form.get("mask") else USUAL,
        table=None if table is None else _file("table", table, within),
        query=one("", form, "query", str),
        keep_order=bool(one("", form, "keep_order", bool)),
        release=build(Along, "release", form.get("release") or {}),
        missing=_missing(form.get("missing") or {}),
        people=one("", form, "people", str),
        i_understand=_understood(form.get("i_understand")),
        encoding=one("", form, "encoding", str),
        budget=None if form.get("budget") is None else _budget(form["budget"]),
        earlier=None if form.get("earlier") is None else _earlier(form["earlier"], within),
        detail={str(name): one for name, one in mapping("detail", form.get("detail") or {}).items()},
        policies=read_policies(form.get("policies"), within),
        attest={str(name): words for name, words in mapping("attest", form.get("attest") or {}).items()},
    )


def _understood(form: Any) -> Any:
    """One word, or a list of them."""
    words = form if isinstance(form, list) else [] if form is None else [form]
    if not all(isinstance(word, str) for word in words) or len(words) > MOST_REQUIREMENTS:
        raise RecipeError(
            "i_understand",
            "it is a text or a list of texts",
            given="something else",
            remedy="write i_understand: no_guarantee, or leave it out",
        )
    return form


def _budget(form: Any) -> Budget:
    part = mapping("budget", form if isinstance(form, Mapping) else {"epsilon": form})
    if "people" in part:
        raise RecipeError(
            "budget",
            "people are named once, for every recipe",
            given="a name in the budget",
            remedy="write people: NAME at the top of the recipe, beside budget:",
        )
    known("budget", part, ("epsilon", "total"))
    if "epsilon" not in part:
        raise RecipeError("budget", "a budget has an epsilon", given="none", remedy="write budget: {epsilon: 1}")
    return Budget(**part)


def _earlier(form: Any, within: Within) -> Earlier:
    found = build(Earlier, "earlier", form)
    return replace(found, releases=tuple(str(within.path("earlier", name)) for name in found.releases))


def _file(what: str, given: str, within: Within) -> str:
    if "://" in given:
        return located(given, lambda part, path: str(within.path(part, path)))
    return given if given.startswith(BUNDLED) else str(within.path(what, given))


def _attribute(name: str, form: Any, within: Within) -> Attribute:
    part = dict(mapping(name, form))
    kind = part.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        remedy = did_you_mean(str(kind), KINDS)
        if kind in DATES:
            remedy = "a date or a time is a number with a calendar: write kind: number, calendar: day"
        raise RecipeError(name, "an attribute's kind is one of " + ", ".join(KINDS), given=repr(kind), remedy=remedy)
    if "taxonomy" in part:
        part["taxonomy"] = _taxonomy(name, part["taxonomy"], within)
    if part.get("range") is not None:
        part["range"] = _range(name, part["range"])
    if isinstance(part.get("bins"), list):
        part["bins"] = _dated(part["bins"])
    part |= {texts: [_label(text) for text in part[texts]] for texts in TEXTS if isinstance(part.get(texts), list)}
    try:
        made: Any = build(KINDS[kind], name, part)
    except SchemaError as error:  # it knows the kind, not the name
        raise SchemaError(name, error.rule, given=error.given, remedy=error.remedy) from None
    return cast(Attribute, made)


def _label(given: Any) -> Any:
    """A number or a truth value in a list of labels is a label."""
    return given if given is None or isinstance(given, list | dict) else str(given)


def _range(name: str, given: Any) -> tuple[Any, ...]:
    if not isinstance(given, list) or len(given) != 2:
        raise RecipeError(
            name, "a range is [lowest, highest]", given=repr(given), remedy="write for example range: [0, 100]"
        )
    return _dated(given)


def _dated(given: list[Any]) -> tuple[Any, ...]:
    """Dates, which YAML reads as such, as texts again."""
    return tuple(str(one) if hasattr(one, "isoformat") else one for one in given)


def _taxonomy(name: str, given: Any, within: Within) -> Taxonomy:
    if isinstance(given, dict):
        return Taxonomy.from_tree(given)
    if not isinstance(given, str):
        raise RecipeError(
            name,
            "a taxonomy is a file name or a tree",
            given=type(given).__name__,
            remedy="write `taxonomy: education.yaml` or the tree itself",
        )
    if given.startswith(BUNDLED):
        from sfumato.data import datasets

        return datasets.taxonomy(given.removeprefix(BUNDLED))
    return Taxonomy.from_file(within.file(name, given))


def _structure(form: Any) -> Structure | None:
    if form is None:
        return None
    part = dict(mapping("structure", form))
    if "classes" in part:
        return build(Classes, "structure", {"column": part.pop("classes"), **part})
    if "clusters" in part:
        return build(Clusters, "structure", {"method": part.pop("clusters"), **part})
    raise RecipeError(
        "structure",
        "it is clusters or classes",
        given=", ".join(map(str, part)) or "nothing",
        remedy="write {clusters: kmeans, k: 6} or {classes: COLUMN}",
    )


def _meant(part: Mapping[str, Any]) -> str:
    """The requirement that a misspelt one is like, or how one is written."""
    like = [found for key in part if (found := get_close_matches(str(key), REQUIREMENTS, n=1))]
    return f"did you mean {like[0][0]!r}?" if like else "write {k_anonymity: 10, on: [age, sex]}"


def _requirement(form: Any, within: Within) -> Requirement:
    part = dict(mapping("privacy", form))
    name = next((name for name in part if name in REQUIREMENTS), None)
    if name is None:
        raise RecipeError(
            "privacy",
            "a requirement is one of " + ", ".join(REQUIREMENTS),
            given=", ".join(str(key) for key in part) or "nothing",
            remedy=_meant(part),
        )
    given = part.pop(name)
    settings = {**part, **(given if isinstance(given, Mapping) else {MAIN.get(name, name): given})}
    if isinstance(settings.get("population"), str):
        settings["population"] = _file("population", settings["population"], within)
    return cast(Requirement, build(REQUIREMENTS[name], name, settings))


def _requirement_form(requirement: Requirement) -> dict[str, Any]:
    """{name: its main setting, or all that are its own; on, sensitive and the rest beside it}."""
    settings = {name: _plain(getattr(requirement, name)) for name in names_of(requirement)}
    if "population" in settings and not isinstance(settings["population"], str):
        settings["population"] = "given as a table"
    settings = {name: value for name, value in settings.items() if value is not None}
    head: Any = settings.pop(MAIN.get(requirement.name, ""), None)
    if head is None:
        head = {name: settings.pop(name) for name in list(settings) if name not in ("on", "sensitive", "value")}
    return {requirement.name: head, **settings}


def _mask(form: Any) -> Any:
    if isinstance(form, str):
        return masker_named(form)()
    part = mapping("mask", form)
    if len(part) != 1:
        raise RecipeError(
            "mask",
            "a recipe has one mask",
            given=", ".join(map(str, part)) or "none",
            remedy="write for example {top_down: {score: tradeoff}}",
        )
    name, settings = next(iter(part.items()))
    return build(masker_named(str(name)), f"mask {name}", settings or {})


def _missing(form: Any) -> tuple[str, ...]:
    for name, rule in mapping("missing", form).items():
        if not isinstance(rule, str) or rule not in ("drop", "value"):
            raise RecipeError(
                str(name),
                "missing values are a value of their own, or their rows are dropped",
                given=repr(rule),
                remedy="write `value` or `drop`",
            )
    return tuple(str(name) for name, rule in form.items() if rule == "drop")


def _set(form: Any, change: str) -> None:
    """Change one setting by its path: privacy.0.k=20."""
    from sfumato.data.yaml_files import load_yaml

    path, equals, text = change.partition("=")
    steps = path.split(".")
    if not equals or not all(steps):
        raise RecipeError("--set", "a change is PATH=VALUE", given=repr(change), remedy="write privacy.0.k=20")
    at = form
    for step in steps[:-1]:
        at = _step(at, step, path)
    last = steps[-1]
    if isinstance(at, dict):
        at, last = _in_requirement(at, last)
    if not isinstance(at, dict):
        _step(at, last, path)
    at[int(last) if isinstance(at, list) else last] = load_yaml(f"{text}\n", what="--set")


def _in_requirement(at: dict[str, Any], last: str) -> tuple[dict[str, Any], str]:
    """Where a requirement's setting stands: under its name, or in the mapping there."""
    for name in REQUIREMENTS:
        if name in at and isinstance(at[name], dict) and last in at[name]:
            return at[name], last
        if name in at and not isinstance(at[name], dict) and MAIN.get(name) == last:
            return at, name
    return at, last


def _step(at: Any, step: str, path: str) -> Any:
    try:
        return at[int(step)] if isinstance(at, list) else at.setdefault(step, {})
    except (ValueError, IndexError, AttributeError):
        raise RecipeError(
            "--set",
            "every step of the path leads somewhere",
            given=repr(path),
            remedy="list entries are numbered from 0: privacy.0.k=20",
        ) from None


def settings_text(recipe: Settings) -> str:
    """A recipe's settings as YAML."""
    from sfumato.data.yaml_files import dump_yaml

    form: dict[str, Any] = {"sfumato": FORMAT}
    form |= {"table": recipe["table"]} if recipe["table"] is not None else {}
    form |= {"query": recipe["query"]} if recipe["query"] is not None else {}
    form["attributes"] = {name: _attribute_form(attribute) for name, attribute in recipe["schema"].items()}
    if recipe["structure"] is not None:
        form["structure"] = _structure_form(recipe["structure"])
    form["privacy"] = [_requirement_form(requirement) for requirement in recipe["privacy"]]
    form["mask"] = {name_of(recipe["mask"]): settings_of(recipe["mask"])}
    if recipe["detail"]:
        form["detail"] = dict(recipe["detail"])
    if recipe["budget"] is not None:
        form["budget"] = recipe["budget"].to_json()
    if recipe["people"] is not None:
        form["people"] = recipe["people"]
    if recipe["earlier"] is not None:
        form["earlier"] = settings_of(recipe["earlier"])
    if recipe["keep_order"]:
        form["keep_order"] = True
    if recipe["release"] != Along():
        form["release"] = settings_of(recipe["release"])
    if recipe["encoding"]:
        form["encoding"] = recipe["encoding"]
    if recipe["i_understand"]:
        form["i_understand"] = _plain(recipe["i_understand"])
    form |= policies_form(recipe["policies"], recipe["attest"])
    if recipe["missing"]:
        form["missing"] = dict.fromkeys(recipe["missing"], "drop")
    return dump_yaml(form, default_flow_style=None, width=110)


def _attribute_form(attribute: Attribute) -> dict[str, Any]:
    kind = next(name for name, of in KINDS.items() if isinstance(attribute, of))
    return {
        "kind": kind,
        "role": attribute.role,
        **{k: v for k, v in settings_of(attribute).items() if k != "role"},
    }


def _structure_form(structure: Structure) -> dict[str, Any]:
    settings = settings_of(structure)
    if isinstance(structure, Classes):
        return {"classes": structure.column, **{k: v for k, v in settings.items() if k != "column"}}
    return {"clusters": structure.method, **{k: v for k, v in settings.items() if k != "method"}}


def settings_of(value: Any) -> dict[str, Any]:
    """The settings that differ from their defaults, as plain YAML values."""
    found = {}
    for field in fields(value):
        given = getattr(value, field.name)
        default = (
            field.default
            if field.default is not MISSING
            else (field.default_factory() if field.default_factory is not MISSING else MISSING)
        )
        if given != default:
            found[field.name] = _plain(given)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Taxonomy):
        return value.to_tree()
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    return value
