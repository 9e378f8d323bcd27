"""Recipes, which make datasets as papers describe; one folder per recipe."""
