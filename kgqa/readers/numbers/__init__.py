"""Numbers in texts with their units, and the sums and differences by which an answer follows from them."""
