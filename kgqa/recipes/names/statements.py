"""Tests whether a text states an answer: on the tokens that scorers compare, and on plain words.

Scorers split at spaces and signs. Plain words are those of :mod:`kgqa.arrays.words`, in any script.
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
"""A table for bytes.translate that lowers ASCII capitals; lowering a non-ASCII str takes thirty times longer."""


@dataclass(frozen=True, slots=True)
class Stated:
    """An answer in the two readings of a text, with a space before and after."""

    clue: bytes
    """Its longest run of ASCII letters and digits, or empty. A text without it, punctuation removed, cannot state the answer."""
    clues: tuple[bytes, ...]
    """All of these runs; a text must contain each of them."""
    normalized: str
    """The form that scorers compare, so that ``U.S.`` matches ``US``; empty where nothing is left."""
    words: str
    """Its words (:func:`kgqa.arrays.words.joined`), so that ``Paris`` matches ``Paris-based``; empty where it has none."""
    spelled: str
    """Its original spelling, which most texts have. Empty where a text may have it without its words."""

    def states(self, targets: Iterable[Stated]) -> bool:
        """Whether a text of these words alone states one of the ``targets``."""
        for name in targets:
            if (name.normalized and name.normalized in self.normalized) or (name.words and stand(name.words, self.words)):
                return True
        return False


def names(answers: Iterable[str]) -> tuple[Stated, ...]:
    """The patterns for all ``answers`` that texts can state; yes, no, punctuation and articles are left out."""
    result = [stated(answer) for answer in dict.fromkeys(answers)]
    return tuple([name for name in result if name is not None])


@lru_cache(maxsize=1 << 15)
def stated(answer: str) -> Stated | None:
    """The pattern for ``answer``; None for yes, no, and answers of punctuation and articles only."""
    answer = composed(answer)
    normal_text, plain = normalize(answer), joined(answer, but=_ARTICLES)
    if normal_text in CLOSED or not (normal_text or plain):
        return None
    runs = set(_ASCII.findall((plain or folded(normal_text)).encode(*_CODEC)))
    clues = tuple(sorted(runs, key=lambda run: (-len(run), run)))
    spelling = answer.strip() if plain else ""
    return Stated(clues[0] if clues else b"", clues, f" {normal_text} " if normal_text else "", f" {plain} " if plain else "", spelling)


class Text:
    """A text for several searches; each reading is made when it is first needed."""

    __slots__ = ("_normalized", "_plain", "_text", "_words")

    def __init__(self, text: str, plain: bytes | None = None) -> None:
        """Prepare the text; ``plain`` is the result of :func:`_plain`, where it is known."""
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
    """Title and text of a paragraph, as a reader sees them."""
    return f"{paragraph.title or ''}\n{paragraph.text}"


def text_of(paragraph: Paragraph) -> Text:
    """A paragraph's title and text, ready for searches."""
    return Text(title_and_text(paragraph))


def placed(paragraph: Paragraph) -> list[Mention]:
    """The mentions whose places are inside the text; a dataset may have others."""
    length = len(paragraph.text)
    return [mention for mention in paragraph.mentions or () if 0 <= mention.start < mention.end <= length]


def mentions(paragraph: Paragraph, entity: str | None) -> bool:
    """Whether the paragraph has a marked mention of ``entity``; false for None."""
    return entity is not None and any(mention.entity == entity for mention in paragraph.mentions or ())


def paragraph_states(paragraph: Paragraph, targets: Iterable[Stated], entity: str | None = None) -> bool:
    """Whether a paragraph states a target in its title or text, or has a mention of ``entity``."""
    return mentions(paragraph, entity) or text_of(paragraph).states(targets)


def stating_places(paragraphs: Sequence[Paragraph], targets: Sequence[Stated], entity: str | None = None) -> list[int]:
    """Positions of the paragraphs for which :func:`paragraph_states` holds, ascending; each clue is searched once for all targets."""
    texts = [composed(title_and_text(paragraph)) for paragraph in paragraphs]
    plain = [_plain(text) for text in texts]
    places = set()
    for clue in {name.clue for name in targets}:
        places.update([place for place, text in enumerate(plain) if clue in text])
    places = {place for place in places if Text(texts[place], plain[place]).states(targets)}
    places.update(place for place, paragraph in enumerate(paragraphs) if mentions(paragraph, entity))
    return sorted(places)


def _plain(text: str) -> bytes:
    """The text as bytes, without ASCII punctuation and capitals; for clues only, since its non-ASCII bytes are not comparable."""
    try:
        data = text.encode("latin-1")  # Python's own memory layout; other encodings take twenty times as long
    except UnicodeEncodeError:
        # Drop the combining dot above, which no word of a name has (``folded``).
        data = folded(text).replace("\u0307", "").encode(*_CODEC)
    return data.translate(_SMALL, _PUNCTUATION)


def _spelled(name: Stated, text: str) -> bool:
    """Whether the text has the original spelling at word boundaries; then it also has the words.

    Most statements are found this way, without a reading of the text. Only the first place is checked; the readings find the rest.
    """
    begin = text.find(name.spelled) if name.spelled else -1
    return begin >= 0 and begins(text, begin) and ends(text, begin + len(name.spelled))
