"""Recipes as YAML: read with every mistake explained, written without loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, replace
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar, cast

from sfumato.data.schema import Attribute, Category, ItemSet, Number, Schema
from sfumato.data.taxonomy import Taxonomy
from sfumato.errors import RecipeError, SchemaError, did_you_mean
from sfumato.maskers.registry import masker_named, name_of
from sfumato.privacy.budget import Budget
from sfumato.privacy.requirements import REQUIREMENTS, Requirement
from sfumato.recipe.earlier import Earlier
from sfumato.recipe.recipe import Along, Recipe, Structure
from sfumato.structure.structures import Classes, Clusters

KINDS: Mapping[str, type[Attribute]] = {"number": Number, "category": Category, "item_set": ItemSet}
TOP = ("sfumato", "table", "attributes", "structure", "privacy", "mask", "keep_order", "release", "missing",
       "i_understand", "encoding", "budget", "earlier", "people")  # fmt: skip
MAIN = {"k_anonymity": "k", "l_diversity": "l", "confidence_bound": "h", "t_closeness": "t", "k_map": "k"}
"""The setting that a requirement's name stands for: {l_diversity: 3} is {l_diversity: {l: 3}}."""
BUNDLED = "bundled:"
DATES = ("date", "time", "datetime", "timestamp")
T = TypeVar("T")


def read_recipe(source: str | Path, changes: Iterable[str] = ()) -> Recipe:
    """A recipe from a file or from text."""
    from sfumato.data.yaml_files import load_yaml

    path = source if isinstance(source, Path) else Path(source) if "\n" not in source else None
    form = load_yaml(path if path is not None else str(source), what="recipe")
    if not isinstance(form, dict):
        raise RecipeError("recipe", "a recipe is a mapping", given=type(form).__name__,
                          remedy="begin with `sfumato: 1`, then attributes:, structure:, privacy:, mask:")  # fmt: skip
    for change in changes:
        _set(form, change)
    return recipe_from(form, path.parent if path is not None else Path())


def recipe_from(form: Mapping[str, Any], folder: Path) -> Recipe:
    """A recipe from its parsed YAML; file names are relative to the folder."""
    _known("recipe", form, TOP)
    if form.get("sfumato") != 1:
        raise RecipeError("recipe", "a recipe says which format it is in", given=repr(form.get("sfumato")),
                          remedy="begin it with `sfumato: 1`")  # fmt: skip
    attributes = _mapping("attributes", form.get("attributes"))
    table = form.get("table")
    return Recipe(
        schema=Schema({str(name): _attribute(str(name), part, folder) for name, part in attributes.items()}),
        structure=_structure(form.get("structure")),
        privacy=tuple(_requirement(part, folder) for part in form.get("privacy") or ()),
        mask=_mask(form.get("mask") or "top_down"),
        table=None if table is None else _relative(str(table), folder),
        keep_order=bool(form.get("keep_order", False)),
        release=_build(Along, "release", form.get("release") or {}),
        missing=_missing(form.get("missing") or {}),
        people=form.get("people"),
        i_understand=form.get("i_understand"),
        encoding=form.get("encoding"),
        budget=None if form.get("budget") is None else _budget(form["budget"]),
        earlier=None if form.get("earlier") is None else _earlier(form["earlier"], folder),
    )


def _budget(form: Any) -> Budget:
    part = _mapping("budget", form if isinstance(form, Mapping) else {"epsilon": form})
    if "people" in part:
        raise RecipeError("budget", "people are named once, for every recipe", given="a name in the budget",
                          remedy="write people: NAME at the top of the recipe, beside budget:")  # fmt: skip
    _known("budget", part, ("epsilon", "total"))
    if "epsilon" not in part:
        raise RecipeError("budget", "a budget has an epsilon", given="none", remedy="write budget: {epsilon: 1}")
    return Budget(**part)


def _earlier(form: Any, folder: Path) -> Earlier:
    found = _build(Earlier, "earlier", form)
    return replace(found, releases=tuple(str(folder / name) for name in found.releases))


def _relative(table: str, folder: Path) -> str:
    return table if table.startswith(BUNDLED) else str(folder / table)


