"""Rows whose numbers ascend."""

from __future__ import annotations

from kgqa.arrays.kernel import kernel


@kernel
def meet(one_offsets, ones, one, other_offsets, others, other):  # type: ignore[no-untyped-def]
    """Whether row ``one`` of some and row ``other`` of others have a number in common. O(both rows)."""
    a, end_a = one_offsets[one], one_offsets[one + 1]
    b, end_b = other_offsets[other], other_offsets[other + 1]
    while a < end_a and b < end_b:
        if ones[a] == others[b]:
            return True
        if ones[a] < others[b]:
            a += 1
        else:
            b += 1
    return False
