"""Whether what a recipe is made of is of the right kind: told before it is used, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sfumato.calls import expected
from sfumato.data.schema import Schema
from sfumato.maskers.masker import Masker
from sfumato.privacy.budget import Budget
from sfumato.recipe.parts import Along, Earlier
from sfumato.structure.structures import Classes, Clusters


def check_kinds(recipe: Any) -> None:
    """Refuse a setting of another kind; a mapping of attributes becomes a schema."""
    if isinstance(recipe.schema, Mapping) and not isinstance(recipe.schema, Schema):
        object.__setattr__(recipe, "schema", Schema(recipe.schema))
    _expect(
        "schema", recipe.schema, Schema, rule="it is an sf.Schema", remedy="write sf.Schema(age=sf.Number(...), ...)"
    )
    _check_privacy(recipe.privacy)
    _expect("mask", recipe.mask, Masker, rule="it is a masker", remedy="write mask=sf.Partition(), or leave it out")
    rule, remedy = "it is Clusters or Classes", 'write structure=sf.Clusters("kmeans", k=6) or sf.Classes("income")'
    _expect("structure", recipe.structure, (Clusters, Classes, type(None)), rule=rule, remedy=remedy)
    rule, remedy = "it is an sf.Budget", "write budget=sf.Budget(epsilon=1)"
    _expect("budget", recipe.budget, (Budget, type(None)), rule=rule, remedy=remedy)
    rule, remedy = "it is an sf.Earlier", 'write earlier=sf.Earlier(releases=["out"], people="same")'
    _expect("earlier", recipe.earlier, (Earlier, type(None)), rule=rule, remedy=remedy)
    _expect("release", recipe.release, Along, rule="it is an sf.Along", remedy="write release=sf.Along(codebook=False)")


def _check_privacy(privacy: Any) -> None:
    remedy = 'write privacy=[sf.KAnonymity(on=["age", "sex"], k=10)]'
    one = hasattr(privacy, "parts") and not isinstance(privacy, type)
    _expect("privacy", privacy, Iterable if not one else object, rule="it is a list of requirements", remedy=remedy)
    for need in () if one else privacy:
        if isinstance(need, type) or not hasattr(need, "parts"):
            _expect("privacy", need, (), rule="each entry is a requirement", remedy=remedy)


def _expect(name: str, given: object, kinds: Any, *, rule: str, remedy: str) -> None:
    expected(f"Recipe: {name}", given, kinds, rule=rule, remedy=remedy)
