"""The task: a choice among the heads, and the marginal likelihood of all derivations of the answer (Dua et al. 2019, section 5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import nn

from kgqa.readers.transformer.batch import ReadingBatch
from kgqa.readers.transformer.encoder import Encoder
from kgqa.readers.transformer.examples import Targets, ragged_values
from kgqa.readers.transformer.network import SpanNetwork
from kgqa.readers.transformer.numeric.batch import NumericBatch
from kgqa.readers.transformer.numeric.examples import PLAIN, QUESTION, RAGGED, VERSION, with_derivations
from kgqa.readers.transformer.numeric.head import Answer, Features, Head, perceptron
from kgqa.readers.transformer.numeric.heads import HEADS
from kgqa.readers.transformer.numeric.span import SpanHead
from kgqa.readers.transformer.reading import Reading, ReadingTask, Supervision
from kgqa.readers.transformer.segments import LEAST, segment_size
from kgqa.records import Instance
from kgqa.runs.files import key_of
from kgqa.settings.reader import EncoderSettings
from kgqa.training.reader import Prediction
from kgqa.training.task import Batch

NOTHING = Answer(text="", probability=0.0, type="none")
"""The answer if no head has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedSupervision(Supervision):
    """The labels of the training questions, and the heads that their answers train."""

    heads: tuple[str, ...]
    """Names of ``HEADS``, in its order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedReading:
    """The network's output for one question."""

    reading: Reading
    """Support and sentences; the span is that of the head."""
    heads: tuple[tuple[str, float], ...]
    """Names of the heads by falling probability."""
    outputs: dict[str, Any]
    """Head → its output."""


class TypedNetwork(SpanNetwork):
    """The reading network with further heads, and with a choice among all."""

    def __init__(self, encoder: Encoder, heads: Sequence[str], *, longest: int, layers: int = 1) -> None:
        """``longest``: tokens of an answer that is a span; ``layers``: of the heads for support."""
        super().__init__(encoder, layers=layers)
        self.heads = nn.ModuleDict(
            {name: HEADS[name](encoder.width, **({"longest": longest} if name == SpanHead.name else {})) for name in heads}
        )
        self.choice = perceptron(encoder.width, len(heads))

    def named_heads(self) -> dict[str, Head]:
        """The heads by name, such as ``span`` or ``count``."""
        return dict(self.heads.items())  # type: ignore[arg-type]


