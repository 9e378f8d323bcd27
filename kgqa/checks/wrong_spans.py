"""Spans with wrong offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

import numpy as np

from kgqa.arrays.words import within_word
from kgqa.checks.batch import Batch, Floats
from kgqa.checks.check import ShareCheck
from kgqa.checks.measures.mentions import mention_faults
from kgqa.checks.owned_faults import describe_fault, faults_of_check, join_faults
from kgqa.formats.faults import Fault
from kgqa.records import Instance, Paragraph

_PLACED = re.compile(r'"(?:answer_)?start": *\d')
"""A place that the record alone has, as SQuAD's ``answer_start``: the reader compares it with the text, and notes what is wrong."""
_SEEN = re.compile(r"paragraphs\.\d+\.(?:mentions|sentences|supporting_sentences)\b")
"""Fields that this check describes in its own words."""


class WrongSpans(ShareCheck):
    """Mentions, answers, sentences and supporting sentences that are not where the record says.

    A mention must lie in its text, on word boundaries, and agree with the names of its entity (:mod:`kgqa.checks.measures.mentions`). A
    sentence must begin in the text, not within a word, and after the sentence before it. Wrong answers are those that the format noted;
    ``broken-references`` tests supporting facts that lead nowhere.
    """

    name = "wrong-spans"
    family = "fault"
    title = "Wrong spans"
    meaning = "The share of questions with a mention, answer, sentence or supporting sentence that is not where the record says."
    remedy = "Compute the offsets again, in characters of the text as it is shown."
    nothing = "The set says no places: neither mentions nor sentences, nor where an answer stands."

    def outcomes(self, batch: Batch) -> Floats:
        """1 where one is wrong."""
        return np.array(list(map(_outcome, batch.instances, batch.faults)))

    def describe(self, batch: Batch, number: int) -> str:
        """The faults of all paragraphs, as far as there is room."""
        return join_faults(list(_all_faults(batch.instances[number], batch.faults[number])))


def _outcome(instance: Instance, faults: Sequence[Fault]) -> float:
    if next(_all_faults(instance, faults), None) is not None:
        return 1.0
    has_places = any(p.mentions is not None or p.sentences is not None for p in instance.paragraphs)
    return 0.0 if has_places or _PLACED.search(instance.provenance or "") else float("nan")


def _all_faults(instance: Instance, faults: Sequence[Fault]) -> Iterator[str]:
    paragraphs = [paragraph for paragraph in instance.paragraphs if paragraph.sentences or paragraph.supporting_sentences]
    sentences = (f"paragraph {paragraph.id}: {fault}" for paragraph in paragraphs for fault in _sentence_faults(paragraph))
    mentions = (f"paragraph {paragraph}: {fault}" for paragraph, fault in mention_faults(instance))
    content_faults = (describe_fault(fault) for fault in faults_of_check(faults, WrongSpans.name) if not _SEEN.match(fault.place))
    return chain(content_faults, sentences, mentions)


def _sentence_faults(paragraph: Paragraph) -> Iterator[str]:
    text, starts = paragraph.text, paragraph.sentences or ()
    if any(later < earlier for earlier, later in pairwise(starts)):
        yield "sentences out of order"
    for start in starts:
        if not 0 <= start <= len(text):
            yield f"a sentence begins at {start} in a text of {len(text)} characters"
        elif within_word(text, start):
            yield f"a sentence begins within a word, at {start}: “{text[start : start + 20]}”"
    if any(not 0 <= place < len(starts) for place in paragraph.supporting_sentences or ()):
        yield f"a supporting sentence that is not among its {len(starts)}"
