"""Graph stores behind one protocol, and the named queries that run on them."""
