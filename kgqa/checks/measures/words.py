"""Words as linking sees them (``kgqa.arrays.words``), kept for the texts of mentions, which come again and again."""

from __future__ import annotations

from functools import lru_cache

from kgqa.arrays.tokens import SYMBOL
from kgqa.arrays.words import KINDS, tokens


@lru_cache(maxsize=1 << 14)
def tokens_of(text: str) -> tuple[str, ...]:
    """The folded tokens of a name."""
    return tuple(tokens(text))


def words_of(text: str) -> list[str]:
    """The tokens that are no signs."""
    return [token for token in tokens_of(text) if KINDS[token[0]] != SYMBOL]
