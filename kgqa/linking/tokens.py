"""Text → tokens, each with the place where it stands and a hash of its folded characters.

A token is a run of letters, digits and combining marks, or one other visible character; ideographs and kana, which are written without
spaces, are a token each. White space separates and is otherwise ignored, so that "( ER)-negative" and "(ER)-negative" are the same tokens;
control and format characters count as white space. Folding lower-cases letters one by one and makes typographic quotation marks and dashes
equal to the plain ones. Tables of both live in :func:`character_tables`; the kernels see only arrays.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.kernel import kernel
from kgqa.arrays.narrow import check_fits

SPACE, WORD, SYMBOL, IDEOGRAPH = 0, 1, 2, 3
TABLE_SIZE = 1 << 16
"""Characters beyond the Basic Multilingual Plane are symbols (emoji) or letters of rare scripts: each is a token of its own."""

PLAIN = {"’": "'", "‘": "'", "ʼ": "'", "′": "'", "“": '"', "”": '"', "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-", "µ": "μ"}
"""Typographic variants of one character; they are equal even where case must match."""

TOKEN_STEP = np.uint64(0xD1342543DE82EF95)
"""What a token's spelling is multiplied by for each token before it, so that equal spellings in another order differ."""
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
        # A sign such as Ⓐ has a small form, but it is no letter; one that becomes two characters (İ) keeps its case.
        lower = character.lower() if classes[code] == WORD else character
        folded[code] = ord(lower if len(lower) == 1 else character)
    return classes, folded, plain


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


@kernel(inline=True)
def mixed(value):  # type: ignore[no-untyped-def]
    """Spread the bits of a hash, so that its low bits can index a table of a power of two."""
    value ^= value >> np.uint64(32)
    value *= MIX
    return value ^ (value >> np.uint64(29))


@kernel
def tokenize(data, begin, end, classes, folded, plain, starts, ends, hashes, spellings, initials):  # type: ignore[no-untyped-def]
    """Split bytes ``begin`` to ``end`` of ``data`` (uint8, UTF-8) into tokens; return how many there are.

    ``starts`` and ``ends`` (int32, bytes counted from ``begin``), ``hashes`` (uint64, of the folded characters), ``spellings`` and
    ``initials`` (uint64) are filled from index 0 and must hold ``end - begin`` entries. A spelling is a sum over the characters that
    folding changes, so two tokens with equal hashes are written alike if their spellings are equal, and alike but for the first character
    if these are equal less their ``initials``. O(bytes), no allocation.
    """
    count = 0
    at = begin
    inside = False
    code = spelling = initial = np.uint64(0)
    place = 0
    while at < end:
        start = at
        character = np.int32(data[at])
        if character < 0x80:
            at += 1
        else:
            character, at = decode(data, at)
        if character < TABLE_SIZE:
            kind = classes[character]
            lower = folded[character]
        else:
            kind = SYMBOL
            lower = character
        if kind == WORD:
            if not inside:
                inside = True
                starts[count] = start - begin
                code = HASH_START
                spelling = initial = np.uint64(0)
                place = 0
            if lower != character:
                written = plain[character]
                if written != lower:
                    part = mixed((np.uint64(place + 1) << np.uint64(32)) | np.uint64(written))
                    spelling += part
                    if place == 0:
                        initial = part
            code = (code ^ np.uint64(lower)) * HASH_PRIME
            place += 1
            continue
        if inside:
            ends[count] = start - begin
            hashes[count], spellings[count], initials[count] = mixed(code), spelling, initial
            count += 1
            inside = False
        if kind != SPACE:
            starts[count] = start - begin
            ends[count] = at - begin
            hashes[count] = mixed((HASH_START ^ np.uint64(lower)) * HASH_PRIME)
            spellings[count] = initials[count] = np.uint64(0)
            count += 1
    if inside:
        ends[count] = end - begin
        hashes[count], spellings[count], initials[count] = mixed(code), spelling, initial
        count += 1
    return count


@kernel
def _tokenize_all(data, offsets, classes, folded, plain, written):  # type: ignore[no-untyped-def]
    longest = 0
    for i in range(len(offsets) - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    starts, ends, hashes = np.empty(longest, np.int32), np.empty(longest, np.int32), np.empty(longest, np.uint64)
    spellings, initials = np.empty(longest, np.uint64), np.empty(longest, np.uint64)
    bounds = np.zeros(len(offsets), np.int64)
    out = np.empty(max(16, (offsets[-1] - offsets[0]) // 4), np.uint64)
    for i in range(len(offsets) - 1):
        count = tokenize(data, offsets[i], offsets[i + 1], classes, folded, plain, starts, ends, hashes, spellings, initials)
        step = np.uint64(1)
        for k in range(count):
            written[i, 0] += step * spellings[k]
            written[i, 1] += step * (spellings[k] - initials[k] if k == 0 else spellings[k])
            step *= TOKEN_STEP
        need = bounds[i] + count
        if need > len(out):
            larger = np.empty(max(need, 2 * len(out)), np.uint64)
            larger[: bounds[i]] = out[: bounds[i]]
            out = larger
        out[bounds[i] : need] = hashes[:count]
        bounds[i + 1] = need
    return bounds, out[: bounds[-1]]


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


def token_hashes(texts: pa.Array | pa.ChunkedArray) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    """``bounds`` (texts + 1) and the folded hashes of all tokens: those of text i are ``hashes[bounds[i]:bounds[i + 1]]``."""
    data, offsets = text_buffers(texts)
    return _tokenize_all(data, offsets, *character_tables(), np.zeros((len(texts), 2), np.uint64))  # type: ignore[no-any-return]


def spellings(texts: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.uint64]:
    """For each text how its tokens are spelt beyond their folded form: the whole text, and all but its first character (texts × 2)."""
    data, offsets = text_buffers(texts)
    written = np.zeros((len(texts), 2), np.uint64)
    _tokenize_all(data, offsets, *character_tables(), written)
    return written


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


@kernel
def _shuffling(groups, members, seed):  # type: ignore[no-untyped-def]
    out = np.empty(len(groups), np.uint64)
    for i in range(len(groups)):
        out[i] = mixed(mixed(groups[i] ^ mixed(seed)) + mixed(np.uint64(members[i]) + np.uint64(1)))
    return out


def shuffling(groups: npt.NDArray[np.uint64], members: npt.NDArray[np.integer], *, purpose: str, seed: int = 0) -> npt.NDArray[np.uint64]:
    """A pseudo-random number for each (group, member) pair: sorting by it shuffles the members of a group.

    ``purpose`` keeps draws apart: were candidates drawn and ties broken by the same numbers, whoever was drawn would always lose the tie.
    """
    salt = text_hashes(pa.array([purpose]), seed=seed)[0]
    return _shuffling(groups, members, salt)  # type: ignore[no-any-return]
