"""FastQA: one LSTM with word-in-question features, and a short answer layer (Weissenborn et al. 2017)."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from kgqa.readers.recurrent.layers import Bidirectional, WordEmbedder, token_mask, vectors_at
from kgqa.readers.recurrent.spans import Batch, Spans, answer_tokens
from kgqa.readers.transformer.network import SingleLinear
from kgqa.readers.transformer.segments import LEAST


class Fastqa(nn.Module):
    """The network; its word vectors are as wide as the state of one direction of its LSTM."""

    def __init__(self, words: WordEmbedder, *, hidden: int, dropout: float) -> None:
        """``words`` has ``hidden`` outputs."""
        super().__init__()
        self.dropout = dropout
        self.words = words
        self.likeness = nn.Parameter(torch.ones(hidden) * hidden**-0.5)
        self.states = Bidirectional(hidden + 2, hidden)
        self.text, self.question = _merged_directions(hidden), _merged_directions(hidden)
        self.attention = nn.Linear(hidden, 1, bias=False)
        self.start_text, self.start_asked = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden, bias=False)
        self.start_both, self.start_score = nn.Linear(hidden, hidden, bias=False), SingleLinear(hidden, 1)
        self.end_text, self.end_asked = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden, bias=False)
        self.end_both, self.end_score = nn.Linear(hidden, hidden, bias=False), SingleLinear(hidden, 1)
        self.end_begun, self.end_same = nn.Linear(hidden, hidden, bias=False), nn.Linear(hidden, hidden, bias=False)

    def forward(self, batch: Batch) -> Spans:
        """Logits of spans; ``batch`` as in :func:`~kgqa.readers.recurrent.collation.collate`."""
        words = self.words(batch["words"], batch["letters"], batch["unseen"])
        text_valid = token_mask(batch["lengths"], batch["context"].shape[1])
        question_valid = token_mask(batch["question_lengths"], batch["question"].shape[1])
        # The same numbers are dropped at every place of a text and of its question.
        mask = functional.dropout(words.new_ones(1, len(text_valid), words.shape[1]), self.dropout, self.training)
        text, question = vectors_at(words, batch["context"]) * mask, vectors_at(words, batch["question"]) * mask
        features = torch.stack([batch["shared"].T.to(text.dtype), self._likeness(text, question, text_valid, question_valid)], dim=2)
        text = torch.tanh(self.text(self.states(torch.cat([text, features], dim=2), batch["lengths"])))
        # Of the question's words every one is in the question.
        question = torch.tanh(self.question(self.states(functional.pad(question, (0, 2), value=1.0), batch["question_lengths"])))
        weights = self.attention(question)[..., 0].masked_fill(~question_valid.T, LEAST).softmax(dim=0)
        question_vector = (weights[..., None] * question).sum(dim=0)
        return self._spans(text.transpose(0, 1), question_vector[:, None], answer_tokens(batch))

    def _likeness(self, text: torch.Tensor, question: torch.Tensor, text_valid: torch.Tensor, question_valid: torch.Tensor) -> torch.Tensor:
        """The paper's weighted word-in-question feature: the similarity of each text token to the question (T × B)."""
        similarities = (text * self.likeness).transpose(0, 1) @ question.permute(1, 2, 0)
        shares = similarities.masked_fill(~text_valid[:, :, None], LEAST).softmax(dim=1)
        return (shares * question_valid[:, None]).sum(dim=2).T

    def _spans(self, text: torch.Tensor, question_vector: torch.Tensor, can_answer: torch.Tensor) -> Spans:
        """Logits of spans from ``text`` (B × T × hidden) and ``question_vector`` (B × 1 × hidden), the weighted sum of the question.

        The paper's layers over concatenated vectors are written as sums of layers, so that the parts that do not depend on the start are
        computed once.
        """
        products = text * question_vector
        start = self.start_score(torch.relu(self.start_text(text) + self.start_asked(question_vector) + self.start_both(products)))
        end = self.end_text(text) + self.end_asked(question_vector) + self.end_both(products)

        def end_logits(rows: torch.Tensor, starts: torch.Tensor) -> torch.Tensor:
            start_vector = text[rows, starts][:, None]
            scores: torch.Tensor = self.end_score(
                torch.relu(end[rows] + self.end_begun(start_vector) + self.end_same(text[rows] * start_vector))
            )
            return scores[..., 0].float().masked_fill(~can_answer[rows], LEAST)

        def end_at(rows: torch.Tensor, starts: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
            start_vector = text[rows, starts]
            scores: torch.Tensor = self.end_score(
                torch.relu(end[rows, ends] + self.end_begun(start_vector) + self.end_same(text[rows, ends] * start_vector))
            )
            return scores[..., 0].float()

        return Spans(starts=start[..., 0].float().masked_fill(~can_answer, LEAST), ends=end_logits, end_at=end_at)


def _merged_directions(hidden: int) -> nn.Linear:
    """Maps the states of both directions to one vector; initialised to their sum, as in the paper."""
    layer = nn.Linear(2 * hidden, hidden, bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.eye(hidden).repeat(1, 2))
    return layer