def _attribute(name: str, form: Any, folder: Path) -> Attribute:
    part = dict(_mapping(name, form))
    kind = part.pop("kind", None)
    if kind not in KINDS:
        remedy = did_you_mean(str(kind), KINDS)
        if kind in DATES:
            remedy = "a date or a time is a number with a calendar: write kind: number, calendar: day"
        raise RecipeError(name, "an attribute's kind is one of " + ", ".join(KINDS), given=repr(kind), remedy=remedy)
    if "taxonomy" in part:
        _refuse_number(name, str(kind))
        part["taxonomy"] = _taxonomy(name, part["taxonomy"], folder)
    if part.get("range") is not None:
        part["range"] = _range(name, part["range"])
    try:
        made: Any = _build(KINDS[kind], name, part)
    except SchemaError as error:  # it knows the kind, not the name
        raise SchemaError(name, error.rule, given=error.given, remedy=error.remedy) from None
    return cast(Attribute, made)


def _refuse_number(name: str, kind: str) -> None:
    if kind == "number":
        raise RecipeError(name, "a number takes no taxonomy: it is masked by intervals", given="kind: number",
                          remedy="leave the taxonomy out, or say kind: category")  # fmt: skip


def _range(name: str, given: Any) -> tuple[Any, ...]:
    if not isinstance(given, list):
        raise RecipeError(name, "a range is [lowest, highest]", given=repr(given),
                          remedy="write for example range: [0, 100]")  # fmt: skip
    return tuple(str(end) if hasattr(end, "isoformat") else end for end in given)


def _taxonomy(name: str, given: Any, folder: Path) -> Taxonomy:
    if isinstance(given, dict):
        return Taxonomy.from_tree(given)
    if not isinstance(given, str):
        raise RecipeError(name, "a taxonomy is a file name or a tree", given=type(given).__name__,
                          remedy="write `taxonomy: education.yaml` or the tree itself")  # fmt: skip
    if given.startswith(BUNDLED):
        from sfumato.data import datasets

        return datasets.taxonomy(given.removeprefix(BUNDLED))
    from sfumato.data.taxonomy_files import read_taxonomy

    if not (folder / given).is_file():
        raise RecipeError(name, "the taxonomy's file must exist", given=str(folder / given),
                          remedy="check the name; a relative one starts at the recipe's folder")  # fmt: skip
    return read_taxonomy(folder / given)


def _structure(form: Any) -> Structure:
    if form is None:
        raise RecipeError("structure", "a recipe says what must survive", given="nothing",
                          remedy="add `structure: {clusters: kmeans, k: 6}` or `{classes: NAME}`")  # fmt: skip
    part = dict(_mapping("structure", form))
    if "classes" in part:
        return _build(Classes, "structure", {"column": part.pop("classes"), **part})
    if "clusters" in part:
        return _build(Clusters, "structure", {"method": part.pop("clusters"), **part})
    raise RecipeError("structure", "it is clusters or classes", given=", ".join(part) or "nothing",
                      remedy="write {clusters: kmeans, k: 6} or {classes: COLUMN}")  # fmt: skip


def _requirement(form: Any, folder: Path) -> Requirement:
    part = dict(_mapping("privacy", form))
    name = next((name for name in part if name in REQUIREMENTS), None)
    if name is None:
        raise RecipeError("privacy", "a requirement is one of " + ", ".join(REQUIREMENTS),
                          given=", ".join(str(key) for key in part) or "nothing",
                          remedy="write {k_anonymity: 10, on: [age, sex]}")  # fmt: skip
    given = part.pop(name)
    settings = {**part, **(given if isinstance(given, Mapping) else {MAIN.get(name, name): given})}
    if isinstance(settings.get("population"), str):
        settings["population"] = _relative(settings["population"], folder)
    return cast(Requirement, _build(REQUIREMENTS[name], name, settings))


def _requirement_form(requirement: Requirement) -> dict[str, Any]:
    """{name: its main setting, or all that are its own; on, sensitive and the rest beside it}."""
    settings = {name: _plain(getattr(requirement, name)) for name in _names(requirement)}
    if "population" in settings and not isinstance(settings["population"], str):
        settings["population"] = "given as a table"
    settings = {name: value for name, value in settings.items() if value is not None}
    head: Any = settings.pop(MAIN.get(requirement.name, ""), None)
    if head is None:
        head = {name: settings.pop(name) for name in list(settings) if name not in ("on", "sensitive", "value")}
    return {requirement.name: head, **settings}


def _names(settings: Any) -> list[str]:
    return [field.name for field in fields(settings)]


