"""The recipe of WikiHop and MedHop (Welbl et al. 2018), as registered in :mod:`kgqa.recipes.registry`."""

from __future__ import annotations

from kgqa.recipes.qangaroo.dataset import FILES, write_dataset
from kgqa.recipes.qangaroo.pipeline import STAGES, asked_queries
from kgqa.runs.recipe import Recipe

RECIPE = Recipe(stages=STAGES, write=write_dataset, files=FILES, version=7, queries=asked_queries)
