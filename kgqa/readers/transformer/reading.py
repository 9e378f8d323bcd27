"""The reading task: answer span or candidate, support per paragraph and sentence, sufficiency; normalised over all windows.

End2End of MuSiQue (Trivedi et al. 2022, section 7.2.1) and of DiRe (Trivedi et al. 2020, appendix B), for long encoders as for short ones:
the softmax over a span's first and last token runs over all windows of a question (Clark and Gardner 2018), and every place that names the
answer is right (their marginal likelihood).
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
from kgqa.readers.answers import drawn_candidate, is_option
from kgqa.readers.scores import lesson_score, sufficiency_of
from kgqa.readers.transformer import examples
from kgqa.readers.transformer.encoder import Encoder
from kgqa.readers.transformer.examples import PLAIN, RAGGED, UNKNOWN, Lessons
from kgqa.readers.transformer.network import SpanNetwork
from kgqa.readers.transformer.segments import LEAST, best_ends, segment_best, segment_logsumexp, segment_max, segment_mean
from kgqa.readers.transformer.windows import OPTION_TEXT, Cutter
from kgqa.records import Instance
from kgqa.runs.files import key_of
from kgqa.settings.reader import EncoderSettings
from kgqa.training.reader import Prediction
from kgqa.training.task import Batch

VERSION = 3
"""Of how questions are encoded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What the training questions teach; a head that learned nothing says nothing."""

    options: bool
    """Whether some have the answer yes or no."""
    support: bool
    sentences: bool
    sufficiency: bool
    """Whether some suffice and others do not."""
    label_weights: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """What -1, 0 and 1 weigh in learning, so that each label of a transform does as much as another (Trivedi et al. 2020, appendix B.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the network finds in one question."""

    place: int
    """Number of the paragraph, that of paragraphs and above for an option, -1 for no answer."""
    start: int
    """In characters; so is ``end``."""
    end: int
    probability: float
    candidate: int
    """Its number, -1 where there are none, or none is mentioned."""
    sufficiency: int
    support: tuple[float, ...]
    """Probability of each paragraph."""
    sentences: tuple[tuple[int, int], ...]
    """Paragraph and sentence of those that support the answer."""


class ReadingTask:
    """One encoder that learns to read, or only to select paragraphs."""

    def __init__(self, encoder: Encoder, settings: EncoderSettings, learned: Learned, lessons: Lessons) -> None:
        """The network's heads are drawn from torch's random state."""
        self._encoder, self._settings, self._learned, self._lessons = encoder, settings, learned, lessons
        self._cutter = Cutter(encoder, settings, options=learned.options)
        self.network: torch.nn.Module = SpanNetwork(encoder)
        self._net: SpanNetwork = self.network
        self.encoding = key_of(
            "reading", VERSION, encoder.tokenizer.backend_tokenizer.to_str(), self._cutter.longest,
            settings.model_dump(exclude={"encoder", "answer_tokens", "selected"}), learned.options, asdict(lessons),
        )  # fmt: skip

    def encode(self, instances: Sequence[Instance]) -> pa.RecordBatch:
        """Encode questions by ``examples.encode``."""
        return examples.encode(instances, self._cutter, self._lessons)

    def collate(self, table: pa.Table) -> Batch:
        """All tokens of all windows behind each other; what points at tokens is shifted to where its example's begin."""
        ragged = {name: _flat(table, name) for name in RAGGED}
        count = len(table)
        found: dict[str, torch.Tensor] = {name: torch.from_numpy(table.column(name).to_numpy().astype(np.int64)) for name in PLAIN}
        first = torch.from_numpy(np.concatenate([[0], np.cumsum(ragged["ids"][1])])[:-1])
        for name, (values, _) in ragged.items():
            found[name] = torch.from_numpy(values.astype(np.int64))
        for name, of in (("token", "ids"), ("window", "lengths"), ("mark", "mark"), ("sentence", "sentence"), ("span", "span_first")):
            found[f"{name}_example"] = torch.repeat_interleave(torch.arange(count), torch.from_numpy(ragged[of][1].astype(np.int64)))
        for name, of in (("mark", "mark"), ("sentence", "sentence"), ("span_first", "span"), ("span_last", "span")):
            found[name] = found[name] + first[found[f"{of}_example"]]
        found["offsets"] = torch.cumsum(found["lengths"], 0) - found["lengths"]
        owners = found["choices"].clamp_min(1)
        found["owner_base"] = torch.cumsum(owners, 0) - owners
        found["owners"] = owners
        return found

    def losses(self, batch: Batch) -> torch.Tensor:
        """The sum of what each head has to learn, in nats."""
        hidden, count = self._net.hidden(batch), len(batch["right"])
        total = torch.zeros(count, device=hidden.device)
        if self._lessons.answer:
            total = total + self._answer_losses(batch, hidden)
        total = total + _marked(self._net.support(hidden[batch["mark"]]), batch["mark_label"], batch["mark_example"], count)
        if not self._lessons.answer:
            return total
        total = total + _marked(self._net.sentence(hidden[batch["sentence"]]), batch["sentence_label"], batch["sentence_example"], count)
        if self._learned.sufficiency:
            weights = torch.tensor(self._learned.label_weights, device=hidden.device)
            total = total + cross_entropy(self._sufficiency(batch, hidden), batch["sufficiency"] + 1, weights, reduction="none")
        return total

    def _answer_losses(self, batch: Batch, hidden: torch.Tensor) -> torch.Tensor:
        """-log of the probability of all places that are right: among candidates that of the right one's mentions."""
        starts, ends = self._ends(batch, hidden)
        spans = starts[batch["span_first"]] + ends[batch["span_last"]]
        owner = batch["owner_base"][batch["span_example"]] + batch["span_owner"]
        by_owner = segment_logsumexp(spans, owner, int(batch["owners"].sum()))
        everything = segment_logsumexp(spans, batch["span_example"], len(batch["right"]))
        right = by_owner[batch["owner_base"] + batch["right"].clamp_min(0)]
        chosen = torch.where(batch["choices"] > 0, right - everything, right)
        # An example without an answer has no place that is right, and learns only that.
        known = (batch["right"] >= 0) & (right > LEAST / 2)
        return torch.where(known, -chosen, torch.zeros_like(chosen))

    def _ends(self, batch: Batch, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities that an answer begins, and that it ends, at a token; over all windows of an example."""
        logits = self._net.span(hidden).float()
        outside = batch["place"] < 0
        found = []
        for column in (0, 1):
            values = logits[:, column].masked_fill(outside, LEAST)
            whole = segment_logsumexp(values, batch["token_example"], len(batch["right"]))
            found.append(torch.where(outside, torch.full_like(values, LEAST), values - whole[batch["token_example"]]))
        return found[0], found[1]

    def _sufficiency(self, batch: Batch, hidden: torch.Tensor) -> torch.Tensor:
        """Logits of the three labels: the best of all windows, as one that has the support decides."""
        logits = self._net.sufficiency(hidden[batch["offsets"]]).float()
        count = len(batch["right"])
        return torch.stack([segment_max(column, batch["window_example"], count) for column in logits.unbind(1)], dim=1)

    def read(self, batch: Batch) -> list[Reading]:
        """What is found, without texts."""
        hidden, count = self._net.hidden(batch), len(batch["right"])
        support = self._support(batch, hidden, count)
        if not self._lessons.answer:
            return [_selection(each) for each in support]
        starts, ends = self._ends(batch, hidden)
        best, last = best_ends(starts, ends, batch["place"], self._settings.answer_tokens)
        at = segment_best(best, batch["token_example"], count).clamp_max(len(best) - 1)
        spans = zip(
            batch["place"][at].tolist(), batch["begin"][at].tolist(), batch["end"][last[at]].tolist(), best[at].exp().tolist(), strict=True
        )
        chosen = self._chosen(batch, starts, ends)
        labels = self._labels(batch, hidden, count)
        sentences = self._supporting_sentences(batch, hidden, count)
        return [
            Reading(
                place=place, start=start, end=end, probability=probability if candidate < 0 else share,
                candidate=candidate, sufficiency=label, support=tuple(probabilities), sentences=tuple(facts),
            )
            for (place, start, end, probability), (candidate, share), label, probabilities, facts in zip(
                spans, chosen, labels, support, sentences, strict=True
            )
        ]  # fmt: skip

    def _chosen(self, batch: Batch, starts: torch.Tensor, ends: torch.Tensor) -> list[tuple[int, float]]:
        """For each example its best candidate and that one's share; -1 where no candidate is mentioned."""
        spans = starts[batch["span_first"]] + ends[batch["span_last"]]
        owners = int(batch["owners"].sum())
        scores = segment_logsumexp(spans, batch["owner_base"][batch["span_example"]] + batch["span_owner"], owners)
        example = torch.repeat_interleave(torch.arange(len(batch["right"]), device=scores.device), batch["owners"])
        best = segment_best(scores, example, len(batch["right"]))
        share = (scores[best] - segment_logsumexp(scores, example, len(batch["right"]))).exp()
        none = (batch["choices"] == 0) | (scores[best] <= LEAST / 2)
        number = torch.where(none, torch.full_like(best, -1), best - batch["owner_base"])
        return list(zip(number.tolist(), share.tolist(), strict=True))

    def _support(self, batch: Batch, hidden: torch.Tensor, count: int) -> list[list[float]]:
        """The probability of each paragraph, of several windows the best."""
        if not self._learned.support and self._lessons.support == "supporting":
            return [[] for _ in range(count)]
        found: list[list[float]] = [[] for _ in range(count)]
        probabilities = self._net.support(hidden[batch["mark"]]).float().squeeze(1).sigmoid().tolist()
        for example, paragraph, probability in zip(
            batch["mark_example"].tolist(), batch["mark_paragraph"].tolist(), probabilities, strict=True
        ):
            if paragraph == len(found[example]):
                found[example].append(probability)
            else:
                found[example][paragraph] = max(found[example][paragraph], probability)
        return found

    def _labels(self, batch: Batch, hidden: torch.Tensor, count: int) -> list[int]:
        if not self._learned.sufficiency:
            return [1] * count
        labels: list[int] = (self._sufficiency(batch, hidden).argmax(1) - 1).tolist()
        return labels

    def _supporting_sentences(self, batch: Batch, hidden: torch.Tensor, count: int) -> list[list[tuple[int, int]]]:
        found: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        if not self._learned.sentences:
            return found
        surer = self._net.sentence(hidden[batch["sentence"]]).float().squeeze(1) > 0
        columns = (batch[name][surer].tolist() for name in ("sentence_example", "sentence_paragraph", "sentence_number"))
        for example, paragraph, number in zip(*columns, strict=True):
            found[example].append((paragraph, number))
        return found

    def answer(self, instance: Instance, reading: Reading) -> Prediction:
        """The answer as the paragraph, or the candidate, spells it."""
        candidates = instance.candidates or ()
        if candidates:
            chosen = candidates[reading.candidate] if reading.candidate >= 0 else drawn_candidate(instance)
            text, candidate = chosen.text, chosen.id
        else:
            text, candidate = self._text(instance, reading), None
        supporting = [each for each, probability in zip(instance.paragraphs, reading.support, strict=False) if probability > 0.5]
        sentences = [(instance.paragraphs[paragraph].id, number) for paragraph, number in reading.sentences]
        return Prediction(
            id=instance.id,
            answer=text,
            candidate=candidate,
            confidence=reading.probability,
            supporting=tuple(each.id for each in supporting),
            supporting_sentences=tuple(sorted(set(sentences))),
            answerable=reading.sufficiency == 1,
            sufficiency=reading.sufficiency,
            paragraph_scores=tuple((each.id, score) for each, score in zip(instance.paragraphs, reading.support, strict=False)),
        )

    def _text(self, instance: Instance, reading: Reading) -> str:
        if reading.place < 0:
            return ""
        text = OPTION_TEXT if reading.place >= len(instance.paragraphs) else instance.paragraphs[reading.place].text
        return text[reading.start : reading.end]

    def score(self, instance: Instance, prediction: Prediction) -> float:
        """Of a reader how good its answer is, of a selector how well it tells supporting paragraphs from others."""
        if self._lessons.answer:
            return lesson_score(instance, prediction)
        wanted = self._wanted(instance)
        ranked = sorted(prediction.paragraph_scores, key=lambda each: -each[1])[: len(wanted)]
        return sum(name in wanted for name, _ in ranked) / len(wanted) if wanted else 0.0

    def _wanted(self, instance: Instance) -> set[str]:
        if self._lessons.support == "supporting":
            return {each.id for each in instance.paragraphs if each.supporting}
        return {instance.paragraphs[number].id for number in examples.paragraphs_with_answer(instance)}


def _flat(table: pa.Table, name: str) -> tuple[Any, Any]:
    """The values of a column of lists behind each other, and how many each row has."""
    column = table.column(name).combine_chunks()
    return column.flatten().to_numpy(), np.diff(column.offsets.to_numpy())


def _marked(logits: torch.Tensor, labels: torch.Tensor, example: torch.Tensor, count: int) -> torch.Tensor:
    """Mean cross-entropy of an example's labels that are known, in nats; 0 where none is."""
    known = labels != UNKNOWN
    if not bool(known.any()):
        return logits.sum() * torch.zeros(count, device=logits.device)
    losses = binary_cross_entropy_with_logits(logits.float().squeeze(1)[known], labels[known].float(), reduction="none")
    return segment_mean(losses, example[known], count)


def _selection(support: Sequence[float]) -> Reading:
    return Reading(place=-1, start=0, end=0, probability=0.0, candidate=-1, sufficiency=1, support=tuple(support), sentences=())


def learned_from(instances: Any) -> Learned:
    """One look at the training questions."""
    options = support = sentences = False
    labels: set[int] = set()
    noted = Counter[int]()
    for each in instances:
        options = options or is_option(each)
        support = support or any(paragraph.supporting for paragraph in each.paragraphs)
        sentences = sentences or any(paragraph.supporting_sentences for paragraph in each.paragraphs)
        labels.add(sufficiency_of(each))
        if (label := noted_sufficiency(each)) is not None:
            noted[label] += 1
    below, partly, enough = (noted.total() / (len(noted) * noted[label]) if noted[label] else 1.0 for label in (-1, 0, 1))
    return Learned(
        options=options, support=support, sentences=sentences, sufficiency=len(labels) > 1, label_weights=(below, partly, enough)
    )  # fmt: skip
