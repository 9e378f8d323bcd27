"""Questions as rows of numbers, with labels as far as the question has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.readers.answers import OPTIONS, answer_spans, candidate_spans, is_option, right_candidate
from kgqa.readers.recurrent.embeddings import Table
from kgqa.readers.recurrent.forms import is_placeholder, question_forms
from kgqa.readers.recurrent.superdocument import ABSENT, Assembler, Superdocument
from kgqa.readers.recurrent.vocabulary import SEPARATOR, Vocabulary
from kgqa.readers.scores import sufficiency_of
from kgqa.records import Instance
from kgqa.settings.recurrent import RecurrentSettings
from kgqa.training.task import FAULT, ID, TOKENS

UNLABELLED = -1
MOST_SPANS = 32
"""Maximum occurrences of an answer in training; the first ones of the text."""
_NUMBERS = pa.list_(pa.int32())
LISTS = (
    "context", "question", "token_paragraph", "shared",
    "mention_candidate", "mention_start", "mention_end",
    "span_start", "span_end",
    "paragraph_at", "paragraph_label", "sentence_at", "sentence_label",
)  # fmt: skip
"""Columns with a number per token, mention, or mark.

``context`` and ``question``: words; unknown words have numbers beyond the vocabulary, in the order of the column ``unknown``. Their rows in
the table of pretrained vectors are in ``unknown_rows``.
``token_paragraph``: as ``Superdocument.paragraphs``. ``shared``: 1 for words that also occur in the question. ``span_*``: occurrences of
the answer. The last token of mentions and answers is inclusive. ``*_label``: 1 supporting, 0 not, UNLABELLED if the set does not say.
"""
SCHEMA = pa.schema(
    [
        (ID, pa.string()),
        (TOKENS, pa.int32()),
        (FAULT, pa.string()),
        ("unknown", pa.list_(pa.string())),
        ("unknown_rows", pa.list_(_NUMBERS)),
    ]
    + [(name, _NUMBERS) for name in LISTS]
    + [("candidates", pa.int32()), ("gold", pa.int32()), ("sufficiency", pa.int32())]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """Encodes questions as rows of word and character numbers."""

    vocabulary: Vocabulary
    table: Table | None
    """The pretrained vectors of words outside the vocabulary."""
    assembler: Assembler
    settings: RecurrentSettings
    answerability: bool
    """Whether questions without an answer are trained on."""

    def scores_candidates(self, instance: Instance) -> bool:
        """Whether the prediction is one of the question's candidates, not a span."""
        return bool(instance.candidates) and self.settings.answer == "candidates"

    def rows(self, instances: Sequence[Instance]) -> pa.RecordBatch:
        """One row of ``SCHEMA`` per question."""
        rows = [self.row(instance) for instance in instances]
        return pa.RecordBatch.from_arrays([pa.array([row[field.name] for row in rows], field.type) for field in SCHEMA], schema=SCHEMA)

    def row(self, instance: Instance) -> dict[str, Any]:
        """An encoded question with its texts and labels."""
        document = self.assembler.assemble(instance)
        question = self.assembler.of_forms(question_forms(instance.question)[: self.settings.question_tokens])
        absent = list(dict.fromkeys([*document.unknown, *question.unknown]))
        numbers = self._other_placeholders(absent, {*document.words.tolist(), *question.words.tolist()})
        unknown = [form for form in absent if form not in numbers]
        numbers |= {form: len(self.vocabulary) + place for place, form in enumerate(unknown)}
        mentions_ = self._mentions(instance, document)
        gold = right_candidate(instance)
        spans = self._spans(instance, document, mentions_, gold)
        return {
            ID: instance.id,
            TOKENS: len(document.words),
            FAULT: self._fault(instance, {number for number, _, _ in mentions_}, gold, spans),
            "unknown": unknown,
            "unknown_rows": [[] for _ in unknown] if self.table is None else self.table.rows(unknown),
            "context": _with_unknown_numbers(document.words, document.unknown, numbers),
            "question": _with_unknown_numbers(question.words, question.unknown, numbers) if len(question.words) else [SEPARATOR],
            "token_paragraph": document.paragraphs,
            "shared": np.isin(document.lowercase_hashes, question.lowercase_hashes).astype(np.int32),
            "mention_candidate": [number for number, _, _ in mentions_],
            "mention_start": [first for _, first, _ in mentions_],
            "mention_end": [last for _, _, last in mentions_],
            "span_start": [first for first, _ in spans],
            "span_end": [last for _, last in spans],
            "candidates": len(instance.candidates or ()),
            "gold": gold,
            "sufficiency": sufficiency_of(instance),
            **_supports(instance, document),
        }

    def _other_placeholders(self, absent: Sequence[str], used: set[int]) -> dict[str, int]:
        """Numbers of the vocabulary for placeholders that it lacks: of its own, those that the question does not show.

        No placeholder has a meaning, so any will do as long as two of a question differ.
        """
        free = (number for number in self.vocabulary.placeholders if number not in used)
        return dict(zip(filter(is_placeholder, absent), free, strict=False))

    def _mentions(self, instance: Instance, document: Superdocument) -> list[tuple[int, int, int]]:
        return document.token_spans(candidate_spans(instance, marked=self.settings.linked))

    def _spans(
        self, instance: Instance, document: Superdocument, mentions_: list[tuple[int, int, int]], gold: int
    ) -> list[tuple[int, int]]:
        """The answer's occurrences: the first mention of a candidate (Welbl et al. 2018, section 6.1), else all occurrences that support
        it.
        """
        if not instance.answerable or not instance.answers or self.scores_candidates(instance):
            return []
        if instance.candidates:
            return sorted((first, last) for number, first, last in mentions_ if number == gold)[:1]
        if is_option(instance):
            position = 1 + OPTIONS.index(instance.answers[0].strip().lower())
            return [(position, position)]
        spans = document.token_spans((0, *span) for span in answer_spans(instance))
        return [(first, last) for _, first, last in spans][:MOST_SPANS]

    def _fault(self, instance: Instance, mentioned_candidates: set[int], gold: int, spans: list[tuple[int, int]]) -> str | None:
        limit = f"{self.settings.max_length:,} tokens"
        if not instance.answerable:
            return None if self.answerability else "the question has no answer, and this reader always gives one"
        if not instance.answers:
            return "the answer of the question is hidden"
        if self.scores_candidates(instance):
            if gold == UNLABELLED:
                return "the answer is none of the candidates"
            return None if gold in mentioned_candidates else f"no paragraph mentions the answer within {limit}"
        return None if spans else f"no paragraph states the answer within {limit}"


def _with_unknown_numbers(words: npt.NDArray[np.int32], unknown: Sequence[str], numbers: dict[str, int]) -> npt.NDArray[np.int32]:
    """Replace ABSENT by the numbers of the unknown words."""
    positions = np.flatnonzero(words == ABSENT)
    numbers_ = words.copy()
    numbers_[positions] = [numbers[form] for form in unknown[: len(positions)]]
    return numbers_


def _supports(instance: Instance, document: Superdocument) -> dict[str, list[int]]:
    """Marks of paragraphs and sentences, with their support labels."""
    paragraphs = instance.paragraphs
    labels = [UNLABELLED if (label := paragraphs[number].supporting) is None else int(label) for number in document.order]
    supporting_sentences = {number: paragraphs[number].supporting_sentences for number in document.order}
    sentences = document.sentence_marks
    return {
        "paragraph_at": document.marks,
        "paragraph_label": labels,
        "sentence_at": [at for at, _, _ in sentences],
        "sentence_label": [
            UNLABELLED if (supporting := supporting_sentences[number]) is None else int(sentence in supporting)
            for _, number, sentence in sentences
        ],
    }
