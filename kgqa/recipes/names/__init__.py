"""Names, as several recipes need them: their kinds, and whether a text states them."""
