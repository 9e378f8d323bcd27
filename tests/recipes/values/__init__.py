"""Tests of kgqa.recipes.values."""
