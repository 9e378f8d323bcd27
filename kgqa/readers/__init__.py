"""The readers of the papers, all with the same four methods: fit, predict, save, load (``kgqa.training.reader``)."""
