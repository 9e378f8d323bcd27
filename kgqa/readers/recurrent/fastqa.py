"""FastQA: one LSTM that is told which words the question has, and a short answer layer (Weissenborn et al. 2017)."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from kgqa.readers.recurrent.layers import LEAST, Bidirectional, Words, placed, valid
from kgqa.readers.recurrent.spans import Batch, Spans, answer_tokens


class Fastqa(nn.Module):
    """The network; its words come out as wide as an LSTM's state in one direction."""

    def __init__(self, words: Words, *, hidden: int, dropout: float) -> None:
        """``words`` gives ``hidden`` numbers."""
        super().__init__()
        self.dropout = dropout
        self.words = words
        self.likeness = nn.Parameter(torch.ones(hidden) * hidden**-0.5)
        self.states = Bidirectional(hidden + 2, hidden)
        self.text, self.question = joining(hidden), joining(hidden)
        self.attention = nn.Linear(hidden, 1, bias=False)
        self.start_text, self.start_asked = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden, bias=False)
        self.start_both, self.start_score = nn.Linear(hidden, hidden, bias=False), nn.Linear(hidden, 1)
        self.end_text, self.end_asked = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden, bias=False)
        self.end_both, self.end_score = nn.Linear(hidden, hidden, bias=False), nn.Linear(hidden, 1)
        self.end_begun, self.end_same = nn.Linear(hidden, hidden, bias=False), nn.Linear(hidden, hidden, bias=False)

    def forward(self, batch: Batch) -> Spans:
        """The scores of spans."""
        words = self.words(batch["words"], batch["letters"])
        text_valid = valid(batch["lengths"], batch["context"].shape[1])
        question_valid = valid(batch["question_lengths"], batch["question"].shape[1])
        # The same numbers are dropped at every place of a text and of its question.
        kept = functional.dropout(words.new_ones(1, len(text_valid), words.shape[1]), self.dropout, self.training)
        text, question = placed(words, batch["context"]) * kept, placed(words, batch["question"]) * kept
        features = torch.stack([batch["shared"].T.to(text.dtype), self._likeness(text, question, text_valid, question_valid)], dim=2)
        text = torch.tanh(self.text(self.states(torch.cat([text, features], dim=2), batch["lengths"])))
        # Of the question's words every one is in the question.
        question = torch.tanh(self.question(self.states(functional.pad(question, (0, 2), value=1.0), batch["question_lengths"])))
        weights = self.attention(question)[..., 0].masked_fill(~question_valid.T, LEAST).softmax(dim=0)
        asked = (weights[..., None] * question).sum(dim=0)
        return self._spans(text.transpose(0, 1), asked[:, None], answer_tokens(batch))

    def _likeness(self, text: torch.Tensor, question: torch.Tensor, text_valid: torch.Tensor, question_valid: torch.Tensor) -> torch.Tensor:
        """How much of the question each token of the text is like: the paper's weighted word-in-question feature (T × B)."""
        similar = (text * self.likeness).transpose(0, 1) @ question.permute(1, 2, 0)
        shares = similar.masked_fill(~text_valid[:, :, None], LEAST).softmax(dim=1)
        return (shares * question_valid[:, None]).sum(dim=2).T

    def _spans(self, text: torch.Tensor, asked: torch.Tensor, possible: torch.Tensor) -> Spans:
        """Of ``text`` (B × T × hidden) for ``asked`` (B × 1 × hidden), the question in one vector.

        The paper's layers over joined vectors are sums of layers over each, so that what does not depend on the start is computed once.
        """
        both = text * asked
        start = self.start_score(torch.relu(self.start_text(text) + self.start_asked(asked) + self.start_both(both)))
        end = self.end_text(text) + self.end_asked(asked) + self.end_both(both)

        def ends(rows: torch.Tensor, starts: torch.Tensor) -> torch.Tensor:
            begun = text[rows, starts][:, None]
            found: torch.Tensor = self.end_score(torch.relu(end[rows] + self.end_begun(begun) + self.end_same(text[rows] * begun)))
            return found[..., 0].float().masked_fill(~possible[rows], LEAST)

        def end_at(rows: torch.Tensor, starts: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
            begun = text[rows, starts]
            found: torch.Tensor = self.end_score(
                torch.relu(end[rows, ends] + self.end_begun(begun) + self.end_same(text[rows, ends] * begun))
            )
            return found[..., 0].float()

        return Spans(starts=start[..., 0].float().masked_fill(~possible, LEAST), ends=ends, end_at=end_at)


def joining(hidden: int) -> nn.Linear:
    """From the states of both directions to one; begins as their sum, as in the paper."""
    layer = nn.Linear(2 * hidden, hidden, bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.eye(hidden).repeat(1, 2))
    return layer
