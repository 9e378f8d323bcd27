"""IIRC: questions on a passage whose links lead to articles in a separate file."""
