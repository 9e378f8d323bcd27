"""Text → tokens, each with the place where it stands and a hash of its folded characters.

Tokens are words as Unicode's word boundaries (UAX #29) have them where a script puts spaces between words, and characters where none does.
Which of the two holds is told by each character's own script, so a text may mix them:

- a run of letters, digits and combining marks is a token, and so is a run of katakana;
- ideographs, hiragana, and what Thai, Lao, Khmer, Myanmar and their like are written with are a token each, with the marks and vowel
  signs that belong to them, so that no token begins in the middle of a syllable's spelling;
- a Hangul syllable is a token; which of them may begin or end a name is told by :mod:`kgqa.arrays.particles`;
- any other visible character is a token.

White space separates and is otherwise ignored, so that "( ER)-negative" and "(ER)-negative" are the same tokens; control and format
characters count as white space. Folding lower-cases letters one by one, makes no difference between a dotted and a dotless i (Turkish İ, I,
i, ı) or the two small sigmas, and makes typographic quotation marks, dashes and wide forms equal to the plain ones. Tables of all that live
in :func:`character_tables`; the kernels see only arrays. :mod:`kgqa.arrays.words` has the same tokens for single texts.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.hashes import HASH_PRIME, HASH_START, mixed
from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.texts import decode, text_buffers

SPACE, WORD, SYMBOL, IDEOGRAPH, KATAKANA, HANGUL, MARK, LEADING, JOINER = range(9)
"""Classes of characters. ``IDEOGRAPH``: any letter of a script without spaces; ``MARK`` goes on with whatever token is open; ``LEADING``: a
vowel written before its consonant (Thai เ), which goes on with the token; ``JOINER``: a mark after which the next letter does, as one
stands below the other (Khmer ្)."""
TABLE_SIZE = 1 << 16
"""Beyond the Basic Multilingual Plane are ideographs (planes 2 and 3), and symbols (emoji) or letters of rare scripts: each is a token."""
IDEOGRAPHS, IDEOGRAPHS_END = 0x20000, 0x40000
"""The planes of ideographs."""
UNSPACED = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1950, 0x19DF), (0x1A20, 0x1AAF), (0x1B00, 0x1B7F), (0x2E80, 0xA4CF),
    (0xA980, 0xA9FF), (0xAA60, 0xAADF), (0xF900, 0xFAFF), (0xFF66, 0xFF9D),
)  # fmt: skip
"""Blocks of the scripts that put no spaces between words: Thai, Lao; Myanmar; Khmer; Tai Le, New Tai Lue; Tai Tham; Balinese; Han, kana,
Bopomofo, Yi; Javanese, Myanmar; Myanmar, Tai Viet; compatible ideographs; narrow katakana. Tibetan is no such script here: a sign stands
between its syllables, so that each is a run of letters."""
KATAKANA_BLOCKS = ((0x30A1, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9D))
"""Of katakana, with the sign that lengthens a vowel."""
DEPENDENT = "ะาำๅะາຳ" + "ぁぃぅぇぉっゃゅょゎゕゖゝゞ" + "".join(map(chr, [*range(0x1160, 0x1200), *range(0xD7B0, 0xD7FC)]))
"""Letters that go on with the one before them: vowel signs that Unicode does not class as marks, small kana, and the vowels and finals of
Hangul that is written letter by letter."""
_LEADING = "เแโใไເແໂໃໄ"
"""Characters with Unicode's property Logical_Order_Exception: vowels that are written before their consonant."""
_UNSPACED, _KATAKANA = (
    frozenset(code for first, last in blocks for code in range(first, last + 1)) for blocks in (UNSPACED, KATAKANA_BLOCKS)
)
_DEPENDENT = frozenset(DEPENDENT)
_JOINERS = "\u1039\u17d2\u1a60\u1b44\ua9c0"