def _mask(form: Any) -> Any:
    if isinstance(form, str):
        return masker_named(form)()
    part = _mapping("mask", form)
    if len(part) != 1:
        raise RecipeError("mask", "a recipe has one mask", given=", ".join(part) or "none",
                          remedy="write for example {top_down: {score: tradeoff}}")  # fmt: skip
    name, settings = next(iter(part.items()))
    return _build(masker_named(str(name)), f"mask {name}", settings or {})


def _missing(form: Any) -> tuple[str, ...]:
    for name, rule in _mapping("missing", form).items():
        if rule not in ("drop", "value"):
            raise RecipeError(str(name), "missing values are a value of their own, or their rows are dropped",
                              given=repr(rule), remedy="write `value` or `drop`")  # fmt: skip
    return tuple(str(name) for name, rule in form.items() if rule == "drop")


def _build(kind: Callable[..., T], what: str, form: Any) -> T:
    """A settings object from a mapping; unknown names are refused with the nearest known one."""
    part = _mapping(what, form)
    settings: Any = kind
    _known(what, part, _names(settings))
    needed = [p.name for p in signature(kind).parameters.values() if p.default is p.empty and p.name not in part]
    if needed:
        raise RecipeError(what, f"it needs {' and '.join(needed)}", given="nothing for it",
                          remedy=f"write {needed[0]}: beside it (docs/recipes.md has an example)")  # fmt: skip
    try:
        return kind(**part)
    except TypeError as error:
        raise RecipeError(what, "every setting has a value of its kind", given=str(error).split(") ", 1)[-1],
                          remedy="give the missing setting") from None  # fmt: skip


def _known(what: str, form: Mapping[str, Any], known: Iterable[str]) -> None:
    names = list(known)
    for name in form:
        if name not in names:
            raise RecipeError(what, "every name in a recipe is known", given=repr(name),
                              remedy=did_you_mean(str(name), names))  # fmt: skip


def _mapping(what: str, form: Any) -> Mapping[str, Any]:
    if not isinstance(form, Mapping):
        raise RecipeError(what, "this is a mapping of names to settings", given=type(form).__name__,
                          remedy="write {name: value, ...}")  # fmt: skip
    return form


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
        raise RecipeError("--set", "every step of the path leads somewhere", given=repr(path),
                          remedy="list entries are numbered from 0: privacy.0.k=20") from None  # fmt: skip


def recipe_text(recipe: Recipe) -> str:
    """A recipe as YAML."""
    from sfumato.data.yaml_files import dump_yaml

    form: dict[str, Any] = {"sfumato": 1}
    if recipe.table is not None:
        form["table"] = recipe.table
    form["attributes"] = {name: _attribute_form(attribute) for name, attribute in recipe.schema.items()}
    form["structure"] = _structure_form(recipe.structure)
    form["privacy"] = [_requirement_form(requirement) for requirement in recipe.privacy]
    form["mask"] = {name_of(recipe.mask): _settings(recipe.mask)}
    if recipe.budget is not None:
        form["budget"] = recipe.budget.to_json()
    if recipe.people is not None:
        form["people"] = recipe.people
    if recipe.earlier is not None:
        form["earlier"] = _settings(recipe.earlier)
    if recipe.keep_order:
        form["keep_order"] = True
    if recipe.release != Along():
        form["release"] = _settings(recipe.release)
    if recipe.encoding:
        form["encoding"] = recipe.encoding
    if recipe.i_understand:
        form["i_understand"] = _plain(recipe.i_understand)
    if recipe.missing:
        form["missing"] = dict.fromkeys(recipe.missing, "drop")
    return dump_yaml(form, default_flow_style=None, width=110)


def _attribute_form(attribute: Attribute) -> dict[str, Any]:
    kind = next(name for name, of in KINDS.items() if isinstance(attribute, of))
    return {
        "kind": kind,
        "role": attribute.role,
        **{k: v for k, v in _settings(attribute).items() if k != "role"},
    }


def _structure_form(structure: Structure) -> dict[str, Any]:
    settings = _settings(structure)
    if isinstance(structure, Classes):
        return {"classes": structure.column, **{k: v for k, v in settings.items() if k != "column"}}
    return {"clusters": structure.method, **{k: v for k, v in settings.items() if k != "method"}}


def _settings(value: Any) -> dict[str, Any]:
    """The settings that differ from their defaults, as plain YAML values."""
    found = {}
    for field in fields(value):
        given = getattr(value, field.name)
        default = field.default if field.default is not MISSING else (
            field.default_factory() if field.default_factory is not MISSING else MISSING)  # fmt: skip
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
