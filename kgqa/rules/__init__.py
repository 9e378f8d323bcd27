"""Rules mined from the facts of a graph: paths of two relations, and single relations, that imply a relation."""
