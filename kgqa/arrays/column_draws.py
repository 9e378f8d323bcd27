"""Draws for whole columns, from 64-bit hashes; ``draws.py`` says which draw is for what."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.hashes import MIX, mixed, text_hashes
from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import IntArray, Rows


def shuffling(groups: npt.NDArray[np.uint64], members: npt.NDArray[np.integer], *, purpose: str, seed: int = 0) -> npt.NDArray[np.uint64]:
    """A pseudo-random number for each (group, member) pair: sorting by it shuffles the members of a group.

    ``purpose`` keeps draws apart: were candidates drawn and ties broken by the same numbers, whoever was drawn would always lose the tie.
    """
    salt = text_hashes(pa.array([purpose]), seed=seed)[0]
    return _shuffling(groups, members, salt)  # type: ignore[no-any-return]


@kernel
def _shuffling(groups, members, seed):  # type: ignore[no-untyped-def]
    out = np.empty(len(groups), np.uint64)
    for i in range(len(groups)):
        out[i] = mixed(mixed(groups[i] ^ mixed(seed)) + mixed(np.uint64(members[i]) + np.uint64(1)))
    return out


@kernel(inline=True)
def tie_breaker(group, member, seed):  # type: ignore[no-untyped-def]
    """A pseudo-random number from 0 to below 1 for a member of a group: what kernels that draw for no purpose but one add to a key."""
    drawn = mixed(mixed(group ^ seed) ^ mixed(np.uint64(member) + np.uint64(1)))
    return float(drawn >> np.uint64(11)) / 9007199254740992.0


def deal(rows: Rows, groups: npt.NDArray[np.uint64], *, numbers: int, seed: int) -> IntArray:
    """For each entry of ``rows.targets`` a number below ``numbers``, different within a row, drawn by the row's group."""
    return _deal(rows.offsets, groups, numbers, np.uint64(seed))  # type: ignore[no-any-return]


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
