"""64-bit hashes of texts and numbers, the same on every machine and in every version: ids, splits and draws are made from them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.kernel import kernel
from kgqa.arrays.texts import text_buffers

HASH_START = np.uint64(0xCBF29CE484222325)
HASH_PRIME = np.uint64(0x100000001B3)
"""Of FNV-1a: where a hash begins, and what it is multiplied by for each byte or character."""
MIX = np.uint64(0x9E3779B97F4A7C15)


@kernel(inline=True)
def mixed(value):  # type: ignore[no-untyped-def]
    """Spread the bits of a hash, so that its low bits can index a table of a power of two."""
    value ^= value >> np.uint64(32)
    value *= MIX
    return value ^ (value >> np.uint64(29))


@kernel
def _text_hashes(data, offsets, seed):  # type: ignore[no-untyped-def]
    out = np.empty(len(offsets) - 1, np.uint64)
    for i in range(len(out)):
        code = HASH_START ^ mixed(np.uint64(seed))
        for at in range(offsets[i], offsets[i + 1]):
            code = (code ^ np.uint64(data[at])) * HASH_PRIME
        out[i] = mixed(mixed(code))
    return out


def text_hashes(texts: pa.Array | pa.ChunkedArray, *, seed: int = 0) -> npt.NDArray[np.uint64]:
    """One 64-bit hash for each text, the same on every machine and in every version; ``seed`` gives another family."""
    data, offsets = text_buffers(texts)
    return _text_hashes(data, offsets, seed)  # type: ignore[no-any-return]


def table_size(entries: int) -> int:
    """Places of a hash table in which at least half are free: a power of two, so that low bits of a hash are a place."""
    return 1 << max(4, int(np.ceil(np.log2(max(entries, 1) * 2))))
