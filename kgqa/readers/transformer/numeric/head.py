"""The interface of a head: how probable it makes the gold answer, and what it answers itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import nn

from kgqa.readers.transformer.network import SingleLinear
from kgqa.readers.transformer.numeric.batch import NumericBatch
from kgqa.records import Instance


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What the encoder makes of B questions."""

    hidden: torch.Tensor
    """(N × width): all tokens."""
    pooled: torch.Tensor
    """(B × width), float32: the mean of the first tokens of a question's windows."""
    starts: torch.Tensor
    """(N): log-probability that an answer begins at a token, over all windows of a question; so is ``ends``."""
    ends: torch.Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer of a head."""

    text: str
    probability: float
    """Its probability if the head is the right one."""
    type: str
    """A key of ``kgqa.records.ANSWER_TYPES``."""
    parts: tuple[str, ...] = ()
    value: float | None = None
    unit: str = ""


class Head(nn.Module, ABC):
    """Gives answers of one kind."""

    name: ClassVar[str]

    @abstractmethod
    def log_likelihood(self, batch: NumericBatch, features: Features) -> torch.Tensor:
        """The log-probability of all derivations of the gold answer together, float32 (B); ``LEAST`` if the head has none."""

    @abstractmethod
    def outputs(self, batch: NumericBatch, features: Features) -> list[Any]:
        """The best answer to each question as numbers, without texts."""

    @abstractmethod
    def answer(self, instance: Instance, output: Any) -> Answer | None:
        """The answer that an output stands for; None if the head has no answer to the question."""


def perceptron(inputs: int, outputs: int) -> nn.Sequential:
    """Two linear layers, single precision."""
    last = SingleLinear(inputs, outputs)
    nn.init.normal_(last.weight, std=0.02)
    nn.init.zeros_(last.bias)
    return nn.Sequential(SingleLinear(inputs, inputs), nn.GELU(), last)


def of_label(log_probabilities: torch.Tensor, label: torch.Tensor, least: float) -> torch.Tensor:
    """Of each row the log-probability of its label (B × classes, B → B); ``least`` where the label is negative."""
    probabilities_of_label = log_probabilities.gather(1, label.clamp_min(0)[:, None]).squeeze(1)
    return torch.where(label >= 0, probabilities_of_label, torch.full_like(probabilities_of_label, least))
