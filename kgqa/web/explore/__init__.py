"""``kgqa explore``: a local page to look at a graph, at bridges, at samples with their chains, and at the rows of named queries."""
