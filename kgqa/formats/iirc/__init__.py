"""IIRC: questions on a passage, whose links lead to articles in a file of their own."""
