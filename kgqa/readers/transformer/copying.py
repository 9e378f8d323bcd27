"""An encoder-decoder with a pointer that copies tokens from the source (See et al. 2017).

A name in the source is a sequence of tokens that no decoder can learn from two thousand examples. The pointer attends to source tokens. Its
features tell which of them follow the tokens written last, so that it continues a sequence that it has begun.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn.functional import logsigmoid

from kgqa.readers.transformer.encoder_decoder import EncoderDecoder

BEHIND = 2
"""Features of the pointer: the last written token, or the last two, precede a source token."""


class CopyingNetwork(nn.Module):
    """Log-probabilities of the next token."""

    def __init__(self, model: EncoderDecoder, *, copies: bool) -> None:
        """The pointer is initialised at random."""
        super().__init__()
        self.model = model.network
        self.copies = copies
        if copies:
            width = int(model.network.get_input_embeddings().weight.shape[1])
            self.query = nn.Linear(width, width)
            self.key = nn.Linear(width, width)
            self.gate = nn.Linear(width, 1)
            self.behind = nn.Parameter(torch.ones(BEHIND))

    def read(self, source: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Hidden states of the source (examples, tokens, width); ``mask`` is 1 for tokens, 0 for padding."""
        return self.model.get_encoder()(input_ids=source, attention_mask=mask).last_hidden_state

    def write(self, states: torch.Tensor, mask: torch.Tensor, tokens: torch.Tensor) -> Any:
        """The model's output for the token after each of ``tokens``."""
        from transformers.modeling_outputs import BaseModelOutput

        return self.model(
            encoder_outputs=BaseModelOutput(last_hidden_state=states), attention_mask=mask, decoder_input_ids=tokens, use_cache=False,
            output_hidden_states=True,
        )  # fmt: skip

    def of_targets(self, source: torch.Tensor, mask: torch.Tensor, decoder_input: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Log-probability of each target token, float32 (examples, steps); ``decoder_input`` are the tokens before them."""
        states = self.read(source, mask)
        output = self.write(states, mask, decoder_input)
        vocabulary_log_probabilities: torch.Tensor = output.logits.float().log_softmax(-1).gather(2, targets[:, :, None]).squeeze(2)
        if not self.copies:
            return vocabulary_log_probabilities
        attention, gate = self._pointer(states, mask, source, decoder_input, output.decoder_hidden_states[-1])
        is_target = targets[:, :, None] == source[:, None, :]
        copy_log_probabilities = (attention.exp() * is_target).sum(2).clamp_min(1e-9).log()
        return torch.logaddexp(logsigmoid(-gate) + vocabulary_log_probabilities, logsigmoid(gate) + copy_log_probabilities)

    def of_all(self, source: torch.Tensor, mask: torch.Tensor, states: torch.Tensor, prefix: torch.Tensor, output: Any) -> torch.Tensor:
        """Log-probability of every token as the next one, float32 (examples, vocabulary); ``prefix`` are all tokens before it."""
        vocabulary_log_probabilities: torch.Tensor = output.logits[:, -1].float().log_softmax(-1)
        if not self.copies:
            return vocabulary_log_probabilities
        attention, gate = self._pointer(states, mask, source, prefix[:, -BEHIND:], output.decoder_hidden_states[-1][:, -1:])
        copy_share = gate.sigmoid()
        mixture = (1 - copy_share) * vocabulary_log_probabilities.exp()
        return mixture.scatter_add(1, source, copy_share * attention[:, 0].exp()).clamp_min(1e-30).log()

    def _pointer(
        self, states: torch.Tensor, mask: torch.Tensor, source: torch.Tensor, prefix: torch.Tensor, hidden: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probability of each source token (examples, steps, tokens), and the logit of copying (examples, steps).

        ``hidden`` are the decoder's states at the last steps of ``prefix``.
        """
        scores = (self.query(hidden) @ self.key(states).transpose(1, 2)).float() / hidden.shape[-1] ** 0.5
        is_match = torch.ones_like(prefix[:, :, None] == source[:, None, :])
        for distance in range(1, BEHIND + 1):
            is_match = is_match & (_shifted(prefix, distance - 1, -1)[:, :, None] == _shifted(source, distance, -2)[:, None, :])
            scores = scores + self.behind[distance - 1] * is_match[:, -hidden.shape[1] :]
        attention = scores.masked_fill(mask[:, None, :] == 0, -1e30).log_softmax(-1)
        return attention, self.gate(hidden).float().squeeze(2)


def _shifted(tokens: torch.Tensor, steps: int, filler: int) -> torch.Tensor:
    """The tokens shifted by ``steps`` to the right; ``filler`` at the beginning."""
    return tokens if not steps else torch.cat([torch.full_like(tokens[:, :steps], filler), tokens[:, :-steps]], dim=1)
