"""``kgqa review``: a local page on which an annotator reads samples and judges whether their answers follow."""
