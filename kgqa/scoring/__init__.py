"""Scoring a system's predictions on a question set of any format: gold, predictions, the scorer, and where the points are lost."""
