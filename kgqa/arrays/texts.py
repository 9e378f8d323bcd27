"""Texts as kernels see them: UTF-8 bytes one after the other, and where each text begins."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.kernel import kernel
from kgqa.arrays.narrow import check_fits

IntArray = npt.NDArray[np.int32]


def text_buffers(texts: pa.Array | pa.ChunkedArray) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The UTF-8 bytes of all ``texts`` one after the other, and where each begins (int64, texts + 1); no nulls, nothing is copied.

    InputError for a text of 2 GiB, as places in a text are int32.
    """
    array = texts.cast(pa.large_string())
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    assert array.null_count == 0
    _, offsets, data = array.buffers()
    where = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    check_fits(int(np.diff(where).max(initial=0)), "bytes of one text", "divide the text into several documents")
    return (np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)), where


@kernel(inline=True)
def decode(data, at):  # type: ignore[no-untyped-def]
    """The character that starts at byte ``at`` of valid UTF-8, and the byte after it."""
    first = np.int32(data[at])
    if first < 0x80:
        return first, at + 1
    if first < 0xE0:
        return ((first & 0x1F) << 6) | (np.int32(data[at + 1]) & 0x3F), at + 2
    if first < 0xF0:
        return ((first & 0x0F) << 12) | ((np.int32(data[at + 1]) & 0x3F) << 6) | (np.int32(data[at + 2]) & 0x3F), at + 3
    high = ((first & 0x07) << 18) | ((np.int32(data[at + 1]) & 0x3F) << 12)
    return high | ((np.int32(data[at + 2]) & 0x3F) << 6) | (np.int32(data[at + 3]) & 0x3F), at + 4


def characters_at(texts: pa.Array | pa.ChunkedArray, rows: npt.NDArray[np.integer], places: npt.NDArray[np.integer]) -> IntArray:
    """The code of the character at each place (counted in characters) of the text of each row; 0 behind a text's end.

    O(bytes of the texts) where rows, and the places of a row, ascend.
    """
    return _characters_at(*text_buffers(texts), rows, places)  # type: ignore[no-any-return]


@kernel
def _characters_at(data, offsets, rows, places):  # type: ignore[no-untyped-def]
    out = np.zeros(len(rows), np.int32)
    at, character = np.int64(0), np.int64(0)
    for i in range(len(rows)):
        if i == 0 or rows[i] != rows[i - 1] or places[i] < character:
            at, character = offsets[rows[i]], np.int64(0)
        end = offsets[rows[i] + 1]
        while character < places[i] and at < end:
            at += 1
            while at < end and data[at] & 0xC0 == 0x80:
                at += 1
            character += 1
        if at < end:
            out[i], _ = decode(data, at)
    return out
