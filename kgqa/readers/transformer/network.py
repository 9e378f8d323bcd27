"""The network: an encoder over windows, and a linear head for each target."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from kgqa.readers.transformer.batch import ReadingBatch
from kgqa.readers.transformer.encoder import Encoder

LIKE_LENGTH = 0.75
"""Minimum ratio of the shortest to the longest window in a group: at most a quarter of the work is padding."""
AT_ONCE = {"cpu": 1024, "cuda": 16384}
"""Tokens per forward pass: activations should fit a CPU's cache, and keep a GPU busy."""
LABELS = 3
"""Sufficiency labels: -1, 0 and 1 (DiRe, appendix A.4)."""


class SingleLinear(nn.Linear):
    """Single precision even under autocast: in bfloat16 thousands of tokens would share a few logits."""

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """(…, in) → (…, out), float32."""
        with torch.autocast(vectors.device.type, enabled=False):
            return super().forward(vectors.float())


class SpanNetwork(nn.Module):
    """Hidden states of all tokens, and heads for spans, supporting paragraphs and sentences, and sufficiency."""

    def __init__(self, encoder: Encoder) -> None:
        """The heads are initialised at random."""
        super().__init__()
        self.encoder = encoder.network
        self.span = SingleLinear(encoder.width, 2)
        self.support = SingleLinear(encoder.width, 1)
        self.sentence = SingleLinear(encoder.width, 1)
        self.sufficiency = SingleLinear(encoder.width, LABELS)
        for head in (self.span, self.support, self.sentence, self.sufficiency):
            nn.init.normal_(head.weight, std=0.02)
            nn.init.zeros_(head.bias)
        parameters = inspect.signature(self.encoder.forward).parameters
        self._has_types = "token_type_ids" in parameters and getattr(self.encoder.config, "type_vocab_size", 0) > 1
        self._has_global = "global_attention_mask" in parameters

    def hidden(self, batch: ReadingBatch) -> torch.Tensor:
        """Hidden states of all tokens of all windows, float32 or bfloat16 (tokens, width).

        Windows of similar length are encoded together, so that paragraphs of 20 and of 300 tokens need little padding.
        """
        lengths, offsets = batch.lengths, batch.offsets
        states, places = [], []
        for group in groups(lengths.tolist(), most=AT_ONCE[lengths.device.type]):
            rows = torch.tensor(group, device=lengths.device)
            size = lengths[rows]
            steps = torch.arange(int(lengths[group[0]]), device=lengths.device)
            is_token = steps < size[:, None]
            indices = (offsets[rows][:, None] + steps).clamp_max(len(batch.ids) - 1)
            state = self._encode(batch, rows, indices, steps, is_token)
            states.append(state[is_token])
            places.append(indices[is_token])
        return torch.cat(states)[torch.argsort(torch.cat(places))]

    def _encode(
        self, batch: ReadingBatch, rows: torch.Tensor, indices: torch.Tensor, steps: torch.Tensor, is_token: torch.Tensor
    ) -> torch.Tensor:
        is_question = steps < batch.question_tokens[batch.window_example[rows]][:, None]
        inputs: dict[str, Any] = {"input_ids": torch.where(is_token, batch.ids[indices], 0), "attention_mask": is_token.long()}
        if self._has_types:
            inputs["token_type_ids"] = (~is_question & is_token).long()
        if self._has_global:
            # A question's tokens see, and are seen by, all others (Beltagy et al. 2020).
            inputs["global_attention_mask"] = (is_question & is_token).long()
        state: torch.Tensor = self.encoder(**inputs).last_hidden_state
        return state


def groups(lengths: list[int], *, most: int) -> Iterator[list[int]]:
    """Numbers of windows to encode together, at most ``most`` tokens or one window, the longest first in each group."""
    order = sorted(range(len(lengths)), key=lambda number: (-lengths[number], number))
    group: list[int] = []
    for number in order:
        if group and (lengths[number] < LIKE_LENGTH * lengths[group[0]] or (len(group) + 1) * lengths[group[0]] > most):
            yield group
            group = []
        group.append(number)
    if group:
        yield group