PLAIN = {
    "’": "'", "‘": "'", "ʼ": "'", "′": "'", "“": '"', "”": '"', "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-", "µ": "μ",
    "ı": "i", "ς": "σ", **{chr(code + 0xFEE0): chr(code) for code in range(0x21, 0x7F)},
}  # fmt: skip
"""Variants of one character; they are equal even where case must match."""

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
        classes[code] = _class(character)
        # A sign such as Ⓐ has a small form, but it is no letter; the only one that becomes two characters is the dotted capital I.
        lower = character.lower() if classes[code] == WORD else character
        folded[code] = ord(lower[0])
    return classes, folded, plain


def _class(character: str) -> int:  # noqa: PLR0911 - a table of cases
    code, category = ord(character), unicodedata.category(character)
    if character.isspace() or category in {"Cc", "Cf", "Zs"}:
        return SPACE
    if character in _JOINERS:
        return JOINER
    if category[0] == "M" or character in _DEPENDENT:
        return MARK
    if category[0] not in "LN":
        return SYMBOL
    if 0xAC00 <= code <= 0xD7A3 or 0x1100 <= code <= 0x115F or 0xA960 <= code <= 0xA97C:
        return HANGUL
    if code in _KATAKANA:
        return KATAKANA
    if (category[0] == "L" or category == "Nl") and code in _UNSPACED:
        return LEADING if character in _LEADING else IDEOGRAPH
    return WORD


@kernel(inline=True)
def class_at(character, classes):  # type: ignore[no-untyped-def]
    """The class of a character of any plane."""
    if character < TABLE_SIZE:
        return classes[character]
    return np.uint8(IDEOGRAPH if IDEOGRAPHS <= character < IDEOGRAPHS_END else SYMBOL)


@kernel
def tokenize(data, begin, end, classes, folded, plain, starts, ends, hashes, spellings, initials):  # type: ignore[no-untyped-def]  # noqa: PLR0912, PLR0915 - one pass, called for every byte
    """Split bytes ``begin`` to ``end`` of ``data`` (uint8, UTF-8) into tokens; return how many there are.

    ``starts`` and ``ends`` (int32, bytes counted from ``begin``), ``hashes`` (uint64, of the folded characters), ``spellings`` and
    ``initials`` (uint64) are filled from index 0 and must hold ``end - begin`` entries. A spelling is a sum over the characters that
    folding changes, so two tokens with equal hashes are written alike if their spellings are equal, and alike but for the first character
    if these are equal less their ``initials``. O(bytes), no allocation.
    """
    count = 0
    at = begin
    run = np.uint8(SPACE)
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
            kind = class_at(character, classes)
            lower = character
        # Whether the character goes on with the token that ``run``, the class of its last letters, describes.
        if run == SPACE:
            goes_on = False
        elif kind <= HANGUL and run != LEADING:
            goes_on = kind == run and kind in (WORD, KATAKANA)
        else:
            # Marks and joiners belong to the letter before them; a leading vowel or a joined letter takes one letter more.
            goes_on = kind in (MARK, JOINER) or (run == LEADING and kind == IDEOGRAPH)
            if kind == JOINER and run in (IDEOGRAPH, LEADING):
                run = np.uint8(LEADING)
            elif goes_on and kind == IDEOGRAPH:
                run = kind
        if not goes_on:
            if run != SPACE:
                ends[count] = start - begin
                hashes[count], spellings[count], initials[count] = mixed(code), spelling, initial
                count += 1
                run = np.uint8(SPACE)
            if kind == SPACE:
                continue
            starts[count] = start - begin
            if kind == SYMBOL:  # a token of its own
                ends[count] = at - begin
                hashes[count] = mixed((HASH_START ^ np.uint64(lower)) * HASH_PRIME)
                spellings[count] = initials[count] = np.uint64(0)
                count += 1
                continue
            run = np.uint8(WORD) if kind in (MARK, JOINER) else kind
            code = HASH_START
            spelling = initial = np.uint64(0)
            place = 0
        if lower != character:
            plain_character = plain[character]
            if plain_character != lower:
                part = mixed((np.uint64(place + 1) << np.uint64(32)) | np.uint64(plain_character))
                spelling += part
                if place == 0:
                    initial = part
        # FNV-1a over the folded characters; what folding changed goes into the spelling.
        code = (code ^ np.uint64(lower)) * HASH_PRIME
        place += 1
        if run == WORD:  # nearly all characters of most texts, and the space behind them
            while at < end and data[at] < 0x80 and classes[data[at]] == WORD:
                letter = data[at]
                lower_character = folded[letter]
                if lower_character != letter:
                    spelling += mixed((np.uint64(place + 1) << np.uint64(32)) | np.uint64(letter))
                code = (code ^ np.uint64(lower_character)) * HASH_PRIME
                place += 1
                at += 1
            if at < end and data[at] == 0x20:
                ends[count] = at - begin
                hashes[count], spellings[count], initials[count] = mixed(code), spelling, initial
                count += 1
                run = np.uint8(SPACE)
                at += 1
    if run != SPACE:
        ends[count] = end - begin
        hashes[count], spellings[count], initials[count] = mixed(code), spelling, initial
        count += 1
    return count


