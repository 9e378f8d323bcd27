"""The network: an encoder that reads windows, and a linear head for each thing that is learned."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn

from kgqa.readers.transformer.encoder import Encoder

LIKE_LENGTH = 0.75
"""Windows are read together while the shortest has this share of the longest one's tokens: a quarter of the work is padding at most."""
AT_ONCE = {"cpu": 1024, "cuda": 16384}
"""Tokens in one pass through the encoder: what lies between its layers shall stay in a CPU's cache, and shall keep a GPU busy."""
LABELS = 3
"""Of sufficiency: -1, 0 and 1 (DiRe, appendix A.4)."""


class SingleLinear(nn.Linear):
    """In single precision also where bfloat16 was asked for, of whose numbers thousands of tokens would have the same few."""

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """(…, in) → (…, out), float32."""
        with torch.autocast(vectors.device.type, enabled=False):
            return super().forward(vectors.float())


class SpanNetwork(nn.Module):
    """Hidden states of all tokens, and from them spans, supporting paragraphs and sentences, and sufficiency."""

    def __init__(self, encoder: Encoder) -> None:
        """The heads are drawn anew."""
        super().__init__()
        self.encoder = encoder.network
        self.span = SingleLinear(encoder.width, 2)
        self.support = SingleLinear(encoder.width, 1)
        self.sentence = SingleLinear(encoder.width, 1)
        self.sufficiency = SingleLinear(encoder.width, LABELS)
        for head in (self.span, self.support, self.sentence, self.sufficiency):
            nn.init.normal_(head.weight, std=0.02)
            nn.init.zeros_(head.bias)
        taken = inspect.signature(self.encoder.forward).parameters
        self._has_types = "token_type_ids" in taken and getattr(self.encoder.config, "type_vocab_size", 0) > 1
        self._has_global = "global_attention_mask" in taken

    def hidden(self, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """A vector for each token of all windows, float32 or bfloat16 (tokens, width).

        Windows of like length are read together, so that of paragraphs of 20 and of 300 tokens little is padded.
        """
        lengths, offsets = batch["lengths"], batch["offsets"]
        states, places = [], []
        for group in groups(lengths.tolist(), most=AT_ONCE[lengths.device.type]):
            rows = torch.tensor(group, device=lengths.device)
            size = lengths[rows]
            steps = torch.arange(int(lengths[group[0]]), device=lengths.device)
            inside = steps < size[:, None]
            at = (offsets[rows][:, None] + steps).clamp_max(len(batch["ids"]) - 1)
            state = self._encode(batch, rows, at, steps, inside)
            states.append(state[inside])
            places.append(at[inside])
        return torch.cat(states)[torch.argsort(torch.cat(places))]

    def _encode(
        self, batch: Mapping[str, torch.Tensor], rows: torch.Tensor, at: torch.Tensor, steps: torch.Tensor, inside: torch.Tensor
    ) -> torch.Tensor:
        asked = steps < batch["asked"][batch["window_example"][rows]][:, None]
        given: dict[str, Any] = {"input_ids": torch.where(inside, batch["ids"][at], 0), "attention_mask": inside.long()}
        if self._has_types:
            given["token_type_ids"] = (~asked & inside).long()
        if self._has_global:
            # A question's tokens see, and are seen by, all others (Beltagy et al. 2020).
            given["global_attention_mask"] = (asked & inside).long()
        state: torch.Tensor = self.encoder(**given).last_hidden_state
        return state


def groups(lengths: list[int], *, most: int) -> Iterator[list[int]]:
    """The numbers of windows that are read together, at most ``most`` tokens or one window, the longest first in each group."""
    order = sorted(range(len(lengths)), key=lambda number: (-lengths[number], number))
    group: list[int] = []
    for number in order:
        if group and (lengths[number] < LIKE_LENGTH * lengths[group[0]] or (len(group) + 1) * lengths[group[0]] > most):
            yield group
            group = []
        group.append(number)
    if group:
        yield group
