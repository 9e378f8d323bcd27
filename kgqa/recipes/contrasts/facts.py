"""A question in DiRe's view: a context of facts, and some of them support the answer (Trivedi et al. 2020, sections 3 and 4).

At the level ``paragraph``, as in the paper, a fact is a paragraph; at the level ``sentence`` it is a sentence.
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
"""The number of a paragraph, and of a sentence in it; None if the whole paragraph is the fact."""
NAME = "dire"
"""The name of the note in every instance's provenance about the transform.

``question``
    the id of the original question; ``transform`` and ``level`` name the transform.
``bipartition``
    in probes, the number of the instance's bi-partition of the supporting facts, from 0; else null.
``sub_idx``
    the number of the instance among those of its question, from 0.
``sufficiency``
    1: the context has all supporting facts; 0: some; -1: none (in probes of the sufficiency transform); null: the transform has no labels.
``removed``
    the removed facts: paragraph ids, or at the level of sentences pairs of paragraph id and the sentence's number.
``answers``, ``supporting``
    the gold of the whole question: its answers, and its support as pairs of paragraph id and number of a supporting sentence, null if the
    source marks no sentences. Numbers are those of the untransformed paragraph.
``dropped``
    if not empty: ids of paragraphs left out beforehand, because they lead to the answer as well (``questions.without_alternatives``).
``added``
    only in ``adversarial``: for each new paragraph its ``id``, the paragraph it is a ``copy_of``, and its ``answer`` and ``bridge``.
``of``
    the earlier note, if the set had been transformed before.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactQuestion:
    """A question with its context as numbered facts."""

    instance: Instance
    level: str
    facts: tuple[Fact, ...]
    """The whole context, in the order shown."""
    supporting: tuple[int, ...]
    """Numbers of the supporting facts in ``facts``."""
    distractors: tuple[int, ...]
    """Numbers of the other facts."""
    dropped: tuple[str, ...]
    """Ids of paragraphs left out beforehand."""
    notes: Mapping[str, Any]
    """The instance's decoded provenance."""

    def name_facts(self, facts: Iterable[int]) -> list[Any]:
        """The names of facts in the note: a paragraph id, or a pair of paragraph id and number of the sentence."""
        pairs = [(self.instance.paragraphs[self.facts[fact][0]].id, self.facts[fact][1]) for fact in facts]
        return [paragraph if sentence is None else [paragraph, sentence] for paragraph, sentence in pairs]

    def facts_with_answer(self) -> frozenset[int]:
        """The supporting facts that state the answer: in the title, in the text, or as a mention of the answer's entity.

        All supporting facts of a yes-or-no question count, as for the single-paragraph reader of appendix B.2.
        """
        if is_option(self.instance):
            return frozenset(self.supporting)
        answer_names = names(self.instance.answers)
        return frozenset(fact for fact in self.supporting if _states(self.instance, self.facts[fact], answer_names))


def support_of(instance: Instance) -> list[tuple[str, int | None]]:
    """The supporting facts: paragraph id, and number of the sentence, None if the source marks no sentences."""
    return [
        (paragraph.id, sentence)
        for paragraph in instance.paragraphs
        if paragraph.supporting
        for sentence in paragraph.supporting_sentences or (None,)
    ]


def _states(instance: Instance, fact: Fact, answer_names: tuple[Stated, ...]) -> bool:
    paragraph, sentence = instance.paragraphs[fact[0]], fact[1]
    if sentence is None:
        return paragraph_states(paragraph, answer_names, instance.answer_id)
    start, end = sentence_bounds(paragraph, sentence)
    entity = instance.answer_id
    if entity is not None and any(mention.entity == entity and start <= mention.start < end for mention in paragraph.mentions or ()):
        return True
    return states(paragraph.text[start:end], answer_names)


def texts_of(instance: Instance, facts: Iterable[Fact]) -> list[str]:
    """The text of each fact."""
    return [_text(instance.paragraphs[place], sentence) for place, sentence in facts]


def _text(paragraph: Paragraph, sentence: int | None) -> str:
    if sentence is None:
        return paragraph.text
    start, end = sentence_bounds(paragraph, sentence)
    return paragraph.text[start:end]


def facts_of(instance: Instance, level: str) -> tuple[Fact, ...]:
    """All facts of the context, in order; at the level of sentences a paragraph without sentences has no fact."""
    if level == "paragraph":
        return tuple((place, None) for place in range(len(instance.paragraphs)))
    return tuple((place, number) for place, entry in enumerate(instance.paragraphs) for number in range(len(entry.sentences or ())))


def has_sentences(paragraph: Paragraph) -> bool:
    """Whether the sentences' offsets ascend within the text, and every supporting sentence exists."""
    starts = paragraph.sentences or ()
    is_ascending = all(before <= after for before, after in pairwise((0, *starts, len(paragraph.text))))
    return is_ascending and all(0 <= mark < len(starts) for mark in paragraph.supporting_sentences or ())


def sentence_bounds(paragraph: Paragraph, sentence: int) -> tuple[int, int]:
    """Start and end of a sentence in the text; the first starts at 0, the last ends with the text."""
    starts = paragraph.sentences or (0,)
    start = starts[sentence] if sentence else 0
    return start, starts[sentence + 1] if sentence + 1 < len(starts) else len(paragraph.text)
