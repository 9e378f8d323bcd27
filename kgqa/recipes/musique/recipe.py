"""Steps S1 to S8 (Trivedi et al. 2022) as a registered recipe, once from a graph and once from datasets."""

from __future__ import annotations

from dataclasses import replace

from kgqa.recipes.musique.dataset import FILES, write_dataset
from kgqa.recipes.musique.pipeline import FROM_GRAPH, FROM_SETS, asked_queries
from kgqa.runs.recipe import Recipe

RECIPE = Recipe(stages=FROM_GRAPH, write=write_dataset, files=FILES, version=4, queries=asked_queries)
"""The recipe from a domain's facts."""
SETS = replace(RECIPE, stages=FROM_SETS)
"""The recipe from existing single-hop questions."""
