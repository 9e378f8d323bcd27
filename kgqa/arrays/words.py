"""The tokens of :mod:`kgqa.arrays.tokens` for single texts in Python: words, boundaries, lengths.

The regular expressions are built from the same table of characters, so a text has the same tokens here and in the kernels.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from kgqa.arrays.particles import are_particles
from kgqa.arrays.tokens import (
    DEPENDENT,
    HANGUL,
    IDEOGRAPH,
    IDEOGRAPHS,
    IDEOGRAPHS_END,
    JOINER,
    KATAKANA,
    LEADING,
    MARK,
    PLAIN,
    SPACE,
    SYMBOL,
    TABLE_SIZE,
    WORD,
    character_tables,
)

GLUE = "\x1f"
"""Separates two Hangul syllables of one run in :func:`joined`, where other words are separated by a space."""
_ASCII_WORD = re.compile(r"[0-9a-z]+")
HAN_PER_WORD, OTHERS_PER_WORD = 1.6, 2.5
"""Letters per word, on average: 1.6 in Chinese (the words of the Penn Chinese Treebank; Xue et al. 2005), two to three in hiragana and in
Thai, without vowel signs."""
HAN_FROM = 0x3100
"""The first code of ideographs; letters of other scripts without spaces have smaller codes."""


class _Kinds(dict[str, int]):
    """Character → its class, looked up on first use."""

    def __missing__(self, character: str) -> int:
        code = ord(character)
        beyond = IDEOGRAPH if IDEOGRAPHS <= code < IDEOGRAPHS_END else SYMBOL
        kind = self[character] = int(character_tables()[0][code]) if code < TABLE_SIZE else beyond
        return kind


KINDS = _Kinds()
"""Character → its class (:mod:`kgqa.arrays.tokens`)."""
_RUNS = frozenset({WORD, KATAKANA})
_GOES_ON = frozenset({MARK, JOINER})
_SYLLABLE = frozenset({HANGUL, MARK, JOINER})


def composed(text: str) -> str:
    """The text in Unicode's composed form (NFC), in which "é" is one character; texts contain both forms.

    >>> composed("Gu\u0308nz") == "Günz"
    True
    """
    return text if text.isascii() or unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def folded(text: str) -> str:
    """The text in lower case, folded as in linking and composed (NFC); signs are kept.

    >>> folded("İstanbul ＮＨＫ")
    'istanbul nhk'
    """
    if text.isascii():
        return text.lower()
    text = composed(text)
    lower = text.lower()
    if "i\u0307" in lower and "\u0130" in text:
        lower = lower.replace("i\u0307", "i")
    variants, table = _variants()
    return lower.translate(table) if variants.search(lower) else lower


@lru_cache(maxsize=1)
def _variants() -> tuple[re.Pattern[str], dict[int, str]]:
    """A pattern for small letters and digits that folding changes, and a translation table for them."""
    classes, folds, _ = character_tables()
    lower_form = (
        code for code in np.flatnonzero((classes == WORD) & (folds != np.arange(TABLE_SIZE))).tolist() if chr(code) == chr(code).lower()
    )
    table = {code: chr(folds[code]) for code in lower_form}
    return re.compile(f"[{''.join(map(re.escape, map(chr, table)))}]"), table


def folded_texts(texts: pl.Series) -> pl.Series:
    """:func:`folded` applied to each text; the result has the same length."""
    lower_texts = texts.str.normalize("NFC").str.to_lowercase().str.replace_all("i\u0307", "i", literal=True)
    table = _variants()[1]
    return lower_texts.str.replace_many([chr(code) for code in table], list(table.values()))


def words(text: str) -> list[str]:
    """The folded words of a text, without signs: runs of letters and digits, and single characters of scripts without spaces.

    >>> words("Paris-based 王小明, 한솔은")
    ['paris', 'based', '王', '小', '明', '한', '솔', '은']
    """
    return _ASCII_WORD.findall(text.lower()) if text.isascii() else _patterns()[0].findall(folded(text))


def tokens(text: str) -> list[str]:
    """The folded words and signs of a text; each sign is a token.

    >>> tokens("U.S. 中")
    ['u', '.', 's', '.', '中']
    """
    return [PLAIN.get(token, token) for token in _patterns()[1].findall(folded(text))]


def joined(text: str, *, but: frozenset[str] = frozenset()) -> str:
    """:func:`words` joined by spaces, or by :data:`GLUE` between Hangul syllables of one run, without the words in ``but``.

    >>> joined("서울은 the 中", but=frozenset({"the"})).replace(GLUE, "|")
    '서|울|은 中'
    """
    if not has_hangul(text):
        return " ".join([word for word in words(text) if word not in but])
    parts: list[str] = []
    previous_end = -1
    for match in _patterns()[0].finditer(folded(text)):
        word = match[0]
        if word in but:
            continue
        is_hangul = KINDS[word[0]] == HANGUL
        if parts:
            parts.append(GLUE if is_hangul and match.start() == previous_end else " ")
        parts.append(word)
        previous_end = match.end() if is_hangul else -1
    return "".join(parts)


def has_hangul(text: str) -> bool:
    """Whether the text contains a Hangul letter."""
    return not text.isascii() and _hangul().search(text) is not None


@lru_cache(maxsize=1)
def _hangul() -> re.Pattern[str]:
    return re.compile(f"[{_letters(HANGUL)}]")


def stand(name: str, text: str) -> bool:
    """Whether ``text`` contains the words of ``name`` as a run; both as :func:`joined` returns them, with a space before and after.

    >>> stand(" 서\x1f울 ", " 서\x1f울\x1f은 "), stand(" 서\x1f울 ", " 서\x1f울\x1f대\x1f학 ")
    (True, False)
    """
    if GLUE not in text:
        return (name.replace(GLUE, " ") if GLUE in name else name) in text
    spaced_text, name = text.replace(GLUE, " "), name.replace(GLUE, " ")
    is_first, is_last = KINDS[name[1]] == HANGUL, has_hangul(name[-2:])
    at = spaced_text.find(name)
    while at >= 0:
        end = at + len(name) - 1
        if not (is_first and text[at] == GLUE) and not (is_last and text[end] == GLUE and not _ends(text, end)):
            return True
        at = spaced_text.find(name, at + 1)
    return False


def _ends(text: str, at: int) -> bool:
    return are_particles(text[at + 1 : text.find(" ", at + 1)].replace(GLUE, ""))


def within_word(text: str, at: int) -> bool:
    """Whether the characters before and after position ``at`` belong to one token."""
    if not 0 < at < len(text):
        return False
    kind_before, kind_after = KINDS[text[at - 1]], KINDS[text[at]]
    if kind_before == kind_after and kind_after in _RUNS:
        return True
    if kind_after in _GOES_ON:
        return kind_before not in (SPACE, SYMBOL)
    if kind_after == IDEOGRAPH and (kind_before == LEADING or kind_before in _GOES_ON):
        return _joins(text, at)
    return kind_before in _GOES_ON and kind_after in _RUNS and _run_of(text, at) == kind_after


def _run_of(text: str, at: int) -> int:
    """The class of the token that the marks before position ``at`` continue; WORD if they begin one."""
    start = at - 1
    while start >= 0 and KINDS[text[start]] in _GOES_ON:
        start -= 1
    kind = KINDS[text[start]] if start >= 0 else SPACE
    return WORD if kind in (SPACE, SYMBOL) else kind


def _joins(text: str, at: int) -> bool:
    """Whether the letter at ``at`` continues the token before it, which ends with a leading vowel or a joiner."""
    run = _run_of(text, at)
    marks = at - 1
    while KINDS[text[marks]] == MARK:
        marks -= 1
    return run == LEADING or (run == IDEOGRAPH and KINDS[text[marks]] == JOINER)


def begins(text: str, at: int) -> bool:
    """Whether a name may begin at position ``at``: with a token, but not inside a run of Hangul."""
    return not within_word(text, at) and not _within_hangul(text, at)


def ends(text: str, at: int) -> bool:
    """Whether a name may end at position ``at``: with a token; in a run of Hangul, only particles may follow.

    >>> ends("서울에서는", 2), ends("서울대학교", 2)
    (True, False)
    """
    if within_word(text, at):
        return False
    if not _within_hangul(text, at):
        return True
    end = at
    while end < len(text) and KINDS[text[end]] in _SYLLABLE:
        end += 1
    return are_particles(composed(text[at:end]))


def _within_hangul(text: str, at: int) -> bool:
    return 0 < at < len(text) and KINDS[text[at]] == HANGUL and _run_of(text, at) == HANGUL


def places(name: str, text: str) -> Iterator[tuple[int, int]]:
    """Start and end, in characters, of each occurrence of ``name`` in ``text`` on boundaries of names (:func:`begins`, :func:`ends`)."""
    at = text.find(name) if name else -1
    while at >= 0:
        end = at + len(name)
        fits = begins(text, at) and ends(text, end)
        if fits:
            yield at, end
        at = text.find(name, end if fits else at + 1)


def length(text: str) -> int:
    """The length of a text in words; in scripts without spaces, estimated from the number of characters.

    >>> length("Wind Bridge was built by Hansol."), length("风桥由工程师王小明建造。"), length("바람다리는 한솔이 만들었다.")
    (6, 7, 3)
    """
    if text.isascii():
        return len(text.split())
    unspaced, spaced, katakana, han, other = _count_patterns()
    if not unspaced.search(text):
        return len(text.split())
    estimate = len(han.findall(text)) / HAN_PER_WORD + len(other.findall(text)) / OTHERS_PER_WORD
    return len(spaced.findall(text)) + len(katakana.findall(text)) + math.floor(estimate + 0.5)


def lengths(texts: pl.Series) -> pl.Series:
    """The :func:`length` of each text (int64)."""
    han, other, katakana = (_spelt(part, "\\x{%x}") for part in _written_together())
    has_unspaced = texts.str.contains(f"[{han}{other}{katakana}]")
    letters = f"{han}{other}{katakana}{DEPENDENT}"
    spaced_counts = texts.str.count_matches(rf"[^\s{letters}]*[\p{{L}}\p{{N}}--[{letters}]][^\s{letters}]*")
    estimate = texts.str.count_matches(f"[{han}]") / HAN_PER_WORD + texts.str.count_matches(f"[{other}]") / OTHERS_PER_WORD
    word_counts = spaced_counts + texts.str.count_matches(f"[{katakana}]+") + (estimate + 0.5).floor()
    return texts.str.count_matches(r"\S+").zip_with(~has_unspaced, word_counts.cast(pl.UInt32)).cast(pl.Int64)


Ranges = list[tuple[int, int]]


@lru_cache(maxsize=1)
def _count_patterns() -> tuple[re.Pattern[str], ...]:
    """The patterns that :func:`length` counts. polars would take a millisecond for each single text."""
    han, other, katakana = (_spelt(part, "\\U%08x") for part in _written_together())
    letters = f"{han}{other}{katakana}"
    not_spaced = f"{letters}{DEPENDENT}"
    spaced_pattern = rf"(?:[^\W_{not_spaced}]|[^\s{not_spaced}](?=[^\s{not_spaced}]*[^\W_{not_spaced}]))[^\s{not_spaced}]*"
    return tuple(map(re.compile, (f"[{letters}]", spaced_pattern, f"[{katakana}]+", f"[{han}]", f"[{other}]")))


@lru_cache(maxsize=1)
def _written_together() -> tuple[Ranges, Ranges, Ranges]:
    """Ideographs, other letters of scripts without spaces, and katakana."""
    codes = character_tables()[0]
    han = [(first, last) for first, last in _ranges(codes == IDEOGRAPH) if first >= HAN_FROM]
    other_ranges = [(first, last) for first, last in _ranges((codes == IDEOGRAPH) | (codes == LEADING)) if first < HAN_FROM]
    return [*han, (IDEOGRAPHS, IDEOGRAPHS_END - 1)], other_ranges, _ranges(codes == KATAKANA)


def _spelt(ranges: Ranges, form: str) -> str:
    """The ranges as the content of a character class of a regular expression, each code in the given ``form``."""
    return "".join(f"{form % first}-{form % last}" for first, last in ranges)


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A pattern for words, and one for words and signs."""
    marks = _letters(MARK, JOINER)
    mark, joiner, letter, leading = (f"[{_letters(kind)}]" for kind in (MARK, JOINER, IDEOGRAPH, LEADING))
    word = "|".join(
        (
            f"[{_letters(WORD)}{marks}][{_letters(WORD)}{marks}]*",
            f"[{_letters(KATAKANA)}][{_letters(KATAKANA)}{marks}]*",
            f"[{_letters(HANGUL)}][{marks}]*",
            f"(?:{leading}[{marks}]*{letter}?|{letter}){mark}*(?:{joiner}{mark}*{letter}?{mark}*)*",
        )
    )
    return re.compile(word), re.compile(f"{word}|[^{_letters(SPACE)}]")


