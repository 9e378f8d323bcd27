"""Words as linking sees them (``kgqa.arrays.tokens``), of texts too short for its kernels to pay."""

from __future__ import annotations

from functools import lru_cache

from kgqa.arrays.tokens import SPACE, SYMBOL, TABLE_SIZE, WORD, character_tables


class _Kinds(dict[str, int]):
    """Character → its class, looked up when it is first met."""

    def __missing__(self, character: str) -> int:
        code = ord(character)
        kind = self[character] = int(character_tables()[0][code]) if code < TABLE_SIZE else SYMBOL
        return kind


KINDS = _Kinds()
"""Character → its class: SPACE, WORD, SYMBOL or IDEOGRAPH."""


def within_word(text: str, at: int) -> bool:
    """Whether the characters before and after a place belong to one word."""
    return 0 < at < len(text) and KINDS[text[at - 1]] == WORD == KINDS[text[at]]


@lru_cache(maxsize=1 << 14)
def tokens_of(text: str) -> tuple[str, ...]:
    """The folded tokens of a name."""
    _, folded, _ = character_tables()
    found: list[str] = []
    inside = False
    for character in text:
        kind = KINDS[character]
        letter = chr(folded[ord(character)]) if ord(character) < TABLE_SIZE else character
        if kind == WORD and inside:
            found[-1] += letter
        elif kind != SPACE:
            found.append(letter)
        inside = kind == WORD
    return tuple(found)


def words_of(text: str) -> list[str]:
    """The tokens that are no signs."""
    return [token for token in tokens_of(text) if KINDS[token[0]] != SYMBOL]
