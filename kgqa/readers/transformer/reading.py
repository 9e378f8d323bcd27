"""The reading task: answer span or candidate, support of paragraphs and sentences, and sufficiency, normalised over all windows.

This is End2End of MuSiQue (Trivedi et al. 2022, section 7.2.1) and of DiRe (Trivedi et al. 2020, appendix B), for long and short encoders.
The softmax over a span's first and last token runs over all windows of a question (Clark and Gardner 2018). Every span that names the
answer is right, and the loss is their marginal likelihood.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from kgqa.formats.provenance import noted_sufficiency
from kgqa.readers.answers import is_option, random_candidate
from kgqa.readers.scores import dev_score, sufficiency_of
from kgqa.readers.transformer import examples
from kgqa.readers.transformer.batch import ReadingBatch
from kgqa.readers.transformer.encoder import Encoder
from kgqa.readers.transformer.examples import PLAIN, RAGGED, UNKNOWN, Targets, ragged_values
from kgqa.readers.transformer.network import SpanNetwork, windows_together
from kgqa.readers.transformer.segments import LEAST, best_ends, segment_best, segment_logsumexp, segment_max, segment_mean
from kgqa.readers.transformer.windows import OPTION_TEXT, Cutter
from kgqa.records import Instance
from kgqa.runs.files import key_of
from kgqa.settings.reader import EncoderSettings
from kgqa.training.reader import Prediction
from kgqa.training.task import Batch

VERSION = 6
"""Version of the encoding."""
ENCODED = {"question_tokens", "stride", "marks"}
"""Settings that the encoding depends on, besides the tokens of a window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervision:
    """The labels that the training questions have; a head without training labels makes no predictions."""

    options: bool
    """Whether some answers are yes or no."""
    support: bool
    sentences: bool
    sufficiency: bool
    """Whether some contexts are sufficient and others are not."""
    label_weights: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Loss weights of -1, 0 and 1, so that each label of a transform has the same total (Trivedi et al. 2020, appendix B.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The network's output for one question."""

    paragraph: int
    """Number of the paragraph; the number of paragraphs and above for an option; -1 for no answer."""
    start: int
    """Characters of the paragraph; so is ``end``, which is exclusive."""
    end: int
    probability: float
    candidate: int
    """Its number; -1 without candidates, or if none is mentioned."""
    sufficiency: int
    support: tuple[float, ...]
    """Support probability of each paragraph."""
    sentences: tuple[tuple[int, int], ...]
    """Paragraph and sentence numbers of the supporting sentences."""


class ReadingTask:
    """One encoder that learns to read, or only to select paragraphs. A subclass may have another network and further fields of a batch."""

    batch_type: type[ReadingBatch] = ReadingBatch

    def __init__(self, encoder: Encoder, settings: EncoderSettings, supervision: Supervision, targets: Targets) -> None:
        """The network's heads are initialised from torch's random state."""
        self._encoder, self._settings, self._supervision, self._targets = encoder, settings, supervision, targets
        self._cutter = Cutter(encoder, settings, options=supervision.options, reads_apart=targets.reads_apart)
        self._net = self._make_network(encoder)
        self.network: torch.nn.Module = self._net
        self.encoding = key_of(
            "reading", VERSION, encoder.tokenizer.backend_tokenizer.to_str(), self._cutter.longest, encoder.causal,
            settings.model_dump(include=ENCODED), self._cutter.packs, supervision.options, asdict(targets),
        )  # fmt: skip

    def _make_network(self, encoder: Encoder) -> SpanNetwork:
        return SpanNetwork(encoder, layers=self._settings.head_layers)

    def encode(self, instances: Sequence[Instance]) -> pa.RecordBatch:
        """The questions as rows of token ids; see ``examples.encode``."""
        return examples.encode(instances, self._cutter, self._targets)

    def collate(self, table: pa.Table) -> Batch:
        """The fields of a :class:`ReadingBatch`; token indices are shifted by the tokens of earlier examples."""
        ragged = {name: ragged_values(table, name) for name in RAGGED}
        count = len(table)
        batch: dict[str, torch.Tensor] = {name: torch.from_numpy(table.column(name).to_numpy().astype(np.int64)) for name in PLAIN}
        first = torch.from_numpy(np.concatenate([[0], np.cumsum(ragged["ids"][1])])[:-1])
        for name, (values, _) in ragged.items():
            batch[name] = torch.from_numpy(values)
        for name, group in (("token", "ids"), ("window", "lengths"), ("mark", "mark"), ("sentence", "sentence"), ("span", "span_first")):
            batch[f"{name}_example"] = torch.repeat_interleave(torch.arange(count), torch.from_numpy(ragged[group][1]))
        for name, group in (("mark", "mark"), ("sentence", "sentence"), ("span_first", "span"), ("span_last", "span")):
            batch[name] = batch[name] + first[batch[f"{group}_example"]]
        batch["offsets"] = torch.cumsum(batch["lengths"], 0) - batch["lengths"]
        owners = batch["choices"].clamp_min(1)
        batch["owner_base"] = torch.cumsum(owners, 0) - owners
        batch["owners"] = owners
        batch["owner_example"] = torch.repeat_interleave(torch.arange(count), owners)
        batch |= windows_together(ragged["lengths"][0].astype(np.int64), device=next(self.network.parameters()).device.type)
        return batch

    def losses(self, tensors: Batch) -> torch.Tensor:
        """The sum of the losses of all heads, in nats (B)."""
        batch = self.batch_type(**tensors)
        hidden, count = self._net.hidden(batch), batch.count
        total = torch.zeros(count, device=hidden.device)
        if self._targets.answer:
            total = total + self._answer_losses(batch, hidden)
        total = total + _label_losses(self._net.support(hidden[batch.mark]), batch.mark_label, batch.mark_example, count)
        if not self._targets.answer:
            return total
        total = total + _label_losses(self._net.sentence(hidden[batch.sentence]), batch.sentence_label, batch.sentence_example, count)
        if self._supervision.sufficiency:
            weights = torch.tensor(self._supervision.label_weights, device=hidden.device)
            total = total + cross_entropy(self._sufficiency(batch, hidden), batch.sufficiency + 1, weights, reduction="none")
        return total

    def _answer_losses(self, batch: ReadingBatch, hidden: torch.Tensor) -> torch.Tensor:
        """The negative log-likelihood of all right spans; with candidates, of the right one's mentions among all mentions (B)."""
        starts, ends = self._ends(batch, hidden)
        spans = starts[batch.span_first] + ends[batch.span_last]
        owner = batch.owner_base[batch.span_example] + batch.span_owner
        by_owner = segment_logsumexp(spans, owner, len(batch.owner_example))
        log_total = segment_logsumexp(spans, batch.span_example, batch.count)
        log_gold = by_owner[batch.owner_base + batch.gold.clamp_min(0)]
        log_likelihood = torch.where(batch.choices > 0, log_gold - log_total, log_gold)
        # An example without an answer has no right span, and trains the other heads only.
        is_known = (batch.gold >= 0) & (log_gold > LEAST / 2)
        return torch.where(is_known, -log_likelihood, torch.zeros_like(log_likelihood))

    def _ends(self, batch: ReadingBatch, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities (N) that an answer begins, and that it ends, at a token; normalised over all windows of an example."""
        logits = self._net.span(hidden).float()
        is_outside = batch.paragraph < 0
        log_probabilities = []
        for column in (0, 1):
            values = logits[:, column].masked_fill(is_outside, LEAST)
            normaliser = segment_logsumexp(values, batch.token_example, batch.count)
            log_probabilities.append(torch.where(is_outside, torch.full_like(values, LEAST), values - normaliser[batch.token_example]))
        return log_probabilities[0], log_probabilities[1]

    def _sufficiency(self, batch: ReadingBatch, hidden: torch.Tensor) -> torch.Tensor:
        """Logits of the three labels (B × 3): the maximum over windows, since a single window may have the support."""
        logits = self._net.sufficiency(hidden[self._net.summaries(batch)]).float()
        count = batch.count
        return torch.stack([segment_max(column, batch.window_example, count) for column in logits.unbind(1)], dim=1)

    def read(self, tensors: Batch) -> Sequence[Any]:
        """The best answers of a batch as numbers; texts are added later, in the process that has them."""
        batch = self.batch_type(**tensors)
        return self._readings(batch, self._net.hidden(batch))

    def _readings(self, batch: ReadingBatch, hidden: torch.Tensor) -> list[Reading]:
        count = batch.count
        support = self._support(batch, hidden, count)
        if not self._targets.answer:
            return [_selection(probabilities) for probabilities in support]
        starts, ends = self._ends(batch, hidden)
        best, last = best_ends(starts, ends, batch.paragraph, self._settings.answer_tokens)
        at = segment_best(best, batch.token_example, count).clamp_max(len(best) - 1)
        spans = zip(
            batch.paragraph[at].tolist(), batch.begin[at].tolist(), batch.end[last[at]].tolist(), best[at].exp().tolist(), strict=True
        )
        candidates = self._best_candidates(batch, starts, ends)
        labels = self._labels(batch, hidden, count)
        sentences = self._supporting_sentences(batch, hidden, count)
        return [
            Reading(
                paragraph=paragraph, start=start, end=end, probability=probability if candidate < 0 else share,
                candidate=candidate, sufficiency=label, support=tuple(probabilities), sentences=tuple(facts),
            )
            for (paragraph, start, end, probability), (candidate, share), label, probabilities, facts in zip(
                spans, candidates, labels, support, sentences, strict=True
            )
        ]  # fmt: skip

    def _best_candidates(self, batch: ReadingBatch, starts: torch.Tensor, ends: torch.Tensor) -> list[tuple[int, float]]:
        """For each example its best candidate and that candidate's probability; -1 if no candidate is mentioned."""
        spans = starts[batch.span_first] + ends[batch.span_last]
        example = batch.owner_example
        scores = segment_logsumexp(spans, batch.owner_base[batch.span_example] + batch.span_owner, len(example))
        best = segment_best(scores, example, batch.count)
        share = (scores[best] - segment_logsumexp(scores, example, batch.count)).exp()
        is_none = (batch.choices == 0) | (scores[best] <= LEAST / 2)
        number = torch.where(is_none, torch.full_like(best, -1), best - batch.owner_base)
        return list(zip(number.tolist(), share.tolist(), strict=True))

    def _support(self, batch: ReadingBatch, hidden: torch.Tensor, count: int) -> list[list[float]]:
        """The support probability of each paragraph, the maximum over its windows."""
        if not self._supervision.support and self._targets.support == "supporting":
            return [[] for _ in range(count)]
        probabilities_of: list[list[float]] = [[] for _ in range(count)]
        probabilities = self._net.support(hidden[batch.mark]).float().squeeze(1).sigmoid().tolist()
        for example, paragraph, probability in zip(batch.mark_example.tolist(), batch.mark_paragraph.tolist(), probabilities, strict=True):
            if paragraph == len(probabilities_of[example]):
                probabilities_of[example].append(probability)
            else:
                probabilities_of[example][paragraph] = max(probabilities_of[example][paragraph], probability)
        return probabilities_of

    def _labels(self, batch: ReadingBatch, hidden: torch.Tensor, count: int) -> list[int]:
        if not self._supervision.sufficiency:
            return [1] * count
        return (self._sufficiency(batch, hidden).argmax(1) - 1).tolist()

    def _supporting_sentences(self, batch: ReadingBatch, hidden: torch.Tensor, count: int) -> list[list[tuple[int, int]]]:
        sentences: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        if not self._supervision.sentences:
            return sentences
        is_supporting = self._net.sentence(hidden[batch.sentence]).float().squeeze(1) > 0
        columns = (column[is_supporting].tolist() for column in (batch.sentence_example, batch.sentence_paragraph, batch.sentence_number))
        for example, paragraph, number in zip(*columns, strict=True):
            sentences[example].append((paragraph, number))
        return sentences

    def answer(self, instance: Instance, reading: Reading) -> Prediction:
        """The answer in the spelling of the paragraph, or of the candidate."""
        candidates = instance.candidates or ()
        if candidates:
            best = candidates[reading.candidate] if reading.candidate >= 0 else random_candidate(instance)
            text, candidate = best.text, best.id
        else:
            text, candidate = self._text(instance, reading), None
        supporting = [paragraph for paragraph, probability in zip(instance.paragraphs, reading.support, strict=False) if probability > 0.5]
        sentences = [(instance.paragraphs[paragraph].id, number) for paragraph, number in reading.sentences]
        return Prediction(
            id=instance.id,
            answer=text,
            candidate=candidate,
            confidence=reading.probability,
            supporting=tuple(paragraph.id for paragraph in supporting),
            supporting_sentences=tuple(sorted(set(sentences))),
            answerable=reading.sufficiency == 1,
            sufficiency=reading.sufficiency,
            paragraph_scores=tuple((paragraph.id, score) for paragraph, score in zip(instance.paragraphs, reading.support, strict=False)),
        )

    def _text(self, instance: Instance, reading: Reading) -> str:
        if reading.paragraph < 0:
            return ""
        text = OPTION_TEXT if reading.paragraph >= len(instance.paragraphs) else instance.paragraphs[reading.paragraph].text
        return text[reading.start : reading.end]

    def score(self, instance: Instance, prediction: Prediction) -> float:
        """For a reader the quality of its answer; for a selector R-precision: the share of gold among as many top-ranked paragraphs."""
        if self._targets.answer:
            return dev_score(instance, prediction)
        gold = self._gold_paragraphs(instance)
        top_paragraphs = sorted(prediction.paragraph_scores, key=lambda entry: -entry[1])[: len(gold)]
        return sum(name in gold for name, _ in top_paragraphs) / len(gold) if gold else 0.0

    def _gold_paragraphs(self, instance: Instance) -> set[str]:
        if self._targets.support == "supporting":
            return {paragraph.id for paragraph in instance.paragraphs if paragraph.supporting}
        return {instance.paragraphs[number].id for number in examples.paragraphs_with_answer(instance)}


def _label_losses(logits: torch.Tensor, labels: torch.Tensor, example: torch.Tensor, count: int) -> torch.Tensor:
    """Mean cross-entropy of an example's known labels, in nats (count); 0 without any."""
    is_known = labels != UNKNOWN
    losses = binary_cross_entropy_with_logits(logits.float().squeeze(1), labels.clamp_min(0).float(), reduction="none")
    return segment_mean(losses, example, count, among=is_known)


def _selection(support: Sequence[float]) -> Reading:
    return Reading(paragraph=-1, start=0, end=0, probability=0.0, candidate=-1, sufficiency=1, support=tuple(support), sentences=())


def supervision_of(instances: Any) -> Supervision:
    """The labels of the training questions, in one pass over them."""
    options = support = sentences = False
    labels: set[int] = set()
    label_counts = Counter[int]()
    for instance in instances:
        options = options or is_option(instance)
        support = support or any(paragraph.supporting for paragraph in instance.paragraphs)
        sentences = sentences or any(paragraph.supporting_sentences for paragraph in instance.paragraphs)
        labels.add(sufficiency_of(instance))
        if (label := noted_sufficiency(instance)) is not None:
            label_counts[label] += 1
    weight_below, weight_partial, weight_sufficient = (
        label_counts.total() / (len(label_counts) * label_counts[label]) if label_counts[label] else 1.0 for label in (-1, 0, 1)
    )
    return Supervision(
        options=options,
        support=support,
        sentences=sentences,
        sufficiency=len(labels) > 1,
        label_weights=(weight_below, weight_partial, weight_sufficient),
    )
