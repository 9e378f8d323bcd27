"""A question as DiRe sees it: a context of facts, some of which support the answer (Trivedi et al. 2020, sections 3 and 4).

At the level ``paragraph`` a fact is a paragraph, which is what the paper uses; at the level ``sentence`` it is a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from kgqa.readers.answers import is_option
from kgqa.recipes.names.statements import Stated, names, paragraph_states, states
from kgqa.records import Instance, Paragraph

LEVELS = ("paragraph", "sentence")
Fact = tuple[int, int | None]
"""The place of a paragraph, and of a sentence in it, or None where the paragraph is the fact."""
NAME = "dire"
"""Under this name the provenance of every instance says what was done to the question.

``question``
    the id of the question that was transformed; ``transform``, ``level``: how.
``bipartition``
    in probes, which bi-partition of the supporting facts the instance belongs to, from 0; else null.
``sub_idx``
    what tells the question's instances apart, from 0.
``sufficiency``
    1: all supporting facts are there; 0: some; -1: none (in probes of the sufficiency transform); null: the transform has no such label.
``removed``
    the facts that are not there: paragraph ids, or at the level of sentences pairs of paragraph id and the sentence's number.
``answers``, ``supporting``
    what is right for the whole question: its answers, and its support as pairs of paragraph id and number of a supporting sentence, or
    null where the source marks no sentences. Numbers are those of the untransformed paragraph.
``dropped``
    only where not empty: ids of paragraphs left out beforehand, because the answer could be had through them as well (``alternatives.py``).
``added``
    only in ``adversarial``: for each new paragraph its ``id``, the paragraph it is a ``copy_of``, and the ``answer``, and ``bridge`` in it.
``of``
    only where the set had been transformed before: the earlier note.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question with its facts."""

    instance: Instance
    level: str
    facts: tuple[Fact, ...]
    """The whole context, in the order shown."""
    supporting: tuple[int, ...]
    """Places in ``facts``; so are ``others``."""
    others: tuple[int, ...]
    """The facts that do not support the answer."""
    dropped: tuple[str, ...]
    """Ids of paragraphs left out beforehand."""
    noted: Mapping[str, Any]
    """The instance's provenance, decoded."""

    def name_facts(self, facts: Iterable[int]) -> list[Any]:
        """Facts as provenance names them."""
        named = [(self.instance.paragraphs[self.facts[fact][0]].id, self.facts[fact][1]) for fact in facts]
        return [paragraph if sentence is None else [paragraph, sentence] for paragraph, sentence in named]

    def support(self) -> list[tuple[str, int | None]]:
        """All supporting facts: paragraph id, and number of the sentence, or None where no sentence of it is marked."""
        return support_of(self.instance)

    def facts_with_answer(self) -> frozenset[int]:
        """The supporting facts that state the answer: in the title, in the text, or as a mention of the answer's entity.

        Of a question that is answered with yes or no all do, which appendix B.2 has its reader of single paragraphs learn.
        """
        if is_option(self.instance):
            return frozenset(self.supporting)
        wanted = names(self.instance.answers)
        return frozenset(fact for fact in self.supporting if _states(self.instance, self.facts[fact], wanted))


def support_of(instance: Instance) -> list[tuple[str, int | None]]:
    """The supporting facts as the source marks them, sentence by sentence where it does."""
    return [
        (paragraph.id, sentence)
        for paragraph in instance.paragraphs
        if paragraph.supporting
        for sentence in paragraph.supporting_sentences or (None,)
    ]


def _states(instance: Instance, fact: Fact, wanted: tuple[Stated, ...]) -> bool:
    paragraph, sentence = instance.paragraphs[fact[0]], fact[1]
    if sentence is None:
        return paragraph_states(paragraph, wanted, instance.answer_id)
    start, end = sentence_bounds(paragraph, sentence)
    entity = instance.answer_id
    if entity is not None and any(mention.entity == entity and start <= mention.start < end for mention in paragraph.mentions or ()):
        return True
    return states(paragraph.text[start:end], wanted)


def texts_of(instance: Instance, facts: Iterable[Fact]) -> list[str]:
    """The text of each fact."""
    return [_text(instance.paragraphs[place], sentence) for place, sentence in facts]


def _text(paragraph: Paragraph, sentence: int | None) -> str:
    if sentence is None:
        return paragraph.text
    start, end = sentence_bounds(paragraph, sentence)
    return paragraph.text[start:end]


def facts_of(instance: Instance, level: str) -> tuple[Fact, ...]:
    """The whole context, in the order shown; at the level of sentences a paragraph without one holds no fact."""
    if level == "paragraph":
        return tuple((place, None) for place in range(len(instance.paragraphs)))
    return tuple((place, number) for place, entry in enumerate(instance.paragraphs) for number in range(len(entry.sentences or ())))


def has_sentences(paragraph: Paragraph) -> bool:
    """Whether its sentences follow each other in the text, and every supporting one is among them."""
    starts = paragraph.sentences or ()
    ordered = all(before <= after for before, after in pairwise((0, *starts, len(paragraph.text))))
    return ordered and all(0 <= mark < len(starts) for mark in paragraph.supporting_sentences or ())


def sentence_bounds(paragraph: Paragraph, sentence: int) -> tuple[int, int]:
    """Where a sentence begins and ends in the text; the first begins with it, the last ends with it."""
    starts = paragraph.sentences or (0,)
    start = starts[sentence] if sentence else 0
    return start, starts[sentence + 1] if sentence + 1 < len(starts) else len(paragraph.text)
