"""Entity linking: from names and texts to mentions."""
