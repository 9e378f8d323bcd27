"""From projection queries to candidates and chains."""
