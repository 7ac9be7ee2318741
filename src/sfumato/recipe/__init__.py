"""Recipes: the frozen description of one run, and its form as YAML."""

from sfumato.recipe.drafts import draft
from sfumato.recipe.parts import Along, Earlier, Structure
from sfumato.recipe.policies.policy import Policy
from sfumato.recipe.recipe import Recipe

__all__ = ["Along", "Earlier", "Policy", "Recipe", "Structure", "draft"]
