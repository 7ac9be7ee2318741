"""A JSON Schema of recipes, made from the classes that read them: editors complete names, and tell what is wrong.

It knows names, kinds of values and words to choose from. What hangs together (a k that a table can have, attributes
that exist, files that are there) is told when the recipe is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import Parameter, signature
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from sfumato.data.cut_points import MOST_CUTS
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.maskers.registry import MASKERS, masker_named
from sfumato.privacy.requirements import REQUIREMENTS
from sfumato.privacy.verify.policies.contents import CONTENTS
from sfumato.recipe.parts import Along, Earlier
from sfumato.recipe.policies.definition import NAMES
from sfumato.recipe.policies.policy import Policy
from sfumato.recipe.recipe import Recipe
from sfumato.recipe.settings import names_of
from sfumato.recipe.understood import UNDERSTOOD
from sfumato.recipe.yaml_form import FORMAT, KINDS, MAIN, TOP
from sfumato.structure.structures import Classes, Clusters

Form = dict[str, Any]
DRAFT = "https://json-schema.org/draft/2020-12/schema"
TEXT, NUMBER, PLAIN = {"type": "string"}, {"type": "number"}, {"type": ["string", "number", "boolean"]}
LABELS: Form = {"type": "array", "items": PLAIN}
TREE: Form = {"type": ["string", "object"], "description": "A file in the recipe's folder, bundled:NAME, or a tree."}
ENDS: Form = {"type": "array", "items": {"type": ["number", "string"]}, "minItems": 2, "maxItems": 2}
CUTS: Form = {"type": "array", "items": {"type": ["number", "string"]}, "minItems": 1, "maxItems": MOST_CUTS}
MORE: Mapping[str, Form] = {
    "taxonomy": TREE,
    "values": LABELS,
    "missing": {"anyOf": [LABELS, TEXT]},
    "range": ENDS,
    "bins": CUTS,
}
"""Settings of attributes that YAML writes in other words than Python."""


def recipe_schema() -> Form:
    """The schema of recipes.

    >>> sorted(recipe_schema()["required"])
    ['attributes', 'sfumato']
    """
    return {
        "$schema": DRAFT,
        "$id": "sfumato:recipe:1",
        "title": "A recipe of Sfumato",
        **_object({**_settings(), **_own()}, required=("sfumato", "attributes"), told=Recipe),
    }


def _own() -> Form:
    """What is written in other words than the settings of `Recipe`."""
    return {
        "sfumato": {"const": FORMAT, "description": "The format of recipes."},
        "attributes": {"type": "object", "minProperties": 1, "additionalProperties": {"oneOf": _attributes()}},
        "structure": _nullable(
            {"oneOf": [_named(Clusters, "method", "clusters"), _named(Classes, "column", "classes")]}
        ),
        "privacy": _nullable({"type": "array", "items": {"oneOf": [*map(_requirement, REQUIREMENTS)]}}),
        "mask": _nullable({"oneOf": [{"enum": [*MASKERS]}, *map(_mask, MASKERS)]}),
        "release": _nullable(_class(Along)),
        "earlier": _nullable(_class(Earlier)),
        "budget": _nullable({"oneOf": [PLAIN, _object({"epsilon": PLAIN, "total": PLAIN}, required=("epsilon",))]}),
        "missing": _nullable({"type": "object", "additionalProperties": {"enum": ["drop", "value"]}}),
        "i_understand": _nullable(
            {"anyOf": [{"enum": [*UNDERSTOOD]}, {"type": "array", "items": {"enum": [*UNDERSTOOD]}}]}
        ),
        "policies": _nullable({"type": "array", "items": {"anyOf": [TEXT, _policy()]}}),
        "attest": _nullable({"type": "object", "additionalProperties": TEXT}),
        "detail": _nullable({"type": "object", "additionalProperties": {"type": ["number", "string", "object"]}}),
    }


def _policy() -> Form:
    """A policy with what goes with it."""
    columns = {"type": "object", "additionalProperties": {"enum": [*CONTENTS]}}
    named = {"type": ["string", "object"], "description": f"One of {', '.join(NAMES)}, a .yaml file, or its content."}
    return _object({"policy": named, "columns": _nullable(columns), "areas": TEXT}, required=("policy",), told=Policy)


def _settings() -> Form:
    """The settings of `Recipe` that are written as they are."""
    hints = get_type_hints(Recipe)
    return {name: of_hint(hints[name]) for name in TOP if name in hints}


def _attributes() -> list[Form]:
    return [
        _object({"kind": {"const": kind}, **_fields(of), **_more(of)}, required=("kind",), told=of)
        for kind, of in KINDS.items()
    ]


def _more(of: type) -> Form:
    """Of an attribute what YAML writes in other words."""
    return {name: form for name, form in MORE.items() if name in names_of(of)}


def _named(of: type, setting: str, name: str) -> Form:
    """A structure, whose first setting stands under its name."""
    found = _fields(of)
    return _object({name: found.pop(setting), **found}, required=(name,), told=of)


def _requirement(name: str) -> Form:
    """A requirement: its main setting under its name, or all of them there; the others beside it."""
    of: Any = REQUIREMENTS[name]
    hints = get_type_hints(of)
    settings = {one: PLAIN if one == "population" else of_hint(hints[one]) for one in names_of(of)}
    needed = _needed(of)
    main = MAIN.get(name)
    heads = [_object(settings)]
    if main is not None:
        heads.append(settings[main])
    beside = {one: form for one, form in settings.items() if one != main}
    form = _object({name: {"anyOf": heads}, **beside}, required=(name,), told=of)
    # `on` stands beside the name, or under it with the others.
    inside = {"properties": {name: {"type": "object", "required": needed}}}
    return {**form, "anyOf": [{"required": [one for one in needed if one != main]}, inside]}


def _mask(name: str) -> Form:
    of = masker_named(name)
    return _object({name: _nullable(_class(of))}, required=(name,), told=of)


def _class(of: Any) -> Form:
    return _object(_fields(of), required=_needed(of), told=of)


def _fields(of: Any) -> Form:
    hints = get_type_hints(of)
    return {name: of_hint(hints[name]) for name in names_of(of)}


def _needed(of: Any) -> list[str]:
    return [one.name for one in signature(of).parameters.values() if one.default is Parameter.empty]


def _object(properties: Form, *, required: Sequence[str] = (), told: Any = None) -> Form:
    """A mapping with these names and no others."""
    said = {} if told is None else {"description": (told.__doc__ or "").strip().split("\n")[0]}
    form: Form = {"type": "object", **said, "properties": properties, "additionalProperties": False}
    return {**form, "required": [*required]} if required else form


def _nullable(form: Form) -> Form:
    return {"anyOf": [form, {"type": "null"}]}


def of_hint(hint: Any) -> Form:
    """What stands for a type.

    >>> of_hint(int | None)
    {'anyOf': [{'type': 'integer'}, {'type': 'null'}]}
    >>> of_hint(tuple[str, ...])
    {'anyOf': [{'type': 'array', 'items': {'type': 'string'}}, {'type': 'string'}]}
    """
    kind, parts = get_origin(hint), get_args(hint)
    if kind in (Union, UnionType):
        return {"anyOf": [of_hint(part) for part in parts]}
    if kind is Literal:
        return {"enum": [*parts]}
    if isinstance(kind, type) and issubclass(kind, Mapping):
        return {"type": "object"}
    if isinstance(kind, type) and issubclass(kind, Sequence):
        return _array(parts)
    return _plain(hint)


def _array(parts: tuple[Any, ...]) -> Form:
    alike = parts[-1:] == (...,) or len(parts) == 1
    if not alike:
        return {
            "type": "array",
            "prefixItems": [of_hint(one) for one in parts],
            "minItems": len(parts),
            "maxItems": len(parts),
        }
    form: Form = {"type": "array", "items": of_hint(parts[0])}
    return {"anyOf": [form, TEXT]} if parts[0] is str else form


def _plain(hint: Any) -> Form:
    known: Mapping[Any, Form] = {
        bool: {"type": "boolean"},
        int: {"type": "integer"},
        float: NUMBER,
        str: TEXT,
        NoneType: {"type": "null"},
        Taxonomy: TREE,
    }
    return known.get(hint, {"type": ["string", "number", "boolean", "null"]})
