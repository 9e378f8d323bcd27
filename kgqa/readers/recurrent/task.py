"""The recurrent readers as tasks of the training loop: rows, tensors, losses, readings and predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import torch
from torch import nn
from torch.nn import functional

from kgqa.metrics.normalize import normalize
from kgqa.readers.answers import OPTIONS, random_candidate
from kgqa.readers.recurrent.bidaf import Bidaf
from kgqa.readers.recurrent.collation import collate
from kgqa.readers.recurrent.embeddings import KeptTable, Table, vocabulary_vectors
from kgqa.readers.recurrent.encoding import Encoder
from kgqa.readers.recurrent.fastqa import Fastqa
from kgqa.readers.recurrent.layers import WordEmbedder
from kgqa.readers.recurrent.rnn import Rnn
from kgqa.readers.recurrent.spans import (
    Batch,
    Spans,
    best_spans,
    candidate_losses,
    candidate_scores,
    span_losses,
    support_losses,
)
from kgqa.readers.recurrent.superdocument import ABSENT, Assembler
from kgqa.readers.recurrent.vocabulary import Vocabulary
from kgqa.readers.scores import dev_score
from kgqa.readers.transformer.segments import LEAST
from kgqa.records import Instance
from kgqa.runs.files import key_of
from kgqa.settings.recurrent import RecurrentSettings, RnnSettings
from kgqa.training.reader import Prediction

VERSION = 7
"""Version of the encoding and the networks."""
NETWORKS: Mapping[str, Callable[..., nn.Module]] = MappingProxyType({"bidaf": Bidaf, "fastqa": Fastqa, "rnn": Rnn})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A network's output for one example."""

    candidate: int = ABSENT
    """Number of the best candidate; ABSENT if none is mentioned, or the answer is a span."""
    start: int = 0
    """First token of the best span; ABSENT if no token can begin an answer."""
    end: int = 0
    confidence: float
    """The probability of the candidate among all candidates, or of the span."""
    sufficiency: int = 1
    """DiRe's label: 1, 0 or -1; 1 if the network does not predict it."""
    paragraphs: tuple[float, ...] = ()
    """Probability that each paragraph supports the answer, in the superdocument's order."""
    sentences: tuple[float, ...] = ()


