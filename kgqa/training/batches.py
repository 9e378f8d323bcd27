"""Batches of examples of similar length, so that there is little padding, drawn from the seed alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]
POOL = 32
"""Batches that are sorted by length together. More of them mean less padding, but batches that repeat from epoch to epoch."""


def batches_of_epoch(rows: Rows, tokens: npt.NDArray[np.int32], *, size: int, seed: int, epoch: int) -> list[Rows]:
    """All ``rows`` in batches of ``size``, at most one of them smaller, in the order of an epoch.

    Examples are sorted by length within pools of :data:`POOL` batches. O(n log n), 16 bytes per row.
    """
    rng = np.random.default_rng([seed, epoch])
    shuffled = rng.permutation(rows)
    pools = np.arange(len(shuffled)) // (size * POOL)
    row_order = shuffled[np.lexsort((tokens[shuffled], pools))]
    batches = [row_order[first : first + size] for first in range(0, len(row_order), size)]
    return [batches[place] for place in rng.permutation(len(batches))]


def token_batches(rows: Rows, tokens: npt.NDArray[np.int32], *, limit: int) -> Iterator[Rows]:
    """``rows`` in parts, shortest first; each part has at most ``limit`` tokens including padding, or is one example."""
    row_order = rows[np.argsort(tokens[rows], kind="stable")]
    first = 0
    for end in range(1, len(row_order) + 1):
        if end == len(row_order) or (end - first + 1) * int(tokens[row_order[end]]) > limit:
            yield row_order[first:end]
            first = end