class RunPatterns(NamedTuple):
    """Regular expressions for columns of texts."""

    run: str
    """Finds words of scripts with spaces, and runs of katakana, of Hangul, of ideographs, and of other letters without spaces."""
    syllable: str
    """Finds an ideograph or a letter of Hangul."""
    unspaced: str
    """Finds a letter of a script without spaces."""
    token: str
    """Finds a token that is a word, of any script."""


@lru_cache(maxsize=1)
def run_patterns() -> RunPatterns:
    """What finds the words of columns."""
    marks, hangul, katakana, word = (_letters(*kinds) for kinds in ((MARK, JOINER), (HANGUL,), (KATAKANA,), (WORD,)))
    han, other = (_spelt(ranges, "\\U%08x") for ranges in _written_together()[:2])
    runs = (f"[{letters}][{letters}{marks}]*" for letters in (katakana, hangul, han, other))
    return RunPatterns(f"[{word}{marks}]+|{'|'.join(runs)}", f"[{han}{hangul}]", f"[{han}{other}]", _patterns()[0].pattern)


def unspaced_letters() -> str:
    """The content of a character class for one character of a script without spaces, or of Hangul."""
    return _letters(IDEOGRAPH, KATAKANA, HANGUL, LEADING)


def _letters(*kinds: int) -> str:
    """All characters of these classes, as the content of a character class of a regular expression."""
    bounds = _ranges(np.isin(character_tables()[0], kinds))
    return _spelt([*bounds, (IDEOGRAPHS, IDEOGRAPHS_END - 1)] if IDEOGRAPH in kinds else bounds, "\\U%08x")


def _ranges(is_one: npt.NDArray[np.bool_]) -> Ranges:
    """The first and last index of each run of True."""
    change = np.flatnonzero(np.diff(is_one.astype(np.int8), prepend=0, append=0))
    return [(int(first), int(end) - 1) for first, end in change.reshape(-1, 2)]
