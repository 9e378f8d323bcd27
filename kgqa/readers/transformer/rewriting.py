"""The rewriting task: write one text of an Instance from another. Decomposer and composer differ only in their :class:`Rewriting`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import torch
from torch.nn.utils.rnn import pad_sequence

from kgqa.readers.spelling import respelled
from kgqa.readers.transformer.copying import CopyingNetwork
from kgqa.readers.transformer.decoding import decode
from kgqa.readers.transformer.encoder_decoder import EncoderDecoder
from kgqa.records import Instance
from kgqa.runs.files import key_of
from kgqa.settings.seq2seq import Seq2SeqSettings
from kgqa.training.reader import Prediction
from kgqa.training.task import FAULT, ID, TOKENS, Batch

VERSION = 2
"""Version of the encoding."""
AT_ONCE = 256
"""Texts × beams that are written together."""
SOURCE, TARGET = "source", "target"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewriting:
    """Source, target and score of a rewriting. All are module-level functions, so that ``name`` identifies them."""

    name: str
    source: Callable[[Instance], str]
    target: Callable[[Instance], str | None]
    """None if the Instance has no target."""
    absent: str
    """Why an Instance without a target cannot be trained on."""
    prediction: Callable[[Instance, str], Prediction]
    """The prediction of a written text; must accept any text."""
    score: Callable[[Instance, Prediction], float]


class RewritingTask:
    """One encoder-decoder that learns to rewrite."""

    def __init__(self, model: EncoderDecoder, settings: Seq2SeqSettings, rewriting: Rewriting) -> None:
        """The pointer, if any, is initialised from torch's random state."""
        self._model, self._settings, self._rewriting = model, settings, rewriting
        self._net = CopyingNetwork(model, copies=settings.copies)
        self.network: torch.nn.Module = self._net
        backend = model.tokenizer.backend_tokenizer
        self._lossy = type(backend.decoder).__name__ == "WordPiece"
        self._limits = min(settings.source_tokens, model.longest), min(settings.target_tokens, model.longest)
        if model.network.config.model_type == "encoder-decoder" and not settings.tunes_embeddings:
            for part in (model.network.encoder, model.network.decoder):
                part.get_input_embeddings().weight.requires_grad_(False)
        self.encoding = key_of("rewriting", VERSION, backend.to_str(), self._limits, model.start, model.end, rewriting.name)

    def encode(self, instances: Sequence[Instance]) -> pa.RecordBatch:
        """The tokens of both texts, with start and end tokens."""
        sources = self._tokenise([self._rewriting.source(instance) for instance in instances])
        target_texts = [self._rewriting.target(instance) for instance in instances]
        targets = self._tokenise([text or "" for text in target_texts])
        # What the decoder is given to begin with is not written.
        targets = [ids[1:] if ids[:1] == [self._model.start] else ids for ids in targets]
        faults = [self._fault(text, ids) for text, ids in zip(target_texts, targets, strict=True)]
        sources = [ids if len(ids) <= self._limits[0] else [*ids[: self._limits[0] - 1], ids[-1]] for ids in sources]
        lengths = [len(source) + len(target) for source, target in zip(sources, targets, strict=True)]
        columns = {
            ID: pa.array([instance.id for instance in instances], pa.string()),
            TOKENS: pa.array(lengths, pa.int32()),
            FAULT: pa.array(faults, pa.string()),
            SOURCE: pa.array(sources, pa.list_(pa.int32())),
            TARGET: pa.array(targets, pa.list_(pa.int32())),
        }
        return pa.RecordBatch.from_pydict(columns)

    def _tokenise(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        # What is too long is cut, so that the tokenizer's warning about it means nothing.
        return self._model.tokenizer(list(texts), return_attention_mask=False, verbose=False)["input_ids"]

    def _fault(self, text: str | None, target: Sequence[int]) -> str | None:
        if text is None:
            return self._rewriting.absent
        return f"what is to be written has more than {self._limits[1]} tokens" if len(target) > self._limits[1] else None

    def collate(self, examples: pa.Table) -> Batch:
        """Both texts as int64 (examples, tokens), padded at the end; masks are 1 for tokens, 0 for padding."""
        batch = {}
        for name in (SOURCE, TARGET):
            rows = examples.column(name).to_pylist()
            batch[name] = _pad(rows, self._model.pad)
            batch[f"{name}_mask"] = _pad([[1] * len(row) for row in rows], 0)
        return batch

    def losses(self, batch: Batch) -> torch.Tensor:
        """The mean cross-entropy of a target's tokens, in nats (examples)."""
        target, mask = batch[TARGET], batch[f"{TARGET}_mask"]
        decoder_input = torch.cat([torch.full_like(target[:, :1], self._model.start), target[:, :-1]], 1)
        log_probabilities = self._net.of_targets(batch[SOURCE], batch[f"{SOURCE}_mask"], decoder_input, target)
        return -(log_probabilities * mask).sum(1) / mask.sum(1).clamp_min(1)

    def read(self, batch: Batch) -> list[list[int]]:
        """The written tokens for each source."""
        size = max(1, AT_ONCE // self._settings.beams)
        parts = zip(torch.split(batch[SOURCE], size), torch.split(batch[f"{SOURCE}_mask"], size), strict=True)
        options = {"beams": self._settings.beams, "longest": self._limits[1]}
        return [tokens for source, mask in parts for tokens in decode(self._net, self._model, source, mask, **options)]

    def answer(self, instance: Instance, reading: Sequence[int]) -> Prediction:
        """The prediction of the written text."""
        text = self._model.tokenizer.decode(list(reading), skip_special_tokens=True)
        return self._rewriting.prediction(instance, respelled(text, self._rewriting.source(instance)) if self._lossy else text.strip())

    def score(self, instance: Instance, prediction: Prediction) -> float:
        """The dev score of the rewriting task."""
        return self._rewriting.score(instance, prediction)


def _pad(rows: Sequence[Sequence[int]], filler: int) -> torch.Tensor:
    """(rows × longest), int64."""
    return pad_sequence([torch.tensor(row, dtype=torch.int64) for row in rows], batch_first=True, padding_value=filler)
