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
    """0 to 9."""

    name = "count"

    def __init__(self, width: int) -> None:
        """The weights are random."""
        super().__init__()
        self.count = perceptron(width, COUNTS)

    def log_likelihood(self, batch: NumericBatch, features: Features) -> torch.Tensor:
        """Of the answer as a count."""
        return of_label(self.count(features.pooled).log_softmax(1), batch.count_label, LEAST)

    def outputs(self, batch: NumericBatch, features: Features) -> list[Any]:
        """Count and probability."""
        best, count = self.count(features.pooled).softmax(1).max(1)
        return list(zip(count.tolist(), best.tolist(), strict=True))

    def answer(self, instance: Instance, output: Any) -> Answer | None:
        """The count in figures."""
        count, probability = output
        return Answer(text=str(count), probability=probability, type="number", value=float(count))
