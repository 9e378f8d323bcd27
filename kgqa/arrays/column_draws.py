"""Random draws for whole columns, from 64-bit hashes; ``draws.py`` explains when to use which."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.hashes import MIX, mixed, text_hashes
from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import IntArray, Rows


def shuffling(groups: npt.NDArray[np.uint64], members: npt.NDArray[np.integer], *, purpose: str, seed: int = 0) -> npt.NDArray[np.uint64]:
    """A pseudo-random number (uint64) for each pair of group and member: sorting by it shuffles the members of a group.

    ``purpose`` makes draws independent: if candidates were drawn and ties broken by the same numbers, drawn candidates would lose every
    tie.
    """
    salt = text_hashes(pa.array([purpose]), seed=seed)[0]
    return _shuffling(groups, members, salt)


@kernel
def _shuffling(groups, members, seed):  # type: ignore[no-untyped-def]
    out = np.empty(len(groups), np.uint64)
    for i in range(len(groups)):
        out[i] = mixed(mixed(groups[i] ^ mixed(seed)) + mixed(np.uint64(members[i]) + np.uint64(1)))
    return out


@kernel(inline=True)
def tie_breaker(group, member, seed):  # type: ignore[no-untyped-def]
    """A pseudo-random number in [0, 1) for a member of a group, which kernels with a single purpose add to a sort key."""
    bits = mixed(mixed(group ^ seed) ^ mixed(np.uint64(member) + np.uint64(1)))
    return float(bits >> np.uint64(11)) / 9007199254740992.0


def deal(rows: Rows, groups: npt.NDArray[np.uint64], *, numbers: int, seed: int) -> IntArray:
    """A random number below ``numbers`` for each entry of ``rows.targets``, distinct within a row; ``groups`` (rows) seeds each row."""
    return _deal(rows.offsets, groups, numbers, np.uint64(seed))


@kernel
def _deal(offsets, groups, numbers, seed):  # type: ignore[no-untyped-def]
    out = np.empty(offsets[-1], np.int32)
    deck = np.empty(numbers, np.int32)
    for row in range(len(offsets) - 1):
        state = mixed(groups[row] ^ mixed(seed + np.uint64(0x5851F42D4C957F2D)))
        for i in range(numbers):
            deck[i] = i
        for i in range(offsets[row + 1] - offsets[row]):
            state = mixed(state + MIX)
            j = i + np.int64(state % np.uint64(numbers - i))
            deck[i], deck[j] = deck[j], deck[i]
            out[offsets[row] + i] = deck[i]
    return out
