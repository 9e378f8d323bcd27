"""Which examples are read together: of like length, so that little is padded, and drawn from the seed alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]
POOL = 32
"""Batches that are sorted by length together: more of them pad less, but make batches of one epoch alike in the next."""


def batches_of_epoch(rows: Rows, tokens: npt.NDArray[np.int32], *, size: int, seed: int, epoch: int) -> list[Rows]:
    """All ``rows`` in batches of ``size`` and at most one smaller, in the order in which an epoch reads them.

    Within pools of :data:`POOL` batches the examples are sorted by length. O(n log n), 16 bytes a row.
    """
    rng = np.random.default_rng([seed, epoch])
    shuffled = rng.permutation(rows)
    pools = np.arange(len(shuffled)) // (size * POOL)
    ordered = shuffled[np.lexsort((tokens[shuffled], pools))]
    found = [ordered[first : first + size] for first in range(0, len(ordered), size)]
    return [found[place] for place in rng.permutation(len(found))]


def within(rows: Rows, tokens: npt.NDArray[np.int32], *, limit: int) -> Iterator[Rows]:
    """``rows`` in parts, shortest first, each of at most ``limit`` tokens with padding, or of one example."""
    ordered = rows[np.argsort(tokens[rows], kind="stable")]
    first = 0
    for place in range(1, len(ordered) + 1):
        if place == len(ordered) or (place - first + 1) * int(tokens[ordered[place]]) > limit:
            yield ordered[first:place]
            first = place
