"""Gives a text that went through a lossy tokenizer (lower case, no accents, blanks around signs) the spelling of its source."""

from __future__ import annotations

import re
import unicodedata

_PIECE = re.compile(r"\w+|[^\w\s]")
_NO_BLANK_BEFORE = frozenset(",.?!;:')]%-–’")
_NO_BLANK_AFTER = frozenset("#([-–'’$")


def pieces(text: str) -> list[str]:
    """Words and signs, in lower case and without accents: texts that differ only in what a lossy tokenizer drops have the same.

    >>> pieces("Yanni's >> José")
    ['yanni', "'", 's', '>', '>', 'jose']
    """
    return [_folded(match[0]) for match in _PIECE.finditer(text)]


def respelled(text: str, source: str) -> str:
    """``text`` with the longest runs of pieces that ``source`` has too spelt as there, and signs joined to words as usual.

    >>> respelled("jose ' s film > > director ; # 1 > > born", "When was José's film's director born?")
    "José's film >> director; #1 >> born"
    """
    given = pieces(text)
    places = [match.span() for match in _PIECE.finditer(source)]
    known = [_folded(source[start:end]) for start, end in places]
    parts: list[tuple[str, str, str]] = []
    at = 0
    while at < len(given):
        first, count = _longest(given, at, known)
        spelt = source[places[first][0] : places[first + count - 1][1]] if count else given[at]
        at += max(1, count)
        parts.append((spelt, given[at - max(1, count)], given[at - 1]))
    return _joined(parts)


def _folded(text: str) -> str:
    return "".join(each for each in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(each))


def _longest(given: list[str], at: int, known: list[str]) -> tuple[int, int]:
    """Where ``known`` has the longest run of what ``given`` has from ``at`` on, and how long it is; the first of several."""
    best, length = 0, 0
    for first, piece in enumerate(known):
        count = 0
        if piece == given[at]:
            while at + count < len(given) and first + count < len(known) and given[at + count] == known[first + count]:
                count += 1
        if count > length:
            best, length = first, count
    return best, length


def _joined(parts: list[tuple[str, str, str]]) -> str:
    """The spelt parts, each with its first and its last piece."""
    text = ""
    before = ""
    for spelt, first, last in parts:
        glued = not text or first in _NO_BLANK_BEFORE or before in _NO_BLANK_AFTER or (before == first == ">")
        text += spelt if glued else f" {spelt}"
        before = last
    return text
