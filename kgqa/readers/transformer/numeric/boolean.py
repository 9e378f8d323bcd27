"""The head that answers yes or no."""

from __future__ import annotations

from typing import Any

import torch

from kgqa.readers.answers import OPTIONS
from kgqa.readers.transformer.numeric.batch import NumericBatch
from kgqa.readers.transformer.numeric.head import Answer, Features, Head, of_label, perceptron
from kgqa.readers.transformer.segments import LEAST
from kgqa.records import Instance


class BooleanHead(Head):
    """Classifies the answer as yes or no."""

    name = "boolean"

    def __init__(self, width: int) -> None:
        """The weights are random."""
        super().__init__()
        self.choice = perceptron(width, len(OPTIONS))

    def log_likelihood(self, batch: NumericBatch, features: Features) -> torch.Tensor:
        """The log-probability of the gold word, float32 (B); ``LEAST`` if the answer is neither yes nor no."""
        return of_label(self.choice(features.pooled).log_softmax(1), batch.choice_label, LEAST)

    def outputs(self, batch: NumericBatch, features: Features) -> list[Any]:
        """Number of the word, and its probability."""
        best, choice = self.choice(features.pooled).softmax(1).max(1)
        return list(zip(choice.tolist(), best.tolist(), strict=True))

    def answer(self, instance: Instance, output: Any) -> Answer | None:
        """The answer "yes" or "no" with its probability."""
        choice, probability = output
        return Answer(text=OPTIONS[choice], probability=probability, type="boolean")
