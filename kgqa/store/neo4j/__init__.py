"""The graph in a Neo4j server, and the samples on it."""
