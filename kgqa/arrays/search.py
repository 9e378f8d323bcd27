"""Bisection in sorted rows, for kernels."""

from __future__ import annotations

from kgqa.arrays.kernel import kernel


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
