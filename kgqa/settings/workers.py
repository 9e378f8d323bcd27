"""Number of threads: the default and the check for every ``workers`` or ``threads``."""

from __future__ import annotations

import os

from kgqa.errors import SettingsError

MOST_WORKERS = 256


def worker_count(workers: int | None = None) -> int:
    """``workers``, by default as many as the cores that this process may use. Raises SettingsError unless 1 to ``MOST_WORKERS``."""
    if workers is None:
        # A scheduler or a container may allow the process fewer cores than the machine has; macOS has no call for this.
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return min(cores, MOST_WORKERS)
    if not 1 <= workers <= MOST_WORKERS:
        raise SettingsError(f"workers {workers} is not between 1 and {MOST_WORKERS}; give another, or leave it out to use all cores.")
    return workers
