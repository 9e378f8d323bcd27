"""What a token is and what must match where, one character and one name at a time; the compiled matcher is compared with it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

SAME = {"’": "'", "‘": "'", "ʼ": "'", "′": "'", "“": '"', "”": '"', "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-", "µ": "μ"}
"""Typographic variants, equal even where case must match."""


@dataclass(frozen=True, kw_only=True)
class Token:
    """One token: where it stands, in characters, how it is written but for typography, and its folded form."""

    start: int
    end: int
    written: str
    folded: str


def fold(character: str) -> str:
    """The small form of a letter, if that is one character."""
    small = character.lower()
    return small if len(small) == 1 else character


def tokens(text: str) -> list[Token]:
    """Runs of letters, digits and marks; every other visible character, ideograph and character beyond the BMP on its own."""
    found: list[Token] = []
    inside = False
    for at, raw in enumerate(text):
        character = SAME.get(raw, raw)
        category = unicodedata.category(character)
        beyond = ord(raw) > 0xFFFF
        if not beyond and (character.isspace() or category in {"Cc", "Cf", "Zs"}):
            inside = False
            continue
        word = not beyond and category[0] in "LNM" and not (category == "Lo" and 0x2E80 <= ord(raw) <= 0xA4CF)
        before = found.pop() if word and inside else Token(start=at, end=at, written="", folded="")
        folded = before.folded + (fold(character) if word else character)
        found.append(Token(start=before.start, end=at + 1, written=before.written + character, folded=folded))
        inside = word
    return found


@dataclass(frozen=True, kw_only=True)
class Name:
    """One name of one entity."""

    name: str
    entity: int
    case: str
    """free, initial or exact."""
    priority: int
    candidate: bool

    def fits(self, place: Sequence[Token]) -> bool:
        """Whether tokens that are equal when folded are written as the case rule asks."""
        mine, theirs = ([token.written for token in part] for part in (tokens(self.name), place))
        if self.case == "initial":
            mine[0], theirs[0] = mine[0][1:], theirs[0][1:]
        return self.case == "free" or mine == theirs


Place = tuple[int, int, int, int]
"""Document, start, end, entity."""


def match(texts: Sequence[str], names: Sequence[Name], *, before_number: bool) -> tuple[list[Place], list[Place], int]:
    """Mentions (longest first, from left to right), occurrences of candidates wherever they are, and how many mentions were shared."""
    known: dict[tuple[str, ...], list[Name]] = {}
    for name in names:
        known.setdefault(tuple(token.folded for token in tokens(name.name)), []).append(name)
    mentions, occurrences, shared = [], [], 0
    for document, text in enumerate(texts):
        words, free_from = tokens(text), 0
        for first in range(len(words)):
            for last in range(len(words) - 1, first - 1, -1):
                place = words[first : last + 1]
                start, end = place[0].start, place[-1].end
                numbered = text[end : end + 1] == "-" and text[end + 1 : end + 2] in tuple("0123456789")
                fitting = [name for name in known.get(tuple(token.folded for token in place), []) if name.fits(place)]
                occurrences += [(document, start, end, entity) for entity in {name.entity for name in fitting if name.candidate}]
                if fitting and first >= free_from and (before_number or not numbered):
                    free_from = last + 1
                    winners = {name.entity for name in fitting if name.priority == min(name.priority for name in fitting)}
                    shared += len(winners) > 1
                    mentions += [(document, start, end, entity) for entity in winners if len(winners) == 1]
    return mentions, sorted(occurrences), shared
