"""Paragraphs of a whole set, from which one can be had that suits a question and does not state an answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from kgqa.arrays.draws import Reservoir, draw
from kgqa.arrays.words import words
from kgqa.recipes.names.statements import Stated, Text, mentions, shown, title_and_text
from kgqa.records import Instance, Paragraph

SIZE = 20_000
"""Paragraphs that are kept, a sample of the set's different texts.

Memory: four to five times the length of each text, for its words, and for the readings in which answers are looked for, which are kept once
a question needed them; and some 100 bytes for each different word in it.
"""
COMMON = 0.02
"""A word in more than this share of the paragraphs says nothing about a question."""
PER_WORD = 50
"""Paragraphs that are looked at for each word of a question."""
TRIES = 1_000
"""Further ones that are looked at where those do not suffice."""


class Collector:
    """Sees every question of a set, in any order."""

    def __init__(self, *, seed: int, size: int = SIZE) -> None:
        """Nothing was seen yet."""
        self._paragraphs = Reservoir[Paragraph](size, purpose="pool of paragraphs", seed=seed, order=_order)

    def see(self, instance: Instance) -> None:
        """Take the paragraphs of one question."""
        for paragraph in instance.paragraphs:
            self._paragraphs.add(paragraph.text, paragraph)

    def pool(self) -> Pool:
        """The pool of all paragraphs added so far."""
        paragraphs = self._paragraphs.values()
        holding = defaultdict[str, list[int]](list)
        for place, paragraph in enumerate(paragraphs):
            for word in set(words(title_and_text(paragraph))):
                holding[word].append(place)
        most = max(PER_WORD, COMMON * len(paragraphs))
        rare = {word: places for word, places in holding.items() if len(places) <= most}
        return Pool(paragraphs, [shown(paragraph) for paragraph in paragraphs], rare)


@dataclass(frozen=True, slots=True)
class Pool:
    """Paragraphs with an index of their rarer words."""

    paragraphs: list[Paragraph]
    texts: list[Text]
    holding: dict[str, list[int]]
    """Word → the places of the paragraphs that have it."""

    def suitable(
        self,
        question: str,
        count: int,
        *,
        stated: Iterable[Stated],
        entity: str | None,
        shown: Collection[str],
        seed: int,
        id: str,  # noqa: A002
    ) -> list[Paragraph]:
        """Up to ``count`` different paragraphs that do not state any of ``stated``, do not mention ``entity`` and are not ``shown``.

        Those that share the question's rarest words come first, as MuSiQue retrieves its distractors by the question (step S6): a paragraph
        that has nothing to do with the question would give the twin away.
        """
        stated, found = tuple(stated), []
        seen = [*shown]  # no set: to compare a few candidates with these texts is sooner done than to hash them all
        for place in self._by_words(question, draw(purpose="pool", seed=seed, id=id)):
            paragraph = self.paragraphs[place]
            if paragraph.text in seen or self.texts[place].states(stated) or mentions(paragraph, entity):
                continue
            seen.append(paragraph.text)
            found.append(paragraph)
            if len(found) == count:
                break
        return found

    def _by_words(self, question: str, start: int) -> Iterator[int]:
        rarest = sorted({*words(question)} & self.holding.keys(), key=lambda word: (len(self.holding[word]), word))
        for word in rarest:
            yield from _turned(self.holding[word], start, PER_WORD)
        yield from _turned(range(len(self.paragraphs)), start, TRIES)


def _order(paragraph: Paragraph) -> tuple[str, ...]:
    """Of equal texts the one that comes first is kept, whichever question is seen first."""
    rest = (paragraph.title, paragraph.supporting, paragraph.mentions, paragraph.sentences, paragraph.supporting_sentences)
    return paragraph.title or "", paragraph.id, repr(rest)


def _turned(places: Sequence[int], start: int, most: int) -> Iterator[int]:
    """Up to ``most`` of them, from one on that depends on ``start``; the first follows on the last."""
    first = start % len(places) if places else 0
    return islice(chain(places[first:], places[:first]), most)
