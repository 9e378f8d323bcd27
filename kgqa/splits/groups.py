"""Splits by the hash of a group: a group is never divided, whatever else is in the data."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.hashes import text_hashes


def assign_splits(groups: pa.Array, shares: tuple[float, ...], *, seed: int) -> npt.NDArray[np.int8]:
    """For each row the split of its group. Split i gets about ``shares[i]`` of the groups; the shares add up to 1.

    It depends on the group's text and the seed alone: more data never moves a group.
    """
    fraction = text_hashes(groups, seed=seed + 1).astype(np.float64) / 2.0**64
    return np.searchsorted(np.cumsum(shares)[:-1], fraction, side="right").astype(np.int8)
