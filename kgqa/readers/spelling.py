"""Restore the spelling of a text after a lossy tokenizer (lower case, no accents, blanks around signs) from its source."""

from __future__ import annotations

import re
import unicodedata

_PIECE = re.compile(r"\w+|[^\w\s]")
_NO_BLANK_BEFORE = frozenset(",.?!;:')]%-–’")
_NO_BLANK_AFTER = frozenset("#([-–'’$")


def pieces(text: str) -> list[str]:
    """Words and signs, in lower case and without accents: equal for texts that differ only in what a lossy tokenizer drops.

    >>> pieces("Yanni's >> José")
    ['yanni', "'", 's', '>', '>', 'jose']
    """
    return [_folded(match[0]) for match in _PIECE.finditer(text)]


def respelled(text: str, source: str) -> str:
    """Spell the longest runs of pieces that ``source`` shares as in ``source``, and join signs to words as usual.

    >>> respelled("jose ' s film > > director ; # 1 > > born", "When was José's film's director born?")
    "José's film >> director; #1 >> born"
    """
    tokens = pieces(text)
    spans = [match.span() for match in _PIECE.finditer(source)]
    source_tokens = [_folded(source[start:end]) for start, end in spans]
    parts: list[tuple[str, str, str]] = []
    at = 0
    while at < len(tokens):
        first, count = _longest_run(tokens, at, source_tokens)
        spelling = source[spans[first][0] : spans[first + count - 1][1]] if count else tokens[at]
        at += max(1, count)
        parts.append((spelling, tokens[at - max(1, count)], tokens[at - 1]))
    return _join(parts)


def _folded(text: str) -> str:
    return "".join(character for character in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(character))


def _longest_run(tokens: list[str], at: int, source_tokens: list[str]) -> tuple[int, int]:
    """Start and length of the longest run in ``source_tokens`` that matches ``tokens`` from ``at`` on; the first one in a tie."""
    best, length = 0, 0
    for first, piece in enumerate(source_tokens):
        count = 0
        if piece == tokens[at]:
            while at + count < len(tokens) and first + count < len(source_tokens) and tokens[at + count] == source_tokens[first + count]:
                count += 1
        if count > length:
            best, length = first, count
    return best, length


def _join(parts: list[tuple[str, str, str]]) -> str:
    """Join the spellings, each with its first and last piece."""
    text = ""
    last_piece = ""
    for spelling, first, last in parts:
        is_glued = not text or first in _NO_BLANK_BEFORE or last_piece in _NO_BLANK_AFTER or (last_piece == first == ">")
        text += spelling if is_glued else f" {spelling}"
        last_piece = last
    return text
