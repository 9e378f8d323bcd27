"""Scores of spans: what networks give, the losses, and the best of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch.nn import functional

from kgqa.readers.recurrent.layers import LEAST
from kgqa.readers.recurrent.superdocument import ABSENT
from kgqa.readers.transformer.segments import segment_logsumexp

Batch = Mapping[str, torch.Tensor]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """What a network says about a batch; logits, float32, LEAST at padding."""

    starts: torch.Tensor
    """(B × T): that the answer begins there."""
    ends: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    """Rows (N) and tokens (N) that an answer begins with → that it ends there (N × T)."""
    end_at: Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
    """The same at one token each: rows, starts, ends (N) → (N)."""
    paragraphs: torch.Tensor | None = None
    """That each paragraph of the batch supports the answer; of readers that tell, as are the next two."""
    sentences: torch.Tensor | None = None
    sufficiency: torch.Tensor | None = None
    """(B × 3): of DiRe's labels -1, 0 and 1."""


def independent(starts: torch.Tensor, ends: torch.Tensor, **supports: torch.Tensor) -> Spans:
    """What a network says whose ends (B × T) do not depend on starts."""
    return Spans(starts=starts, ends=lambda rows, starts: ends[rows], end_at=lambda rows, starts, places: ends[rows, places], **supports)


def candidate_scores(spans: Spans, batch: Batch) -> torch.Tensor:
    """The logarithm of the sum of what each mention of a candidate scores (B × C); LEAST for one without mentions."""
    rows, starts, ends = batch["mention_row"], batch["mention_start"], batch["mention_end"]
    count, most = len(batch["candidates"]), max(1, int(batch["candidates"].max()))
    scores = spans.starts[rows, starts] + spans.end_at(rows, starts, ends)
    return segment_logsumexp(scores, rows * most + batch["mention_candidate"], count * most).view(count, most)


def candidate_losses(spans: Spans, batch: Batch) -> torch.Tensor:
    """The cross-entropy of the right candidate (B)."""
    return functional.cross_entropy(candidate_scores(spans, batch), batch["gold"].clamp_min(0), reduction="none")


def span_losses(spans: Spans, batch: Batch) -> torch.Tensor:
    """Minus the logarithm of the probability of all right spans (B); 0 where there is none."""
    rows, starts, ends = batch["span_row"], batch["span_start"], batch["span_end"]
    if not len(rows):
        return spans.starts.sum(dim=1) * 0.0
    normal = spans.ends(rows, starts).logsumexp(dim=1)
    right = spans.starts.log_softmax(dim=1)[rows, starts] + spans.end_at(rows, starts, ends) - normal
    count = len(spans.starts)
    total = segment_logsumexp(right, rows, count)
    has = torch.zeros(count, dtype=torch.bool, device=rows.device).index_fill(0, rows, True)
    return torch.where(has, -total, torch.zeros_like(total))


def support_losses(logits: torch.Tensor | None, batch: Batch, group: str) -> torch.Tensor:
    """The mean cross-entropy of an example's ``paragraph`` or ``sentence`` labels (B); 0 where it has none."""
    rows, labels = batch[f"{group}_row"], batch[f"{group}_label"]
    zeros = torch.zeros(len(batch["lengths"]), device=rows.device)
    if logits is None or not len(rows):
        return zeros
    known = (labels >= 0).float()
    losses = functional.binary_cross_entropy_with_logits(logits, labels.clamp_min(0).float(), reduction="none") * known
    return zeros.index_add(0, rows, losses) / zeros.index_add(0, rows, known).clamp_min(1)


def best_spans(spans: Spans, batch: Batch, *, beam: int, longest: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Start, end (int64) and logarithm of the probability of the best span of each example that begins with one of ``beam`` starts.

    A span is of one paragraph and has at most ``longest`` tokens; the marks for yes and no are spans too.
    """
    place, (count, length) = batch["place"], spans.starts.shape
    scores, starts = spans.starts.log_softmax(dim=1).topk(min(beam, length), dim=1)
    rows = torch.arange(count, device=starts.device).repeat_interleave(starts.shape[1])
    first = starts.flatten()
    ends = spans.ends(rows, first).log_softmax(dim=1)
    places = torch.arange(length, device=starts.device)[None]
    near = (places >= first[:, None]) & (places < first[:, None] + longest)
    alone = place[rows, first] == ABSENT
    inside = near & (place[rows] == place[rows, first][:, None]) & ((places == first[:, None]) | ~alone[:, None])
    best, end = ends.masked_fill(~inside, LEAST).max(dim=1)
    total = best.view(starts.shape) + scores
    score, chosen = total.max(dim=1)
    return starts.gather(1, chosen[:, None])[:, 0], end.view(starts.shape).gather(1, chosen[:, None])[:, 0], score


def answer_tokens(batch: Batch) -> torch.Tensor:
    """Where an answer can begin or end: in paragraphs, and on the marks for yes and no of questions without candidates (B × T)."""
    places = torch.arange(batch["place"].shape[1], device=batch["place"].device)
    options = (places >= 1) & (places <= 2) & (batch["candidates"] == 0)[:, None]
    return (batch["place"] != ABSENT) | options
