"""A question as a row of numbers, with what is right where the question says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.readers.answers import OPTIONS, answer_spans, is_option
from kgqa.readers.recurrent.candidates import Span, mentions
from kgqa.readers.recurrent.forms import question_forms
from kgqa.readers.recurrent.superdocument import ABSENT, Assembler, Superdocument
from kgqa.readers.recurrent.vocabulary import SEPARATOR, Vocabulary
from kgqa.readers.scores import sufficiency_of
from kgqa.records import Instance
from kgqa.settings.recurrent import RecurrentSettings
from kgqa.training.task import FAULT, ID, TOKENS

UNLABELLED = -1
MOST_SPANS = 32
"""Occurrences of an answer that are learned from, the first ones of the text."""
_NUMBERS = pa.list_(pa.int32())
LISTS = (
    "context", "question", "place", "shared",
    "mention_candidate", "mention_start", "mention_end",
    "span_start", "span_end",
    "paragraph_at", "paragraph_label", "sentence_at", "sentence_label",
)  # fmt: skip
"""Columns with numbers for each token, mention, or mark.

``context`` and ``question``: words; those that the vocabulary lacks are numbered behind it, in the order of the column ``unknown``.
``place``: as ``Superdocument.place``; ``shared``: 1 for words that the question has too. ``span_*``: where the answer stands; spans of
mentions and answers take in their last token. ``*_label``: 1 supporting, 0 not, UNLABELLED where the set does not say.
"""
SCHEMA = pa.schema(
    [(ID, pa.string()), (TOKENS, pa.int32()), (FAULT, pa.string()), ("unknown", pa.list_(pa.string()))]
    + [(name, _NUMBERS) for name in LISTS]
    + [("candidates", pa.int32()), ("gold", pa.int32()), ("sufficiency", pa.int32())]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """Makes rows of questions."""

    vocabulary: Vocabulary
    assembler: Assembler
    settings: RecurrentSettings
    answerability: bool
    """Whether a question without an answer is learned from."""

    def scores_candidates(self, instance: Instance) -> bool:
        """Whether it is answered by one of its candidates, not by a span."""
        return bool(instance.candidates) and self.settings.answer == "candidates"

    def rows(self, instances: Sequence[Instance]) -> pa.RecordBatch:
        """A row of ``SCHEMA`` for each question."""
        rows = [self.row(instance) for instance in instances]
        return pa.RecordBatch.from_arrays([pa.array([row[field.name] for row in rows], field.type) for field in SCHEMA], schema=SCHEMA)

    def row(self, instance: Instance) -> dict[str, Any]:
        """An encoded question with its texts and targets."""
        document = self.assembler.assemble(instance)
        question = self.assembler.of_forms(question_forms(instance.question)[: self.settings.question_tokens])
        unknown = list(dict.fromkeys([*document.unknown, *question.unknown]))
        numbers = {form: len(self.vocabulary) + place for place, form in enumerate(unknown)}
        found = self._mentions(instance, document)
        gold = next((place for place, each in enumerate(instance.candidates or ()) if each.id == instance.answer_id), UNLABELLED)
        spans = self._spans(instance, document, found, gold)
        return {
            ID: instance.id,
            TOKENS: len(document.words),
            FAULT: self._fault(instance, {number for number, _, _ in found}, gold, spans),
            "unknown": unknown,
            "context": _numbered(document.words, document.unknown, numbers),
            "question": _numbered(question.words, question.unknown, numbers) if len(question.words) else [SEPARATOR],
            "place": document.place,
            "shared": np.isin(document.folds, question.folds).astype(np.int32),
            "mention_candidate": [number for number, _, _ in found],
            "mention_start": [first for _, first, _ in found],
            "mention_end": [last for _, _, last in found],
            "span_start": [first for first, _ in spans],
            "span_end": [last for _, last in spans],
            "candidates": len(instance.candidates or ()),
            "gold": gold,
            "sufficiency": sufficiency_of(instance),
            **_supports(instance, document),
        }

    def _mentions(self, instance: Instance, document: Superdocument) -> list[Span]:
        if not instance.candidates:
            return []
        names = [self.assembler.piece(candidate.text).folds for candidate in instance.candidates]
        return mentions(document, instance, names, marked=self.settings.linked)

    def _spans(self, instance: Instance, document: Superdocument, found: list[Span], gold: int) -> list[tuple[int, int]]:
        """Where the answer stands: of a candidate the first place (Welbl et al. 2018, section 6.1), else all places that support it."""
        if not instance.answerable or not instance.answers or self.scores_candidates(instance):
            return []
        if instance.candidates:
            return sorted((first, last) for number, first, last in found if number == gold)[:1]
        if is_option(instance):
            place = 1 + OPTIONS.index(instance.answers[0].strip().lower())
            return [(place, place)]
        return _answer_places(instance, document)[:MOST_SPANS]

    def _fault(self, instance: Instance, mentioned: set[int], gold: int, spans: list[tuple[int, int]]) -> str | None:
        limit = f"{self.settings.max_length:,} tokens"
        if not instance.answerable:
            return None if self.answerability else "the question has no answer, and this reader always gives one"
        if not instance.answers:
            return "the answer of the question is hidden"
        if self.scores_candidates(instance):
            if gold == UNLABELLED:
                return "the answer is none of the candidates"
            return None if gold in mentioned else f"no paragraph mentions the answer within {limit}"
        return None if spans else f"no paragraph states the answer within {limit}"


def _numbered(words: npt.NDArray[np.int32], unknown: Sequence[str], numbers: dict[str, int]) -> npt.NDArray[np.int32]:
    """With numbers instead of ABSENT."""
    places = np.flatnonzero(words == ABSENT)
    found = words.copy()
    found[places] = [numbers[form] for form in unknown[: len(places)]]
    return found


def _answer_places(instance: Instance, document: Superdocument) -> list[tuple[int, int]]:
    """First and last tokens of the answer's occurrences."""
    places: list[tuple[int, int]] = []
    tokens = {number: np.flatnonzero(document.place == number) for number in document.order}
    for number, start, end in answer_spans(instance):
        inside = tokens.get(number)
        if inside is None or not len(inside):
            continue
        first = int(np.searchsorted(document.ends[inside], start, side="right"))
        last = int(np.searchsorted(document.starts[inside], end)) - 1
        if first <= last < len(inside) and document.ends[inside[last]] >= end:
            places.append((int(inside[first]), int(inside[last])))
    return sorted(set(places))


def _supports(instance: Instance, document: Superdocument) -> dict[str, list[int]]:
    """Marks of paragraphs and sentences, and whether these support the answer."""
    paragraphs = instance.paragraphs
    labels = [UNLABELLED if (label := paragraphs[number].supporting) is None else int(label) for number in document.order]
    supported = {number: paragraphs[number].supporting_sentences for number in document.order}
    sentences = document.sentence_marks
    return {
        "paragraph_at": document.marks,
        "paragraph_label": labels,
        "sentence_at": [at for at, _, _ in sentences],
        "sentence_label": [UNLABELLED if (known := supported[number]) is None else int(place in known) for _, number, place in sentences],
    }
