"""What the loop asks of the recurrent readers: rows, tensors, losses, and what the network says in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import torch
from torch import nn
from torch.nn import functional

from kgqa.metrics.normalize import normalize
from kgqa.readers.answers import OPTIONS, drawn_candidate
from kgqa.readers.recurrent.bidaf import Bidaf
from kgqa.readers.recurrent.collation import collate
from kgqa.readers.recurrent.encoding import Encoder
from kgqa.readers.recurrent.fastqa import Fastqa
from kgqa.readers.recurrent.layers import LEAST, Words
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
from kgqa.readers.scores import lesson_score
from kgqa.records import Instance
from kgqa.runs.files import key_of
from kgqa.settings.recurrent import RecurrentSettings, RnnSettings
from kgqa.training.reader import Prediction

VERSION = 2
"""Of how questions become rows, and what the networks are."""
NETWORKS: Mapping[str, Callable[..., nn.Module]] = MappingProxyType({"bidaf": Bidaf, "fastqa": Fastqa, "rnn": Rnn})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a network finds in one example."""

    candidate: int
    """Number of the best candidate; ABSENT where none is mentioned, or a span is the answer."""
    start: int
    """First and last token of the best span."""
    end: int
    confidence: float
    """The probability of the candidate among all, or of the span."""
    sufficiency: int
    """1: the context suffices; 0 and -1: DiRe's other labels; 1 of a reader that does not tell."""
    paragraphs: tuple[float, ...] = ()
    """Probability that each paragraph supports the answer, in the superdocument's order."""
    sentences: tuple[float, ...] = ()


