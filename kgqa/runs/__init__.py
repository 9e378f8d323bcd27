"""Runs of recipes: workspace and files, stages and runner, funnel, manifest and card."""
