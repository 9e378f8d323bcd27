"""What a token is and what must match where, one character and one name at a time; the compiled matcher is compared with it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from kgqa.arrays.tokens import KATAKANA_BLOCKS, UNSPACED
from kgqa.arrays.words import begins, ends

SAME = {"’": "'", "‘": "'", "ʼ": "'", "′": "'", "“": '"', "”": '"', "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-", "µ": "μ"}
SAME |= {"ı": "i", "ς": "σ", **{chr(0xFF00 + place): chr(0x20 + place) for place in range(1, 95)}}
"""Variants, equal even where case must match: typographic ones, the dotless i, the final sigma, wide forms."""
SMALL_KANA = "ぁぃぅぇぉっゃゅょゎゕゖゝゞ"
VOWELS_AFTER, VOWELS_BEFORE = "ะาำๅະາຳ", "เแโใไເແໂໃໄ"
STACKING = "\u1039\u17d2\u1a60\u1b44\ua9c0"


@dataclass(frozen=True, kw_only=True)
class Token:
    """One token: where it stands, in characters, how it is written but for typography, and its folded form."""

    start: int
    end: int
    written: str
    folded: str


def fold(character: str) -> str:
    """The small form of a letter; of the dotted capital I the i without what its small form has beside."""
    return character.lower()[0]


def sort(raw: str) -> str:
    """What a character is: "space", "sign", a "mark" that goes on with a token, or the kind of token that it begins."""
    code, character = ord(raw), SAME.get(raw, raw)
    category = unicodedata.category(character)
    if code > 0xFFFF:
        return "unspaced" if 0x20000 <= code < 0x40000 else "sign"
    if character.isspace() or category in {"Cc", "Cf", "Zs"}:
        return "space"
    if character in STACKING:
        return "stacking"
    if category[0] == "M" or character in SMALL_KANA + VOWELS_AFTER or 0x1160 <= code < 0x1200 or 0xD7B0 <= code < 0xD7FC:
        return "mark"
    if category[0] not in "LN":
        return "sign"
    if "HANGUL SYLLABLE" in unicodedata.name(character, "") or "HANGUL CHOSEONG" in unicodedata.name(character, ""):
        return "hangul"
    if any(first <= code <= last for first, last in KATAKANA_BLOCKS):
        return "katakana"
    if (category[0] == "L" or category == "Nl") and any(first <= ord(character) <= last for first, last in UNSPACED):
        return "leading" if character in VOWELS_BEFORE else "unspaced"
    return "word"


def goes_on(open_: str, kind: str) -> bool:
    """Whether a character of this kind belongs to the token before it."""
    if not open_ or kind in ("space", "sign"):
        return False
    return kind in ("mark", "stacking") or (kind == open_ and kind in ("word", "katakana")) or (open_ == "leading" and kind == "unspaced")


def tokens(text: str) -> list[Token]:
    """Runs of letters, digits and marks, runs of katakana, the letters of scripts without spaces, Hangul syllables, signs."""
    result: list[Token] = []
    open_ = ""
    for at, raw in enumerate(text):
        character, kind = SAME.get(raw, raw), sort(raw)
        if kind == "space":
            open_ = ""
            continue
        goes = goes_on(open_, kind)
        before = result.pop() if goes else Token(start=at, end=at, written="", folded="")
        small = fold(character) if kind not in ("sign", "unspaced", "leading", "katakana", "hangul") else character
        result.append(Token(start=before.start, end=at + 1, written=before.written + character, folded=before.folded + small))
        if kind == "stacking" and open_ in ("unspaced", "leading"):
            open_ = "leading"
        elif not goes or kind == "unspaced":
            open_ = {"sign": "", "mark": "word", "stacking": "word"}.get(kind, kind)
    return result


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
        members, theirs = ([token.written for token in part] for part in (tokens(self.name), place))
        if self.case == "initial":
            members[0], theirs[0] = members[0][1:], theirs[0][1:]
        return self.case == "free" or members == theirs


Place = tuple[int, int, int, int]
"""Document, start, end, entity."""


def match(texts: Sequence[str], names: Sequence[Name], *, before_number: bool) -> tuple[list[Place], list[Place], int]:
    """Mentions (longest first, from left to right), occurrences of candidates wherever they are, and how many mentions were shared."""
    data: dict[tuple[str, ...], list[Name]] = {}
    for name in names:
        data.setdefault(tuple(token.folded for token in tokens(name.name)), []).append(name)
    mentions, occurrences, shared = [], [], 0
    for document, text in enumerate(texts):
        words, free_from = tokens(text), 0
        for first in range(len(words)):
            for last in range(len(words) - 1, first - 1, -1):
                place = words[first : last + 1]
                start, end = place[0].start, place[-1].end
                numbered = text[end : end + 1] == "-" and text[end + 1 : end + 2] in tuple("0123456789")
                if not (begins(text, start) and ends(text, end)):
                    continue
                fitting = [name for name in data.get(tuple(token.folded for token in place), []) if name.fits(place)]
                occurrences += [(document, start, end, entity) for entity in {name.entity for name in fitting if name.candidate}]
                if fitting and first >= free_from and (before_number or not numbered):
                    free_from = last + 1
                    winners = {name.entity for name in fitting if name.priority == min(name.priority for name in fitting)}
                    shared += len(winners) > 1
                    mentions += [(document, start, end, entity) for entity in winners if len(winners) == 1]
    return mentions, sorted(occurrences), shared
