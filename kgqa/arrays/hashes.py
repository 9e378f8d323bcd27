"""64-bit hashes of texts and numbers, the same on every machine and in every version, since ids, splits and draws depend on them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.kernel import kernel
from kgqa.arrays.texts import text_buffers

HASH_START = np.uint64(0xCBF29CE484222325)
HASH_PRIME = np.uint64(0x100000001B3)
"""The offset basis and the prime of FNV-1a."""
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
    """A 64-bit hash for each text (uint64), the same on every machine and in every version; each ``seed`` gives another hash function.

    >>> text_hashes(pa.array(["a", "b"])).dtype
    dtype('uint64')
    """
    data, offsets = text_buffers(texts)
    return _text_hashes(data, offsets, seed)


def table_size(entries: int) -> int:
    """The size of a hash table with at least half of it free: a power of two, so that the low bits of a hash are an index.

    >>> table_size(100)
    256
    """
    return 1 << max(4, int(np.ceil(np.log2(max(entries, 1) * 2))))
