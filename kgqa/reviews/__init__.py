"""Samples read by people: which are drawn, what a reader sees and may say of them, the table of it, and the figures that come out."""
