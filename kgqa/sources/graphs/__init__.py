"""Any graph: RDF, tables of edges and nodes, GraphML, a Neo4j database; and plain texts to go with it."""
