"""Statements in texts: models, trained on the facts, that tell texts that state a relation from texts that only name its ends."""
