"""Fitting a reader to a question set: data on disk, the training loop, checkpoints, records of runs, cross-fitting."""
