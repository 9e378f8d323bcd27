"""What texts state: a model, learned from the facts, of how texts that state a relation differ from those that only name its ends."""
