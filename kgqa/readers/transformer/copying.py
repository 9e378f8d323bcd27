"""The network that writes: an encoder-decoder, and beside it a pointer that copies tokens from what was read (See et al. 2017).

A name of the source is a row of tokens that no decoder can learn from two thousand examples. The pointer need not: it attends to source
tokens, and is told which of them stand behind what was written last, so that a row that was begun is gone on with.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

import torch
from torch import nn
from torch.nn.functional import logsigmoid

from kgqa.readers.transformer.encoder_decoder import EncoderDecoder

BEHIND = 2
"""The pointer is told whether the last token, and whether the last two, stand before a source token."""


class CopyingNetwork(nn.Module):
    """Log-probabilities of the next token."""

    def __init__(self, model: EncoderDecoder, *, copies: bool) -> None:
        """The pointer is drawn anew."""
        super().__init__()
        self.model = model.network
        # transformers calls it ``cache`` since 5.24, and ``past_key_values`` before that.
        self._cache = "cache" if "cache" in signature(model.network.forward).parameters else "past_key_values"
        self.copies = copies
        if copies:
            width = int(model.network.get_input_embeddings().weight.shape[1])
            self.query = nn.Linear(width, width)
            self.key = nn.Linear(width, width)
            self.gate = nn.Linear(width, 1)
            self.behind = nn.Parameter(torch.ones(BEHIND))

    def read(self, source: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Hidden states of the source (examples, tokens, width); ``mask`` is 1 where a token is."""
        states: torch.Tensor = self.model.get_encoder()(input_ids=source, attention_mask=mask).last_hidden_state
        return states

    def write(self, states: torch.Tensor, mask: torch.Tensor, tokens: torch.Tensor, cache: Any = None, *, caches: bool) -> Any:
        """The model's output for the next of ``tokens``: all of them, or with a ``cache`` only those that are new."""
        from transformers.modeling_outputs import BaseModelOutput

        return self.model(
            encoder_outputs=BaseModelOutput(last_hidden_state=states), attention_mask=mask, decoder_input_ids=tokens,
            **{self._cache: cache}, use_cache=caches, output_hidden_states=True,
        )  # fmt: skip

    def cache_of(self, output: Any) -> Any:
        """What :meth:`write` is given for the tokens after those that it wrote."""
        return getattr(output, self._cache)

    def of_targets(self, source: torch.Tensor, mask: torch.Tensor, given: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        """Log-probability of each wanted token, float32 (examples, steps); ``given`` are those before them."""
        states = self.read(source, mask)
        output = self.write(states, mask, given, caches=False)
        written: torch.Tensor = output.logits.float().log_softmax(-1).gather(2, wanted[:, :, None]).squeeze(2)
        if not self.copies:
            return written
        attention, gate = self._pointer(states, mask, source, given, output.decoder_hidden_states[-1])
        same = wanted[:, :, None] == source[:, None, :]
        copied = (attention.exp() * same).sum(2).clamp_min(1e-9).log()
        found: torch.Tensor = torch.logaddexp(logsigmoid(-gate) + written, logsigmoid(gate) + copied)
        return found

    def of_all(self, source: torch.Tensor, mask: torch.Tensor, states: torch.Tensor, written: torch.Tensor, output: Any) -> torch.Tensor:
        """Log-probability of every token as the next one, float32 (examples, vocabulary); ``written`` are all tokens before it."""
        plain: torch.Tensor = output.logits[:, -1].float().log_softmax(-1)
        if not self.copies:
            return plain
        attention, gate = self._pointer(states, mask, source, written[:, -BEHIND:], output.decoder_hidden_states[-1][:, -1:])
        share = gate.sigmoid()
        mixed = (1 - share) * plain.exp()
        return mixed.scatter_add(1, source, share * attention[:, 0].exp()).clamp_min(1e-30).log()

    def _pointer(
        self, states: torch.Tensor, mask: torch.Tensor, source: torch.Tensor, given: torch.Tensor, hidden: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probability of each source token (examples, steps, tokens), and how much copying is preferred, as a logit (examples, steps).

        ``hidden`` are the last steps of ``given``.
        """
        scores = (self.query(hidden) @ self.key(states).transpose(1, 2)).float() / hidden.shape[-1] ** 0.5
        match = torch.ones_like(given[:, :, None] == source[:, None, :])
        for back in range(1, BEHIND + 1):
            match = match & (_later(given, back - 1, -1)[:, :, None] == _later(source, back, -2)[:, None, :])
            scores = scores + self.behind[back - 1] * match[:, -hidden.shape[1] :]
        attention = scores.masked_fill(mask[:, None, :] == 0, -1e30).log_softmax(-1)
        return attention, self.gate(hidden).float().squeeze(2)


def _later(tokens: torch.Tensor, steps: int, filler: int) -> torch.Tensor:
    """For each place the token ``steps`` before it, the ``filler`` where there is none."""
    return tokens if not steps else torch.cat([torch.full_like(tokens[:, :steps], filler), tokens[:, :-steps]], dim=1)
