"""A pool of a set's paragraphs, searched for paragraphs that suit a question and do not state its answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from kgqa.arrays.draws import Reservoir, draw
from kgqa.arrays.words import words
from kgqa.recipes.names.statements import Stated, Text, mentions, text_of, title_and_text
from kgqa.records import Instance, Paragraph

SIZE = 20_000
"""Maximum number of paragraphs in the pool: a sample of the set's distinct texts.

Memory: four to five times the length of each text, for its words and its prepared form, which is kept after the first search; and about 100
bytes for each distinct word in it.
"""
COMMON = 0.02
"""Words in more than this share of the paragraphs are ignored."""
PER_WORD = 50
"""Number of paragraphs to inspect for each word of a question."""
TRIES = 1_000
"""Number of further paragraphs to inspect if these do not suffice."""


class Collector:
    """Collects the paragraphs of a set's questions, in any order."""

    def __init__(self, *, seed: int, size: int = SIZE) -> None:
        """Start without paragraphs; at most ``size`` are kept, as a sample."""
        self._paragraphs = Reservoir[Paragraph](size, purpose="pool of paragraphs", seed=seed, order=_order)

    def see(self, instance: Instance) -> None:
        """Add the paragraphs of one question."""
        for paragraph in instance.paragraphs:
            self._paragraphs.add(paragraph.text, paragraph)

    def pool(self) -> Pool:
        """The pool of the paragraphs added so far."""
        paragraphs = self._paragraphs.values()
        holding = defaultdict[str, list[int]](list)
        for place, paragraph in enumerate(paragraphs):
            for word in set(words(title_and_text(paragraph))):
                holding[word].append(place)
        most = max(PER_WORD, COMMON * len(paragraphs))
        rare = {word: places for word, places in holding.items() if len(places) <= most}
        return Pool(paragraphs, [text_of(paragraph) for paragraph in paragraphs], rare)


@dataclass(frozen=True, slots=True)
class Pool:
    """Paragraphs with an index of their rarer words."""

    paragraphs: list[Paragraph]
    texts: list[Text]
    holding: dict[str, list[int]]
    """Word → the numbers of the paragraphs that contain it."""

    def suitable(
        self,
        question: str,
        count: int,
        *,
        forbidden: Iterable[Stated],
        entity: str | None,
        shown: Collection[str],
        seed: int,
        id: str,  # noqa: A002
    ) -> list[Paragraph]:
        """Up to ``count`` distinct paragraphs that state none of ``forbidden``, do not mention ``entity`` and are not ``shown``.

        Paragraphs that share the question's rarest words come first, as MuSiQue retrieves its distractors by the question (step S6): an
        unrelated paragraph would reveal the twin.
        """
        forbidden, result = tuple(forbidden), []
        texts_so_far = [*shown]  # a list, since comparing a few candidates with these texts takes less time than hashing them all
        for place in self._by_words(question, draw(purpose="pool", seed=seed, id=id)):
            paragraph = self.paragraphs[place]
            if paragraph.text in texts_so_far or self.texts[place].states(forbidden) or mentions(paragraph, entity):
                continue
            texts_so_far.append(paragraph.text)
            result.append(paragraph)
            if len(result) == count:
                break
        return result

    def _by_words(self, question: str, start: int) -> Iterator[int]:
        rarest = sorted({*words(question)} & self.holding.keys(), key=lambda word: (len(self.holding[word]), word))
        for word in rarest:
            yield from _cyclic(self.holding[word], start, PER_WORD)
        yield from _cyclic(range(len(self.paragraphs)), start, TRIES)


def _order(paragraph: Paragraph) -> tuple[str, ...]:
    """A sort key, so that the same one of several paragraphs with equal texts is kept, whatever the order of the questions."""
    tie_breakers = (paragraph.title, paragraph.supporting, paragraph.mentions, paragraph.sentences, paragraph.supporting_sentences)
    return paragraph.title or "", paragraph.id, repr(tie_breakers)


def _cyclic(places: Sequence[int], start: int, limit: int) -> Iterator[int]:
    """Up to ``limit`` of the ``places``, cyclically, beginning at ``start`` modulo their number."""
    begin = start % len(places) if places else 0
    return islice(chain(places[begin:], places[:begin]), limit)
