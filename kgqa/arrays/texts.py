"""Texts for kernels: UTF-8 bytes one after the other, and the offset of each text."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.int32 import check_fits
from kgqa.arrays.kernel import kernel

IntArray = npt.NDArray[np.int32]


def text_buffers(texts: pa.Array | pa.ChunkedArray) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The UTF-8 bytes of all ``texts`` one after the other (uint8), and their offsets (int64, texts + 1). Nulls are not allowed; nothing is
    copied.

    Raises InputError for a text of 2 GiB, since offsets within a text are int32.
    """
    array = texts.cast(pa.large_string())
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    assert array.null_count == 0
    _, offsets, data = array.buffers()
    bounds = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    check_fits(int(np.diff(bounds).max(initial=0)), "bytes of one text", "divide the text into several documents")
    return (np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)), bounds


@kernel(inline=True)
def decode(data, at):  # type: ignore[no-untyped-def]
    """The code of the character at byte ``at`` of valid UTF-8, and the index of the byte after it."""
    lead_byte = np.int32(data[at])
    if lead_byte < 0x80:
        return lead_byte, at + 1
    if lead_byte < 0xE0:
        return ((lead_byte & 0x1F) << 6) | (np.int32(data[at + 1]) & 0x3F), at + 2
    if lead_byte < 0xF0:
        return ((lead_byte & 0x0F) << 12) | ((np.int32(data[at + 1]) & 0x3F) << 6) | (np.int32(data[at + 2]) & 0x3F), at + 3
    high = ((lead_byte & 0x07) << 18) | ((np.int32(data[at + 1]) & 0x3F) << 12)
    return high | ((np.int32(data[at + 2]) & 0x3F) << 6) | (np.int32(data[at + 3]) & 0x3F), at + 4


@kernel(inline=True)
def is_space(character):  # type: ignore[no-untyped-def]
    """Whether Unicode counts the character (its code) as white space.

    >>> is_space(ord(" ")), is_space(0x3000), is_space(ord("a"))
    (True, True, False)
    """
    if character < 0x80:
        return character == 32 or 9 <= character <= 13
    return character in (0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000) or 0x2000 <= character <= 0x200A


def characters_at(texts: pa.Array | pa.ChunkedArray, rows: npt.NDArray[np.integer], places: npt.NDArray[np.integer]) -> IntArray:
    """The code (int32) of the character at each of ``places``, counted in characters, in the text of each of ``rows``; 0 after a text's
    end.

    O(bytes of the texts) if rows, and the places of each row, ascend.
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
