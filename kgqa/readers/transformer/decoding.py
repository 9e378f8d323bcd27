"""Writes the likeliest texts, token by token, for many sources at once."""

from __future__ import annotations

import torch

from kgqa.readers.transformer.copying import CopyingNetwork
from kgqa.readers.transformer.encoder_decoder import EncoderDecoder

NEVER = -1e30


def decode(
    network: CopyingNetwork, model: EncoderDecoder, source: torch.Tensor, mask: torch.Tensor, *, beams: int, longest: int
) -> list[list[int]]:
    """For each source the tokens of the best text, without those that begin and end it; ``longest`` at most, the end included.

    Beam search, whose texts are compared by their mean log-probability; one beam is greedy. Memory: beams · sources · vocabulary floats.
    """
    count = len(source)
    states = network.read(source, mask).repeat_interleave(beams, 0)
    source, mask = source.repeat_interleave(beams, 0), mask.repeat_interleave(beams, 0)
    written = torch.full((count * beams, 1), model.start, device=source.device)
    scores = torch.full((count, beams), NEVER, device=source.device)
    scores[:, 0] = 0
    done = torch.zeros(count * beams, dtype=torch.bool, device=source.device)
    first = torch.arange(count, device=source.device)[:, None] * beams
    cache = None
    for _ in range(longest):
        output = network.write(states, mask, written[:, -1:], cache, caches=True)
        cache = network.cache_of(output)
        following = network.of_all(source, mask, states, written, output)
        # A text that has ended goes on with padding, which costs nothing.
        following = following.masked_fill(done[:, None], NEVER)
        following[:, model.pad] = torch.where(done, torch.zeros_like(following[:, 0]), torch.full_like(following[:, 0], NEVER))
        size = following.shape[1]
        scores, best = (scores.view(-1, 1) + following).view(count, beams * size).topk(beams, 1)
        origin, token = (first + best // size).view(-1), (best % size).view(-1)
        if beams > 1:
            cache.reorder_cache(origin)
        written = torch.cat([written[origin], token[:, None]], 1)
        done = done[origin] | (token == model.end)
        if bool(done.all()):
            break
    lengths = (written != model.pad).sum(1).view(count, beams)
    chosen = (first[:, 0] + (scores / lengths).argmax(1)).tolist()
    return [_inside(written[row, 1:].tolist(), model) for row in chosen]


def _inside(tokens: list[int], model: EncoderDecoder) -> list[int]:
    return tokens[: tokens.index(model.end)] if model.end in tokens else [token for token in tokens if token != model.pad]
