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


COMMANDS = frozenset({"musique"})
"""Recipes with a command of their own."""
CHOSEN = frozenset({"iirc", "strategyqa"})
"""Recipes that ``kgqa generate --recipe`` chooses by name. A domain may have settings for these, and for ``COMMANDS``, beside those of the
recipe that it names."""


def find_recipe(name: str) -> Recipe:
    """The recipe ``name``, a key of ``RECIPES``."""
    recipe = import_module(RECIPES[name]).RECIPE
    assert isinstance(recipe, Recipe)
    return recipe
