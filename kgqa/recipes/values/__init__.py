"""Facts with dates and quantities, from imported files and out of texts, as one table that recipes compute with."""
