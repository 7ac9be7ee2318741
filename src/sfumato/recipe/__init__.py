"""Recipes: the frozen description of one run, and its form as YAML."""

from sfumato.recipe.drafts import draft
from sfumato.recipe.parts import Along, Earlier, Structure
from sfumato.recipe.recipe import Recipe

__all__ = ["Along", "Earlier", "Recipe", "Structure", "draft"]
