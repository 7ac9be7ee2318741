"""Recipes: the frozen description of one run, and its form as YAML."""

from sfumato.recipe.earlier import Earlier
from sfumato.recipe.recipe import Along, Recipe, Structure

__all__ = ["Along", "Earlier", "Recipe", "Structure"]
