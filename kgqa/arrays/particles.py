"""The Hangul syllables that may begin or end a name.

Korean puts spaces between words, but writes particles and the copula together with the noun before them: 서울은, 서울에서는, 서울이다.
A name begins with a run of syllables, and ends with the run or where only particles follow. So 서울 occurs in 서울에서,
but not in 서울대학교.

Particles are a closed class; ``korean-particles.txt`` lists them with their source. They need not agree with the sound before them (은
after a consonant, 는 after a vowel), because they do not in texts with inserted names.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.hashes import HASH_PRIME, HASH_START, mixed
from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.search import lower_bound
from kgqa.arrays.texts import decode, text_buffers
from kgqa.arrays.tokens import SYMBOL, character_tables, class_at, token_arrays, token_hashes, tokenize
from kgqa.resources import word_lists

LISTS = word_lists(Path(__file__).with_name("korean-particles.txt"))
LONGEST = 5
"""Syllables of the longest particle."""
BEGINS, ENDS = 1, 2
"""Bits of a token: a name may begin with it, and may end with it."""
_WITHIN, _LAST = 1, 2


@lru_cache(maxsize=1 << 14)
def are_particles(syllables: str) -> bool:
    """Whether the text, which has no spaces, is a chain of particles.

    >>> are_particles("에서는"), are_particles("대학교")
    (True, False)
    """
    return _pattern().fullmatch(syllables) is not None


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    inner_words, final_words = ("|".join(LISTS[name]) for name in ("within", "last"))
    return re.compile(f"(?:{inner_words})*(?:{inner_words}|{final_words})")


@lru_cache(maxsize=1)
def particle_tables() -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint8]]:
    """The ascending codes of all particles (uint64), and their roles (uint8): others may follow (bit 1), it may be the last (bit 2)."""
    roles = dict.fromkeys(LISTS["within"], _WITHIN | _LAST)
    roles |= {word: roles.get(word, 0) | _LAST for word in LISTS["last"]}
    bounds, hashes = token_hashes(pa.array(list(roles), pa.string()))
    assert int(np.diff(bounds).max()) == LONGEST, "particles.LONGEST is the length of the longest particle"
    codes = _codes(bounds, hashes)
    order = np.argsort(codes)
    return codes[order], np.array(list(roles.values()), np.uint8)[order]


@kernel(inline=True)
def _with(code, syllable):  # type: ignore[no-untyped-def]
    return mixed((code ^ syllable) * HASH_PRIME)


@kernel
def _codes(bounds, hashes):  # type: ignore[no-untyped-def]
    out = np.empty(len(bounds) - 1, np.uint64)
    for i in range(len(out)):
        code = HASH_START
        for k in range(bounds[i], bounds[i + 1]):
            code = _with(code, hashes[k])
        out[i] = code
    return out


@kernel(inline=True)
def _is_hangul(data, at):  # type: ignore[no-untyped-def]
    """Whether a Hangul syllable (U+AC00 to U+D7A3) or a first letter written alone begins at the byte."""
    lead_byte = data[at]
    if lead_byte < 0xE1 or lead_byte > 0xED:
        return False
    if lead_byte == 0xE1:
        return data[at + 1] == 0x84 or (data[at + 1] == 0x85 and data[at + 2] < 0xA0)
    if lead_byte == 0xEA:
        return data[at + 1] >= 0xB0 or (data[at + 1] == 0xA5 and 0xA0 <= data[at + 2] <= 0xBC)
    return 0xEA < lead_byte < 0xED or (lead_byte == 0xED and (data[at + 1] < 0x9E or (data[at + 1] == 0x9E and data[at + 2] <= 0xA3)))


@kernel
def _may_have_hangul(data, begin, end):  # type: ignore[no-untyped-def]
    """Whether any byte may begin a Hangul letter; the compiler turns this loop into a few vector instructions."""
    hits = np.uint8(0)
    for at in range(begin, end):
        hits |= np.uint8(data[at] == 0xE1) | np.uint8(np.uint8(data[at] - np.uint8(0xEA)) < np.uint8(4))
    return hits != 0


@kernel
def mark_edges(data, begin, count, starts, ends, hashes, codes, roles, edges):  # type: ignore[no-untyped-def]
    """Set ``edges`` (uint8, at least ``count``) for each token of :func:`kgqa.arrays.tokens.tokenize`: whether it may begin or end a name.

    Return whether any token may not; without Hangul, ``edges`` are not written. ``codes`` and ``roles`` are those of
    :func:`particle_tables`. O(tokens).
    """
    if count == 0 or not _may_have_hangul(data, begin + starts[0], begin + ends[count - 1]):
        return False
    first = 0
    while first < count and not _is_hangul(data, begin + starts[first]):
        first += 1
    edges[:first] = BEGINS | ENDS
    has_edges = False
    while first < count:
        if not _is_hangul(data, begin + starts[first]):
            edges[first] = BEGINS | ENDS
            first += 1
            continue
        end = first
        while end + 1 < count and starts[end + 1] == ends[end] and _is_hangul(data, begin + starts[end + 1]):
            end += 1
        # Backwards through the run: a name may end before syllable i + 1 if the rest of the run is one particle, or a particle that others
        # may follow and after which a name may end, so the rest is a chain of particles.
        edges[end] = ENDS
        for i in range(end - 1, first - 1, -1):
            edges[i] = 0
            code = HASH_START
            for k in range(i + 1, min(end, i + LONGEST) + 1):
                code = _with(code, hashes[k])
                at = lower_bound(codes, 0, len(codes), code)
                if at == len(codes) or codes[at] != code:
                    continue
                if k == end or (roles[at] & _WITHIN and edges[k] & ENDS):
                    edges[i] = ENDS
                    break
        edges[first] |= BEGINS
        has_edges = has_edges or end > first
        first = end + 1
    return has_edges


def word_edges(texts: pa.Array) -> npt.NDArray[np.uint8]:
    """For each word of :func:`kgqa.arrays.tokens.word_hashes` (uint8): whether a name may begin (bit 1) and end (bit 2) with it."""
    return _word_edges(*text_buffers(texts), *character_tables(), *particle_tables())


@kernel
def _word_edges(data, offsets, classes, folded, plain, codes, roles):  # type: ignore[no-untyped-def]
    starts, ends, hashes, spellings, initials = token_arrays(offsets)
    edges = np.empty(len(starts), np.uint8)
    out = np.empty(max(16, (offsets[-1] - offsets[0]) // 4), np.uint8)
    at = 0
    for i in range(len(offsets) - 1):
        count = tokenize(data, offsets[i], offsets[i + 1], classes, folded, plain, starts, ends, hashes, spellings, initials)
        has_edges = mark_edges(data, offsets[i], count, starts, ends, hashes, codes, roles, edges)
        out = grown(out, at + count)
        for k in range(count):
            character, _ = decode(data, offsets[i] + starts[k])
            if class_at(character, classes) != SYMBOL:
                out[at] = edges[k] if has_edges else BEGINS | ENDS
                at += 1
    return out[:at]
