"""Beam search over many sources in parallel."""

from __future__ import annotations

import torch

from kgqa.readers.transformer.copying import CopyingNetwork
from kgqa.readers.transformer.encoder_decoder import EncoderDecoder

NEVER = -1e30


def decode(
    network: CopyingNetwork, model: EncoderDecoder, source: torch.Tensor, mask: torch.Tensor, *, beams: int, longest: int
) -> list[list[int]]:
    """For each source the tokens of the best text, without start and end; at most ``longest``, including the end.

    Beam search compares texts by their mean log-probability; one beam is greedy search. Memory: beams · sources · vocabulary floats.
    """
    count = len(source)
    states = network.read(source, mask).repeat_interleave(beams, 0)
    source, mask = source.repeat_interleave(beams, 0), mask.repeat_interleave(beams, 0)
    prefixes = torch.full((count * beams, 1), model.start, device=source.device)
    scores = torch.full((count, beams), NEVER, device=source.device)
    scores[:, 0] = 0
    is_finished = torch.zeros(count * beams, dtype=torch.bool, device=source.device)
    first = torch.arange(count, device=source.device)[:, None] * beams
    cache = None
    for _ in range(longest):
        output = network.write(states, mask, prefixes[:, -1:], cache, caches=True)
        cache = network.cache_of(output)
        next_scores = network.of_all(source, mask, states, prefixes, output)
        # A text that has ended goes on with padding, which costs nothing.
        next_scores = next_scores.masked_fill(is_finished[:, None], NEVER)
        next_scores[:, model.pad] = torch.where(is_finished, torch.zeros_like(next_scores[:, 0]), torch.full_like(next_scores[:, 0], NEVER))
        size = next_scores.shape[1]
        scores, best_tokens = (scores.view(-1, 1) + next_scores).view(count, beams * size).topk(beams, 1)
        beam, token = (first + best_tokens // size).view(-1), (best_tokens % size).view(-1)
        if beams > 1:
            cache.reorder_cache(beam)
        prefixes = torch.cat([prefixes[beam], token[:, None]], 1)
        is_finished = is_finished[beam] | (token == model.end)
        if bool(is_finished.all()):
            break
    lengths = (prefixes != model.pad).sum(1).view(count, beams)
    best_rows = (first[:, 0] + (scores / lengths).argmax(1)).tolist()
    return [_without_special_tokens(prefixes[row, 1:].tolist(), model) for row in best_rows]


def _without_special_tokens(tokens: list[int], model: EncoderDecoder) -> list[int]:
    return tokens[: tokens.index(model.end)] if model.end in tokens else [token for token in tokens if token != model.pad]
