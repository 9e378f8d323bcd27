"""Bisection in sorted rows, and what two of them share."""

from __future__ import annotations

import numpy as np

from kgqa.arrays.kernel import kernel

NO_LIMIT = 1 << 62
"""For :func:`count_shared`: count all."""


@kernel(inline=True)
def lower_bound(values, low, high, wanted):  # type: ignore[no-untyped-def]
    """The first place of the ascending ``values[low:high]`` that is not less than ``wanted``; ``high`` where all are."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def row_holds(offsets, targets, row, wanted):  # type: ignore[no-untyped-def]
    """Whether the sorted row holds ``wanted``; bisection, because an object of many relations has a long row."""
    place = lower_bound(targets, offsets[row], offsets[row + 1], wanted)
    return place < offsets[row + 1] and targets[place] == wanted


@kernel
def count_shared(offsets, targets, one, other, most):  # type: ignore[no-untyped-def]
    """For each pair of rows how many targets both have, which ascend in a row; counting stops above ``most``."""
    out = np.zeros(len(one), np.int64)
    for i in range(len(one)):
        a, last, b, end = offsets[one[i]], offsets[one[i] + 1], offsets[other[i]], offsets[other[i] + 1]
        if last - a > end - b:
            a, last, b, end = b, end, a, last
        # The shorter row is walked, and in the longer one each of its targets is looked for.
        while a < last and out[i] <= most:
            b = lower_bound(targets, b, end, targets[a])
            out[i] += b < end and targets[b] == targets[a]
            a += 1
    return out
