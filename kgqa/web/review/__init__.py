"""``kgqa review``: a local page on which somebody reads samples and says whether their answers follow."""
