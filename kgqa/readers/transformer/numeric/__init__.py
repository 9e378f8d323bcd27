"""Answers of several types, each by a head of its own: spans, several spans, counts, sums of numbers, yes and no, and none."""
