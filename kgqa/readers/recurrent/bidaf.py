"""BiDAF: attention flows both ways between text and question, then LSTMs model what was seen (Seo et al. 2017)."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from kgqa.readers.recurrent.attention import AttentionFlow
from kgqa.readers.recurrent.layers import LEAST, Bidirectional, Words, placed, valid
from kgqa.readers.recurrent.spans import Batch, Spans, answer_tokens, independent


class Bidaf(nn.Module):
    """The network; its words come out as wide as its first LSTM's states."""

    def __init__(self, words: Words, *, hidden: int, dropout: float) -> None:
        """``words`` gives 2 · ``hidden`` numbers."""
        super().__init__()
        size = 2 * hidden
        self.dropout = dropout
        self.words = words
        self.contextual = Bidirectional(size, hidden)
        self.flow = AttentionFlow(size)
        self.modelling = nn.ModuleList([Bidirectional(4 * size, hidden), Bidirectional(size, hidden)])
        self.ending = Bidirectional(size, hidden)
        self.start_seen, self.start_modelled = nn.Linear(4 * size, 1), nn.Linear(size, 1)
        self.end_seen, self.end_modelled = nn.Linear(4 * size, 1), nn.Linear(size, 1)

    def forward(self, batch: Batch) -> Spans:
        """The scores of spans."""
        words = self.words(batch["words"], batch["letters"])
        lengths, questions = batch["lengths"], batch["question_lengths"]
        text = self.contextual(placed(words, batch["context"]), lengths)
        question = self.contextual(placed(words, batch["question"]), questions)
        seen = self.flow(self._drop(text), self._drop(question), valid(lengths, len(text)), valid(questions, len(question)))
        modelled = seen
        for layer in self.modelling:
            modelled = layer(self._drop(modelled), lengths)
        ending = self.ending(self._drop(modelled), lengths)
        possible = answer_tokens(batch)
        starts = self.start_seen(seen) + self.start_modelled(self._drop(modelled))
        ends = self.end_seen(seen) + self.end_modelled(self._drop(ending))
        starts, ends = (logits[..., 0].T.float().masked_fill(~possible, LEAST) for logits in (starts, ends))
        return independent(starts, ends)

    def _drop(self, vectors: torch.Tensor) -> torch.Tensor:
        return functional.dropout(vectors, self.dropout, self.training)
