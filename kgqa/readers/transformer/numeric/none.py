"""The paragraphs do not answer the question."""

from __future__ import annotations

from typing import Any

import torch

from kgqa.readers.transformer.numeric.batch import NumericBatch
from kgqa.readers.transformer.numeric.head import Answer, Features, Head
from kgqa.readers.transformer.segments import LEAST
from kgqa.records import Instance


class NoneHead(Head):
    """It has one answer, so it has no weights: the choice of the head decides."""

    name = "none"

    def __init__(self, width: int) -> None:
        """The head has no weights; ``width`` is unused."""
        super().__init__()

    def log_likelihood(self, batch: NumericBatch, features: Features) -> torch.Tensor:
        """0 for unanswerable questions and ``LEAST`` for others, float32 (B)."""
        zeros = torch.zeros(batch.count, device=features.pooled.device)
        return torch.where(batch.is_none > 0, zeros, torch.full_like(zeros, LEAST))

    def outputs(self, batch: NumericBatch, features: Features) -> list[Any]:
        """None for each question, because there is nothing to choose."""
        return [None] * batch.count

    def answer(self, instance: Instance, output: Any) -> Answer | None:
        """The empty answer, which means that the question is unanswerable."""
        return Answer(text="", probability=1.0, type="none")
