"""Changes of a recipe that touch several of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sfumato.data.roles import Role
from sfumato.data.schema import Schema
from sfumato.privacy.requirements import Requirement

SAID = "you said so"


def with_roles(recipe: Any, roles: Mapping[str, Role]) -> dict[str, Any]:
    """The settings of a recipe that change with the roles of attributes, by their names."""
    old: Schema = recipe.schema
    old.require(roles, "with_roles")
    schema = Schema({name: replace(one, role=roles.get(name, one.role)) for name, one in old.items()})
    return {
        "schema": schema,
        "privacy": [_on(need, old, schema) for need in recipe.privacy],
        "reasons": {**recipe.reasons, **dict.fromkeys(roles, SAID)} if recipe.reasons else {},
    }


def _on(need: Any, old: Schema, new: Schema) -> Requirement:
    """A requirement on what is still quasi; one that was on all of it is on all of it again."""
    whole = set(need.on) == set(old.quasi)
    on = tuple(name for name in need.on if name in new.quasi)
    more = tuple(name for name in new.quasi if name not in old.quasi) if whole else ()
    changed: Requirement = replace(need, on=on + more)
    return changed
