"""The interface between training loop and network: questions as tensors, the loss to minimise, and predictions."""

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
"""Column of an example's length in tokens, int32; its cost in a network."""
FAULT = "fault"
"""Column with a sentence that says why an example cannot be learned from; null if it can."""
ID = "id"


class Task(Protocol):
    """One network with one objective."""

    network: torch.nn.Module
    encoding: str
    """Hash of everything that :meth:`encode` depends on, except the questions: tokenizer, vocabulary, lengths, hidden parts."""

    def encode(self, instances: Sequence[Instance]) -> pa.RecordBatch:
        """One row per Instance, in order, with at least the columns ``ID``, ``TOKENS`` and ``FAULT``. Labels are present only if the
        Instance has them.
        """

    def collate(self, examples: pa.Table) -> Batch:
        """Tensors on the CPU, from some rows of :meth:`encode`. Those whose name begins with ``cpu_`` stay there."""

    def losses(self, batch: Batch) -> torch.Tensor:
        """The loss of each example, float32 (examples); the tensors are on the network's device.

        On a GPU nothing here should wait for it: no ``item``, ``tolist``, ``bool`` or ``int`` of a tensor, and no indexing by a mask.
        """

    def read(self, batch: Batch) -> Sequence[Any]:
        """The network's reading of each example: small, without texts. Called without gradients."""

    def answer(self, instance: Instance, reading: Any) -> Prediction:
        """The prediction that a reading stands for."""

    def score(self, instance: Instance, prediction: Prediction) -> float:
        """The quality of a prediction from 0 to 1, or NaN if it does not count; the mean over the dev split selects the weights."""
