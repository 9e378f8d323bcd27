"""IIRC (Ferguson et al. 2020): questions on a passage whose answers need the articles that it links to, made from a graph."""
