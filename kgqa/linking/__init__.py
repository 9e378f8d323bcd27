"""From names and texts to mentions."""
