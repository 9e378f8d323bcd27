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

from kgqa.arrays.growth import grown
from kgqa.arrays.hashes import HASH_PRIME, HASH_START, mixed
from kgqa.arrays.kernel import kernel
from kgqa.arrays.texts import decode, text_buffers

SPACE, WORD, SYMBOL, IDEOGRAPH = 0, 1, 2, 3
TABLE_SIZE = 1 << 16
"""Characters beyond the Basic Multilingual Plane are symbols (emoji) or letters of rare scripts: each is a token of its own."""

PLAIN = {"’": "'", "‘": "'", "ʼ": "'", "′": "'", "“": '"', "”": '"', "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-", "µ": "μ"}
"""Typographic variants of one character; they are equal even where case must match."""

TOKEN_STEP = np.uint64(0xD1342543DE82EF95)
"""What a sum over tokens is multiplied by for each of them, so that the same tokens in another order make another sum."""
Hashes = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]
"""``bounds`` (texts + 1) and hashes: those of text i are ``hashes[bounds[i]:bounds[i + 1]]``, in the text's order."""
_UNWRITTEN = np.zeros((0, 2), np.uint64)


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
def tokenize_all(data, offsets, classes, folded, plain, signs, written):  # type: ignore[no-untyped-def]
    """The ``Hashes`` of all texts, of ``signs`` only if told; ``written`` (texts × 2, or empty) gets how each is spelt."""
    longest = 0
    for i in range(len(offsets) - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    starts, ends, hashes = np.empty(longest, np.int32), np.empty(longest, np.int32), np.empty(longest, np.uint64)
    spellings, initials = np.empty(longest, np.uint64), np.empty(longest, np.uint64)
    bounds = np.zeros(len(offsets), np.int64)
    out = np.empty(max(16, (offsets[-1] - offsets[0]) // 4), np.uint64)
    for i in range(len(offsets) - 1):
        count = tokenize(data, offsets[i], offsets[i + 1], classes, folded, plain, starts, ends, hashes, spellings, initials)
        at = bounds[i]
        out = grown(out, at + count)
        for k in range(count):
            if not signs:
                character, _ = decode(data, offsets[i] + starts[k])
                if character >= TABLE_SIZE or classes[character] == SYMBOL:
                    continue
            out[at] = hashes[k]
            at += 1
        bounds[i + 1] = at
        step = np.uint64(1)
        for k in range(count if len(written) else 0):
            written[i, 0] += step * spellings[k]
            written[i, 1] += step * (spellings[k] - initials[k] if k == 0 else spellings[k])
            step *= TOKEN_STEP
    return bounds, out[: bounds[-1]]


def token_hashes(texts: pa.Array | pa.ChunkedArray) -> Hashes:
    """The folded hashes of all tokens of each text."""
    return tokenize_all(*text_buffers(texts), *character_tables(), True, _UNWRITTEN)  # type: ignore[no-any-return]


def word_hashes(texts: pa.Array | pa.ChunkedArray) -> Hashes:
    """The same of the words alone: punctuation and other signs are left out."""
    return tokenize_all(*text_buffers(texts), *character_tables(), False, _UNWRITTEN)  # type: ignore[no-any-return]


def spellings(texts: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.uint64]:
    """For each text how its tokens are spelt beyond their folded form: the whole text, and all but its first character (texts × 2)."""
    written = np.zeros((len(texts), 2), np.uint64)
    tokenize_all(*text_buffers(texts), *character_tables(), True, written)
    return written
