"""Writing by ``generate()`` of transformers, with the pointer's tokens among those that can be next."""

from __future__ import annotations

from copy import copy
from functools import wraps
from typing import Any

import torch
from transformers import GenerationConfig, LogitsProcessor, LogitsProcessorList

from kgqa.readers.transformer.copying import CopyingNetwork
from kgqa.readers.transformer.encoder_decoder import EncoderDecoder


def decode(
    network: CopyingNetwork, model: EncoderDecoder, source: torch.Tensor, mask: torch.Tensor, *, beams: int, longest: int
) -> list[list[int]]:
    """For each source the tokens of the best text, without start and end; at most ``longest``, including the end.

    Beam search compares texts by their mean log-probability; one beam is greedy search. Memory: beams · sources · vocabulary floats.
    """
    writer, scores = _recorded(network, source.repeat_interleave(beams, 0))
    # What a checkpoint's own configuration asks for, as summaries of so many tokens, is of another task.
    writer.generation_config = GenerationConfig()  # type: ignore[no-untyped-call]
    config = GenerationConfig(  # type: ignore[no-untyped-call]
        num_beams=beams, max_new_tokens=longest, do_sample=False, use_cache=True,
        decoder_start_token_id=model.start, eos_token_id=model.end, pad_token_id=model.pad,
    )  # fmt: skip
    texts = writer.generate(
        input_ids=source, attention_mask=mask, generation_config=config, logits_processor=LogitsProcessorList([scores])
    )  # fmt: skip
    return [_without_special_tokens(tokens[1:], model) for tokens in texts.tolist()]


class _Scores(LogitsProcessor):
    """Replaces the decoder's scores by the network's log-probabilities, which the pointer is a part of."""

    def __init__(self, network: CopyingNetwork, source: torch.Tensor) -> None:
        """``source``: tokens of the source of each text that is written."""
        self._network, self._source = network, source
        self.inputs: dict[str, Any] = {}
        """The arguments of the decoder's last call."""
        self.output: Any = None

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Log-probability of every token after ``input_ids`` (texts, vocabulary)."""
        states = self.inputs["encoder_outputs"].last_hidden_state
        return self._network.of_all(self._source, self.inputs["attention_mask"], states, input_ids, self.output)


def _recorded(network: CopyingNetwork, source: torch.Tensor) -> tuple[Any, _Scores]:
    """The model with a forward that shows its last output to the scores.

    It is a copy with the same weights, since several threads write with one network.
    """
    writer, scores = copy(network.model), _Scores(network, source)
    forward = network.model.forward

    @wraps(forward)
    def recorded(**inputs: Any) -> Any:
        scores.inputs, scores.output = inputs, forward(**inputs | {"output_hidden_states": True})
        return scores.output

    writer.forward = recorded
    return writer, scores


def _without_special_tokens(tokens: list[int], model: EncoderDecoder) -> list[int]:
    return tokens[: tokens.index(model.end)] if model.end in tokens else [token for token in tokens if token != model.pad]
