"""Tests of kgqa.recipes.strategyqa."""