@kernel
def token_arrays(offsets):  # type: ignore[no-untyped-def]
    """``starts``, ``ends``, ``hashes``, ``spellings`` and ``initials`` for :func:`tokenize`, with room for any text between ``offsets``."""
    longest = 1
    for i in range(len(offsets) - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    starts, ends, hashes = np.empty(longest, np.int32), np.empty(longest, np.int32), np.empty(longest, np.uint64)
    return starts, ends, hashes, np.empty(longest, np.uint64), np.empty(longest, np.uint64)


@kernel
def tokenize_all(data, offsets, classes, folded, plain, signs, spelling_sums):  # type: ignore[no-untyped-def]
    """The ``Hashes`` of all texts, of ``signs`` only if told; ``spelling_sums`` (texts × 2, or empty) gets how each is spelt."""
    starts, ends, hashes, spellings, initials = token_arrays(offsets)
    bounds = np.zeros(len(offsets), np.int64)
    out = np.empty(max(16, (offsets[-1] - offsets[0]) // 4), np.uint64)
    for i in range(len(offsets) - 1):
        count = tokenize(data, offsets[i], offsets[i + 1], classes, folded, plain, starts, ends, hashes, spellings, initials)
        at = bounds[i]
        out = grown(out, at + count)
        for k in range(count):
            if not signs:
                character, _ = decode(data, offsets[i] + starts[k])
                if class_at(character, classes) == SYMBOL:
                    continue
            out[at] = hashes[k]
            at += 1
        bounds[i + 1] = at
        step = np.uint64(1)
        for k in range(count if len(spelling_sums) else 0):
            spelling_sums[i, 0] += step * spellings[k]
            spelling_sums[i, 1] += step * (spellings[k] - initials[k] if k == 0 else spellings[k])
            step *= TOKEN_STEP
    return bounds, out[: bounds[-1]]


def token_hashes(texts: pa.Array | pa.ChunkedArray) -> Hashes:
    """The folded hashes of all tokens of each text."""
    return tokenize_all(*text_buffers(texts), *character_tables(), True, _UNWRITTEN)


def word_hashes(texts: pa.Array | pa.ChunkedArray) -> Hashes:
    """The same of the words alone: punctuation and other signs are left out."""
    return tokenize_all(*text_buffers(texts), *character_tables(), False, _UNWRITTEN)


def spellings(texts: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.uint64]:
    """For each text how its tokens are spelt beyond their folded form: the whole text, and all but its first character (texts × 2)."""
    spelling_sums = np.zeros((len(texts), 2), np.uint64)
    tokenize_all(*text_buffers(texts), *character_tables(), True, spelling_sums)
    return spelling_sums
