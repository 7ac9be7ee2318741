"""Recipes: the frozen description of one run, and its form as YAML."""

from sfumato.recipe.recipe import Along, Recipe, Structure

__all__ = ["Along", "Recipe", "Structure"]
