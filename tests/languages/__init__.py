"""The same small set and the same small graph in several languages."""
