"""A small whole number: how many there are of something (Dua et al. 2019)."""

from __future__ import annotations

from typing import Any

import torch

from kgqa.readers.transformer.numeric.batch import NumericBatch
from kgqa.readers.transformer.numeric.examples import COUNTS
from kgqa.readers.transformer.numeric.head import Answer, Features, Head, of_label, perceptron
from kgqa.readers.transformer.segments import LEAST
from kgqa.records import Instance


class CountHead(Head):
    """Classifies the answer as one of the counts 0 to 9."""

    name = "count"

    def __init__(self, width: int) -> None:
        """The weights are random."""
        super().__init__()
        self.count = perceptron(width, COUNTS)

    def log_likelihood(self, batch: NumericBatch, features: Features) -> torch.Tensor:
        """The log-probability of the gold answer as a count, float32 (B); ``LEAST`` if it is not from 0 to 9."""
        return of_label(self.count(features.pooled).log_softmax(1), batch.count_label, LEAST)

    def outputs(self, batch: NumericBatch, features: Features) -> list[Any]:
        """For each question the most probable count and its probability."""
        best, count = self.count(features.pooled).softmax(1).max(1)
        return list(zip(count.tolist(), best.tolist(), strict=True))

    def answer(self, instance: Instance, output: Any) -> Answer | None:
        """The count as a number, with its probability."""
        count, probability = output
        return Answer(text=str(count), probability=probability, type="number", value=float(count))
