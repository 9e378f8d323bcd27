"""The one way in which kernels grow an array."""

from __future__ import annotations

import numpy as np

from kgqa.arrays.kernel import kernel


@kernel
def grown(array, need):  # type: ignore[no-untyped-def]
    """``array`` itself if it has ``need`` rows; else a copy with so many, at least twice as many as before, the new ones not set.

    In a loop over single entries, ask first whether there is room: to hand an array over costs more than to look.
    """
    if need <= len(array):
        return array
    larger = np.empty((max(need, 2 * len(array)), *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
