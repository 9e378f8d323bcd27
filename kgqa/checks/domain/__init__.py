"""Checks of a domain before a dataset is made of it: its settings against its tables, its relations, its mentions and its edges."""
