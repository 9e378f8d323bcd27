"""The recipe of IIRC (Ferguson et al. 2020), as registered in :mod:`kgqa.recipes.registry`."""

from __future__ import annotations

from kgqa.recipes.iirc.dataset import FILES, write_dataset
from kgqa.recipes.iirc.pipeline import STAGES, asked_queries
from kgqa.runs.recipe import Recipe

RECIPE = Recipe(stages=STAGES, write=write_dataset, files=FILES, version=2, queries=asked_queries)
"""The stages of the recipe of IIRC."""
