"""The papers' readers, each behind the same four calls: fit, predict, save, load (``kgqa.training.reader``)."""
