"""The network: an encoder over windows, and a linear head for each target."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
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

    def __init__(self, encoder: Encoder, *, layers: int = 1) -> None:
        """The heads, of so many ``layers``, are initialised at random."""
        super().__init__()
        self.encoder, self._causal = encoder.network, encoder.causal
        self.span, self.support, self.sentence, self.sufficiency = (_head(encoder.width, out, layers) for out in (2, 1, 1, LABELS))
        for linear in _linear_layers(self.span, self.support, self.sentence, self.sufficiency):
            nn.init.normal_(linear.weight, std=0.02)
            nn.init.zeros_(linear.bias)
        parameters = inspect.signature(self.encoder.forward).parameters
        self._has_types = "token_type_ids" in parameters and getattr(self.encoder.config, "type_vocab_size", 0) > 1
        self._has_global = "global_attention_mask" in parameters
        module = sys.modules[type(self.encoder).__module__]
        # Encoders whose layers see windows of different widths make a mask for each width.
        has_common_mask = hasattr(module, "create_bidirectional_mask") and not hasattr(module, "create_bidirectional_sliding_window_mask")
        is_sdpa = getattr(self.encoder.config, "_attn_implementation", "") == "sdpa"
        self._needs_whole_mask = is_sdpa and _is_plain_decoder(encoder)
        self._takes_whole_mask = is_sdpa and (has_common_mask or self._needs_whole_mask)

    def summaries(self, batch: ReadingBatch) -> torch.Tensor:
        """The token that represents each window (W): its first one, or with causal attention its last one, which alone sees all others."""
        return batch.offsets + batch.lengths - 1 if self._causal else batch.offsets

    def hidden(self, batch: ReadingBatch) -> torch.Tensor:
        """Hidden states of all tokens of all windows, float32 or bfloat16 (tokens, width).

        Windows of similar length are encoded together, so that paragraphs of 20 and of 300 tokens need little padding.
        """
        marks = _marks(batch) if self._has_global else None
        states, first = [], 0
        for count, width, shortest in batch.cpu_groups.tolist():
            rows = batch.order[first : first + count]
            first += count
            steps = torch.arange(width, device=rows.device)
            is_token = steps < batch.lengths[rows][:, None]
            indices = (batch.offsets[rows][:, None] + steps).clamp_max(len(batch.ids) - 1)
            states.append(self._encode(batch, rows, indices, steps, is_token, marks, is_padded=shortest < width).flatten(0, 1))
        return torch.cat(states)[batch.places]

    def _encode(
        self,
        batch: ReadingBatch,
        rows: torch.Tensor,
        indices: torch.Tensor,
        steps: torch.Tensor,
        is_token: torch.Tensor,
        marks: torch.Tensor | None,
        *,
        is_padded: bool,
    ) -> torch.Tensor:
        """States of the windows ``rows`` (rows, longest, width); ``marks``: tokens with global attention, beside the question's."""
        is_question = steps < batch.question_tokens[batch.window_example[rows]][:, None]
        # transformers would look whether a mask hides anything, and a GPU would have to wait for that.
        mask = self._attention_mask(is_token) if is_padded or self._needs_whole_mask else None
        inputs: dict[str, Any] = {"input_ids": torch.where(is_token, batch.ids[indices], 0), "attention_mask": mask}
        if self._has_types:
            inputs["token_type_ids"] = (~is_question & is_token).long()
        if marks is not None:
            # These tokens see, and are seen by, all others.
            inputs["global_attention_mask"] = ((is_question | marks[indices]) & is_token).long()
        return self.encoder(**inputs).last_hidden_state

    def _attention_mask(self, is_token: torch.Tensor) -> torch.Tensor:
        """The mask of padded windows, in a form that transformers passes on unread, if the encoder takes that."""
        if not self._takes_whole_mask:
            return is_token.long()
        length = is_token.shape[1]
        mask = is_token[:, None, None].expand(-1, 1, length, -1)
        return mask & torch.ones(length, length, dtype=torch.bool, device=mask.device).tril() if self._causal else mask


def _is_plain_decoder(encoder: Encoder) -> bool:
    """Whether this is a decoder-only network whose layers all see as far and whose positions do not depend on the mask.

    For such a network without a mask, transformers would look whether its positions are those of several texts.
    """
    config = encoder.network.config
    is_decoder = encoder.causal or getattr(config, "is_causal", None) is False
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    return (
        is_decoder
        and hasattr(encoder.network, "rotary_emb")
        and kinds == {"full_attention"}
        and not getattr(config, "sliding_window", None)
    )


def windows_together(lengths: npt.NDArray[np.int64], *, device: str) -> dict[str, torch.Tensor]:
    """``order``, ``places`` and ``cpu_groups`` of a :class:`ReadingBatch`, from the tokens of each window (W)."""
    members = list(groups(lengths.tolist(), most=AT_ONCE["cpu" if device == "cpu" else "cuda"]))
    order = np.array([window for group in members for window in group], np.int64)
    counts = np.array([len(group) for group in members], np.int64)
    widths = np.array([lengths[group[0]] for group in members], np.int64)
    shortest = np.array([lengths[group[-1]] for group in members], np.int64)
    padded = np.repeat(widths, counts)
    begin = np.empty(len(lengths), np.int64)
    begin[order] = np.cumsum(padded) - padded
    offsets = np.cumsum(lengths) - lengths
    places = np.arange(int(lengths.sum())) + np.repeat(begin - offsets, lengths)
    return {
        "order": torch.from_numpy(order), "places": torch.from_numpy(places),
        "cpu_groups": torch.from_numpy(np.stack([counts, widths, shortest], 1)),
    }  # fmt: skip


def _head(width: int, out: int, layers: int) -> nn.Module:
    """A head of linear ``layers``, GELU between them."""
    if layers == 1:
        return SingleLinear(width, out)
    return nn.Sequential(SingleLinear(width, width), nn.GELU(), _head(width, out, layers - 1))


def _linear_layers(*heads: nn.Module) -> Iterator[nn.Linear]:
    return (module for head in heads for module in head.modules() if isinstance(module, nn.Linear))


def _marks(batch: ReadingBatch) -> torch.Tensor:
    """Whether a token represents a paragraph or a sentence (tokens): these have global attention, beside the question's, as in Longformer's
    model for HotpotQA (Beltagy et al. 2020), which MuSiQue's models follow.
    """
    marks = torch.zeros(len(batch.ids), dtype=torch.bool, device=batch.ids.device)
    marks[batch.mark] = True
    marks[batch.sentence] = True
    return marks


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