class RecurrentTask:
    """BiDAF, FastQA or the RNN baseline, with the words that it knows."""

    def __init__(
        self, name: str, settings: RecurrentSettings, vocabulary: Vocabulary, *, seed: int, pretrained: torch.Tensor | None = None
    ) -> None:
        """``name``: of ``NETWORKS``; ``seed``: of its first weights and the order of paragraphs; ``pretrained``: vectors of its words."""
        self.name, self.settings, self.vocabulary = name, settings, vocabulary
        self.supports = isinstance(settings, RnnSettings)
        self._assembler = Assembler(vocabulary, seed=seed, max_length=settings.max_length, sentences=self.supports)
        self._encoder = Encoder(vocabulary=vocabulary, assembler=self._assembler, settings=settings, answerability=self.supports)
        self.encoding = key_of("recurrent", VERSION, vocabulary.key, seed, self.supports, _steering(settings))
        self.network = self._made(seed, pretrained)

    def _made(self, seed: int, pretrained: torch.Tensor | None) -> nn.Module:
        settings, vocabulary = self.settings, self.vocabulary
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            words = Words(
                torch.from_numpy(vocabulary.spellings),
                settings.word_size,
                letters=vocabulary.letter_count,
                filters=settings.letter_filters,
                to=settings.hidden if self.name == "fastqa" else 2 * settings.hidden,
                dropout=settings.dropout,
                pretrained=pretrained,
            )
            return NETWORKS[self.name](words, hidden=settings.hidden, dropout=settings.dropout)

    def encode(self, instances: Sequence[Instance]) -> pa.RecordBatch:
        """Encode questions to rows of ``encoding.SCHEMA``."""
        return self._encoder.rows(instances)

    def collate(self, examples: pa.Table) -> Batch:
        """Tensors on the CPU, as ``collation.collate`` says."""
        return collate(examples, self.vocabulary)

    def _scored(self, batch: Batch) -> torch.Tensor:
        """Which examples are answered by a candidate (B)."""
        return (batch["candidates"] > 0) & (self.settings.answer == "candidates")

    def losses(self, batch: Batch) -> torch.Tensor:
        """One for each example, float32."""
        spans: Spans = self.network(batch)
        scored = self._scored(batch)
        losses = torch.zeros(len(scored), device=scored.device)
        if bool(scored.any()):
            losses = torch.where(scored, candidate_losses(spans, batch), losses)
        if not bool(scored.all()):
            losses = torch.where(scored, losses, span_losses(spans, batch))
        if isinstance(self.settings, RnnSettings) and spans.sufficiency is not None:
            suffices = functional.cross_entropy(spans.sufficiency, batch["sufficiency"] + 1, reduction="none")
            parts = support_losses(spans.paragraphs, batch, "paragraph") + support_losses(spans.sentences, batch, "sentence")
            losses = losses + self.settings.support_weight * (suffices + parts)
        return losses

    def read(self, batch: Batch) -> Sequence[Reading]:
        """The best candidate or span of each example."""
        spans: Spans = self.network(batch)
        scored = self._scored(batch)
        count = len(scored)
        candidates, confidences = [ABSENT] * count, [0.0] * count
        starts = ends = [0] * count
        if bool(scored.any()):
            best, chosen = candidate_scores(spans, batch).log_softmax(dim=1).max(dim=1)
            mentioned = torch.zeros(count, dtype=torch.bool, device=best.device).index_fill(0, batch["mention_row"], True)
            candidates, confidences = torch.where(mentioned & scored, chosen, ABSENT).tolist(), (best.exp() * mentioned).tolist()
        if not bool(scored.all()):
            start, end, score = best_spans(spans, batch, beam=self.settings.beam, longest=self.settings.answer_tokens)
            starts, ends = start.tolist(), end.tolist()
            # Where no token can begin an answer all are as likely, and none is meant.
            found = ((score > LEAST / 2) & (spans.starts.gather(1, start[:, None])[:, 0] > LEAST / 2)).tolist()
            starts = [place if ok else ABSENT for place, ok in zip(starts, found, strict=True)]
            spanned = score.exp().tolist()
            confidences = [old if is_scored else new for old, new, is_scored in zip(confidences, spanned, scored.tolist(), strict=True)]
        suffices = [1] * count if spans.sufficiency is None else (spans.sufficiency.argmax(dim=1) - 1).tolist()
        paragraphs, sentences = (
            _by_row(logits, batch[f"{group}_row"], count)
            for logits, group in ((spans.paragraphs, "paragraph"), (spans.sentences, "sentence"))
        )
        rows = zip(candidates, starts, ends, confidences, suffices, paragraphs, sentences, strict=True)
        return [
            Reading(
                candidate=candidate,
                start=start,
                end=end,
                confidence=sure,
                sufficiency=label,
                paragraphs=tuple(some),
                sentences=tuple(others),
            )
            for candidate, start, end, sure, label, some, others in rows
        ]

    def answer(self, instance: Instance, reading: Reading) -> Prediction:
        """What was found, in words."""
        support = self._support(instance, reading) if self.supports else {}
        if self._encoder.scores_candidates(instance):
            assert instance.candidates is not None
            chosen = instance.candidates[reading.candidate] if reading.candidate != ABSENT else drawn_candidate(instance)
            return Prediction(id=instance.id, answer=chosen.text, candidate=chosen.id, confidence=reading.confidence, **support)
        text = self._text(instance, reading)
        chosen_id = next((each.id for each in instance.candidates or () if normalize(each.text) == normalize(text)), None)
        return Prediction(id=instance.id, answer=text, candidate=chosen_id, confidence=reading.confidence, **support)

    def _text(self, instance: Instance, reading: Reading) -> str:
        if reading.start == ABSENT:
            return ""
        document = self._assembler.assemble(instance)
        place = int(document.place[reading.start])
        if place == ABSENT:
            return OPTIONS[reading.start - 1]
        return instance.paragraphs[place].text[int(document.starts[reading.start]) : int(document.ends[reading.end])]

    def _support(self, instance: Instance, reading: Reading) -> dict[str, Any]:
        """Paragraphs and sentences that are more likely to support the answer than not, in the order shown."""
        order = self._assembler.order(instance)[: len(reading.paragraphs)]
        likely = dict(zip(order, reading.paragraphs, strict=True))
        sentences: tuple[tuple[str, int], ...] = ()
        if reading.sentences:
            marks = self._assembler.assemble(instance).sentence_marks
            found = sorted((number, place) for (_, number, place), sure in zip(marks, reading.sentences, strict=True) if sure > 0.5)
            sentences = tuple((instance.paragraphs[number].id, place) for number, place in found)
        return {
            "supporting": tuple(instance.paragraphs[number].id for number in sorted(likely) if likely[number] > 0.5),
            "supporting_sentences": sentences,
            "answerable": reading.sufficiency == 1,
            "sufficiency": reading.sufficiency,
            "paragraph_scores": tuple((instance.paragraphs[number].id, likely[number]) for number in sorted(likely)),
        }

    def score(self, instance: Instance, prediction: Prediction) -> float:
        """The dev score of a prediction, as for every reader."""
        return lesson_score(instance, prediction)


def _by_row(logits: torch.Tensor | None, rows: torch.Tensor, count: int) -> list[list[float]]:
    found: list[list[float]] = [[] for _ in range(count)]
    if logits is not None:
        for row, probability in zip(rows.tolist(), torch.sigmoid(logits).tolist(), strict=True):
            found[row].append(probability)
    return found


def _steering(settings: RecurrentSettings) -> dict[str, Any]:
    """The settings that rows depend on."""
    return settings.model_dump(mode="json", include={"answer", "linked", "max_length", "question_tokens"})
