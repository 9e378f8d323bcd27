"""How the texts write words: with a small first letter, or with a capital where no sentence begins.

It tells a name from an ordinary word without any word list: where a corpus writes "Common" mostly as "common", a capital says little.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.hashes import HASH_PRIME, HASH_START, table_size
from kgqa.arrays.kernel import kernel
from kgqa.arrays.texts import text_buffers


def small_shares(words: pa.ChunkedArray, texts: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    """For each of ``words`` the share of its occurrences in ``texts`` that begin with a small letter, in any case else; 0 if unseen.

    Capitals at the beginning of a sentence count for neither side. Only words of letters that begin with one of a to z can be seen. O(bytes
    of the texts), one pass.
    """
    keys = _hashes(*text_buffers(words))
    known = np.unique(keys)
    table = np.zeros(table_size(2 * len(known)), np.uint64)
    slots = _fill(known, table)
    small, capital = np.zeros(len(table), np.int64), np.zeros(len(table), np.int64)
    _count(*text_buffers(texts), table, small, capital)
    share = small / np.maximum(small + capital, 1)
    return share[slots[np.searchsorted(known, keys)]]  # type: ignore[no-any-return]


@kernel(inline=True)
def _is_letter(byte):  # type: ignore[no-untyped-def]
    return 97 <= byte <= 122 or 65 <= byte <= 90 or byte >= 0x80


@kernel(inline=True)
def _lower(byte):  # type: ignore[no-untyped-def]
    return byte + 32 if 65 <= byte <= 90 else byte


@kernel
def _hashes(data, offsets):  # type: ignore[no-untyped-def]
    out = np.empty(len(offsets) - 1, np.uint64)
    for i in range(len(out)):
        code = HASH_START
        for at in range(offsets[i], offsets[i + 1]):
            code = (code ^ np.uint64(_lower(data[at]))) * HASH_PRIME
        out[i] = max(code, np.uint64(1))
    return out


@kernel(inline=True)
def _slot(code, table):  # type: ignore[no-untyped-def]
    """Where ``code`` is in ``table``, or the empty place where it would be."""
    mask = np.uint64(len(table) - 1)
    slot = (code ^ (code >> np.uint64(32))) & mask
    while table[slot] != code and table[slot] != 0:
        slot = (slot + np.uint64(1)) & mask
    return slot


@kernel
def _fill(known, table):  # type: ignore[no-untyped-def]
    slots = np.empty(len(known), np.int64)
    for i in range(len(known)):
        slot = _slot(known[i], table)
        table[slot] = known[i]
        slots[i] = slot
    return slots


@kernel
def _count(data, offsets, table, small, capital):  # type: ignore[no-untyped-def]
    for text in range(len(offsets) - 1):
        at, end = offsets[text], offsets[text + 1]
        fresh = True
        while at < end:
            byte = data[at]
            if not _is_letter(byte):
                fresh = fresh or byte in (10, 33, 46, 58, 63)  # line feed ! . : ?
                at += 1
                continue
            first, code = byte, HASH_START
            while at < end and _is_letter(data[at]):
                code = (code ^ np.uint64(_lower(data[at]))) * HASH_PRIME
                at += 1
            slot = _slot(max(code, np.uint64(1)), table)
            if table[slot] != 0:
                if 97 <= first <= 122:
                    small[slot] += 1
                elif 65 <= first <= 90 and not fresh:
                    capital[slot] += 1
            fresh = False
