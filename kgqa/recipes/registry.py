"""The registry of recipes; a recipe's module is imported when a domain first needs it."""

from __future__ import annotations

from importlib import import_module

from kgqa.runs.recipe import Recipe

RECIPES = {
    "iirc": "kgqa.recipes.iirc.recipe",
    "musique": "kgqa.recipes.musique.recipe",
    "qangaroo": "kgqa.recipes.qangaroo.recipe",
    "strategyqa": "kgqa.recipes.strategyqa.recipe",
}
"""Name → the module with the ``RECIPE``. A domain names its recipe and has its settings in a section of that name."""


COMMANDS = frozenset({"iirc", "musique", "strategyqa"})
"""Recipes that a command or ``--recipe`` chooses. A domain may have settings for them in addition to those of the recipe that it names."""


def find_recipe(name: str) -> Recipe:
    """The recipe ``name``, a key of ``RECIPES``."""
    recipe = import_module(RECIPES[name]).RECIPE
    assert isinstance(recipe, Recipe)
    return recipe
