"""What fits a reader to a question set: data that stays on disk, the loop, checkpoints, records of runs, cross-fitting."""
