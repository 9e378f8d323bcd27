"""Text → tokens, each with the place where it stands and a hash of its folded characters.

A token is a run of letters, digits and combining marks, or one other visible character. White space separates and is otherwise
ignored, so that "( ER)-negative" and "(ER)-negative" are the same tokens. Folding lower-cases and makes typographic quotation marks and
dashes equal to the plain ones. Tables of both live in :func:`character_tables`; the kernels see only arrays.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numba import njit

SPACE, WORD, SYMBOL, IDEOGRAPH = 0, 1, 2, 3
TABLE_SIZE = 1 << 16
"""Characters beyond the Basic Multilingual Plane are symbols (emoji) or letters of rare scripts: each is a token of its own."""

PLAIN = {"’": "'", "‘": "'", "ʼ": "'", "′": "'", "“": '"', "”": '"', "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-", "µ": "μ"}
"""Typographic variants of one character; they are equal even where case must match."""

HASH_START = np.uint64(0xCBF29CE484222325)
HASH_PRIME = np.uint64(0x100000001B3)
MIX = np.uint64(0x9E3779B97F4A7C15)


@lru_cache(maxsize=1)
def character_tables() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """``classes``, ``folded``, ``plain``: for each character of the BMP its class, its folded and its unfolded representative."""
    classes = np.full(TABLE_SIZE, SYMBOL, np.uint8)
    folded = np.arange(TABLE_SIZE, dtype=np.int32)
    plain = np.arange(TABLE_SIZE, dtype=np.int32)
    for code in range(TABLE_SIZE):
        character = PLAIN.get(chr(code), chr(code))
        plain[code] = ord(character)
        category = unicodedata.category(character)
        if character.isspace() or category in {"Cc", "Cf", "Zs"}:
            classes[code] = SPACE
        elif category[0] in "LNM":
            classes[code] = IDEOGRAPH if category == "Lo" and 0x2E80 <= code <= 0xA4CF else WORD
        lower = character.lower()
        folded[code] = ord(lower) if len(lower) == 1 and ord(lower) < TABLE_SIZE else ord(character)
    return classes, folded, plain


@njit(cache=True, nogil=True, inline="always")
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


@njit(cache=True, nogil=True, inline="always")
def mixed(value):  # type: ignore[no-untyped-def]
    """Spread the bits of a hash, so that its low bits can index a table of a power of two."""
    value ^= value >> np.uint64(32)
    value *= MIX
    return value ^ (value >> np.uint64(29))


@njit(cache=True, nogil=True)
def tokenize(data, begin, end, classes, folded, starts, ends, hashes):  # type: ignore[no-untyped-def]
    """Split bytes ``begin`` to ``end`` of ``data`` (uint8, UTF-8) into tokens; return how many there are.

    ``starts``, ``ends`` (int32, bytes counted from ``begin``) and ``hashes`` (uint64, of the folded characters) are filled from index 0
    and must hold ``end - begin`` entries. O(bytes), no allocation.
    """
    count = 0
    at = begin
    inside = False
    code = np.uint64(0)
    while at < end:
        start = at
        character = np.int32(data[at])
        if character < 0x80:
            at += 1
        else:
            character, at = decode(data, at)
        if character < TABLE_SIZE:
            kind = classes[character]
            character = folded[character]
        else:
            kind = SYMBOL
        if kind == WORD:
            if not inside:
                inside = True
                starts[count] = start - begin
                code = HASH_START
            code = (code ^ np.uint64(character)) * HASH_PRIME
            continue
        if inside:
            ends[count] = start - begin
            hashes[count] = mixed(code)
            count += 1
            inside = False
        if kind != SPACE:
            starts[count] = start - begin
            ends[count] = at - begin
            hashes[count] = mixed((HASH_START ^ np.uint64(character)) * HASH_PRIME)
            count += 1
    if inside:
        ends[count] = end - begin
        hashes[count] = mixed(code)
        count += 1
    return count


@njit(cache=True, nogil=True)
def exact_hash(data, begin, end, classes, plain):  # type: ignore[no-untyped-def]
    """A hash of the characters from ``begin`` to ``end`` as they stand, white space left out."""
    code = HASH_START
    at = begin
    while at < end:
        character, at = decode(data, at)
        if character < TABLE_SIZE:
            if classes[character] == SPACE:
                continue
            character = plain[character]
        code = (code ^ np.uint64(character)) * HASH_PRIME
    return mixed(code)


@njit(cache=True, nogil=True)
def _tokenize_all(data, offsets, classes, folded):  # type: ignore[no-untyped-def]
    longest = 0
    for i in range(len(offsets) - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    starts, ends, hashes = np.empty(longest, np.int32), np.empty(longest, np.int32), np.empty(longest, np.uint64)
    bounds = np.zeros(len(offsets), np.int64)
    out = np.empty(max(16, (offsets[-1] - offsets[0]) // 4), np.uint64)
    for i in range(len(offsets) - 1):
        count = tokenize(data, offsets[i], offsets[i + 1], classes, folded, starts, ends, hashes)
        need = bounds[i] + count
        if need > len(out):
            larger = np.empty(max(need, 2 * len(out)), np.uint64)
            larger[: bounds[i]] = out[: bounds[i]]
            out = larger
        out[bounds[i] : need] = hashes[:count]
        bounds[i + 1] = need
    return bounds, out[: bounds[-1]]


def text_buffers(texts: pa.Array | pa.ChunkedArray) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The UTF-8 bytes of all ``texts`` one after the other, and where each begins (int64, texts + 1); no nulls, nothing is copied."""
    array = (texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts).cast(pa.large_string())
    assert array.null_count == 0
    _, offsets, data = array.buffers()
    where = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    return (np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)), where


def token_hashes(texts: pa.Array | pa.ChunkedArray) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    """``bounds`` (texts + 1) and the folded hashes of all tokens: those of text i are ``hashes[bounds[i]:bounds[i + 1]]``."""
    classes, folded, _ = character_tables()
    data, offsets = text_buffers(texts)
    return _tokenize_all(data, offsets, classes, folded)  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
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
