"""Whether a text states an answer: on the tokens that scorers compare, and on plain words.

Scorers know no words but those between spaces and signs. Plain words are those of :mod:`kgqa.arrays.words`, in any script.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kgqa.arrays.words import begins, composed, ends, folded, joined, stand
from kgqa.metrics.normalize import normalize
from kgqa.records import Mention, Paragraph

CLOSED = frozenset({"yes", "no"})
"""Answers that no text states."""
_ASCII = re.compile(rb"[0-9a-z]+")
_ARTICLES = frozenset({"a", "an", "the"})
_PUNCTUATION = string.punctuation.encode()
_CODEC = ("utf-8", "surrogatepass")
_SMALL = bytes(range(256)).lower()
"""For bytes.translate: ASCII capitals become small letters; small letters of a text that is not ASCII take thirty times longer."""


@dataclass(frozen=True, slots=True)
class Stated:
    """Something that a text may state, as it stands in each of the two readings of a text, with a space before and after."""

    clue: bytes
    """Its longest run of ASCII letters and digits, maybe none: a text that lacks it, punctuation taken out, cannot state it."""
    clues: tuple[bytes, ...]
    """All of these runs, of which the same is true."""
    normalized: str
    """As scorers see it, so that ``U.S.`` is found as ``US``; empty where nothing is left of it."""
    words: str
    """Its words (:func:`kgqa.arrays.words.joined`), so that ``Paris`` is found in ``Paris-based``; empty where it has none."""
    spelled: str
    """It as it was given: what a text mostly has. Empty where its words need not be those of a text that has it."""

    def states(self, targets: Iterable[Stated]) -> bool:
        """Whether a text of these words alone states one of the ``targets``."""
        for name in targets:
            if (name.normalized and name.normalized in self.normalized) or (name.words and stand(name.words, self.words)):
                return True
        return False


def names(answers: Iterable[str]) -> tuple[Stated, ...]:
    """What to look for in texts to find any of ``answers``; not yes and no, and not what is punctuation and articles alone."""
    result = [stated(answer) for answer in dict.fromkeys(answers)]
    return tuple([name for name in result if name is not None])


@lru_cache(maxsize=1 << 15)
def stated(answer: str) -> Stated | None:
    """What to look for to find ``answer``; None for yes, no, and what is punctuation and articles alone."""
    answer = composed(answer)
    normalized, plain = normalize(answer), joined(answer, but=_ARTICLES)
    if normalized in CLOSED or not (normalized or plain):
        return None
    runs = set(_ASCII.findall((plain or folded(normalized)).encode(*_CODEC)))
    clues = tuple(sorted(runs, key=lambda run: (-len(run), run)))
    spelled = answer.strip() if plain else ""
    return Stated(clues[0] if clues else b"", clues, f" {normalized} " if normalized else "", f" {plain} " if plain else "", spelled)


class Text:
    """A text to look in, more than once; each reading of it is made when it is first needed."""

    __slots__ = ("_normalized", "_plain", "_text", "_words")

    def __init__(self, text: str, plain: bytes | None = None) -> None:
        """Nothing was looked for yet; ``plain`` is what :func:`_plain` makes of it, where that is known."""
        self._text = composed(text)
        self._plain = _plain(self._text) if plain is None else plain
        self._normalized = self._words = ""

    def states(self, targets: Iterable[Stated]) -> bool:
        """Whether it has all words of one of the ``targets``, in order and next to each other, in one of the two readings."""
        plain = self._plain
        close = [name for name in targets if name.clue in plain and all(map(plain.__contains__, name.clues))]
        if not close:
            return False
        if any(_spelled(name, self._text) for name in close):
            return True
        if not self._normalized:
            self._normalized = f" {normalize(self._text)} "
        if any(name.normalized in self._normalized for name in close if name.normalized):
            return True
        if not self._words:
            self._words = f" {joined(self._text, but=_ARTICLES)} "
        return any(stand(name.words, self._words) for name in close if name.words)


def states(text: str, targets: Iterable[Stated]) -> bool:
    """Whether ``text`` states one of the ``targets``; see :class:`Text`."""
    return Text(text).states(targets)


def title_and_text(paragraph: Paragraph) -> str:
    """What a reader sees of a paragraph."""
    return f"{paragraph.title or ''}\n{paragraph.text}"


def text_of(paragraph: Paragraph) -> Text:
    """That, to look in."""
    return Text(title_and_text(paragraph))


def placed(paragraph: Paragraph) -> list[Mention]:
    """The mentions that name something in the text; a set may have others, whose places are outside it."""
    length = len(paragraph.text)
    return [mention for mention in paragraph.mentions or () if 0 <= mention.start < mention.end <= length]


def mentions(paragraph: Paragraph, entity: str | None) -> bool:
    """Whether a mention of ``entity`` is marked in it; None is no entity."""
    return entity is not None and any(mention.entity == entity for mention in paragraph.mentions or ())


def paragraph_states(paragraph: Paragraph, targets: Iterable[Stated], entity: str | None = None) -> bool:
    """Whether a paragraph does, in its title or text, or as a mention of ``entity``."""
    return mentions(paragraph, entity) or text_of(paragraph).states(targets)


def stating_places(paragraphs: Sequence[Paragraph], targets: Sequence[Stated], entity: str | None = None) -> list[int]:
    """The places of the paragraphs of which :func:`paragraph_states` holds; what is made to look for one clue serves all that follows."""
    texts = [composed(title_and_text(paragraph)) for paragraph in paragraphs]
    plain = [_plain(text) for text in texts]
    places = set()
    for clue in {name.clue for name in targets}:
        places.update([place for place, text in enumerate(plain) if clue in text])
    places = {place for place in places if Text(texts[place], plain[place]).states(targets)}
    places.update(place for place, paragraph in enumerate(paragraphs) if mentions(paragraph, entity))
    return sorted(places)


def _plain(text: str) -> bytes:
    """The text without ASCII punctuation and capitals, as bytes: for clues only, as what is beyond ASCII is not comparable."""
    try:
        encoded = text.encode("latin-1")  # a copy of what Python holds; any other encoding takes twenty times as long
    except UnicodeEncodeError:
        # The dot of an i that is a letter of its own is left out, as no word of a name has it (``folded``).
        encoded = folded(text).replace("\u0307", "").encode(*_CODEC)
    return encoded.translate(_SMALL, _PUNCTUATION)


def _spelled(name: Stated, text: str) -> bool:
    """Whether it stands in the text as it was given, with no word going on before or after it: then so do its words.

    Most names that a text states are found so, without a reading of it. Only the first place is looked at; the readings find the rest.
    """
    begin = text.find(name.spelled) if name.spelled else -1
    return begin >= 0 and begins(text, begin) and ends(text, begin + len(name.spelled))