class RecurrentTask:
    """BiDAF, FastQA or the RNN baseline, with a vocabulary."""

    def __init__(self, name: str, settings: RecurrentSettings, vocabulary: Vocabulary, *, seed: int, table: Table | None = None) -> None:
        """``name``: a key of ``NETWORKS``. ``seed``: for initial weights and the order of paragraphs. ``table``: pretrained vectors."""
        self.name, self.settings, self.vocabulary, self._table = name, settings, vocabulary, table
        self.supports = isinstance(settings, RnnSettings)
        self._assembler = Assembler(vocabulary, seed=seed, max_length=settings.max_length, sentences=self.supports)
        self._encoder = Encoder(
            vocabulary=vocabulary, table=table, assembler=self._assembler, settings=settings, answerability=self.supports
        )
        self.encoding = key_of("recurrent", VERSION, vocabulary.key, seed, self.supports, _encoding_settings(settings), table and table.key)
        self.network = self._new_network(seed, None if table is None else vocabulary_vectors(table, vocabulary))

    def _new_network(self, seed: int, pretrained: torch.Tensor | None) -> nn.Module:
        settings, vocabulary = self.settings, self.vocabulary
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            words = WordEmbedder(
                torch.from_numpy(vocabulary.spellings),
                settings.word_size,
                letters=vocabulary.letter_count,
                filters=settings.letter_filters,
                to=settings.hidden if self.name == "fastqa" else 2 * settings.hidden,
                dropout=settings.dropout,
                pretrained=pretrained,
                placeholders=vocabulary.placeholders,
            )
            return NETWORKS[self.name](words, hidden=settings.hidden, dropout=settings.dropout)

    def encode(self, instances: Sequence[Instance]) -> pa.RecordBatch:
        """The questions as rows of ``encoding.SCHEMA``."""
        return self._encoder.rows(instances)

    def collate(self, examples: pa.Table) -> Batch:
        """Tensors on the CPU, as in ``collation.collate``."""
        return collate(examples, self.vocabulary, self._table)

    def portable(self, examples: pa.Table) -> RecurrentTask:
        """This task for another machine, which collates and reads these examples, and has no file of vectors."""
        if self._table is None:
            return self
        table = KeptTable(self._table, (rows for forms in examples.column("unknown_rows") for rows in forms.as_py()))
        copied = copy(self)
        copied._table, copied._encoder = table, replace(self._encoder, table=table)
        return copied

    def _has_candidate(self, batch: Batch) -> torch.Tensor:
        """Whether an example's answer is one of its candidates: bool (B)."""
        return (batch["candidates"] > 0) & (self.settings.answer == "candidates")

    def losses(self, batch: Batch) -> torch.Tensor:
        """The loss of each example: float32 (B)."""
        spans: Spans = self.network(batch)
        has_candidate = self._has_candidate(batch)
        losses = torch.zeros(len(has_candidate), device=has_candidate.device)
        if bool(has_candidate.any()):
            losses = torch.where(has_candidate, candidate_losses(spans, batch), losses)
        if not bool(has_candidate.all()):
            losses = torch.where(has_candidate, losses, span_losses(spans, batch))
        if isinstance(self.settings, RnnSettings) and spans.sufficiency is not None:
            suffices = functional.cross_entropy(spans.sufficiency, batch["sufficiency"] + 1, reduction="none")
            parts = support_losses(spans.paragraphs, batch, "paragraph") + support_losses(spans.sentences, batch, "sentence")
            losses = losses + self.settings.support_weight * (suffices + parts)
        return losses

    def read(self, batch: Batch) -> Sequence[Reading]:
        """The best candidate or span of each example, and its support if the network predicts any."""
        spans: Spans = self.network(batch)
        has_candidate = self._has_candidate(batch)
        if bool(has_candidate.all()):
            readings = self._candidate_readings(spans, batch)
        elif not bool(has_candidate.any()):
            readings = self._span_readings(spans, batch)
        else:
            pairs = zip(has_candidate.tolist(), self._candidate_readings(spans, batch), self._span_readings(spans, batch), strict=True)
            readings = [by_candidate if is_candidate else by_span for is_candidate, by_candidate, by_span in pairs]
        if spans.sufficiency is None:
            return readings
        labels = (spans.sufficiency.argmax(dim=1) - 1).tolist()
        paragraphs = _probabilities_by_row(spans.paragraphs, batch["paragraph_row"], len(labels))
        sentences = _probabilities_by_row(spans.sentences, batch["sentence_row"], len(labels))
        return [
            replace(reading, sufficiency=label, paragraphs=tuple(of_paragraphs), sentences=tuple(of_sentences))
            for reading, label, of_paragraphs, of_sentences in zip(readings, labels, paragraphs, sentences, strict=True)
        ]

    def _candidate_readings(self, spans: Spans, batch: Batch) -> list[Reading]:
        """The best candidate of each example; ABSENT if none is mentioned."""
        log_probability, candidate = candidate_scores(spans, batch).log_softmax(dim=1).max(dim=1)
        is_mentioned = torch.zeros_like(candidate, dtype=torch.bool).index_fill(0, batch["mention_row"], True)
        candidates, confidences = torch.where(is_mentioned, candidate, ABSENT), log_probability.exp() * is_mentioned
        return [
            Reading(candidate=number, confidence=confidence)
            for number, confidence in zip(candidates.tolist(), confidences.tolist(), strict=True)
        ]

    def _span_readings(self, spans: Spans, batch: Batch) -> list[Reading]:
        """The best span of each example; its start is ABSENT if no token can begin an answer."""
        start, end, score = best_spans(spans, batch, beam=self.settings.beam, longest=self.settings.answer_tokens)
        # If no token can begin an answer, all spans have the same score, which means nothing.
        is_possible = (score > LEAST / 2) & (spans.starts.gather(1, start[:, None])[:, 0] > LEAST / 2)
        columns = (torch.where(is_possible, start, ABSENT).tolist(), end.tolist(), score.exp().tolist())
        return [Reading(start=first, end=last, confidence=confidence) for first, last, confidence in zip(*columns, strict=True)]

    def answer(self, instance: Instance, reading: Reading) -> Prediction:
        """The prediction with texts and ids."""
        support = self._support(instance, reading) if self.supports else {}
        if self._encoder.scores_candidates(instance):
            assert instance.candidates is not None
            candidate_ = instance.candidates[reading.candidate] if reading.candidate != ABSENT else random_candidate(instance)
            return Prediction(id=instance.id, answer=candidate_.text, candidate=candidate_.id, confidence=reading.confidence, **support)
        text = self._text(instance, reading)
        chosen_id = next((candidate.id for candidate in instance.candidates or () if normalize(candidate.text) == normalize(text)), None)
        return Prediction(id=instance.id, answer=text, candidate=chosen_id, confidence=reading.confidence, **support)

    def _text(self, instance: Instance, reading: Reading) -> str:
        if reading.start == ABSENT:
            return ""
        document = self._assembler.assemble(instance)
        place = int(document.paragraphs[reading.start])
        if place == ABSENT:
            return OPTIONS[reading.start - 1]
        return instance.paragraphs[place].text[int(document.starts[reading.start]) : int(document.ends[reading.end])]

    def _support(self, instance: Instance, reading: Reading) -> dict[str, Any]:
        """Paragraphs and sentences with a support probability above 0.5, in the order shown."""
        order = self._assembler.order(instance)[: len(reading.paragraphs)]
        probability_of = dict(zip(order, reading.paragraphs, strict=True))
        sentences: tuple[tuple[str, int], ...] = ()
        if reading.sentences:
            marks = self._assembler.assemble(instance).sentence_marks
            supporting = sorted(
                (number, place) for (_, number, place), probability in zip(marks, reading.sentences, strict=True) if probability > 0.5
            )
            sentences = tuple((instance.paragraphs[number].id, place) for number, place in supporting)
        return {
            "supporting": tuple(instance.paragraphs[number].id for number in sorted(probability_of) if probability_of[number] > 0.5),
            "supporting_sentences": sentences,
            "answerable": reading.sufficiency == 1,
            "sufficiency": reading.sufficiency,
            "paragraph_scores": tuple((instance.paragraphs[number].id, probability_of[number]) for number in sorted(probability_of)),
        }

    def score(self, instance: Instance, prediction: Prediction) -> float:
        """The dev score of a prediction, as for every reader."""
        return dev_score(instance, prediction)


def _probabilities_by_row(logits: torch.Tensor | None, rows: torch.Tensor, count: int) -> list[list[float]]:
    probabilities: list[list[float]] = [[] for _ in range(count)]
    if logits is not None:
        for row, probability in zip(rows.tolist(), torch.sigmoid(logits).tolist(), strict=True):
            probabilities[row].append(probability)
    return probabilities


def _encoding_settings(settings: RecurrentSettings) -> dict[str, Any]:
    """The settings that the rows depend on."""
    return settings.model_dump(mode="json", include={"answer", "linked", "max_length", "question_tokens"})
