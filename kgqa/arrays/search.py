"""Searching in sorted rows, and comparing two of them."""

from __future__ import annotations

import numpy as np

from kgqa.arrays.kernel import kernel

NO_LIMIT = 1 << 62
"""The limit with which :func:`count_shared` counts all."""


@kernel(inline=True)
def lower_bound(values, low, high, value):  # type: ignore[no-untyped-def]
    """The first index in ``low:high`` of a value not less than ``value``; ``high`` if all are less. ``values`` ascend."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def row_holds(offsets, targets, row, value):  # type: ignore[no-untyped-def]
    """Whether the sorted row holds ``value``; by bisection, since rows of frequent objects are long."""
    place = lower_bound(targets, offsets[row], offsets[row + 1], value)
    return place < offsets[row + 1] and targets[place] == value


@kernel
def count_shared(offsets, targets, first_rows, second_rows, limit):  # type: ignore[no-untyped-def]
    """The number of targets (int64) that both rows of each pair have, counted up to ``limit`` + 1; targets ascend in a row."""
    out = np.zeros(len(first_rows), np.int64)
    for i in range(len(first_rows)):
        a, first_end, b, end = offsets[first_rows[i]], offsets[first_rows[i] + 1], offsets[second_rows[i]], offsets[second_rows[i] + 1]
        if first_end - a > end - b:
            a, first_end, b, end = b, end, a, first_end
        # Each target of the shorter row is searched in the longer one, from the last place on.
        while a < first_end and out[i] <= limit:
            b = lower_bound(targets, b, end, targets[a])
            out[i] += b < end and targets[b] == targets[a]
            a += 1
    return out


@kernel
def meet(first_offsets, first_targets, first_row, second_offsets, second_targets, second_row):  # type: ignore[no-untyped-def]
    """Whether row ``first_row`` of some and row ``second_row`` of others have a number in common. O(both rows)."""
    a, end_a = first_offsets[first_row], first_offsets[first_row + 1]
    b, end_b = second_offsets[second_row], second_offsets[second_row + 1]
    while a < end_a and b < end_b:
        if first_targets[a] == second_targets[b]:
            return True
        if first_targets[a] < second_targets[b]:
            a += 1
        else:
            b += 1
    return False
