"""What a recipe shows of itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, fields
from typing import Any

from sfumato.data.described import described
from sfumato.display import Card

ALWAYS = ("method", "column")
"""Settings that are told even where they are usual."""


def recipe_card(recipe: Any) -> Card:
    """What is asked, then each attribute; of a drafted one, with the reasons, and its questions."""
    asked = [f"question {at}: {text}" for at, text in enumerate(recipe.questions, 1)]
    return Card(f"Recipe: {_call(recipe.mask)}", [*_asked(recipe), *asked], [described(recipe.schema, recipe.reasons)])


def _asked(recipe: Any) -> Iterator[str]:
    yield "structure: " + ("none in particular" if recipe.structure is None else _call(recipe.structure))
    for need in recipe.privacy:
        yield f"privacy: {need}"
    if recipe.budget is not None:
        yield f"budget: epsilon = {recipe.budget.epsilon}"
    for name in ("table", "people", "earlier", "detail", "missing", "i_understand", "encoding"):
        if value := getattr(recipe, name):
            yield f"{name}: {value}"
    if recipe.policies:
        yield f"policies: {', '.join(policy.name for policy in recipe.policies)}"
    if recipe.keep_order:
        yield "keep_order: rows stay in their order, which may tell who is who"


def _call(value: Any) -> str:
    """An object as it is written, without what is usual.

    >>> from sfumato.structure.structures import Clusters
    >>> _call(Clusters("kmeans", k=6))
    "Clusters(method='kmeans', k=6)"
    """
    told = [
        f"{one.name}={getattr(value, one.name)!r}"
        for one in fields(value)
        if one.name in ALWAYS
        or (one.default is MISSING and one.default_factory is MISSING)
        or (one.default is not MISSING and getattr(value, one.name) != one.default)
        or (one.default_factory is not MISSING and getattr(value, one.name) != one.default_factory())
    ]
    return f"{type(value).__name__}({', '.join(told)})"
