"""Changes of a recipe that touch several of its settings."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sfumato.data.roles import Role
from sfumato.data.schema import Attribute, Schema
from sfumato.data.yaml_files import dump_yaml
from sfumato.errors import SchemaError, quoted, warn
from sfumato.privacy.requirements import Requirement, basic

SAID = "you said so"
SINCE = " (It was asked before you said what these are: "


def with_roles(recipe: Any, roles: Mapping[str, Role]) -> dict[str, Any]:
    """The settings of a recipe that change with the roles of attributes, by their names."""
    old: Schema = recipe.schema
    old.require(roles, "with_roles")
    schema = Schema({name: _of_role(name, one, roles.get(name, one.role)) for name, one in old.items()})
    open_secrets = {name for name in old if old[name].role != schema[name].role != "sensitive"}
    return {
        "schema": schema,
        "privacy": [_on(need, old, schema) for need in _without(recipe.privacy, open_secrets)],
        "reasons": {**recipe.reasons, **dict.fromkeys(roles, SAID)} if recipe.reasons else {},
        "questions": tuple(_marked(question, roles) for question in recipe.questions),
    }


def _of_role(name: str, attribute: Attribute, role: Role) -> Attribute:
    try:
        return replace(attribute, role=role)
    except SchemaError as error:  # it knows the kind, not the name
        raise SchemaError(name, error.rule, given=error.given, remedy=error.remedy) from None


def _on(need: Any, old: Schema, new: Schema) -> Requirement:
    """A requirement on what is still quasi; one that was on all of it is on all of it again."""
    whole = set(need.on) == set(old.quasi)
    on = tuple(name for name in need.on if name in new.quasi)
    more = tuple(name for name in new.quasi if name not in old.quasi) if whole else ()
    changed: Requirement = replace(need, on=on + more)
    return changed


def _without(privacy: Sequence[Requirement], open_secrets: Collection[str]) -> list[Requirement]:
    """Without bounds on what is no longer sensitive, which is told; a k that came with such a bound is still asked."""
    gone = [need for need in privacy if need.sensitive in open_secrets]
    if not gone:
        return list(privacy)
    for need in gone:
        warn(
            f"{quoted(str(need.sensitive))} is no longer sensitive, and what was asked of it is left out: {need}. To "
            "keep it, leave its role"
        )
    kept = [need for need in privacy if need not in gone]
    sizes = [part for need in gone for part in need.parts() if part.sensitive is None]
    if not sizes:
        return kept
    alone = [part for need in kept if need.group_size is not None for part in need.parts()]
    return [*basic([*alone, *sizes]), *(need for need in kept if need.group_size is None)]


def _marked(question: str, roles: Collection[str]) -> str:
    """A question of a draft; where it names columns whose roles were given since, it says which."""
    since = [name for name in roles if _names(question, name)]
    if not since:
        return question
    asked = question.partition(SINCE)
    told = [*asked[2].removesuffix(".)").split(", "), *map(_scalar, since)] if asked[1] else map(_scalar, since)
    return f"{asked[0]}{SINCE}{', '.join(dict.fromkeys(told))}.)"


def _names(question: str, name: str) -> bool:
    """Whether a question names a column, as YAML writes it: among words that are others'.

    >>> _names("Are these known? age, 'a: b'.", "age"), _names("at an age of 3.", "age"), _names("of ages, ...", "age")
    (True, False, False)
    """
    return re.search(rf"(?<![^\s(\[]){re.escape(_scalar(name))}(?=[,.;:?)]| \(| and )", question) is not None


def _scalar(name: str) -> str:
    """A name as YAML writes it in a list."""
    return dump_yaml([name], default_flow_style=True, width=10**6).strip()[1:-1]
