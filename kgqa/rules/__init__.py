"""What the facts of a graph imply: composed paths, and relations that say the same."""
