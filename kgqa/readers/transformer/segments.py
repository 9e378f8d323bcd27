"""Sums and maxima within the examples of a batch, which follow each other in one tensor."""

from __future__ import annotations

import torch

LEAST = -1e30
"""A finite stand-in for log 0; with infinity, gradients would be NaN."""


def segment_max(values: torch.Tensor, segment: torch.Tensor, count: int) -> torch.Tensor:
    """The maximum of each segment's values, :data:`LEAST` for an empty one; ``segment`` int64, as long as ``values``."""
    return torch.full((count,), LEAST, dtype=values.dtype, device=values.device).scatter_reduce(0, segment, values, "amax")


def segment_logsumexp(values: torch.Tensor, segment: torch.Tensor, count: int) -> torch.Tensor:
    """log Σ exp of each segment's values; :data:`LEAST` for an empty segment."""
    top = segment_max(values.detach(), segment, count)
    total = torch.zeros(count, dtype=values.dtype, device=values.device).index_add(0, segment, (values - top[segment]).exp())
    return torch.where(total > 0, total.clamp_min(1e-30).log() + top, torch.full_like(top, LEAST))


def segment_size(segment: torch.Tensor, count: int) -> torch.Tensor:
    """The number of values in each segment, int64. ``bincount`` would wait on a GPU for the highest number."""
    return torch.zeros(count, dtype=torch.int64, device=segment.device).index_add(0, segment, torch.ones_like(segment))


def segment_mean(values: torch.Tensor, segment: torch.Tensor, count: int, *, among: torch.Tensor) -> torch.Tensor:
    """The mean of each segment's values ``among`` those that are true there (bool), 0 without any.

    Others are counted as nothing and not left out, since a GPU would have to wait until their number is known.
    """
    zeros = torch.zeros(count, dtype=values.dtype, device=values.device)
    total = zeros.index_add(0, segment, torch.where(among, values, 0.0))
    return total / zeros.index_add(0, segment, among.to(values.dtype)).clamp_min(1)


def segment_best(values: torch.Tensor, segment: torch.Tensor, count: int) -> torch.Tensor:
    """The first index of each segment's maximum, int64; ``len(values)`` for an empty segment."""
    top = segment_max(values, segment, count)
    places = torch.arange(len(values), device=values.device)
    candidates = torch.where(values == top[segment], places, torch.full_like(places, len(values)))
    return torch.full((count,), len(values), dtype=torch.int64, device=values.device).scatter_reduce(0, segment, candidates, "amin")


def best_ends(starts: torch.Tensor, ends: torch.Tensor, paragraph: torch.Tensor, longest: int) -> tuple[torch.Tensor, torch.Tensor]:
    """For every start its best end within ``longest`` tokens of the same ``paragraph``: log-probability of the span, and the end.

    ``starts``, ``ends`` float32 (tokens); ``paragraph`` int64 (tokens), negative outside answers. A paragraph that continues in the next
    window, or the next example's paragraph of the same number, is a different one, since other tokens lie between. O(tokens · longest).
    """
    count = len(starts)
    run = torch.cumsum(torch.cat([paragraph.new_zeros(min(count, 1)), (paragraph[1:] != paragraph[:-1]).long()]), 0)
    best = torch.where(paragraph >= 0, starts + ends, torch.full_like(starts, LEAST))
    end = torch.arange(count, device=starts.device)
    for ahead in range(1, min(longest, count)):
        score = torch.where((run[:-ahead] == run[ahead:]) & (paragraph[:-ahead] >= 0), starts[:-ahead] + ends[ahead:], LEAST)
        is_better = score > best[:-ahead]
        best[:-ahead] = torch.where(is_better, score, best[:-ahead])
        end[:-ahead] = torch.where(is_better, torch.arange(ahead, count, device=starts.device), end[:-ahead])
    return best, end