class TypedTask(ReadingTask):
    """Reads, chooses a head, and takes its answer."""

    batch_type = NumericBatch
    _supervision: TypedSupervision
    _net: TypedNetwork

    def __init__(self, encoder: Encoder, settings: EncoderSettings, supervision: TypedSupervision, targets: Targets) -> None:
        """The network's heads are initialised from torch's random state."""
        super().__init__(encoder, settings, supervision, targets)
        self.encoding = key_of(self.encoding, "typed", VERSION, supervision.heads)

    def _make_network(self, encoder: Encoder) -> TypedNetwork:
        settings = self._settings
        return TypedNetwork(encoder, self._supervision.heads, longest=settings.answer_tokens, layers=settings.head_layers)

    def encode(self, instances: Sequence[Instance]) -> pa.RecordBatch:
        """The questions as rows of token ids, with the derivations of their answers."""
        faults = [self.fault(instance) for instance in instances]
        return with_derivations(instances, super().encode(instances), heads=self._supervision.heads, faults=faults)

    def fault(self, instance: Instance) -> str | None:
        """A reason of this reader's own not to learn from a question."""
        return None

    def collate(self, table: pa.Table) -> Batch:
        """The fields of a :class:`NumericBatch`."""
        batch = dict(super().collate(table))
        batch |= {name: torch.from_numpy(table.column(name).to_numpy().astype(np.int64)) for name in PLAIN}
        values, lengths = {}, {}
        for name in RAGGED:
            values[name], lengths[name] = map(torch.from_numpy, ragged_values(table, name))
        examples = torch.arange(len(table))
        first_token = torch.from_numpy(np.cumsum([0, *ragged_values(table, "ids")[1]])[:-1])
        batch["number_example"] = torch.repeat_interleave(examples, lengths["number"])
        batch["sum_example"] = torch.repeat_interleave(examples, lengths["sum_terms"])
        batch["term_sum"] = torch.repeat_interleave(torch.arange(len(values["sum_terms"])), values["sum_terms"])
        first_number = torch.cumsum(lengths["number"], 0) - lengths["number"]
        batch["number"] = values["number"] + first_token[batch["number_example"]]
        batch["term_number"] = values["term_number"] + torch.repeat_interleave(first_number, lengths["term_number"])
        return {**batch, **{name: values[name] for name in ("number_rank", "number_is_year", "number_is_asked", "term_sign")}}

    def _answer_losses(self, batch: ReadingBatch, hidden: torch.Tensor) -> torch.Tensor:
        """The negative log-likelihood of all derivations by all heads (B); 0 for an answer without any."""
        assert isinstance(batch, NumericBatch)
        features = self._features(batch, hidden)
        choice = self._choice(features)
        likelihoods = torch.stack([head.log_likelihood(batch, features) for head in self._net.named_heads().values()], 1)
        is_derived = likelihoods > LEAST / 2
        joint = torch.where(is_derived, choice + likelihoods, torch.full_like(likelihoods, LEAST)).logsumexp(1)
        return torch.where(is_derived.any(1), -joint, torch.zeros_like(joint))

    def _features(self, batch: NumericBatch, hidden: torch.Tensor) -> Features:
        starts, ends = self._ends(batch, hidden)
        firsts = hidden[self._net.summaries(batch)].float()
        sums = firsts.new_zeros(batch.count, firsts.shape[1]).index_add(0, batch.window_example, firsts)
        windows = segment_size(batch.window_example, batch.count)
        return Features(hidden=hidden, pooled=sums / windows[:, None], starts=starts, ends=ends)

    def _choice(self, features: Features) -> torch.Tensor:
        """Log-probabilities of the heads (B × heads)."""
        return self._net.choice(features.pooled).log_softmax(1)

    def read(self, tensors: Batch) -> Sequence[Any]:
        """The best answers of a batch as numbers; texts are added later, in the process that has them."""
        batch = NumericBatch(**tensors)
        hidden = self._net.hidden(batch)
        features = self._features(batch, hidden)
        heads = self._net.named_heads()
        outputs = [head.outputs(batch, features) for head in heads.values()]
        choices = self._choice(features).exp().tolist()
        return [
            TypedReading(
                reading=reading,
                heads=tuple(sorted(zip(heads, choice, strict=True), key=lambda entry: -entry[1])),
                outputs=dict(zip(heads, of_heads, strict=True)),
            )
            for reading, choice, of_heads in zip(self._readings(batch, hidden), choices, zip(*outputs, strict=True), strict=True)
        ]

    def answer(self, instance: Instance, reading: TypedReading) -> Prediction:  # type: ignore[override]
        """The answer of the likeliest head that has one, with its type, value and unit."""
        plain = _without_question(super().answer(instance, reading.reading))
        heads = self._net.named_heads()
        found_by = ((share, heads[name].answer(instance, reading.outputs[name])) for name, share in reading.heads)
        share, answer = next(((share, answer) for share, answer in found_by if answer is not None), (0.0, NOTHING))
        return replace(
            plain, answer=answer.text, parts=answer.parts, type=answer.type, value=answer.value, unit=answer.unit,
            confidence=share * answer.probability, answerable=answer.type != "none", sufficiency=int(answer.type != "none"),
        )  # fmt: skip


def _without_question(prediction: Prediction) -> Prediction:
    """The prediction without the question among the paragraphs."""
    return replace(
        prediction,
        supporting=tuple(key for key in prediction.supporting if key != QUESTION),
        supporting_sentences=tuple(entry for entry in prediction.supporting_sentences if entry[0] != QUESTION),
        paragraph_scores=tuple(entry for entry in prediction.paragraph_scores if entry[0] != QUESTION),
    )
