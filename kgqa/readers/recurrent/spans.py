"""Logits of spans, their losses, and the best spans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch.nn import functional

from kgqa.readers.recurrent.superdocument import ABSENT
from kgqa.readers.transformer.segments import LEAST, segment_logsumexp, segment_size

Batch = Mapping[str, torch.Tensor]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """The output of a network for a batch: float32 logits, LEAST at padding."""

    starts: torch.Tensor
    """(B × T): the answer begins at the token."""
    ends: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    """Rows (N) and start tokens (N) → logits that the answer ends at each token (N × T)."""
    end_at: Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
    """The same for one end token each: rows, starts, ends (N) → (N)."""
    paragraphs: torch.Tensor | None = None
    """Each paragraph of the batch supports the answer. None, as are the next two, if the network does not predict support."""
    sentences: torch.Tensor | None = None
    sufficiency: torch.Tensor | None = None
    """(B × 3): DiRe's labels -1, 0 and 1."""


def with_independent_ends(starts: torch.Tensor, ends: torch.Tensor, **supports: torch.Tensor) -> Spans:
    """The output of a network whose ends (B × T) do not depend on starts."""
    return Spans(starts=starts, ends=lambda rows, starts: ends[rows], end_at=lambda rows, starts, places: ends[rows, places], **supports)


def candidate_scores(spans: Spans, batch: Batch) -> torch.Tensor:
    """The log of the mean of exp(score) over each candidate's mentions (B × C); LEAST for a candidate without mentions.

    A sum would favour candidates with many mentions before the network has learned anything.
    """
    rows, starts, ends = batch["mention_row"], batch["mention_start"], batch["mention_end"]
    count, most = len(batch["candidates"]), max(1, int(batch["candidates"].max()))
    scores = spans.starts[rows, starts] + spans.end_at(rows, starts, ends)
    owner = rows * most + batch["mention_candidate"]
    mentions = segment_size(owner, count * most).clamp_min(1)
    return (segment_logsumexp(scores, owner, count * most) - mentions.log()).view(count, most)


def candidate_losses(spans: Spans, batch: Batch) -> torch.Tensor:
    """The cross-entropy of the right candidate (B)."""
    return functional.cross_entropy(candidate_scores(spans, batch), batch["gold"].clamp_min(0), reduction="none")


def span_losses(spans: Spans, batch: Batch) -> torch.Tensor:
    """The negative log-likelihood of all right spans together (B); 0 for an example without any."""
    rows, starts, ends = batch["span_row"], batch["span_start"], batch["span_end"]
    if not len(rows):
        return spans.starts.sum(dim=1) * 0.0
    normaliser = spans.ends(rows, starts).logsumexp(dim=1)
    log_probabilities = spans.starts.log_softmax(dim=1)[rows, starts] + spans.end_at(rows, starts, ends) - normaliser
    count = len(spans.starts)
    total = segment_logsumexp(log_probabilities, rows, count)
    has_span = torch.zeros(count, dtype=torch.bool, device=rows.device).index_fill(0, rows, True)
    return torch.where(has_span, -total, torch.zeros_like(total))


def support_losses(logits: torch.Tensor | None, batch: Batch, group: str) -> torch.Tensor:
    """The mean cross-entropy of an example's ``paragraph`` or ``sentence`` labels (B); 0 for an example without labels."""
    rows, labels = batch[f"{group}_row"], batch[f"{group}_label"]
    zeros = torch.zeros(len(batch["lengths"]), device=rows.device)
    if logits is None or not len(rows):
        return zeros
    is_known = (labels >= 0).float()
    losses = functional.binary_cross_entropy_with_logits(logits, labels.clamp_min(0).float(), reduction="none") * is_known
    return zeros.index_add(0, rows, losses) / zeros.index_add(0, rows, is_known).clamp_min(1)


def best_spans(spans: Spans, batch: Batch, *, beam: int, longest: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Start, end (int64) and log-probability of the best span of each example, among spans with one of the ``beam`` best starts.

    A span lies in one paragraph and has at most ``longest`` tokens; the marks for yes and no are spans too.
    """
    paragraph, (count, length) = batch["token_paragraph"], spans.starts.shape
    scores, starts = spans.starts.log_softmax(dim=1).topk(min(beam, length), dim=1)
    rows = torch.arange(count, device=starts.device).repeat_interleave(starts.shape[1])
    first = starts.flatten()
    ends = spans.ends(rows, first).log_softmax(dim=1)
    positions = torch.arange(length, device=starts.device)[None]
    is_near = (positions >= first[:, None]) & (positions < first[:, None] + longest)
    is_option = paragraph[rows, first] == ABSENT
    is_allowed = is_near & (paragraph[rows] == paragraph[rows, first][:, None]) & ((positions == first[:, None]) | ~is_option[:, None])
    best, end = ends.masked_fill(~is_allowed, LEAST).max(dim=1)
    total = best.view(starts.shape) + scores
    score, best_start = total.max(dim=1)
    return starts.gather(1, best_start[:, None])[:, 0], end.view(starts.shape).gather(1, best_start[:, None])[:, 0], score


def answer_tokens(batch: Batch) -> torch.Tensor:
    """Tokens at which an answer can begin or end: in paragraphs, and the marks for yes and no in questions without candidates (B × T)."""
    positions = torch.arange(batch["token_paragraph"].shape[1], device=batch["token_paragraph"].device)
    is_option = (positions >= 1) & (positions <= 2) & (batch["candidates"] == 0)[:, None]
    return (batch["token_paragraph"] != ABSENT) | is_option
