"""The registry of recipes; a recipe's module is imported when a domain first needs it."""

from __future__ import annotations

from importlib import import_module

from kgqa.runs.recipe import Recipe
from kgqa.settings.base import RecipeSettings
from kgqa.settings.iirc import IircSettings
from kgqa.settings.musique import MusiqueSettings
from kgqa.settings.qangaroo import QangarooSettings
from kgqa.settings.strategyqa import StrategyqaSettings

RECIPES: dict[str, tuple[type[RecipeSettings], str]] = {
    "iirc": (IircSettings, "kgqa.recipes.iirc.recipe"),
    "musique": (MusiqueSettings, "kgqa.recipes.musique.recipe"),
    "qangaroo": (QangarooSettings, "kgqa.recipes.qangaroo.recipe"),
    "strategyqa": (StrategyqaSettings, "kgqa.recipes.strategyqa.recipe"),
}
"""Name → the model of its settings, and the module with the ``RECIPE``. A domain names its recipe and has its settings in a section of that
name; every domain's settings have a section for each recipe, so the models are here and cost no import of a recipe."""


COMMANDS = frozenset({"musique"})
"""Recipes with a command of their own."""
CHOSEN = frozenset({"iirc", "strategyqa"})
"""Recipes that ``kgqa generate --recipe`` chooses by name. A domain may have settings for these, and for ``COMMANDS``, beside those of the
recipe that it names."""


def find_recipe(name: str) -> Recipe:
    """The recipe ``name``, a key of ``RECIPES``."""
    recipe = import_module(RECIPES[name][1]).RECIPE
    assert isinstance(recipe, Recipe)
    return recipe
