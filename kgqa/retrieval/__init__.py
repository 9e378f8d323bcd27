"""Search over any pool of paragraphs."""
