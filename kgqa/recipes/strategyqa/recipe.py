"""The recipe of StrategyQA (Geva et al. 2021) from a graph, as registered in :mod:`kgqa.recipes.registry`."""

from __future__ import annotations

from kgqa.recipes.strategyqa.dataset import FILES, write_dataset
from kgqa.recipes.strategyqa.pipeline import STAGES, asked_queries
from kgqa.runs.recipe import Recipe

RECIPE = Recipe(stages=STAGES, write=write_dataset, files=FILES, version=1, queries=asked_queries)
