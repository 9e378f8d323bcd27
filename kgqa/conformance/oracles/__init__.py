"""Oracles: the right answer of each named query, in plain Python."""
