"""The recipes that are known, and the module of each, which is imported with the first domain."""

from __future__ import annotations

from importlib import import_module

from kgqa.runs.recipe import Recipe

RECIPES = {
    "musique": "kgqa.recipes.musique.recipe",
    "qangaroo": "kgqa.recipes.qangaroo.recipe",
}
"""Name → the module that holds it as ``RECIPE``; a domain names its recipe, and sets it in a section of that name."""


COMMANDS = frozenset({"musique"})
"""Recipes that have a command of their own: a domain may set them beside the one that it names."""


def find_recipe(name: str) -> Recipe:
    """The recipe of this name, one of ``RECIPES``."""
    recipe = import_module(RECIPES[name]).RECIPE
    assert isinstance(recipe, Recipe)
    return recipe
