"""What the loop asks of a network: how questions become tensors, what to lower, and what the network says about a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import pyarrow as pa

from kgqa.records import Instance
from kgqa.training.reader import Prediction

if TYPE_CHECKING:
    import torch

Batch: TypeAlias = "Mapping[str, torch.Tensor]"

TOKENS = "tokens"
"""The column of an example's length in tokens, int32: what it costs in a network."""
FAULT = "fault"
"""The column that says in a sentence why an example cannot be learned from, null where it can."""
ID = "id"


class Task(Protocol):
    """One network with one thing to learn."""

    network: torch.nn.Module
    encoding: str
    """The key of everything that :meth:`encode` depends on but the questions: tokenizer, vocabulary, lengths, what is hidden."""

    def encode(self, instances: Sequence[Instance]) -> pa.RecordBatch:
        """A row for each Instance, in order, with at least the columns ``ID``, ``TOKENS`` and ``FAULT``; labels only where it has them."""

    def collate(self, examples: pa.Table) -> Batch:
        """Tensors on the CPU, of some rows of what :meth:`encode` gave."""

    def losses(self, batch: Batch) -> torch.Tensor:
        """What is to be lowered, one for each example, float32; the tensors are where the network is."""

    def read(self, batch: Batch) -> Sequence[Any]:
        """What the network finds in each example: small, without texts. Called without gradients."""

    def answer(self, instance: Instance, reading: Any) -> Prediction:
        """What it found, in words."""

    def score(self, instance: Instance, prediction: Prediction) -> float:
        """How good that is, from 0 to 1, or NaN where it says nothing; its mean over the dev split decides which weights are kept."""
